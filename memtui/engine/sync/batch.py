"""A batch: a header and lines. What a device writes once, under a number of its own, and others read.

The hash of a batch is that of its header, which names its lines by the hash over their hashes. So a line can be taken
out and leave its hash (``Removed``) without the chain of batches breaking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, Protocol

import msgspec
from msgspec import Meta

from memtui.engine.records import DeviceId, Record

FORMAT = 1
MOST_LINES = 5_000
MOST_BYTES = 4_000_000
"""Of lines before compression; one line may be longer."""

Number = Annotated[int, Meta(ge=0, lt=10**10)]
Hash = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")]


class Head(Record):
    """The last batch of a device that somebody has read and applied."""

    number: Number
    hash: Hash


class BatchHeader(Record):
    """``previous``: the hash of this device's batch before; "" for its first one. ``heads``: what it had read of others.

    A snapshot is numbered by the last batch of its device that it includes, and has ``parts`` objects. ``epoch``: of the
    group key. ``lines``: hash over the hashes of the lines. ``more``: the next batch belongs to the same change.
    """

    kind: Literal["batch", "snapshot"]
    group: str
    device: DeviceId
    number: Number
    previous: Hash
    heads: dict[DeviceId, Head]
    count: int
    lines: Hash
    made_at: int
    epoch: int = 0
    part: int = 0
    parts: int = 1
    more: bool = False
    format: int = FORMAT


class Removed(NamedTuple):
    """A line that its owner took out, because its text was erased: its hash stays."""

    hash: bytes


class Batch(NamedTuple):
    """``lines``: each a line of ``store.export_rows`` (or a tombstone) as JSON without a line end."""

    header: BatchHeader
    lines: tuple[bytes | Removed, ...]

    @property
    def hash(self) -> str:
        return hashlib.sha256(encode(self.header)).hexdigest()


encode = msgspec.json.Encoder(order="deterministic").encode


def lines_hash(lines: Sequence[bytes | Removed]) -> str:
    """The hash over the hashes of lines: 64 hex digits."""
    each = (line.hash if isinstance(line, Removed) else hashlib.sha256(line).digest() for line in lines)
    return hashlib.sha256(b"".join(each)).hexdigest()


class Sealer(Protocol):
    """What turns a batch into the bytes of a store and back, for the devices of one group."""

    group: str
    """The random id of the group."""
    epoch: int
    """Of the key that seals now."""

    def seal(self, batch: Batch) -> bytes:
        """Compressed, authenticated under the group key of the header's epoch, encrypted for its devices."""

    def open(self, data: bytes) -> Batch:
        """Raises BatchError for what cannot be decrypted, is forged, cut, damaged, of another group or a newer format.

        That it is the batch which its name says is for the caller to see.
        """

    def keyed_hash(self, text: str) -> str:
        """Hex digits that only devices of the group can make of a text, the same in every epoch."""


class BatchError(Exception):
    """What is wrong with a batch. ``kind``: as in ``records.sync.SyncProblem``."""

    def __init__(
        self, kind: Literal["forged", "damaged", "partial", "unreadable", "newer"], message: str
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
