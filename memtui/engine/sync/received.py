"""Batches that came from one device, and why one of them is not applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import apsw
import msgspec

from memtui.engine.clock import Clock
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Operation
from memtui.engine.records.sync import ProblemKind, SyncProblem, changes_words
from memtui.engine.store import history, operations, stamps
from memtui.engine.store.connections import Connections
from memtui.engine.store.import_rows import OtherIds

from . import incoming, lines, state, versions
from .batch import Batch, Removed

_LINES_PER_TRANSACTION = 512


class BadBatchError(Exception):
    """A batch that is not applied, with the reason."""

    def __init__(self, device: str, number: int, kind: ProblemKind, message: str) -> None:
        super().__init__(message)
        self.problem = SyncProblem(device=device, number=number, kind=kind, message=message)


class ReceivedBatches:
    """What comes from one device in one run: one operation of many transactions, signed by the device."""

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        device: str,
        on_finished: Callable[[ReceivedBatches], object],
    ) -> None:
        """``on_finished`` is called with this once the operation has ended."""
        self._connections = connections
        self._clock = clock
        self._on_finished = on_finished
        self._device = device
        self._op_id: int | None = None
        self._name = ""
        """What the device is called beside the others, once the operation begins."""
        self.received = self.batches = self.questions = 0
        self.counts: Counter[str] = Counter()
        self.operation: Operation | None = None

    def apply(self, batch: Batch, *, last: bool = True) -> None:
        """Apply a batch; with its end the file knows that it has it. ``last``: of a snapshot, whether it is its last part.

        Raises BadBatchError for a line that cannot be read: then nothing of the batch is applied.
        """
        found = self._decode_lines(batch)
        with self._connections.read() as connection:
            own = stamps.device(connection)
        with OtherIds() as others:
            self._learn_other_ids(others)
            applying = incoming.Incoming(others, int(self._clock()))
            applying.learn(found)
            for start in range(0, max(len(found), 1), _LINES_PER_TRANSACTION):
                some = found[start : start + _LINES_PER_TRANSACTION]
                with history.continue_long(self._connections, self._begin_operation()) as connection:
                    versions.note_local(connection)
                    with stamps.carrying_stamps(connection):
                        applying.apply(connection, some)
                    if last and start + _LINES_PER_TRANSACTION >= len(found):
                        self._advance_head(connection, batch, own)
            self.counts.update(applying.counts)
            self.questions += applying.questions
        self.received += len(found)
        self.batches += 1

    def _learn_other_ids(self, others: OtherIds) -> None:
        with self._connections.read() as connection:
            for id, here in connection.execute("SELECT id, here FROM sync_other_ids").fetchall():
                others.note_local_id(str(id), str(here))

    def _advance_head(self, connection: apsw.Connection, batch: Batch, own: str) -> None:
        header = batch.header
        if header.kind == "batch":
            state.advance_head(connection, header, batch.hash, own)
            return
        if header.number > state.head(connection, header.device).number:
            state.advance_head(connection, header, header.previous, own)
        state.include_heads(
            connection, {device: one for device, one in header.heads.items() if device != own}
        )

    def _decode_lines(self, batch: Batch) -> list[lines.SyncLine]:
        found = []
        for text in batch.lines:
            if isinstance(text, Removed):
                continue
            try:
                found.append(lines.decode(text))
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                header = batch.header
                raise BadBatchError(
                    header.device, header.number, "damaged", f"a line cannot be read: {error}"
                ) from None
        return found

    def _begin_operation(self) -> int:
        if self._op_id is None:
            with self._connections.read() as connection:
                [self._name] = stamps.device_names(connection, [self._device]).values()
            self._op_id = history.begin_long(
                self._connections,
                self._clock,
                f"device:{self._name}",
                versions.KIND,
                f"Syncing with {self._name}",
            )
        return self._op_id

    def finish(self) -> None:
        """End the operation; one that changed nothing leaves no trace."""
        if self._op_id is not None:
            with suppress(MemtuiError):
                history.finish_long(self._connections, self._op_id, self._operation_label())
            with self._connections.read() as connection:
                self.operation = operations.find(connection, self._op_id)
        self._on_finished(self)

    def _operation_label(self) -> str:
        parts = [
            changes_words(word, number)
            for word, number in self.counts.items()
            if number and word != "refused"
        ]
        what = ", ".join(parts[:4]) or "what was decided"
        return f"Synced from {self._name}: {what}"
