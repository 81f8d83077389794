"""Checks of base rows. They are never repaired: the person decides what to do."""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.records import ID_PREFIX, Finding
from memtui.engine.store.memories import content_hash
from memtui.engine.store.tables import MEMORY

from .findings import CheckContext, finding, of, rows

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


def memories(scene: CheckContext) -> Iterator[Finding]:
    """Ids, confidences, JSON and times of the memories are sane."""
    for message, condition in _WRONG_MEMORIES:
        found = rows(scene, f"SELECT id FROM memories WHERE {condition}")
        if found:
            yield finding("rows", f"{message} ({found.total:,})", found, remedy=_LOOK)
    soon = int(scene.now) + 2 * _DAY
    ahead = rows(scene, "SELECT id FROM memories WHERE created_at > ?1 OR last_accessed > ?1", soon)
    if ahead:
        yield finding(
            "times", f"memories were recorded in the future ({ahead.total:,}): was the clock wrong?", ahead, warning=True,
            remedy="Nothing is lost. They count as new until their time has come.",
        )  # fmt: skip
    if scene.deep:
        wrong = [
            identity
            for identity, content, stored in scene.connection.execute(
                "SELECT id, content, content_hash FROM memories"
            )
            if content_hash(content) != stored
        ]
        if wrong:
            yield finding("rows", f"content hashes are wrong ({len(wrong):,})", of(wrong), remedy=_LOOK)


def other_rows(scene: CheckContext) -> Iterator[Finding]:
    """JSON of the other tables is what it should be; names of entities are names."""
    for table, column, type, name in _JSON:
        wrong = f"iif(json_valid({column}), json_type({column}) <> '{type}', 1)"
        found = rows(scene, f"SELECT {name} FROM {table} WHERE {wrong}")
        if found:
            problem = f"rows of {table} cannot be read ({found.total:,}: {', '.join(found.ids[:3])})"
            yield finding(
                "rows", problem, remedy="Restore a backup from before: memtui backup list shows them."
            )
    nameless = rows(
        scene,
        "SELECT id FROM entities WHERE trim(canonical_name) = '' OR id NOT GLOB 'ent_*' OR merged_into = eid",
    )
    if nameless:
        yield finding(
            "rows", f"entities have no name, no proper id, or are merged into themselves ({nameless.total:,})", nameless,
            about="entities", remedy="Open them in Entities and name or hide them.",
        )  # fmt: skip


def sessions(scene: CheckContext) -> Iterator[Finding]:
    unknown = rows(
        scene,
        "SELECT id FROM memories WHERE kind = 'episode' AND session_id IS NOT NULL AND "
        "session_id NOT IN (SELECT session_id FROM sessions_consolidations)",
    )
    if unknown:
        yield finding(
            "sessions", f"turns whose session is not registered ({unknown.total:,})", unknown,
            remedy="They are there and found by search; one more turn registers their session again.",
        )  # fmt: skip
    odd = rows(
        scene,
        "SELECT session_id FROM sessions_consolidations WHERE first_seen_at > last_seen_at OR attempts < 0 "
        "OR consolidated_through < 0 OR (consolidated_through IS NULL AND consolidated_at IS NOT NULL) "
        "OR consolidated_through > (SELECT seq FROM sqlite_sequence WHERE name = 'memories')",
    )
    if odd:
        yield finding(
            "sessions", f"sessions have impossible times or watermarks ({odd.total:,})", odd, about="sessions",
            remedy="Consolidate them again (r in Sessions): that sets the watermark anew.",
        )  # fmt: skip
    soon = int(scene.now) + 2 * _DAY
    ahead = rows(
        scene,
        "SELECT session_id FROM sessions_consolidations WHERE consolidated_at > ?1 OR next_attempt_at > ?1",
        soon,
    )
    if ahead:
        yield finding(
            "times", f"sessions were consolidated, or wait, in the future ({ahead.total:,}): was the clock wrong?", ahead,
            about="sessions", warning=True, remedy="r in Sessions reads them now.",
        )  # fmt: skip
