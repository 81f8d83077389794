"""Checks of rows that cannot be made again: memories, sessions, jobs, history, erasures."""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.records import ID_PREFIX, Finding
from memtui.engine.store.history import INTERRUPTED
from memtui.engine.store.memories import content_hash
from memtui.engine.store.tables import COVERED, MEMORY
from memtui.engine.store.tombstones import UNFINISHED
from memtui.engine.wording import plural

from .findings import CheckContext, count_rows, make_finding, rows_of_ids, select_rows

_LOOK = "Open them: correct or forget what is wrong, or restore a backup from before."
_DAY = 86_400
# SQLite writes dates of the years 0 to 9999; milliseconds taken for seconds lie far beyond.
_FIRST, _LAST = -62_167_219_200, 253_402_300_799

_READABLE = " AND ".join(f"json_valid({column.name})" for column in MEMORY if column.json)
_WRONG_MEMORIES: tuple[tuple[str, str], ...] = (
    (
        "ids do not match their kind",
        " OR ".join(f"(kind = '{kind}' AND id NOT GLOB '{prefix}*')" for kind, prefix in ID_PREFIX.items()),
    ),
    ("confidences lie outside 0 to 1", "NOT confidence BETWEEN 0 AND 1"),
    ("JSON columns cannot be read", f"NOT ({_READABLE})"),
    (
        "JSON columns hold something else than they should",
        f"{_READABLE} AND ("
        + " OR ".join(f"json_type({column.name}) <> '{column.json}'" for column in MEMORY if column.json)
        + ")",
    ),
    ("only facts decay", "kind <> 'fact' AND decay_rate <> 0"),
    ("confirmed facts must not decay", "confirmed_at IS NOT NULL AND decay_rate <> 0"),
    ("what is in the Trash must say why", "(valid_until IS NULL) <> (ended_by IS NULL)"),
    (
        "times that no calendar has",
        " OR ".join(
            f"NOT coalesce({column.name}, 0) BETWEEN {_FIRST} AND {_LAST}"
            for column in MEMORY
            if column.is_time
        ),
    ),
)
# Table, column, the type of its JSON, name of the row as people know it.
_JSON: tuple[tuple[str, str, str, str], ...] = (
    ("proposals", "payload", "object", "id"),
    ("profiles", "settings", "object", "name"),
    ("saved_queries", "expected", "array", "name"),
    ("question_results", "places", "array", "query_id"),
    ("recalls", "memory_ids", "array", "recall_id"),
    ("job_runs", "report", "object", "run_id"),
)


def check_memories(context: CheckContext) -> Iterator[Finding]:
    """Ids, confidences, JSON and times of the memories are sane."""
    for message, condition in _WRONG_MEMORIES:
        rows = select_rows(context, f"SELECT id FROM memories WHERE {condition}")
        if rows:
            yield make_finding("rows", f"{message} ({rows.total:,})", rows, remedy=_LOOK)
    soon = int(context.now) + 2 * _DAY
    ahead = select_rows(context, "SELECT id FROM memories WHERE created_at > ?1 OR last_accessed > ?1", soon)
    if ahead:
        yield make_finding(
            "times", f"memories were recorded in the future ({ahead.total:,}): was the clock wrong?", ahead, warning=True,
            remedy="Nothing is lost. They count as new until their time has come.",
        )  # fmt: skip
    if context.deep:
        wrong = [
            id
            for id, content, stored in context.connection.execute(
                "SELECT id, content, content_hash FROM memories"
            )
            if content_hash(content) != stored
        ]
        if wrong:
            yield make_finding(
                "rows", f"content hashes are wrong ({len(wrong):,})", rows_of_ids(wrong), remedy=_LOOK
            )


def json_and_entity_rows(context: CheckContext) -> Iterator[Finding]:
    """JSON of the other tables is what it should be; names of entities are names."""
    for table, column, type, name in _JSON:
        wrong = f"iif(json_valid({column}), json_type({column}) <> '{type}', 1)"
        rows = select_rows(context, f"SELECT {name} FROM {table} WHERE {wrong}")
        if rows:
            problem = f"rows of {table} cannot be read ({rows.total:,}: {', '.join(rows.ids[:3])})"
            yield make_finding(
                "rows", problem, remedy="Restore a backup from before: memtui backup list shows them."
            )
    nameless = select_rows(
        context,
        "SELECT id FROM entities WHERE trim(canonical_name) = '' OR id NOT GLOB 'ent_*' OR merged_into = eid",
    )
    if nameless:
        yield make_finding(
            "rows", f"entities have no name, no proper id, or are merged into themselves ({nameless.total:,})", nameless,
            about="entities", remedy="Open them in Entities and name or hide them.",
        )  # fmt: skip


def check_sessions(context: CheckContext) -> Iterator[Finding]:
    unknown = select_rows(
        context,
        "SELECT id FROM memories WHERE kind = 'episode' AND session_id IS NOT NULL AND "
        "session_id NOT IN (SELECT session_id FROM sessions_consolidations)",
    )
    if unknown:
        yield make_finding(
            "sessions", f"turns whose session is not registered ({unknown.total:,})", unknown,
            remedy="They are there and found by search; one more turn registers their session again.",
        )  # fmt: skip
    odd = select_rows(
        context,
        "SELECT session_id FROM sessions_consolidations WHERE first_seen_at > last_seen_at OR attempts < 0 "
        "OR consolidated_through < 0 OR (consolidated_through IS NULL AND consolidated_at IS NOT NULL) "
        "OR consolidated_through > (SELECT seq FROM sqlite_sequence WHERE name = 'memories')",
    )
    if odd:
        yield make_finding(
            "sessions", f"sessions have impossible times or watermarks ({odd.total:,})", odd, about="sessions",
            remedy="Consolidate them again (r in Sessions): that sets the watermark anew.",
        )  # fmt: skip
    soon = int(context.now) + 2 * _DAY
    ahead = select_rows(
        context,
        "SELECT session_id FROM sessions_consolidations WHERE consolidated_at > ?1 OR next_attempt_at > ?1",
        soon,
    )
    if ahead:
        yield make_finding(
            "times", f"sessions were consolidated, or wait, in the future ({ahead.total:,}): was the clock wrong?", ahead,
            about="sessions", warning=True, remedy="r in Sessions reads them now.",
        )  # fmt: skip


# What makes a memory what it is. Tags, evidence and marks of being read may come from others too.
_SUBSTANCE = ("content", "kind", "confidence", "decay_rate", "confirmed_at", "valid_until", "ended_by")
_TOUCHED = " OR ".join(f"json_type(c.before, '$.{column}') IS NOT NULL" for column in _SUBSTANCE)


def check_jobs(context: CheckContext) -> Iterator[Finding]:
    """A scheduled job is done at most once for a period."""
    twice = select_rows(
        context,
        "SELECT job || ' for ' || period || ' (' || count(*) || ' times)' FROM job_runs WHERE state = 'done' "
        "AND period NOT LIKE 'manual:%' GROUP BY job, period HAVING count(*) > 1",
    )
    if twice:
        problem = f"{plural(twice.total, 'job')} ran more than once: {', '.join(twice.ids[:3])}"
        yield make_finding(
            "jobs", problem, remedy="Look at both runs in Maintenance and undo one of them (U)."
        )
    backward = count_rows(
        context, "SELECT count(*) FROM job_runs WHERE state = 'done' AND finished_at IS NULL"
    )
    if backward:
        yield make_finding("jobs", f"runs are done but never ended ({backward:,})", warning=True)


def check_protection(context: CheckContext) -> Iterator[Finding]:
    """By history, no job, model or agent changed a memory while it was confirmed."""
    touched = select_rows(
        context,
        f"""
        SELECT DISTINCT coalesce(m.id, json_extract(c.before, '$.id'))
        FROM ops o JOIN changes c ON c.op_id = o.op_id LEFT JOIN memories m ON m.rid = c.lo
        WHERE (o.actor = 'scheduler' OR o.actor LIKE 'agent:%' OR o.kind = 'consolidate')
          AND o.undoes IS NULL AND c.tbl = 'memories'
          AND (c.act = 'delete' OR (c.act = 'update' AND ({_TOUCHED})))
          -- Confirmed then: as the next change of that column found it, else as it is now.
          AND coalesce(
              (SELECT coalesce(json_extract(n.before, '$.confirmed_at'), 0) FROM changes n
               WHERE n.tbl = 'memories' AND n.lo = c.lo AND n.seq >= c.seq AND n.act <> 'insert'
                 AND json_type(n.before, '$.confirmed_at') IS NOT NULL ORDER BY n.seq LIMIT 1),
              m.confirmed_at, 0) <> 0
        """,
    )
    if touched:
        yield make_finding(
            "protection", f"a job, model or agent changed confirmed memories ({touched.total:,})", touched,
            remedy="Open them: their history says what was changed, and undoes it.",
        )  # fmt: skip


def check_history(context: CheckContext) -> Iterator[Finding]:
    if count_rows(context, "SELECT count(*) FROM current_op"):
        yield make_finding("history", "an operation was left open", repairable=True)
    lost = count_rows(context, "SELECT count(*) FROM changes WHERE op_id NOT IN (SELECT op_id FROM ops)")
    if lost:
        yield make_finding(
            "history", f"changes belong to no operation ({lost:,})",
            remedy="They cannot be undone one by one; nothing else is lost.",
        )  # fmt: skip
    known = ", ".join(f"'{table}'" for table in COVERED)
    odd = select_rows(
        context,
        f"SELECT DISTINCT op_id FROM changes WHERE lo > hi OR tbl NOT IN ({known}) "
        "OR (act = 'insert') <> (before IS NULL) OR (before IS NOT NULL AND NOT json_valid(before)) "
        "OR (after IS NOT NULL AND NOT json_valid(after))",
    )
    if odd:
        yield make_finding(
            "history", f"operations have changes that cannot be read ({odd.total:,})", odd, about="operations",
            remedy="They cannot be undone; what is remembered is not concerned.",
        )  # fmt: skip
    half = select_rows(
        context,
        "SELECT op_id FROM ops WHERE state = 'running' AND undoes IS NOT NULL AND label LIKE '%' || ?",
        INTERRUPTED,
    )
    if half:
        yield make_finding(
            "history", f"an undo or redo was interrupted half-way ({half.total:,})", half, about="operations",
            remedy="memtui undo and memtui redo finish it or take it back, as History says.",
        )  # fmt: skip
    stuck = select_rows(
        context,
        "SELECT op_id FROM ops WHERE undone_by IS NOT NULL AND undone_by NOT IN (SELECT op_id FROM ops)",
    )
    if stuck:
        yield make_finding(
            "history", f"operations were undone by one that is not there ({stuck.total:,})", stuck, about="operations",
            remedy="They can be neither undone nor redone; what is remembered is not concerned.",
        )  # fmt: skip
    ahead = select_rows(context, "SELECT op_id FROM ops WHERE at > ?", int(context.now) + 2 * 86_400)
    if ahead:
        yield make_finding(
            "times", f"operations were made in the future ({ahead.total:,}): was the clock wrong?", ahead,
            about="operations", warning=True, remedy="Nothing is lost, and they can be undone.",
        )  # fmt: skip


def erase(context: CheckContext) -> Iterator[Finding]:
    """What was to be erased for good is erased: in the pages and backups too."""
    if count_rows(context, "SELECT count(*) FROM memory_metadata WHERE key = ?", UNFINISHED):
        yield make_finding(
            "erase", "an erase was interrupted before it was proven",
            remedy="memtui erase --resume finishes it; so does E in the app.",
        )  # fmt: skip
