"""Carry over from the live file what a restore must keep: erased memories, pending erases, counters of keys.

What was erased for good stays erased, an erase that was interrupted stays to be finished, and a number that was given is
never given again: whoever had it in mind would file their rows under somebody else's operation.
"""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.records import Operation
from memtui.engine.records.backups import KIND_LABELS, RestorePreview
from memtui.engine.records.history import RESTORE_BACKUP, RestoreGap
from memtui.engine.store import memories, metadata, operations, stamps, tombstones
from memtui.engine.store.past import GAPS, restore_gaps
from memtui.engine.store.sql import json_text
from memtui.engine.wording import plural

_GAPS_KEPT = 20
# A nonce distinguishes its rows from others of the same number.
_RENUMBERED = "vector_log"


def restore_label(preview: RestorePreview, when: str) -> str:
    """What history calls a restore: which backup it was, and what came of it.

    ``Restored 2026-03-03 14:00: lost 12 turns, 1 fact; 2 facts came back``.
    """
    counts = [one for one in preview.counts if one.what in KIND_LABELS.values()]
    lost = ", ".join(plural(one.lost, one.what.removesuffix("s")) for one in counts if one.lost)
    back = ", ".join(plural(one.back, one.what.removesuffix("s")) for one in counts if one.back)
    changed = sum(one.changed for one in counts)
    parts = (
        f"lost {lost}" if lost else "",
        f"{back} came back" if back else "",
        f"{changed:,} as before" if changed else "",
    )
    return f"Restored {when}: {'; '.join(filter(None, parts)) or 'no memory differed'}"


def copy_into_restored(
    live: apsw.Connection | None, copied: apsw.Connection, gap: RestoreGap, actor: str, label: str
) -> Operation:
    """Make a copy of a backup what the live file is to become; one transaction. Returns the last line of its history.

    ``live`` None: nothing can be read of it.
    """
    with copied:
        if live is not None:
            _copy_erased_hashes(live, copied)
            _copy_pending_erase(live, copied)
            _copy_row_numbers(live, copied)
        stamps.renew_device(copied)
        copied.execute(
            "INSERT INTO ops(at, actor, kind, label) VALUES (?, ?, ?, ?)",
            (gap.end, actor, RESTORE_BACKUP, label),
        )
        operation = operations.get(copied, copied.last_insert_rowid())
        # What was done between the backup and now is no longer in this file: whoever looks back should know.
        gap = msgspec.structs.replace(gap, operation=operation.op_id)
        metadata.set_value(copied, GAPS, json_text([*restore_gaps(copied), gap][-_GAPS_KEPT:]))
    return operation


def _copy_row_numbers(live: apsw.Connection, copied: apsw.Connection) -> None:
    for table, last in live.execute("SELECT name, seq FROM sqlite_sequence WHERE name <> ?", (_RENUMBERED,)):
        copied.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, table))
        if not copied.changes():
            copied.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (table, last))


def _copy_erased_hashes(live: apsw.Connection, copied: apsw.Connection) -> None:
    """Hashes count under the salt that they were made with; the file keeps its own beside that of another file's backup."""
    copied.executemany(
        "INSERT INTO erased_keys(hash) VALUES (?) ON CONFLICT DO NOTHING",
        live.execute("SELECT hash FROM erased_keys"),
    )
    own, *others = dict.fromkeys(
        salt.hex() for salt in (*tombstones.salts_of(live), *tombstones.salts_of(copied))
    )
    metadata.set_value(copied, tombstones.SALT, own)
    if others:
        metadata.set_value(copied, tombstones.OTHER_SALTS, " ".join(others))


def _copy_pending_erase(live: apsw.Connection, copied: apsw.Connection) -> None:
    """An erase that was interrupted is as far as the restored rows say: begun anew where they hold any of it."""
    from memtui.engine.erase import proof

    pending = proof.read_pending_erase(live)
    if pending is None:
        proof.remove_pending_erase(copied)  # it was finished since the backup, or it is another file's
        return
    ids = pending.ids or pending.request.ids or _session_condition(live, pending.request.session_id)
    restored_ids = tuple(id for id in ids if memories.memory_exists(copied, id))
    request = pending.request
    if restored_ids and request.ids:
        request = msgspec.structs.replace(request, ids=restored_ids)
    proof.put_pending_erase(
        copied, msgspec.structs.replace(pending, request=request, ids=() if restored_ids else ids)
    )


def _session_condition(live: apsw.Connection, session_id: str | None) -> tuple[str, ...]:
    return tuple(
        str(id) for (id,) in live.execute("SELECT id FROM memories WHERE session_id = ?", (session_id,))
    )
