"""Erase here what other devices erased."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw
from msgspec.structs import replace

from memtui.engine.clock import Clock
from memtui.engine.erase.devices import name_on_devices
from memtui.engine.erase.eraser import DEVICE, Eraser
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Operation, Record
from memtui.engine.records.erase import ErasePlan, EraseRequest
from memtui.engine.store import history
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import scalar
from memtui.engine.wording import plural

from . import lines, state
from .batch import Sealer


class PendingErase(Record):
    """What an erase did that another device asked for. ``memories``: how many went; ``notes``: sentences for the report."""

    memories: int = 0
    operation: Operation | None = None
    notes: tuple[str, ...] = ()


def erase_pending(
    connections: Connections, clock: Clock, sealer: Sealer, on_erased: Callable[[], None]
) -> PendingErase:
    """Erase what other devices erased, with a proof of this file and its backups. What cannot be done now waits."""
    with connections.read() as connection:
        todo = [str(name) for (name,) in connection.execute("SELECT name FROM sync_erased WHERE todo = 1")]
    if not todo:
        return PendingErase()
    eraser = Eraser(connections, clock, f"{DEVICE}other", on_erased=on_erased)
    try:
        eraser.resume()  # one that was killed
    except MemtuiError as error:
        return PendingErase(
            notes=(f"An erase that was interrupted waits: {error.message} {error.hint}".strip(),)
        )
    with connections.read() as connection:
        ids = sorted(
            name for name in todo if lines.is_memory(name) and _is_in_file_or_history(connection, name)
        )
    erased = PendingErase()
    if ids:
        try:
            erased = _erase(eraser, _plan(connections, sealer, eraser, ids), len(ids))
        except MemtuiError as error:
            return PendingErase(
                notes=(f"What another device erased is still here: {error.message} {error.hint}".strip(),)
            )
    with connections.write() as connection:
        connection.executemany("UPDATE sync_erased SET todo = 0 WHERE name = ?", [(name,) for name in todo])
        state.set_to_keep(connection, ())
    return erased


def _plan(connections: Connections, sealer: Sealer, eraser: Eraser, ids: Sequence[str]) -> ErasePlan:
    """What goes with these memories here, but for what the person kept where they erased them."""
    with connections.read() as connection:
        to_keep = set(state.to_keep(connection))
    plan = eraser.plan(EraseRequest(ids=tuple(ids)))
    while to_keep:
        with connections.read() as connection:
            kept = {
                one.key
                for one in plan.carriers
                if one.choice
                and one.outcome != "kept"
                and sealer.keyed_hash(name_on_devices(connection, one.key)) in to_keep
            }
        if not kept:
            break  # what is kept may keep more, or show more that goes
        plan = eraser.plan(replace(plan.request, keep=(*plan.request.keep, *sorted(kept))))
    return plan


def _erase(eraser: Eraser, plan: ErasePlan, asked: int) -> PendingErase:
    """``asked``: how many of the memories the other device named."""
    proof = eraser.run(plan)
    notes = []
    if proof.memories > asked:
        more = plural(proof.memories - asked, "more memory")
        notes.append(f"{more} went here, drawn from what another device erased.")
    if not proof.complete:
        notes.append(f"The erase is not proven yet: {'; '.join(proof.problems)}")
    return PendingErase(memories=proof.memories, operation=proof.operation, notes=tuple(notes))


def _is_in_file_or_history(connection: apsw.Connection, id: str) -> bool:
    """Whether a memory is in the file or in its history."""
    if scalar(connection, "SELECT 1 FROM memories WHERE id = ?", (id,)):
        return True
    gone = history.operation_that_removed(connection, id)
    return gone is not None and gone[0] == id
