"""Programs on this machine whose conversations can be imported, and what is new in them."""

from __future__ import annotations

from pathlib import Path

from .base import Record
from .history import Operation

WARNING_DAYS = 7
"""A session file is expiring if its program deletes it within so many days."""


class KnownSource(Record):
    """The session files of one program at ``path``. ``oldest``, ``newest``: Unix seconds.

    ``name``: its name on the command line. The program deletes files after ``kept_days`` (None: never); ``expiring`` of
    them within ``WARNING_DAYS``. ``live``: the program appends lines to its files while it runs.
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
    those that are not in the memory; both are estimates unless ``exact``. ``going``: expiring files with something new.
    """

    source: KnownSource
    sessions: int | None
    new_sessions: int
    grown_sessions: int
    turns: int
    new_turns: int
    exact: bool
    going: int = 0

    @property
    def nothing_new(self) -> bool:
        """Whether the probe found nothing that is not in the memory."""
        return not (self.new_sessions or self.grown_sessions or self.new_turns)
