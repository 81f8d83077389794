"""Erasing for good: the plan that a person sees first, and the proof afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .base import Record
from .history import Operation

CarrierPlace = Literal[
    "memory", "session", "entity", "card", "scratchpad", "question", "recall", "run", "history", "operation", "profile",
    "label",
]  # fmt: skip
CarrierOutcome = Literal["erased", "cleared", "kept"]


class EraseRequest(Record):
    """What to erase. ``ids``: memories; ``session_id``: a whole session.

    ``also``, ``keep``: keys of carriers that the person adds to the plan, and takes out of it.
    """

    ids: tuple[str, ...] = ()
    session_id: str | None = None
    also: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


class Carrier(Record):
    """A row that contains the text, or was derived from it.

    ``key``: the name that a person chooses it by (a memory's id, ``scratchpad:4``). ``outcome``: an ``erased`` row is deleted,
    a ``cleared`` row loses the words, a ``kept`` row stays. ``choice``: the person may change the outcome. ``chosen``: the
    person asked for it. ``title``: the beginning of its text, without secrets.
    """

    key: str
    place: CarrierPlace
    title: str
    why: str
    outcome: CarrierOutcome
    choice: bool = False
    chosen: bool = False
    kind: str = ""


class BackupState(Record):
    """A backup of the memory. ``holds``: how many memories of the plan it contains; ``problem``: why it cannot be opened."""

    path: Path
    at: int
    reason: str
    size: int
    holds: int = 0
    problem: str = ""


class ErasePlan(Record):
    """Every row and backup that contains the text, before anything is erased.

    ``memories``: the number that the person types to confirm. ``counts``: other rows by place. ``bytes``: size of the
    file and its backups; all of them are rewritten. ``similar``: memories that may say the same in other words, the likeliest
    first. They stay, unless the request has their keys in ``also``.
    """

    request: EraseRequest
    memories: int
    carriers: tuple[Carrier, ...]
    counts: dict[str, int]
    backups: tuple[BackupState, ...]
    ids: tuple[str, ...]
    notes: tuple[str, ...] = ()
    bytes: int = 0
    similar: tuple[Carrier, ...] = ()

    @property
    def damaged(self) -> tuple[BackupState, ...]:
        return tuple(backup for backup in self.backups if backup.problem)

    @property
    def optional_carriers(self) -> tuple[Carrier, ...]:
        """Those that the person may choose to erase, or to keep."""
        return tuple(carrier for carrier in self.carriers if carrier.choice)


class EraseProgress(Record):
    """Progress of an erase: the step in words (``doing``), and ``done`` of ``total`` steps."""

    doing: str
    done: int
    total: int


class SearchedFile(Record):
    """A file that was searched byte by byte: its size in bytes, and how many pieces of erased text were found."""

    path: Path
    bytes: int
    found: int = 0


class RemainingText(Record):
    """Words of an erased text that a kept row contains too; ``where`` names the row."""

    where: str
    file: Path


class EraseProof(Record):
    """The result of the search that a second process does after an erase.

    ``pieces``: pieces of the erased texts and their vectors that were searched for in ``files``. ``found``: pieces that
    are there and belong to no kept row. ``kept``: words that a kept row contains too. ``complete``: nothing was found
    and no step is left; otherwise ``problems`` says why not. ``operation``: the line in history.
    """

    memories: int
    pieces: int
    found: int
    files: tuple[SearchedFile, ...]
    bytes: int
    questions: int
    complete: bool
    kept: tuple[RemainingText, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    backups_written: int = 0
    seconds: float = 0.0
    operation: Operation | None = None


class UnfinishedErase(Record):
    """An interrupted erase. ``begun``: the texts are deleted from the memory, but not yet from all files."""

    memories: int
    at: int
    begun: bool
