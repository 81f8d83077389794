"""Find every other row that contains the words, and delete or clear all of them in one transaction.

The database is the file, or a copy of a backup in whatever format it has. Rows that stay lose what pointed at the rows that
go. Nothing of it is kept in history; a salted hash of what the source called it stays, so that no import brings it back.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import apsw
import msgspec

from memtui.engine.records.erase import Carrier, CarrierOutcome, CarrierPlace
from memtui.engine.store import full_text, metadata, stamps, tombstones, vectors
from memtui.engine.store.entities import entity_key
from memtui.engine.store.sql import as_json, json_text, scalar
from memtui.engine.store.tombstones import drawn_key, note_key, title_key, turn_keys
from memtui.engine.wording import plural

from . import devices, history
from .closure import (
    ErasedRows,
    censor_value,
    contains_erased_text,
    has_erased_words,
    quoting_notes,
    title_of,
)
from .columns import columns_of, existing_columns
from .matching import CENSORED
from .references import NOTHING, attributes_without, clear_references, list_without, without_ids
from .steps import Step

_object = msgspec.json.Decoder(dict[str, Any]).decode
_any = msgspec.json.Decoder().decode
_WORD = "has a word of it that nothing else says"
_KEPT = "(kept as you wished)"
# The table of each place, and its key.
_ROWS: dict[CarrierPlace, tuple[str, str]] = {
    "session": ("sessions_consolidations", "sid"), "card": ("proposals", "proposal_id"),
    "scratchpad": ("scratchpad", "pad_id"), "question": ("saved_queries", "query_id"),
    "recall": ("recalls", "recall_id"), "entity": ("entities", "eid"), "profile": ("profiles", "profile_id"),
}  # fmt: skip


def planned_steps(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """Every row outside of ``memories`` that has to change, and those that the person keeps."""
    steps: list[Step] = []
    for find_steps in (
        _steps_for_notes,
        _steps_for_sessions,
        _steps_for_proposals,
        _steps_for_scratchpad,
        _steps_for_questions,
        _steps_for_results,
        _steps_for_profiles,
        _steps_for_recalls,
        _steps_for_runs,
        _steps_for_entities,
        _steps_for_aliases,
        _steps_for_decisions,
        _steps_for_metadata,
        _steps_for_labels,
    ):
        steps += find_steps(connection, closure)
    return steps


def _erase_step(
    closure: ErasedRows, place: CarrierPlace, key: int, title: str, why: str, values: dict[str, Any] | None = None, *,
    choice: bool = False,
) -> list[Step]:  # fmt: skip
    named = f"{place}:{key}"
    if choice and named in closure.request.keep:
        closure.optional_carriers[named] = Carrier(
            key=named, place=place, title=title_of(title), why=f"{why} {_KEPT}", outcome="kept", choice=True
        )  # fmt: skip
        return []
    outcome: CarrierOutcome = "erased" if values is None else "cleared"
    carrier = Carrier(key=named, place=place, title=title_of(title), why=why, outcome=outcome, choice=choice)
    return [Step(*_ROWS[place], key, values, carrier)]


def _steps_for_notes(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """What is noted with memories that stay: why one replaced another quotes both, whatever was erased since."""
    steps: list[Step] = []
    for rid, id, kind, json, tagged in connection.execute(
        "SELECT rid, id, kind, attributes, tags FROM memories WHERE attributes <> '{}' OR tags <> '[]'"
    ).fetchall():
        if id in closure.rows:
            continue
        noted, tags = _object(str(json)), _any(str(tagged))
        quoting = quoting_notes(noted, closure)
        left = [tag for tag in tags if not contains_erased_text(tag, closure)]
        values: dict[str, Any] = {}
        if quoting:
            rest = {key: value for key, value in noted.items() if key not in quoting}
            values["attributes"] = json_text(attributes_without(rest, closure.memory_ids))
        if left != tags:
            values["tags"] = json_text(left)
        if values:
            quoted = next((str(value) for value in quoting.values()), ", ".join(map(str, tags)))
            carrier = Carrier(
                key=f"note:{id}", place="memory", title=title_of(quoted), why="what is noted with another quotes it",
                outcome="cleared", kind=str(kind),
            )  # fmt: skip
            steps.append(Step("memories", "rid", int(str(rid)), values, carrier))
    return steps


def _steps_for_sessions(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    for sid, session_id, title, summary, error in connection.execute(
        "SELECT sid, session_id, title, summary, last_error FROM sessions_consolidations"
    ).fetchall():
        if session_id in closure.sessions:
            continue
        touched = sid in closure.sessions_losing_turns
        values: dict[str, Any] = {}
        by_word = not touched and not any(
            closure.texts.quotes_part(str(text)) for text in (summary, title, error) if text
        )
        if summary and (
            closure.sessions_losing_turns.get(int(str(sid))) or closure.texts.mentions_any(str(summary))
        ):
            values["summary"] = None
        if title and (closure.texts.mentions_any(str(title)) or closure.texts.equals_short_text(str(title))):
            values["title"] = None
        if error and (touched or closure.texts.mentions_any(str(error))):
            values["last_error"] = None
        if values:
            what = " and ".join(name.replace("last_error", "error") for name in values)
            title = next(str(text) for text in (summary, title, error) if text)
            steps += _erase_step(
                closure, "session", int(str(sid)), title,
                f"{what} of a session that it was said in" if touched else f"{what} of another session", values,
                choice=by_word,
            )  # fmt: skip
    return steps


def _steps_for_proposals(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    for key, kind, payload in connection.execute(
        "SELECT proposal_id, kind, payload FROM proposals"
    ).fetchall():
        value = _object(str(payload))
        left = without_ids(value, closure.memory_ids)
        title = str(value.get("content") or value.get("text") or value.get("reason") or kind)
        if left is NOTHING or has_erased_words(value, closure):
            steps += _erase_step(closure, "card", int(str(key)), title, "asks about it")
        elif left != value:
            steps.append(Step("proposals", "proposal_id", int(str(key)), {"payload": json_text(left)}, None))
    return steps


def _steps_for_scratchpad(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    for key, name, value in connection.execute("SELECT pad_id, key, value FROM scratchpad").fetchall():
        if why := _reason_to_erase(closure, value, name):
            steps += _erase_step(closure, "scratchpad", int(str(key)), f"{name}: {value}", why, choice=True)
    return steps


def _steps_for_questions(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    expects = "expected" if "expected" in columns_of(connection, "saved_queries") else "'[]'"
    for key, name, query, filter, expected in connection.execute(
        f"SELECT query_id, name, query, filter, {expects} FROM saved_queries"
    ).fetchall():
        if why := _reason_to_erase(closure, name, query, filter, short=False):
            steps += _erase_step(closure, "question", int(str(key)), str(query), why, choice=True)
            continue
        steps += _step_without_ids(
            closure, "saved_queries", "query_id", int(str(key)), "expected", str(expected)
        )
    return steps


def _reason_to_erase(closure: ErasedRows, *texts: object, short: bool = True) -> str:
    """Why a row goes that has these texts; "" if it does not. ``short``: also one that is such a text as a whole."""
    if any(
        closure.texts.carried_by(str(text)) or (short and closure.texts.equals_short_text(str(text)))
        for text in texts
    ):
        return "has it in it"
    return _WORD if any(closure.texts.has_distinctive(str(text)) for text in texts) else ""


def _steps_for_results(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """How a question fared, with the texts that it found: it is asked again at the next occasion."""
    if not columns_of(connection, "question_results"):
        return []
    return [
        Step("question_results", "query_id", int(str(key)), None, None)
        for key, places in connection.execute("SELECT query_id, places FROM question_results").fetchall()
        if (value := _any(str(places))) != without_ids(value, closure.memory_ids)
        or has_erased_words(value, closure)
    ]


def _steps_for_profiles(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    for key, name, settings in connection.execute(
        "SELECT profile_id, name, settings FROM profiles"
    ).fetchall():
        value = _object(str(settings))
        if (left := censor_value(value, closure)) != value:
            steps += _erase_step(
                closure, "profile", int(str(key)), str(name), "its settings have it", {"settings": json_text(left)}
            )  # fmt: skip
    return steps


def _steps_for_recalls(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    for key, query, memory_ids, session_id in connection.execute(
        "SELECT recall_id, query, memory_ids, session_id FROM recalls"
    ).fetchall():
        in_session = session_id in closure.sessions
        if (
            in_session
            or closure.texts.mentions_any(str(query))
            or closure.texts.equals_short_text(str(query))
        ):
            why = "an agent asked this in the session" if in_session else "an agent asked this"
            steps += _erase_step(closure, "recall", int(str(key)), str(query), why)
        else:
            steps += _step_without_ids(
                closure, "recalls", "recall_id", int(str(key)), "memory_ids", str(memory_ids)
            )
    return steps


def _step_without_ids(
    closure: ErasedRows, table: str, name: str, key: int, column: str, stored: str
) -> list[Step]:
    """The list of ids in a column without those that go, where any of them does."""
    value = _any(stored)
    left = list_without(value, closure.memory_ids)
    if left == value:
        return []
    return [Step(table, name, key, {column: json_text(left)}, None)]


def _steps_for_runs(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    steps: list[Step] = []
    for key, job, report, error in connection.execute(
        "SELECT run_id, job, report, error FROM job_runs"
    ).fetchall():
        value = _object(str(report))
        left = dict(value)
        if "ids" in value:
            left["ids"] = list_without(value["ids"], closure.memory_ids)
        for part in ("summary", "skipped"):
            if has_erased_words(left.get(part), closure):
                left[part] = CENSORED
        if has_erased_words(left.get("notes"), closure):
            left["notes"] = [note for note in left["notes"] if not has_erased_words(note, closure)]
        left = censor_value(left, closure)
        values: dict[str, Any] = {} if left == value else {"report": json_text(left)}
        if error and has_erased_words(error, closure):
            values["error"] = CENSORED
        if values:
            quoted = "error" in values or has_erased_words(value, closure)
            carrier = Carrier(
                key=f"run:{key}", place="run", title=str(job), why="its report quotes it", outcome="cleared"
            )  # fmt: skip
            steps.append(Step("job_runs", "run_id", int(str(key)), values, carrier if quoted else None))
    return steps


def _steps_for_entities(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """Descriptions that quote it, and names that tell of it although something else is linked to them."""
    steps: list[Step] = []
    for eid, id, name, summary in connection.execute(
        "SELECT eid, id, canonical_name, summary FROM entities WHERE eid NOT IN (SELECT value FROM json_each(?))",
        (as_json(closure.entities),),
    ).fetchall():
        values: dict[str, Any] = {}
        if closure.texts.has_distinctive(str(name)) and f"entity:{id}" not in closure.request.keep:
            values["canonical_name"] = closure.texts.without_words(str(name))
        if summary and closure.texts.mentions_any(str(summary)):
            values["summary"] = None
        if values:
            why = "a description that quotes it" if "summary" in values else f"a name that {_WORD}"
            label = summary if "summary" in values else name
            steps += _erase_step(closure, "entity", int(str(eid)), str(label), why, values)
    return steps


def _steps_for_aliases(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """Other names that tell of it: covered, and numbered within their entity, so that devices call them alike."""
    kept = {key.removeprefix("entity:") for key in closure.request.keep}
    rows: list[Any] = connection.execute(
        "SELECT a.alias_id, a.key, a.alias, e.id FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id "
        "WHERE a.entity_id NOT IN (SELECT value FROM json_each(?)) ORDER BY e.id, a.key",
        (as_json(closure.entities),),
    ).fetchall()
    used_keys = {(id, key) for _, key, _, id in rows}
    steps: list[Step] = []
    for alias_id, key, alias, id in rows:
        if id in kept or not any(closure.texts.has_distinctive(str(one)) for one in (key, alias)):
            continue
        covered = closure.texts.without_words(str(key))
        free = next(
            name for number in itertools.count(1) if (id, name := f"{covered} {number}") not in used_keys
        )
        used_keys.add((id, free))
        values = {"key": free, "alias": closure.texts.without_words(str(alias))}
        steps.append(Step("entity_aliases", "alias_id", int(alias_id), values, None))
    return steps


def _steps_for_decisions(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """That a word is no name is not remembered either."""
    return [
        Step("entity_decisions", "decision_id", int(str(key)), None, None)
        for key, name in connection.execute(
            "SELECT decision_id, key FROM entity_decisions WHERE key IS NOT NULL"
        ).fetchall()
        if closure.texts.has_distinctive(str(name))
    ]


def _steps_for_metadata(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """What memtui notes of itself: ids of what it looked at, and places that it follows, whose names may tell."""
    steps: list[Step] = []
    for key, stored in connection.execute("SELECT key, value FROM memory_metadata").fetchall():
        if str(key).startswith("erase_"):
            continue
        if closure.texts.has_distinctive(str(key)):
            steps.append(Step("memory_metadata", "key", str(key), None, None))
            continue
        value = _json_or_text(str(stored))
        left = censor_value(value, closure)
        if key == metadata.FOLLOWED_NOT_READ:
            left = [name for name in left if not closure.texts.has_distinctive(metadata.place_of(name))]
        elif isinstance(left, dict):
            left = {
                name: _without_pairs_of(one, closure.memory_ids) if isinstance(one, list) else one
                for name, one in left.items()
            }
        if left != value:
            text = left if isinstance(left, str) else json_text(left)
            steps.append(Step("memory_metadata", "key", str(key), {"value": text}, None))
    return steps


def _json_or_text(text: str) -> Any:
    try:
        return _any(text)
    except msgspec.DecodeError:
        return text


def _without_pairs_of(value: list[Any], ids: frozenset[str]) -> list[Any]:
    """A list without those that name one of the ids, as one of a pair or alone."""
    return [one for one in value if without_ids(one, ids) == one]


def _steps_for_labels(connection: apsw.Connection, closure: ErasedRows) -> list[Step]:
    """Names of sessions, projects, sources and agents that tell of it: covered alike wherever they stand."""
    steps: list[Step] = []
    for table, columns in existing_columns(connection, "labels"):
        stays = " AND rid NOT IN (SELECT value FROM json_each(?1))" if table == "memories" else ""
        for column in columns:
            known = [
                str(value)
                for (value,) in connection.execute(
                    f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL{stays}",
                    (as_json(closure.memory_rids),) if stays else (),
                )
            ]
            for old in known:
                named = f"label:{old}"
                if old in closure.sessions or not closure.texts.has_distinctive(old):
                    continue
                title, what = title_of(old), column.replace("_id", "").replace("_", " ")
                if named in closure.request.keep:
                    why = f"a {what} that {_WORD} {_KEPT}"
                    closure.optional_carriers[named] = Carrier(
                        key=named, place="label", title=title, why=why, outcome="kept", choice=True
                    )
                    continue
                if old not in closure.labels:
                    closure.labels[old] = _unused_label(
                        closure.texts.without_words(old), {*known, *closure.labels.values()}
                    )
                    carrier: Carrier | None = Carrier(
                        key=named,
                        place="label",
                        title=title,
                        why=f"a {what} that {_WORD}",
                        outcome="cleared",
                        choice=True,
                    )
                else:
                    carrier = None
                covered = (
                    None if table == "agent_usage" else {column: closure.labels[old]}
                )  # counts of an hour: deleted
                steps.append(Step(table, column, old, covered, carrier))
    return steps


def _unused_label(name: str, used_labels: set[str]) -> str:
    number, label = 1, name
    while label in used_labels:
        number += 1
        label = f"{name} {number}"
    return label


def deleted_keys(steps: Sequence[Step], table: str) -> set[int]:
    """The rows of a table that are deleted."""
    return {int(step.key) for step in steps if step.table == table and step.values is None}


KIND = "erase"
_any = msgspec.json.Decoder().decode


def erase_label(count: int) -> str:
    return f"Erased {plural(count, 'memory')} for good"


def delete_closure(
    connection: apsw.Connection,
    closure: ErasedRows,
    steps: Sequence[Step],
    *,
    actor: str,
    now: int,
    count: int,
) -> None:
    """Delete the closure, in the caller's transaction, as an operation without rows of its own.

    ``steps``: the ``planned_steps`` for it.
    """
    connection.execute("PRAGMA defer_foreign_keys = ON")
    connection.execute(
        "INSERT INTO ops(at, actor, kind, label) VALUES (?, ?, ?, ?)", (now, actor, KIND, erase_label(count))
    )
    op_id = connection.last_insert_rowid()
    connection.execute("DELETE FROM current_op")
    connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
    _remember_keys(connection, closure, steps)
    devices.tell_devices(connection, closure, steps, now=now, actor=actor)
    deleted = {
        "memories": closure.every_rid,
        "entities": set(closure.entities),
        "entity_aliases": _select_keys(
            connection, "alias_id", "entity_aliases", "entity_id", closure.entities
        ),
        "entity_decisions": _select_keys(
            connection, "decision_id", "entity_decisions", "rid", closure.memory_rids
        )
        | _select_keys(connection, "decision_id", "entity_decisions", "entity_id", closure.entities)
        | _select_keys(connection, "decision_id", "entity_decisions", "other_id", closure.entities)
        | deleted_keys(steps, "entity_decisions"),
        "sessions_consolidations": _select_keys(
            connection, "sid", "sessions_consolidations", "session_id", closure.sessions
        )
        | closure.sessions_gone,
        "scratchpad": deleted_keys(steps, "scratchpad"),
        "proposals": deleted_keys(steps, "proposals"),
        "saved_queries": deleted_keys(steps, "saved_queries"),
    }
    connection.execute(
        "UPDATE memories SET valid_until = ?, ended_by = 'forgotten' WHERE rid IN (SELECT value FROM json_each(?))",
        (now, as_json(closure.exposed)),
    )
    _clear_references(connection, closure)
    rids = as_json(closure.memory_rids)
    connection.execute("DELETE FROM memories WHERE rid IN (SELECT value FROM json_each(?))", (rids,))
    _drop_names(connection, closure)
    for table in ("served_contexts", "told_contexts"):  # the second: its name in older formats
        if columns_of(connection, table):  # checksums of lines; all of them are served again
            connection.execute(f"DELETE FROM {table}")
    for step in steps:
        if step.values is None:
            connection.execute(f"DELETE FROM {step.table} WHERE {step.key_column} = ?", (step.key,))
        else:
            columns = ", ".join(f"{column} = ?" for column in step.values)
            connection.execute(
                f"UPDATE {step.table} SET {columns} WHERE {step.key_column} = ?",
                (*step.values.values(), step.key),
            )
    connection.execute(
        "DELETE FROM sessions_consolidations WHERE session_id IN (SELECT value FROM json_each(?))",
        (as_json(closure.sessions),),
    )
    deleted["decided"] = _drop_stamps(connection, closure)
    history.scrub_history(connection, closure, deleted, op_id)
    connection.execute("DELETE FROM current_op")


def _drop_stamps(connection: apsw.Connection, closure: ErasedRows) -> set[int]:
    """Who decided about what went, and about tags and keys that tell of it; returns which rows."""
    if not columns_of(connection, "decided"):  # an older backup
        return set()
    gone = {
        int(str(key))
        for key, thing, aspect in connection.execute(
            "SELECT decided_id, thing, aspect FROM decided"
        ).fetchall()
        if thing in closure.memory_ids
        or any(
            closure.texts.carried_by(text)
            or closure.texts.has_distinctive(text)
            or closure.texts.equals_short_text(text)
            for text in (str(thing).removeprefix("pad:"), str(aspect).removeprefix("tag:"))
        )
    }
    connection.execute(
        "DELETE FROM decided WHERE decided_id IN (SELECT value FROM json_each(?))", (as_json(gone),)
    )
    return gone


def settle_indexes(connection: apsw.Connection, closure: ErasedRows, *, vec0: bool) -> None:
    """Make the indexes of vectors and of CJK bigrams forget what was deleted, in the caller's transaction.

    ``vec0``: whether the vector index can be written (its extension is there).
    """
    if any(map(full_text.cjk_bigrams, closure.contents)):
        # Contentless: an entry outlives its text until all are made again.
        connection.execute("INSERT INTO memories_cjk(memories_cjk) VALUES ('delete-all')")
        for rid, content in connection.execute("SELECT rid, content FROM memories"):
            full_text.index_cjk(connection, int(str(rid)), str(content))
        connection.execute("INSERT INTO memories_cjk(memories_cjk) VALUES ('optimize')")
    if vec0:
        while vectors.index_exists(connection) and vectors.sync_index(connection):
            pass
        live = vectors.index_table(connection)
        for table in {"vec_memories_a", "vec_memories_b"} - {live}:  # of a model that is no longer in use
            connection.execute(f"DROP TABLE IF EXISTS {table}")


_KNOWN_BY = {
    "scratchpad": "SELECT 'scratchpad:' || key FROM scratchpad WHERE pad_id = ?",
    # What was drawn from a memory may be more on another device, whose card about it stays.
    "proposals": "SELECT 'card:' || id FROM proposals WHERE proposal_id = ? "
    "AND NOT (kind = 'drawn' AND coalesce(payload -> '$.summaries', '{}') = '{}')",
    "saved_queries": "SELECT 'question:' || name FROM saved_queries WHERE query_id = ?",
}


def _remember_keys(connection: apsw.Connection, closure: ErasedRows, steps: Sequence[Step]) -> None:
    keys = {key for id in closure.memory_ids for key in (id, f"memtui:{id}")}  # the latter in a vault of ours
    for row in closure.every_row:
        if row.source_key:
            keys.add(row.source_key)
        if row.kind != "episode":
            keys.add(note_key(row.kind, row.content))
        elif row.session_id:  # the same words may stand in another file of the same program
            keys.update(turn_keys(row.session_id, row.source_role or "", row.content, row.event_time))
    contents = {row.id: row.content for row in closure.every_row if row.kind != "episode"}
    derived_rows = connection.execute(
        "SELECT from_id, to_id FROM memory_links WHERE rel = 'source' AND from_id IN (SELECT value FROM json_each(?))",
        (as_json(contents),),
    )
    keys |= {drawn_key(str(turn_id), contents[str(id)]) for id, turn_id in derived_rows}
    keys |= {f"session:{session_id}" for session_id in closure.sessions}
    keys |= {title_key(session_id, title) for session_id, title in closure.sessions.items() if title}
    for id, name in closure.entities.values():
        keys |= {f"entity:{id}", f"entity:{entity_key(name)}"}
    keys |= set(closure.labels)  # what was covered is known to its source by its name
    for step in steps:
        if step.values is None and step.table in _KNOWN_BY:
            if known := scalar(connection, _KNOWN_BY[step.table], (step.key,)):
                keys.add(str(known))
        elif step.table == "sessions_consolidations" and "title" in (step.values or ()):
            keys |= {
                title_key(str(session_id), str(title))
                for session_id, title in connection.execute(
                    "SELECT session_id, title FROM sessions_consolidations WHERE sid = ?", (step.key,)
                )
            }
    tombstones.add(connection, keys)


def _select_keys(
    connection: apsw.Connection, key: str, table: str, column: str, values: Iterable[object]
) -> set[int]:
    rows = connection.execute(
        f"SELECT {key} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", (as_json(values),)
    )
    return {int(str(row_key)) for (row_key,) in rows}


def _clear_references(connection: apsw.Connection, closure: ErasedRows) -> None:
    """Rows that stay no longer name what goes: as a source, as what they replaced, as their session."""
    clear_references(connection, closure.memory_ids)
    connection.execute(
        """
        UPDATE memories SET session_id = NULL, source = CASE WHEN source = 'session:' || session_id THEN NULL ELSE source END
        WHERE session_id IN (SELECT value FROM json_each(?)) AND rid NOT IN (SELECT value FROM json_each(?))
        """,
        (as_json(closure.sessions), as_json(closure.memory_rids)),
    )


def _drop_names(connection: apsw.Connection, closure: ErasedRows) -> None:
    """Names that stand in nothing else. What was merged into one of them goes over to the most mentioned of them."""
    gone = as_json(closure.entities)
    heirs: dict[int, int] = {}
    for eid, survivor in connection.execute(
        """
        SELECT eid, merged_into FROM entities WHERE merged_into IN (SELECT value FROM json_each(?1))
        AND eid NOT IN (SELECT value FROM json_each(?1)) ORDER BY mention_count DESC, id
        """,
        (gone,),
    ).fetchall():
        heir = heirs.setdefault(int(str(survivor)), int(str(eid)))
        connection.execute(
            "UPDATE entities SET merged_into = ? WHERE eid = ?", (None if heir == eid else heir, eid)
        )
    # That a name is no longer kept apart from one that went is no decision about it.
    with_stamps = columns_of(connection, "decided")  # not an older backup
    with stamps.carrying_stamps(connection) if with_stamps else nullcontext():
        connection.execute("DELETE FROM entities WHERE eid IN (SELECT value FROM json_each(?))", (gone,))
