"""Envelopes: what keeps a store from reading and from forging.

A batch is compressed, authenticated (HMAC-SHA256 under the group key of an epoch) and encrypted with age for the epoch's
recipient, whose identity only devices of the group have (``group.py``). A device that joins later can so read what was
written before, and nothing has to be written anew. In a plain group a batch is only compressed: hashes show damage, not forgery.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec

from memtui.engine.errors import DegradedError
from memtui.engine.installation import command_for_dependency
from memtui.engine.records import DeviceId, Record

from . import framing
from .batch import FORMAT, Batch, BatchError, BatchHeader, Removed, encode, lines_hash

_AGE, _PLAIN = "age", "plain"
_MAC_BYTES = 32
_MOST_BYTES = 256 << 20
"""Of a batch before compression: more comes from nobody who means well."""
_REMOVED = b"-"
_header = msgspec.json.Decoder(BatchHeader).decode


class Epoch(Record):
    """A group key, and the age identity that goes with it. A new one begins when a device joins or is removed.

    ``boundary``: the last number of each device under earlier keys that counts, from this epoch on; None where all do.
    Whoever was removed has the earlier keys, and could go on to write under them.
    """

    number: int
    identity: str
    boundary: dict[DeviceId, int] | None = None

    @property
    def key(self) -> bytes:
        return hmac.digest(self.identity.encode(), b"memtui sync: authentication", hashlib.sha256)


def load_age() -> ModuleType:
    """The package that speaks age. Raises DegradedError where it is missing: then sync is off."""
    try:
        return import_module("pyrage")
    except ImportError:
        raise DegradedError(
            "Sync is off: encryption with age needs pyrage, which is not installed.",
            f"{command_for_dependency('pyrage')}. It has no package for some platforms; a folder of your own can be plain.",
        ) from None


def new_identity() -> str:
    """A new age identity (X25519), as text."""
    return str(load_age().x25519.Identity.generate())


def recipient_of(identity: str) -> str:
    """Whom to encrypt for, so that this identity can read it. Raises ValueError for no identity."""
    pyrage: Any = load_age()
    try:
        return str(pyrage.x25519.Identity.from_str(identity).to_public())
    except pyrage.IdentityError as error:
        raise ValueError(str(error)) from None


def encrypt(data: bytes, recipients: list[str]) -> bytes:
    pyrage: Any = load_age()
    return bytes(pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(one) for one in recipients]))


def decrypt(data: bytes, identity: str) -> bytes | None:
    """None if it is not for this identity, or is cut or changed."""
    pyrage: Any = load_age()
    try:
        return bytes(pyrage.decrypt(data, [pyrage.x25519.Identity.from_str(identity)]))
    except (pyrage.DecryptError, ValueError):
        return None


def add_mac(key: bytes, context: str, data: bytes) -> bytes:
    """The data with its authentication before it."""
    return hmac.digest(key, context.encode() + b"\0" + data, hashlib.sha256) + data


def verify_mac(key: bytes, context: str, data: bytes) -> bytes | None:
    """The data without its authentication; None if that does not fit."""
    found, data = data[:_MAC_BYTES], data[_MAC_BYTES:]
    made = hmac.digest(key, context.encode() + b"\0" + data, hashlib.sha256)
    return data if hmac.compare_digest(found, made) else None


class AgeSealer:
    """Seals with the last of ``epochs``. ``last_numbers``: for devices that were removed, the last number that counts."""

    def __init__(
        self, group: str, epochs: tuple[Epoch, ...], text_key: bytes, last_numbers: Mapping[str, int]
    ) -> None:  # fmt: skip
        self.group = group
        self.epoch = epochs[-1].number
        self._epochs = {one.number: one for one in epochs}
        self._text_key = text_key
        self._last_numbers = last_numbers

    def seal(self, batch: Batch) -> bytes:
        return self.seal_bytes(to_bytes(batch))

    def seal_bytes(self, data: bytes) -> bytes:
        """What ``open_bytes`` gave of an earlier epoch, under the key of now."""
        epoch = self._epochs[self.epoch]
        data = add_mac(epoch.key, self._mac_context(epoch.number), data)
        return framing.frame(_AGE, epoch.number, encrypt(data, [recipient_of(epoch.identity)]))

    def open(self, data: bytes) -> Batch:
        number, content = self.open_bytes(data)
        batch = from_bytes(content, self.group)
        self._must_count(batch.header, number)
        return batch

    def open_bytes(self, data: bytes) -> tuple[int, bytes]:
        """The number of the epoch, and what was sealed. Raises BatchError."""
        found = _unframed(data)
        if found.kind != _AGE:
            raise BatchError("forged", "It is not encrypted, as batches of this group are.")
        epoch = self._epochs.get(found.number)
        if epoch is None:
            raise BatchError("unreadable", "It is sealed under a key that this device does not have.")
        content = decrypt(found.content, epoch.identity)
        if content is None:
            raise BatchError("damaged", "It cannot be decrypted: it is cut, changed, or not for this group.")
        checked = verify_mac(epoch.key, self._mac_context(epoch.number), content)
        if checked is None:
            raise BatchError("forged", "No device of this group wrote it: its authentication does not fit.")
        return epoch.number, checked

    def keyed_hash(self, text: str) -> str:
        return _keyed_hash(self._text_key, text)

    def _mac_context(self, epoch: int) -> str:
        return f"batch {self.group} {epoch}"

    def _must_count(self, header: BatchHeader, epoch: int) -> None:
        last = self._last_numbers.get(header.device)
        if last is not None and header.number > last:
            raise BatchError("forged", "It was written by a device after it had been removed.")
        for later in self._epochs.values():
            ended = later.boundary if later.number > epoch else None
            if ended is not None and header.number > ended.get(header.device, 0):
                raise BatchError(
                    "forged", "It is sealed under a key that a removed device has, after that removal."
                )


class PlainSealer:
    """Only compresses, for a folder of one's own. ``text_key``: the same on all devices of the group."""

    epoch = 0

    def __init__(self, group: str, text_key: bytes) -> None:
        self.group = group
        self._text_key = text_key

    def seal(self, batch: Batch) -> bytes:
        return framing.frame(_PLAIN, self.epoch, to_bytes(batch))

    def open(self, data: bytes) -> Batch:
        found = _unframed(data)
        if found.kind != _PLAIN:
            raise BatchError("unreadable", "It is encrypted, and this group is plain.")
        return from_bytes(found.content, self.group)

    def keyed_hash(self, text: str) -> str:
        return _keyed_hash(self._text_key, text)


def _unframed(data: bytes) -> framing.Frame:
    """Raises BatchError."""
    try:
        found = framing.unframe(data)
    except framing.PartialError as error:
        raise BatchError("partial", str(error)) from None
    if found is None or found.kind not in (_AGE, _PLAIN):
        raise BatchError("damaged", "It is no batch, or its beginning or end is another one.")
    if found.format > framing.FORMAT:
        raise BatchError("newer", "A newer memtui wrote it.")
    return found


def _keyed_hash(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


# Bytes


def to_bytes(batch: Batch) -> bytes:
    """Compressed: a line for the header, then one for each line or, where it was removed, its hash."""
    lines = (
        _REMOVED + line.hash.hex().encode() if isinstance(line, Removed) else line for line in batch.lines
    )
    content = b"\n".join([encode(batch.header), *lines])
    return bytes(_load_zstd().compress(content))


def from_bytes(data: bytes, group: str) -> Batch:
    """Raises BatchError unless it is a whole batch of this group, with the lines that its header counts."""
    zstd = _load_zstd()
    try:
        unpacking = zstd.ZstdDecompressor()
        content = unpacking.decompress(data, max_length=_MOST_BYTES)
        if not unpacking.eof or unpacking.unused_data:
            raise BatchError("damaged", "It is cut, or larger than any batch.")
        first, *rest = content.split(b"\n")
        header = _header(first)
        lines = tuple(_decode_line(line) for line in rest)
    except (zstd.ZstdError, msgspec.MsgspecError, ValueError):
        raise BatchError("damaged", "It is damaged.") from None
    if header.format > FORMAT:
        raise BatchError("newer", "A newer memtui wrote it.")
    if header.group != group:
        raise BatchError("forged", "It belongs to another group.")
    if header.count != len(lines) or header.lines != lines_hash(lines):
        raise BatchError("damaged", "Its lines are not those that it names.")
    return Batch(header, lines)


def _decode_line(line: bytes) -> bytes | Removed:
    return Removed(bytes.fromhex(line[1:].decode("ascii"))) if line.startswith(_REMOVED) else line


def _load_zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise DegradedError(
        "Sync is off: batches are packed with zstandard, which is not installed.",
        command_for_dependency("backports.zstd"),
    )
