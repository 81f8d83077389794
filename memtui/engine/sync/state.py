"""What this file knows of the sync: its last batch and those of others, and how far its history was sent.

It lies in the file, so it is as old as the rows are: where an older copy is put back, what it does not have is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import apsw
import msgspec

from memtui.engine.records import Record
from memtui.engine.store import metadata
from memtui.engine.store.sql import json_text, scalar

from .batch import BatchHeader, Head

_GROUP, _SENT, _WRITING, _TOLD = "sync_group", "sync_sent", "sync_writing", "sync_told"
_SNAPSHOT = "sync_snapshot"
_TO_KEEP = "sync_to_keep"

EVERYTHING = -1
"""Up to which change all was sent, where all rows are to be sent, whatever history says."""


class Writing(Record):
    """A batch that is about to be put into the store: its number and hash, and up to which change it has everything."""

    number: int
    hash: str
    sent: int
    last: bool


class Known(Record):
    """A device as this file knows it: its last batch, when that was made, which batch of ours it had read."""

    head: Head
    at: int | None
    seen: int


_numbers = msgspec.json.Decoder(dict[str, int]).decode
_names = msgspec.json.Decoder(tuple[str, ...]).decode
_writing = msgspec.json.Decoder(Writing).decode


def known_devices(connection: apsw.Connection) -> dict[str, Known]:
    rows: Any = connection.execute("SELECT device, number, hash, at, seen FROM sync_devices ORDER BY device")
    return {
        str(device): Known(head=Head(number=number, hash=hash), at=at, seen=seen)
        for device, number, hash, at, seen in rows.fetchall()
    }


def heads(connection: apsw.Connection, *, except_device: str) -> dict[str, Head]:
    return {device: one.head for device, one in known_devices(connection).items() if device != except_device}


def head(connection: apsw.Connection, device: str) -> Head:
    rows: Any = connection.execute(
        "SELECT number, hash FROM sync_devices WHERE device = ?", (device,)
    ).fetchall()
    return Head(number=rows[0][0], hash=rows[0][1]) if rows else Head(number=0, hash="")


def advance_head(connection: apsw.Connection, header: BatchHeader, hash: str, own: str) -> None:
    """A batch was applied (or, of this device, written)."""
    seen = header.heads[own].number if own in header.heads else 0
    _put_head(connection, header.device, Head(number=header.number, hash=hash), header.made_at, seen)


def include_heads(connection: apsw.Connection, heads: Mapping[str, Head]) -> None:
    """A snapshot that was read has all that these batches had."""
    for device, one in heads.items():
        if one.number > head(connection, device).number:
            _put_head(connection, device, one, None, 0)


def _put_head(connection: apsw.Connection, device: str, head: Head, at: int | None, seen: int) -> None:
    connection.execute(
        """
        INSERT INTO sync_devices(device, number, hash, at, seen) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT(device) DO UPDATE SET number = excluded.number, hash = excluded.hash,
            at = coalesce(excluded.at, at), seen = max(seen, excluded.seen)
        """,
        (device, head.number, head.hash, at, seen),
    )


def sent_through(connection: apsw.Connection) -> int:
    """Up to which change of history everything was sent."""
    return int(metadata.get(connection, _SENT) or 0)


def set_sent_through(connection: apsw.Connection, change: int) -> None:
    metadata.set_value(connection, _SENT, str(change))


def pending_write(connection: apsw.Connection) -> Writing | None:
    found = metadata.get(connection, _WRITING)
    return _writing(found) if found else None


def set_pending_write(connection: apsw.Connection, one: Writing | None) -> None:
    if one is None:
        connection.execute("DELETE FROM memory_metadata WHERE key = ?", (_WRITING,))
    else:
        metadata.set_value(connection, _WRITING, json_text(one))


def begin_device_group(connection: apsw.Connection, group: str) -> bool:
    """See that the state is that of this group; whether it is a group that the file did not know.

    What came by sync from devices of another group is sent as well.
    """
    before = metadata.get(connection, _GROUP)
    if before == group:
        return False
    connection.execute("DELETE FROM sync_devices")
    connection.execute("DELETE FROM sync_merged")
    set_pending_write(connection, None)
    set_told_heads(connection, {})
    connection.execute("DELETE FROM memory_metadata WHERE key = ?", (_SNAPSHOT,))
    set_sent_through(connection, 0 if before is None else EVERYTHING)
    metadata.set_value(connection, _GROUP, group)
    return True


def cut_removed(connection: apsw.Connection, removed: Mapping[str, int]) -> None:
    """Where more is here of a removed device than counts, read or written as it, others never read that: send all rows."""
    for device, last in removed.items():
        connection.execute(
            "UPDATE sync_devices SET number = ?, hash = '' WHERE device = ? AND number > ?",
            (last, device, last),
        )
        if connection.changes():
            set_sent_through(connection, EVERYTHING)


def told_heads(connection: apsw.Connection) -> dict[str, int]:
    """Which batch of each device this one has said to have read."""
    found = metadata.get(connection, _TOLD)
    return _numbers(found) if found else {}


def set_told_heads(connection: apsw.Connection, numbers: Mapping[str, int]) -> None:
    metadata.set_value(connection, _TOLD, json_text(dict(numbers)))


def snapshot_number(connection: apsw.Connection, own: str) -> int:
    """The number of the last snapshot of this device; 0 for none."""
    return _numbers(metadata.get(connection, _SNAPSHOT) or "{}").get(own, 0)


def set_snapshot(connection: apsw.Connection, own: str, number: int) -> None:
    metadata.set_value(connection, _SNAPSHOT, json_text({own: number}))


def kept(connection: apsw.Connection) -> tuple[str, ...]:
    """What the person kept here when they erased something, by its name on every device; others may not know yet."""
    return _names(metadata.get(connection, metadata.SYNC_KEPT) or "[]")


def drop_kept(connection: apsw.Connection) -> None:
    """Forget what was kept, if others were told of every erase."""
    connection.execute(
        "DELETE FROM memory_metadata WHERE key = ? AND NOT EXISTS (SELECT 1 FROM sync_erased WHERE sent <> 1)",
        (metadata.SYNC_KEPT,),
    )


def to_keep(connection: apsw.Connection) -> tuple[str, ...]:
    """What is to stay of what is erased here because another device erased it: keyed hashes of names."""
    return _names(metadata.get(connection, _TO_KEEP) or "[]")


def set_to_keep(connection: apsw.Connection, hashes: Iterable[str]) -> None:
    metadata.set_value(connection, _TO_KEEP, json_text(sorted(hashes)))


def history_lost(connection: apsw.Connection) -> bool:
    """Whether history was pruned beyond what was sent: then only all rows tell what changed."""
    position = sent_through(connection)
    last = int(scalar(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0)
    if last <= position:
        return False
    first = scalar(connection, "SELECT min(seq) FROM changes")
    return first is None or int(first) > position + 1
