"""What the person is shown before something is erased for good, and what was proven afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from memtui.engine.memories import validation
from memtui.engine.records import Operation, Record

Place = Literal[
    "memory", "session", "entity", "card", "scratchpad", "question", "recall", "run", "history", "operation", "profile",
    "label",
]  # fmt: skip
Fate = Literal["erased", "cleared", "kept"]


_TITLE = 300
COLUMNS = "m.rid, m.id, m.kind, m.content, m.session_id, m.source_key, m.source_role, m.event_time"
"""Of a memory ``m``, as ``Row`` has them."""


class Row(NamedTuple):
    """A memory as it stands in the file, and why it goes."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    why: str
    chosen: bool = False


class Gone(NamedTuple):
    """A memory as it last stood. ``live``: it is back in the file. ``drawn_from``, ``replaced``: ids of others."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    drawn_from: frozenset[str]
    replaced: frozenset[str]
    live: bool
    why: str = ""
    chosen: bool = False


class Request(Record):
    """What to erase. ``ids``: memories; ``session_id``: a whole session.

    ``also``, ``keep``: keys of carriers that go although they need not, and that stay although they would go.
    """

    ids: tuple[str, ...] = ()
    session_id: str | None = None
    also: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


def shown(text: str) -> str:
    """The beginning of a text as the list of what carries it has it: without its secrets."""
    return validation.without_secrets(text)[:_TITLE]


class Carrier(Record):
    """A row that carries the text, or was drawn from it.

    ``key``: what the person calls it by when they choose (a memory's id, ``scratchpad:4``). ``fate``: ``erased`` goes
    as a whole, ``cleared`` loses the words and stays, ``kept`` stays as it is. ``choice``: the person may decide
    otherwise. ``chosen``: it is what they asked for. ``title``: how its text begins, without secrets.
    """

    key: str
    place: Place
    title: str
    why: str
    fate: Fate
    choice: bool = False
    chosen: bool = False
    kind: str = ""


class BackupState(Record):
    """A backup of the memory. ``holds``: memories of the plan in it; ``problem``: why it cannot be opened."""

    path: Path
    at: int
    reason: str
    size: int
    holds: int = 0
    problem: str = ""


class ErasurePlan(Record):
    """Everything that carries the text, before anything is done.

    ``memories`` is the number that the person types. ``counts``: rows besides memories, by place. ``bytes``: of the
    file and its backups, which are all written anew.
    """

    request: Request
    memories: int
    carriers: tuple[Carrier, ...]
    counts: dict[str, int]
    backups: tuple[BackupState, ...]
    ids: tuple[str, ...]
    notes: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def damaged(self) -> tuple[BackupState, ...]:
        return tuple(backup for backup in self.backups if backup.problem)

    @property
    def offered(self) -> tuple[Carrier, ...]:
        """What the person may decide otherwise."""
        return tuple(carrier for carrier in self.carriers if carrier.choice)


class EraseProgress(Record):
    """``doing``: what is being done, for people; ``done`` of ``total`` steps."""

    doing: str
    done: int
    total: int


class SearchedFile(Record):
    """A file that was searched byte by byte: its size and how many of the pieces stand in it unexplained."""

    path: Path
    bytes: int
    found: int = 0


class StillThere(Record):
    """Words of an erased text that something kept has as well: ``where`` it is."""

    where: str
    file: Path


class ErasureProof(Record):
    """What a second process found after an erase.

    ``pieces``: pieces of the erased texts (and their vectors) that were looked for in ``files``; ``found``: those
    that stand there and belong to nothing that was kept. ``kept``: words that something else says too. ``complete``:
    nothing was found and nothing is left to do; else ``problems`` says what is. ``operation``: in the history.
    """

    memories: int
    pieces: int
    found: int
    files: tuple[SearchedFile, ...]
    bytes: int
    questions: int
    complete: bool
    kept: tuple[StillThere, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    backups_written: int = 0
    seconds: float = 0.0
    operation: Operation | None = None


class UnfinishedErase(Record):
    """An erase that was interrupted. ``begun``: the memory itself no longer holds the texts."""

    memories: int
    at: int
    begun: bool
