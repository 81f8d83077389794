"""A replica: this memory file and a store. It knows in which order things are done.

First what was decided here is stamped, then what others wrote is read and merged, then what is new is sent. A crash at any
point leaves a file whose next sync goes on: what is applied again changes nothing, and a batch is put only after the file
noted that it is about to be.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Literal

import apsw

from memtui.engine.clock import Clock
from memtui.engine.records import Operation, device_name
from memtui.engine.records.sync import DeviceState, ProblemKind, SyncProblem, SyncReport
from memtui.engine.store import history, stamps, sync_versions
from memtui.engine.store.connections import Connections

from . import lines, outgoing, state, versions
from .batch import Batch, BatchError, BatchHeader, Head, Sealer, lines_hash
from .erased_lines import ErasedLines
from .erasing import erase_pending
from .received import BadBatchError, ReceivedBatches
from .stores.base import SyncStore

BATCHES, SNAPSHOTS, WRITERS = "batches", "snapshots", "writers"
SNAPSHOT_EVERY = 200
"""Own batches: a device that joins reads no more than this of each, beside a snapshot."""
TELL_EVERY = 50
"""Batches of another device: one that sends nothing by itself says now and then how far it has read."""
KEEPS_VERSIONS = (
    "What was erased is out of this device's batches. Versions of files that the store keeps by itself memtui does not see: "
    "delete those there."
)
_FIRST_LINES = "Everything was sent again: history here no longer says what changed since the last sync."
_ALL_AGAIN = (
    "Everything was sent again: something of it was in batches of a removed device that others do not read."
)


def batch_name(device: str, number: int) -> str:
    return f"{BATCHES}/{device}/{number:010d}"


class Replica:
    """One file and one store. ``run`` may be called any number of times."""

    def __init__(
        self, connections: Connections, clock: Clock, store: SyncStore, sealer: Sealer, *,
        removed: Mapping[str, int] = MappingProxyType({}), facts_only: bool = False,
        on_operation: Callable[[int], object] = lambda op_id: None, on_erased: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """``removed``: the last number that counts of each device that was removed from the group.

        ``on_operation`` is called with each operation that brought something; ``on_erased`` when rows were erased."""
        self._connections = connections
        self._clock = clock
        self._store = store
        self._sealer = sealer
        self._removed = removed
        self._facts_only = facts_only
        self._writers: set[str] = set()
        """Whose batches are in the store."""
        self._on_operation = on_operation
        self._on_erased = on_erased
        self._problems: list[SyncProblem] = []
        self._notes: list[str] = []
        self._operations: list[Operation] = []
        self._counts: Counter[str] = Counter()
        self._waiting: dict[str, int] = {}
        self._erased = 0
        self._questions = self._sent = self._received = self._batches_sent = self._batches_received = 0

    def run(self) -> SyncReport:
        """Read and merge what is new in the store, then send what is new here; one at a time for a file.

        Raises StoreError where the store or the file cannot be used; what was applied until then stays. What is wrong with
        a batch is in the report.
        """
        began = time.perf_counter()
        history.close_dead(self._connections)
        self._resume_writing()
        if self._removed:
            with self._connections.write() as connection:
                # Not before: finishing the pending batch notes how far everything was sent, which this takes back.
                state.cut_removed(connection, self._removed)
        self._pull_batches()
        self._erase_pending()
        self._push_changes()
        self._remove_erased_lines()
        self._may_snapshot()
        self._drop_removed()
        return self._make_report(time.perf_counter() - began)

    # Beginning

    def _resume_writing(self) -> None:
        with self._connections.write() as connection:
            state.begin_device_group(connection, self._sealer.group)
            versions.note_local(connection)
            writing = state.pending_write(connection)
            own = stamps.device(connection)
        if writing is None:
            return
        name = batch_name(own, writing.number)
        data = self._store.get(name)
        if data is None:  # it was never put
            with self._connections.write() as connection:
                state.set_pending_write(connection, None)
            return
        with suppress(BatchError):
            batch = self._sealer.open(data)
            if batch.hash == writing.hash:
                self._note_written(batch, writing)
                return
        self._renew_device(own, writing.number)

    def _renew_device(self, own: str, number: int) -> None:
        """Another copy of this file writes under the same name: this one goes on under another."""
        with self._connections.write() as connection:
            state.set_pending_write(connection, None)
            stamps.renew_device(connection)
            new = stamps.device(connection)
        message = (
            f"another copy of this memory writes as {device_name(own)}, too; this one is {new} from now on"
        )
        self._problems.append(SyncProblem(device=own, number=number, kind="twice", message=message))

    # Reading

    def _pull_batches(self) -> None:
        with self._connections.read() as connection:
            own = stamps.device(connection)
            known = state.known_devices(connection)
        listed = {name.partition("/")[2] for name in self._store.list_since(f"{WRITERS}/")}
        if own not in listed:
            self._store.put_if_absent(f"{WRITERS}/{own}", b"")
        self._writers = listed | {own}
        others = sorted((listed | known.keys() | self._removed.keys()) - {own})
        if not any(one.head.number for one in known.values()):
            self._read_snapshot(others)
        claimed: dict[str, int] = {}
        for device in others:
            self._pull_device(device, own, claimed)
        with self._connections.read() as connection:
            known = state.known_devices(connection)
        for device, number in sorted(claimed.items()):
            number = self._counting(device, number)
            have = known[device].head.number if device in known else 0
            if device == own and number > have:
                self._renew_device(own, number)
            elif device != own and number > have and not self._has_problem(device):
                self._add_problem(
                    device,
                    have + 1,
                    "missing",
                    "another device has read it, and it is not in the store (yet)",
                )

    def _has_problem(self, device: str) -> bool:
        return any(one.device == device for one in self._problems)

    def _add_problem(self, device: str, number: int, kind: ProblemKind, message: str) -> None:
        self._problems.append(SyncProblem(device=device, number=number, kind=kind, message=message))

    def _pull_device(self, device: str, own: str, claimed: dict[str, int]) -> None:
        """Apply the batches of one device that are new here, as one operation; ``claimed`` gets what it has read."""
        with self._connections.read() as connection:
            head = state.head(connection, device)
        last = self._removed.get(device)
        if last is not None and head.number >= last:
            return  # its objects may be gone, and what else it wrote does not count
        numbers = self._batch_numbers(device, head)
        work = ReceivedBatches(self._connections, self._clock, device, self._note_received)
        try:
            if head.number + 1 not in numbers and (last or max(numbers, default=0) > head.number):
                head = self._catch_up(work, device, head)
                numbers = self._batch_numbers(device, head)
            if (
                head.number and last is None and head.number not in numbers
                and not self._has_snapshot(device, head.number)
            ):  # fmt: skip
                message = (
                    "the store has less of this device than was read before: an old state was put back there"
                )
                raise BadBatchError(device, head.number, "old", message)
            for number in numbers:
                if number <= head.number:
                    continue
                if number != head.number + 1:
                    message = "a later batch is there, this one is not (yet)"
                    raise BadBatchError(device, head.number + 1, "missing", message)
                batch = self._open_batch(device, number, head)
                for other, one in batch.header.heads.items():
                    claimed[other] = max(claimed.get(other, 0), one.number)
                work.apply(batch)
                head = Head(number=number, hash=batch.hash)
            if last is not None and head.number < last:
                message = (
                    "another device had read it before this one was removed, and it is not in the store (yet)"
                )
                raise BadBatchError(device, head.number + 1, "missing", message)
        except BadBatchError as error:
            self._problems.append(error.problem)
            self._waiting[device] = sum(number > head.number for number in numbers)
        finally:
            work.finish()

    def _batch_numbers(self, device: str, head: Head) -> list[int]:
        """The numbers of a device's batches in the store that count, from the last one that was read on."""
        after = batch_name(device, head.number - 1) if head.number else ""
        found = [_batch_number(name) for name in self._store.list_since(f"{BATCHES}/{device}/", after)]
        return [number for number in found if number == self._counting(device, number)]

    def _counting(self, device: str, number: int) -> int:
        """The number, or the last one of a device that was removed."""
        return min(number, self._removed.get(device, number))

    def _catch_up(self, work: ReceivedBatches, device: str, head: Head) -> Head:
        """Where batches are no longer in the store because a snapshot of the device has them, read that.

        What a removed device wrote may be in a snapshot of any other one.
        """
        best, had = None, head.number
        for writer, number in self._snapshots():
            if writer != device and device not in self._removed:
                continue
            first = self._open_part(writer, number, 0)
            has = number if writer == device else first.header.heads.get(device, head).number
            if has > had:
                best, had = first, has
        if best is None:
            return head
        self._apply_snapshot(work, best)
        with self._connections.read() as connection:
            return state.head(connection, device)

    def _apply_snapshot(self, work: ReceivedBatches, first: Batch) -> None:
        device, number, parts = first.header.device, first.header.number, first.header.parts
        for part in range(1, parts):
            work.apply(self._open_part(device, number, part), last=part == parts - 1)

    def _has_snapshot(self, device: str, number: int) -> bool:
        found = self._store.list_since(f"{SNAPSHOTS}/{device}/")
        return any(_part_number(name) >= number for name in found)

    def _open_batch(self, device: str, number: int, head: Head) -> Batch:
        """The batch, if it is what its place says. Raises BadBatchError."""
        batch = self._open_object(batch_name(device, number), device, number)
        header = batch.header
        if header.kind != "batch" or header.device != device or header.number != number:
            raise BadBatchError(device, number, "swapped", "another batch is in its place")
        if header.previous != head.hash:
            raise BadBatchError(
                device, number, "swapped", "it does not follow the batch that was read before it"
            )
        return batch

    def _open_object(self, name: str, device: str, number: int) -> Batch:
        data = self._store.get(name)
        if data is None:
            raise BadBatchError(device, number, "missing", "it is listed, and cannot be read (yet)")
        try:
            batch = self._sealer.open(data)
        except BatchError as error:
            raise BadBatchError(device, number, error.kind, error.message) from error
        header = batch.header
        if header.group != self._sealer.group:
            raise BadBatchError(device, number, "swapped", "it belongs to another memory")
        if header.count != len(batch.lines) or header.lines != lines_hash(batch.lines):
            raise BadBatchError(device, number, "damaged", "its lines are not those that it names")
        return batch

    def _note_received(self, work: ReceivedBatches) -> None:
        """What one device's batches brought, for the report."""
        self._received += work.received
        self._batches_received += work.batches
        self._counts.update(work.counts)
        self._questions += work.questions
        if work.operation is not None:
            self._operations.append(work.operation)
            self._on_operation(work.operation.op_id)

    # Snapshots

    def _read_snapshot(self, devices: Sequence[str]) -> None:
        """Read the newest sound snapshot, if this file has read nothing yet."""
        tried: list[tuple[int, str, int, Batch]] = []
        for device, number in self._snapshots():
            if device not in devices:
                continue
            try:
                first = self._open_part(device, number, 0)
            except BadBatchError as error:
                self._problems.append(error.problem)
                continue
            tried.append(
                (sum(one.number for one in first.header.heads.values()) + number, device, number, first)
            )
        for _, device, _, first in sorted(tried, key=lambda one: one[:3], reverse=True):
            work = ReceivedBatches(self._connections, self._clock, device, self._note_received)
            try:
                self._apply_snapshot(work, first)
            except BadBatchError as error:
                self._problems.append(error.problem)
                continue
            finally:
                work.finish()
            return

    def _snapshots(self) -> list[tuple[str, int]]:
        """Device and number of each snapshot in the store that counts."""
        found = [
            (name.split("/")[1], _part_number(name))
            for name in self._store.list_since(f"{SNAPSHOTS}/")
            if name.endswith("/0000")
        ]
        return [one for one in found if one[1] == self._counting(*one)]

    def _open_part(self, device: str, number: int, part: int) -> Batch:
        batch = self._open_object(part_name(device, number, part), device, number)
        header = batch.header
        if (header.kind, header.device, header.number, header.part) != ("snapshot", device, number, part):
            raise BadBatchError(device, number, "swapped", "another snapshot is in its place")
        return batch

    def write_snapshot(self) -> int | None:
        """Write all rows as they are now, after a run; returns how many lines, None if another copy of this file was in the
        way. Own batches that it includes and that every device of the group has read are deleted."""
        if not self._free_number():
            return None
        with self._connections.read() as connection:
            own = stamps.device(connection)
            head, heads = state.head(connection, own), state.heads(connection, except_device=own)
            made, total, parts = int(self._clock()), 0, 1
            found = outgoing.in_batches(self._everything(connection))
            for parts, (texts, _) in enumerate(found, 2):
                self._put_part(own, head, heads, texts, made, part=parts - 1, parts=0)
                total += len(texts)
            # It says how many there are, and is put last: without it the others are none.
            self._put_part(own, head, heads, [], made, part=0, parts=parts)
            known = state.known_devices(connection)
        with self._connections.write() as connection:
            state.set_snapshot(connection, own, head.number)
        writers = {name.partition("/")[2] for name in self._store.list_since(f"{WRITERS}/")}
        others = (writers | known.keys()) - {own} - self._removed.keys()
        seen = [known[device].seen if device in known else 0 for device in others]
        self._delete_read_batches(own, min([head.number, *seen]))
        return total

    def _free_number(self) -> bool:
        """See that nothing of this device has the number of the next snapshot, which would not replace it; False if another
        copy of this file was in the way."""
        with self._connections.read() as connection:
            own, sent = stamps.device(connection), state.sent_through(connection)
            number = state.head(connection, own).number
        parts = self._store.list_since(f"{SNAPSHOTS}/{own}/{number:010d}/")
        if part_name(own, number, 0) in parts:
            return self._put_batch(own, [], sent, last=False)
        for name in parts:  # of one that was cut off
            self._store.delete(name)
        return True

    def _put_part(
        self,
        own: str,
        head: Head,
        heads: dict[str, Head],
        texts: Sequence[bytes],
        made: int,
        *,
        part: int,
        parts: int,
    ) -> None:
        batch = self._make_batch("snapshot", own, head, heads, texts, made, part=part, parts=parts)
        self._store.put_if_absent(part_name(own, head.number, part), self._sealer.seal(batch))

    def _delete_read_batches(self, own: str, until: int) -> None:
        """Delete own batches that a snapshot includes and that everybody has read; the last one of them stays."""
        for name in self._store.list_since(f"{BATCHES}/{own}/"):
            if _batch_number(name) < until:
                self._store.delete(name)
        names = self._store.list_since(f"{SNAPSHOTS}/{own}/")
        newest = max((_part_number(name) for name in names), default=0)
        for name in names:
            if _part_number(name) < newest:
                self._store.delete(name)

    def _drop_removed(self) -> None:
        """Delete what removed devices wrote, once every device of the group has read it, and a snapshot has it for who joins."""
        gone = self._writers & self._removed.keys()
        if not gone or self._facts_only:
            return
        with self._connections.read() as connection:
            own = stamps.device(connection)
            read = [state.heads(connection, except_device=own)]
        read += [self._read_by(device) for device in self._writers - self._removed.keys() - {own}]
        nothing = Head(number=0, hash="")
        ready = [
            device
            for device in sorted(gone)
            if all(heads.get(device, nothing).number >= self._removed[device] for heads in read)
        ]
        if not ready or self.write_snapshot() is None:
            return
        for device in ready:
            for folder in (BATCHES, SNAPSHOTS):
                for name in self._store.list_since(f"{folder}/{device}/"):
                    self._store.delete(name)
            self._store.delete(f"{WRITERS}/{device}")  # last: whoever is killed here goes on with it

    def _read_by(self, device: str) -> dict[str, Head]:
        """What a device had read when it wrote its last batch; nothing where that cannot be told."""
        names = self._store.list_since(f"{BATCHES}/{device}/")
        data = self._store.get(names[-1]) if names else None
        with suppress(BatchError):
            if data is not None:
                return self._sealer.open(data).header.heads
        return {}

    def _may_snapshot(self) -> None:
        """Write a snapshot where there are many batches since the last one.

        A device that sends no turns writes none: it would hide the turns of others from who joins.
        """
        if self._facts_only:
            return
        with self._connections.read() as connection:
            own = stamps.device(connection)
            number = state.head(connection, own).number
            last = state.snapshot_number(connection, own)
        if number - last >= SNAPSHOT_EVERY:
            self.write_snapshot()

    # Erasing

    def _erase_pending(self) -> None:
        """Erase what other devices erased. What cannot be done now waits."""
        result = erase_pending(self._connections, self._clock, self._sealer, self._on_erased)
        self._erased += result.memories
        if result.operation is not None:
            self._operations.append(result.operation)
        self._notes += result.notes

    def _remove_erased_lines(self) -> None:
        """Take what was erased out of own batches in the store; a snapshot that has nothing of it replaces an older one."""
        with self._connections.read() as connection:
            own = stamps.device(connection)
            erased = ErasedLines.load(connection)
        if not erased.noted:
            return
        for name in self._store.list_since(f"{BATCHES}/{own}/"):
            data = self._store.get(name)
            again: set[str] = set()
            if data is None:
                continue
            with suppress(BatchError):
                with self._connections.read() as connection:
                    left = erased.batch_without(connection, self._sealer.open(data), again)
                if left is not None:
                    # Before the lines are gone: whoever is killed here sends these things all the same.
                    with self._connections.write() as connection:
                        for thing in again - erased.names:
                            sync_versions.note_merged(connection, thing)
                    self._store.replace(name, self._sealer.seal(left))
        # Batches that it includes are no longer in the store, so it does not go before there is another one.
        if self._store.list_since(f"{SNAPSHOTS}/{own}/"):
            self.write_snapshot()
        with self._connections.write() as connection:
            erased.forget(connection)
            state.drop_kept(connection)
        self._notes.append(KEEPS_VERSIONS)

    # Writing

    def _push_changes(self) -> None:
        with self._connections.write() as connection:
            versions.note_local(connection)
            # What is erased from now on is in none of the batches that are written next.
            connection.execute("UPDATE sync_erased SET sent = 2 WHERE sent = 0")
        for _ in range(3):  # another copy may write under the same name
            if self._push_all():
                return

    def _push_all(self) -> bool:
        """Send what is new here; False if another copy of this file was in the way, and it is to be sent again."""
        with self._connections.read() as connection:
            own, until, sent = (
                stamps.device(connection),
                versions.noted_through(connection),
                state.sent_through(connection),
            )
            lost = state.history_lost(connection)
            if lost:
                self._notes.append(_ALL_AGAIN if sent == state.EVERYTHING else _FIRST_LINES)
                found = self._everything(connection)
            else:
                found = outgoing.changed_lines(
                    connection, sent, until, self._sealer.keyed_hash, facts_only=self._facts_only
                )
            any_sent = False
            for texts, last in outgoing.in_batches(found):
                any_sent = True
                if not self._put_batch(own, texts, until, last=last):
                    return False
            told = state.told_heads(connection)
            heads = state.heads(connection, except_device=own)
            behind = max((one.number - told.get(device, 0) for device, one in heads.items()), default=0)
            wrote = state.head(connection, own).number
        # What a removed device wrote goes when all have said that they have read it.
        waited_for = any(
            device in heads and (not wrote or heads[device].number > told.get(device, 0))
            for device in self._writers & self._removed.keys()
        )
        if not any_sent and (behind >= TELL_EVERY or waited_for):
            return self._put_batch(own, [], until, last=True)
        if not any_sent and until > sent:
            with self._connections.write() as connection:
                state.set_sent_through(connection, until)
        return True

    def _everything(self, connection: apsw.Connection) -> Iterator[lines.SyncLine]:
        return outgoing.all_lines(connection, self._sealer.keyed_hash, facts_only=self._facts_only)

    def _put_batch(self, own: str, texts: list[bytes], until: int, *, last: bool) -> bool:
        with self._connections.write() as connection:
            head, heads = state.head(connection, own), state.heads(connection, except_device=own)
            batch = self._make_batch("batch", own, head, heads, texts, int(self._clock()), more=not last)
            writing = state.Writing(number=batch.header.number, hash=batch.hash, sent=until, last=last)
            state.set_pending_write(connection, writing)
        if not self._store.put_if_absent(batch_name(own, batch.header.number), self._sealer.seal(batch)):
            self._renew_device(own, batch.header.number)
            return False
        self._note_written(batch, writing)
        self._sent += len(texts)
        self._batches_sent += 1
        return True

    def _note_written(self, batch: Batch, writing: state.Writing) -> None:
        with self._connections.write() as connection:
            state.advance_head(connection, batch.header, batch.hash, batch.header.device)
            state.set_pending_write(connection, None)
            state.set_told_heads(
                connection, {device: one.number for device, one in batch.header.heads.items()}
            )
            if writing.last:
                state.set_sent_through(connection, writing.sent)
                connection.execute("UPDATE sync_erased SET sent = 1 WHERE sent = 2")
                connection.execute("DELETE FROM sync_merged")

    def _make_batch(
        self, kind: Literal["batch", "snapshot"], own: str, head: Head, heads: dict[str, Head], texts: Sequence[bytes],
        made_at: int, *, part: int = 0, parts: int = 1, more: bool = False,
    ) -> Batch:  # fmt: skip
        snapshot = kind == "snapshot"
        header = BatchHeader(
            kind=kind, group=self._sealer.group, device=own, number=head.number + (not snapshot), previous=head.hash,
            heads=heads, count=len(texts), lines=lines_hash(texts), made_at=made_at, epoch=self._sealer.epoch, part=part,
            parts=parts, more=more,
        )  # fmt: skip
        return Batch(header, tuple(texts))

    # The report

    def _make_report(self, seconds: float) -> SyncReport:
        with self._connections.read() as connection:
            own = stamps.device(connection)
            devices = [
                DeviceState(
                    device=device, name=device_name(device), number=one.head.number, waiting=self._waiting.get(device, 0),
                    at=one.at, seen=one.seen, own=device == own,
                )
                for device, one in state.known_devices(connection).items()
            ]  # fmt: skip
        return SyncReport(
            sent=self._sent, received=self._received, batches_sent=self._batches_sent,
            batches_received=self._batches_received, devices=tuple(devices), problems=tuple(self._problems),
            changes={word: number for word, number in self._counts.items() if number}, questions=self._questions,
            erased=self._erased,
            operations=tuple(self._operations), notes=tuple(self._notes), seconds=seconds,
        )  # fmt: skip


def part_name(device: str, number: int, part: int) -> str:
    return f"{SNAPSHOTS}/{device}/{number:010d}/{part:04d}"


def _batch_number(name: str) -> int:
    last = name.rpartition("/")[2]
    return int(last) if last.isdecimal() else -1


def _part_number(name: str) -> int:
    return int(name.split("/")[2])
