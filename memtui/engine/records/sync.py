"""Sync: what was sent and received, the state of each device, and what is wrong with a batch."""

from __future__ import annotations

from typing import Literal

from ..wording import plural
from .base import Record
from .history import Operation

ProblemKind = Literal[
    "forged", "damaged", "partial", "unreadable", "newer", "swapped", "old", "missing", "twice"
]


class SyncProblem(Record):
    """Why a batch of a device (and what comes after it of that device) was not applied.

    ``kind``: ``forged`` (its authentication does not fit), ``damaged`` (not what was written), ``partial`` (its end has not
    arrived: it may still be copied), ``unreadable`` (not for this device), ``newer`` (a newer memtui wrote it), ``swapped``
    (another batch than its name and the ones before say), ``old`` (the store has less of this device than was seen before),
    ``missing`` (a later batch is there, this one is not: it may still come), ``twice`` (another copy of this file writes
    under the same name).
    """

    device: str
    number: int
    kind: ProblemKind
    message: str


class DeviceState(Record):
    """A device of the memory, as far as this one knows. ``number``: its last batch that was applied (of this device: written).

    ``waiting``: how many later ones are in the store; ``at``: Unix seconds at which the last one was made; ``seen``: the
    number of this device's last batch that it had read then.
    """

    device: str
    name: str
    number: int
    waiting: int = 0
    at: int | None = None
    seen: int = 0
    own: bool = False
    invited: bool = False
    """An invitation by which nobody has joined yet."""


class SyncReport(Record):
    """What one sync did. ``sent``, ``received``: lines; ``changes``: what came, in numbers of what people call it;
    ``questions``: cards that it opened in Review; ``erased``: memories that another device erased, and this one now;
    ``operations``: one for each device of which something came; ``notes``: what the person should know.
    """

    sent: int
    received: int
    batches_sent: int
    batches_received: int
    devices: tuple[DeviceState, ...]
    problems: tuple[SyncProblem, ...] = ()
    changes: dict[str, int] = {}
    questions: int = 0
    erased: int = 0
    operations: tuple[Operation, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


class SyncStatus(Record):
    """Where the memory is synced to, without a network call. ``pending``: changes here that were not sent yet, about.

    ``plain``: not encrypted. ``facts_only``: turns of this device stay where they are. ``error``: why the last sync failed.
    """

    url: str
    devices: tuple[DeviceState, ...]
    pending: int
    last_at: int | None = None
    problems: tuple[SyncProblem, ...] = ()
    plain: bool = False
    facts_only: bool = False
    error: str = ""


class Invitation(Record):
    """``code``: the secret by which a new device joins, for one use; at least 128 bits."""

    code: str
    url: str


_PHRASES = frozenset(
    (
        "forgotten",
        "faded",
        "restored",
        "taken back",
        "erased for good",
        "kept from an agent",
        "given to an agent again",
    )
)
"""What came that is no noun: it has no plural."""


def changes_words(word: str, number: int) -> str:
    """A count of ``SyncReport.changes`` in words: "3 corrections", "2 forgotten"."""
    return f"{number:,} {word}" if word in _PHRASES else plural(number, word)
