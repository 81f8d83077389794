"""Health of the memories: duplicates, repeated recalls, unsafe, stale and unused memories.

The work is bounded: a hundred thousand memories take seconds. Where not all were looked at, the result says which were.
Nothing is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.consolidation.suspicious import find_suspicions
from memtui.engine.records import MemoryRecord, Options, Record, RowsOf
from memtui.engine.search.filters import compiler
from memtui.engine.store import memories, metadata, vectors
from memtui.engine.store.sql import scalar

from . import near_duplicates, scan

HealthKind = Literal[
    "secrets", "instructions", "repeated recalls", "unsupported", "duplicates", "near duplicates", "stale", "vectorless",
    "orphans",
]  # fmt: skip
MOST_NAMED = 200
"""Rows that are named; a filter may have no more alternatives."""
_LATEST = 300


class HealthFinding(Record):
    """What was found of one kind: ``total`` rows, the worst of them in ``ids``.

    ``about``: what the ids name. ``filter`` lists the rows that ``ids`` names (for memories: with ``memtui list``), or all
    of them where there is an expression for that. ``limit``: what was not looked at; "" for nothing. ``remedy``: what to do.
    """

    kind: HealthKind
    total: int
    ids: tuple[str, ...] = ()
    about: RowsOf = "memories"
    filter: str = ""
    limit: str = ""
    remedy: str = ""


class HealthReport(Record):
    """One finding of each kind, the worst first; ``total`` is 0 where all is well. ``seconds``: what it took."""

    findings: tuple[HealthFinding, ...]
    at: int
    seconds: float

    @property
    def is_healthy(self) -> bool:
        return not any(finding.total for finding in self.findings)


class _HealthScan(NamedTuple):
    connection: apsw.Connection
    now: float
    options: Options
    stopped: Callable[[], bool]


def check_health(
    connection: apsw.Connection, now: float, options: Options, stopped: Callable[[], bool] = lambda: False
) -> HealthReport:
    """Look for everything; ``stopped`` is asked between the parts, and what it cuts off counts as not found."""
    started = time.perf_counter()
    findings: list[HealthFinding] = []
    for look in (
        _find_secrets,
        _find_suspicious,
        _repeated_recalls,
        _find_duplicates,
        _find_near_duplicates,
        _find_stale,
        _find_without_vectors,
        _find_orphans,
    ):
        if not stopped():
            findings += look(_HealthScan(connection, now, options, stopped))
    return HealthReport(findings=tuple(findings), at=int(now), seconds=time.perf_counter() - started)


def health_watermark(connection: apsw.Connection, now: float) -> str:
    """Changes with everything that health depends on; the day is part of it, since time makes things stale."""
    counted = ", ".join(f"coalesce(sum(seq) FILTER (WHERE name = '{table}'), 0)" for table in _COUNTED)
    numbers = connection.execute(f"SELECT {counted} FROM sqlite_sequence").fetchone()
    waiting = scalar(connection, "SELECT count(*) FROM index_queue")
    return f"{numbers} {waiting} {metadata.get(connection, 'judged')} {int(now) // 86_400}"


# Every change is an operation; vectors, recalls and entities found in texts are none.
_COUNTED = ("ops", "vector_log", "recalls", "entities", "memories")


def _find_secrets(look: _HealthScan) -> list[HealthFinding]:
    return [
        _finding_of_filter(
            look.connection, "secrets", "is:exposed", look.now,
            "Correct them without the secret, or erase them for good; change the key where it was used.",
        )
    ]  # fmt: skip


def _find_suspicious(look: _HealthScan) -> list[HealthFinding]:
    """Orders from others than the person, and facts that their sources do not say; what somebody looked at is well."""
    known = scan.stored_result(look.connection)
    waiting = f"+m.rid > {known.through} AND m.kind <> 'episode' AND m.valid_until IS NULL"
    unread = int(scalar(look.connection, f"SELECT count(*) FROM memories m WHERE {waiting}"))
    latest = look.connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE {waiting} ORDER BY m.rid DESC LIMIT ?", (_LATEST,)
    ).fetchall()
    ordering, unsupported = [], []
    for note in (
        *(memories.memory_record(row, look.now) for row in latest),
        *_active_by_ids(look.connection, known.suspicious, look.now),
    ):
        if note.confirmed_at is None and note.reviewed_at is None:
            kinds = {
                one.kind
                for one in find_suspicions(
                    note.content, note.trust, scan.source_evidence(look.connection, note, look.now)
                )
            }
            ordering += [note.id] * ("instruction" in kinds)
            unsupported += [note.id] * ("unsupported" in kinds)
    limit = f"{unread - len(latest):,} notes are still to be read" if unread > len(latest) else ""
    return [
        _finding_of_ids(
            "instructions", ordering, limit=limit,
            remedy="They talk to the assistant, and are kept from what it is told. Confirm what is harmless, forget the rest.",
        ),
        _finding_of_ids(
            "unsupported", unsupported, limit=limit,
            remedy="The turns they were drawn from do not say this. Read them side by side; correct, confirm or forget.",
        ),
    ]  # fmt: skip


def _repeated_recalls(look: _HealthScan) -> list[HealthFinding]:
    repeated, limit = near_duplicates.repeated_recalls(look.connection, look.stopped)
    remedy = "The memory told these to an agent before they were said again. Forget the copy, or it confirms itself."
    return [_finding_of_ids("repeated recalls", repeated, limit=limit, remedy=remedy)]


def _find_duplicates(look: _HealthScan) -> list[HealthFinding]:
    rows = look.connection.execute(
        """
        SELECT d.id FROM memories d JOIN (
            SELECT content_hash, kind FROM memories WHERE kind <> 'episode' AND valid_until IS NULL
            GROUP BY content_hash, kind HAVING count(*) > 1) t ON t.content_hash = d.content_hash AND t.kind = d.kind
        WHERE d.kind <> 'episode' AND d.valid_until IS NULL ORDER BY d.content_hash, d.rid
        """
    )
    ids = [str(id) for (id,) in rows]
    return [
        _finding_of_ids(
            "duplicates", ids, remedy="Mark what says the same and merge it: sources and tags are kept."
        )
    ]


def _find_near_duplicates(look: _HealthScan) -> list[HealthFinding]:
    known = scan.stored_result(look.connection)
    pairs: list[Sequence[str]] = list(known.duplicates)
    compared, limit = near_duplicates.duplicate_pairs(look.connection, look.stopped)
    pairs += compared
    active = {
        note.id: note
        for note in _active_by_ids(look.connection, [one for pair in pairs for one in pair], look.now)
    }
    ids: dict[str, None] = {}
    for pair in pairs:
        if all(one in active for one in pair) and active[pair[0]].content != active[pair[1]].content:
            ids |= dict.fromkeys(pair)
    remedy = "Merge what says the same, or say in Review that both are true."
    return [_finding_of_ids("near duplicates", list(ids), limit=limit, remedy=remedy)]


def _find_stale(look: _HealthScan) -> list[HealthFinding]:
    remedy = "Confirm what still holds, correct what has changed, forget what is over."
    return [_finding_of_filter(look.connection, "stale", "is:stale", look.now, remedy)]


def _find_without_vectors(look: _HealthScan) -> list[HealthFinding]:
    if look.options.embedder == "off":
        return [HealthFinding(kind="vectorless", total=0, limit="vectors are switched off")]
    remedy = "They are found by words and names only; memtui embed makes their vectors."
    finding = _finding_of_filter(
        look.connection, "vectorless", "is:vectorless -is:unembedded", look.now, remedy
    )
    waiting = vectors.count_unembedded(look.connection)
    limit = f"{waiting:,} wait for theirs, which are made in the background" if waiting else ""
    return [replace(finding, limit=limit)]


def _find_orphans(look: _HealthScan) -> list[HealthFinding]:
    rows = look.connection.execute(
        """
        SELECT e.id FROM entities e WHERE e.merged_into IS NULL AND NOT e.hidden AND e.mention_count = 0
        AND NOT EXISTS (SELECT 1 FROM memory_entities l WHERE l.eid = e.eid)
        AND NOT EXISTS (SELECT 1 FROM entities g JOIN memory_entities l ON l.eid = g.eid WHERE g.merged_into = e.eid)
        ORDER BY e.eid
        """
    )
    ids = [str(id) for (id,) in rows]
    remedy = "No memory names them. Say what is no entity, merge what is another name of one."
    return [_finding_of_ids("orphans", ids, about="entities", remedy=remedy)]


def _finding_of_ids(
    kind: HealthKind, ids: Sequence[str], *, remedy: str, about: RowsOf = "memories", limit: str = ""
) -> HealthFinding:
    named = tuple(ids[:MOST_NAMED])
    return HealthFinding(
        kind=kind, total=len(ids), ids=named, about=about, limit=limit, remedy=remedy if ids else "",
        filter=f"id:{','.join(named)}" if ids else "",
    )  # fmt: skip


def _finding_of_filter(
    connection: apsw.Connection, kind: HealthKind, filter: str, now: float, remedy: str
) -> HealthFinding:
    compiled = compiler.compile_filter(filter, now)
    total = int(
        scalar(connection, f"SELECT count(*) FROM memories m WHERE {compiled.where}", compiled.bindings)
    )
    rows = connection.execute(
        f"SELECT m.id FROM memories m WHERE {compiled.where} ORDER BY +m.event_time, m.rid LIMIT {MOST_NAMED}",
        compiled.bindings,
    )
    return HealthFinding(
        kind=kind, total=total, ids=tuple(str(id) for (id,) in rows), remedy=remedy if total else "",
        filter=f"{filter} kind:episode,fact,reflection,observation" if total else "",
    )  # fmt: skip


def _active_by_ids(connection: apsw.Connection, ids: Sequence[str], now: float) -> list[MemoryRecord]:
    """The memories with these ids that are not in the Trash, in this order."""
    rids = [
        rid
        for id in dict.fromkeys(ids)
        for (rid,) in connection.execute(
            "SELECT rid FROM memories WHERE id = ? AND valid_until IS NULL", (id,)
        )
    ]
    return memories.by_rid(connection, rids, now)
