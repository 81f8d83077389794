"""Imports and exports: reports, progress, and the sources on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .base import Record
from .history import Operation

ExportFormat = Literal["jsonl", "markdown"]


class Skip(Record):
    """Something that an importer skipped, and why (``reason`` is a short phrase that is counted)."""

    reason: str
    place: str = ""


class ImportProgress(Record):
    """How far an import is: bytes of all sources, turns so far, and where it reads now.

    ``rate``: turns looked at in a second, on average since the start.
    """

    bytes_done: int
    bytes_total: int
    files_done: int
    files: int
    imported: int
    already_there: int
    skipped: int
    rate: float
    place: str
    dry_run: bool


class LeftOut(Record):
    """A file of a folder or an archive that an import does not read, and why. ``name`` is short, ``place`` whole."""

    reason: str
    name: str
    place: str


class Refused(Record):
    """A path or database that was named for an import and cannot be used: the cause, and the next step."""

    message: str
    hint: str


class ImportReport(Record):
    """Counts in turns and whatever else came in. ``kinds`` tells ``imported`` apart ("turn", "fact", ...);
    ``decisions``: what another device decided about what is here, and is merged ("correction", "forgotten", "tag", ...);
    "question": decided differently on both, a card in Review.
    ``repeated``: those of ``already_there`` that came in with this import, and are twice in its files.
    ``reasons`` maps a skip reason to its count; ``skips`` are those records that a format should have given (the first
    10,000), with their places. ``operation`` None when nothing was added. What was named is either read, or ``refused``,
    as are files in it that have records and gave nothing; ``left_out`` are files that are something else.
    """

    imported: int
    already_there: int
    skipped: int
    sessions: int
    files: int
    seconds: float
    dry_run: bool
    formats: tuple[str, ...] = ()
    kinds: dict[str, int] = {}
    decisions: dict[str, int] = {}
    reasons: dict[str, int] = {}
    skips: tuple[Skip, ...] = ()
    redacted: int = 0
    repeated: int = 0
    warnings: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    refused: tuple[Refused, ...] = ()
    cancelled: bool = False
    operation: Operation | None = None

    @property
    def brings(self) -> bool:
        """Whether anything comes in, or is merged."""
        return bool(self.imported or self.decisions)


class ExportProgress(Record):
    """How far an export is: lines of a file, or notes of a folder, of how many."""

    done: int
    total: int


class ExportReport(Record):
    """What an export wrote. ``path`` None: to a stream. ``counts``: lines of each kind, or notes. ``size`` in bytes.

    ``content_hash``: of what was written; that of the memory (``Memory.content_hash``) when nothing was left out.
    ``kept``: notes that somebody has changed since they were exported, or others' files; they stay as they are.
    ``secrets``: how many of the memories that were written show a secret.
    """

    path: str | None
    format: str
    counts: dict[str, int]
    size: int
    seconds: float
    content_hash: str = ""
    kept: tuple[str, ...] = ()
    secrets: int = 0
    cancelled: bool = False


WARNING_DAYS = 7
"""A session file is expiring if its program deletes it within so many days."""


class KnownSource(Record):
    """The session files of one program at ``path``. ``oldest``, ``newest``: Unix seconds.

    ``name``: its name on the command line. The program deletes files after ``kept_days`` (None: never); ``expiring`` of
    them within ``WARNING_DAYS``. ``live``: a conversation is there while it goes on, so that it can be followed.
    """

    name: str
    format: str
    label: str
    path: Path
    files: int
    newest: float
    oldest: float
    expiring: int = 0
    kept_days: int | None = None
    live: bool = False


class FollowResult(Record):
    """Turns and ``others`` (notes) that were imported at one check, their formats, and the operation that they belong to."""

    turns: int
    others: int
    formats: tuple[str, ...]
    operation: Operation | None


class SourceProbe(Record):
    """How much of ``source`` is new. ``sessions`` None: the number of sessions cannot be counted by files.

    ``new_sessions`` are not in the memory, ``grown_sessions`` only in part. ``turns`` counts turns or notes, ``new_turns``
    those that are not in the memory; both are estimates unless ``exact``. ``expiring_new``: expiring files with something new.
    ``problem``: why it cannot be imported, such as a newer version of its program.
    """

    source: KnownSource
    sessions: int | None
    new_sessions: int
    grown_sessions: int
    turns: int
    new_turns: int
    exact: bool
    expiring_new: int = 0
    problem: str = ""

    @property
    def nothing_new(self) -> bool:
        """Whether the probe found nothing that is not in the memory."""
        return not (self.new_sessions or self.grown_sessions or self.new_turns)
