"""What else carries the words, outside of the memories themselves: found once, told in the plan, then let go of.

Looks at all of each small table. Whether a row is let go of or only loses its words depends on what it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.store.sql import as_json, json_text

from .going import Closure
from .records import Carrier, Fate, Place
from .text_columns import columns_of
from .values import NOTHING, about, carries, is_a_tag, quoting_notes, says, without

_object = msgspec.json.Decoder(dict[str, Any]).decode
_any = msgspec.json.Decoder().decode
_TITLE = 300
CLEARED = "(erased)"
# The table of each place, and its key.
_ROWS: dict[Place, tuple[str, str]] = {
    "session": ("sessions_consolidations", "sid"), "card": ("proposals", "proposal_id"),
    "scratchpad": ("scratchpad", "pad_id"), "question": ("saved_queries", "query_id"),
    "recall": ("recalls", "recall_id"), "entity": ("entities", "eid"),
}  # fmt: skip


class Step(NamedTuple):
    """What to do to one row: delete it (``values`` None) or set columns. ``carrier`` tells the person."""

    table: str
    key_column: str
    key: int
    values: dict[str, Any] | None
    carrier: Carrier | None


def survey(connection: apsw.Connection, closure: Closure) -> list[Step]:
    """Every row outside of ``memories`` that has to change, and those that the person keeps."""
    steps: list[Step] = []
    for look in (_notes, _sessions, _proposals, _scratchpad, _questions, _recalls, _runs, _summaries):
        steps += look(connection, closure)
    return steps


def _step(
    closure: Closure, place: Place, key: int, title: str, why: str, values: dict[str, Any] | None = None, *,
    choice: bool = False,
) -> list[Step]:  # fmt: skip
    named = f"{place}:{key}"
    if choice and named in closure.request.keep:
        closure.offered[named] = Carrier(
            key=named, place=place, title=title[:_TITLE], why=f"{why} (kept as you wished)", fate="kept", choice=True
        )  # fmt: skip
        return []
    fate: Fate = "erased" if values is None else "cleared"
    carrier = Carrier(key=named, place=place, title=title[:_TITLE], why=why, fate=fate, choice=choice)
    return [Step(*_ROWS[place], key, values, carrier)]


def _notes(connection: apsw.Connection, closure: Closure) -> list[Step]:
    """What is noted with memories that stay: why one replaced another quotes both, whatever was erased since."""
    steps: list[Step] = []
    where = "attributes <> '{}'"
    if any(is_a_tag(text) for text in closure.contents):
        where += " OR tags <> '[]'"
    for rid, id, kind, json, tagged in connection.execute(
        f"SELECT rid, id, kind, attributes, tags FROM memories WHERE {where}"
    ).fetchall():
        if id in closure.rows:
            continue
        noted, tags = _object(str(json)), _any(str(tagged))
        quoting = quoting_notes(noted, closure)
        left = [tag for tag in tags if not carries(tag, closure)]
        values: dict[str, Any] = {}
        if quoting:
            rest = {key: value for key, value in noted.items() if key not in quoting}
            values["attributes"] = json_text(about(rest, closure.ids))
        if left != tags:
            values["tags"] = json_text(left)
        if values:
            shown = next((str(value) for value in quoting.values()), ", ".join(map(str, tags)))
            carrier = Carrier(
                key=f"note:{id}", place="memory", title=shown[:_TITLE], why="what is noted with another quotes it",
                fate="cleared", kind=str(kind),
            )  # fmt: skip
            steps.append(Step("memories", "rid", int(str(rid)), values, carrier))
    return steps


def _sessions(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    for sid, session_id, title, summary, error in connection.execute(
        "SELECT sid, session_id, title, summary, last_error FROM sessions_consolidations"
    ).fetchall():
        if session_id in closure.sessions:
            continue
        touched = sid in closure.retold
        values: dict[str, Any] = {}
        if summary and (closure.retold.get(int(str(sid))) or closure.texts.touches(str(summary))):
            values["summary"] = None
        if title and (closure.texts.touches(str(title)) or closure.texts.is_one(str(title))):
            values["title"] = None
        if error and (touched or closure.texts.touches(str(error))):
            values["last_error"] = None
        if values:
            what = " and ".join(name.replace("last_error", "error") for name in values)
            shown = next(str(text) for text in (summary, title, error) if text)
            steps += _step(
                closure, "session", int(str(sid)), shown,
                f"{what} of a session that it was said in" if touched else f"{what} of another session", values,
            )  # fmt: skip
    return steps


def _proposals(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    for key, kind, payload in connection.execute(
        "SELECT proposal_id, kind, payload FROM proposals"
    ).fetchall():
        value = _object(str(payload))
        left = without(value, closure.ids)
        title = str(value.get("content") or value.get("text") or value.get("reason") or kind)
        if left is NOTHING or says(value, closure):
            steps += _step(closure, "card", int(str(key)), title, "asks about it")
        elif left != value:
            steps.append(Step("proposals", "proposal_id", int(str(key)), {"payload": json_text(left)}, None))
    return steps


def _scratchpad(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    for key, name, value in connection.execute("SELECT pad_id, key, value FROM scratchpad").fetchall():
        if any(
            closure.texts.carried_by(text) or closure.texts.is_one(text) for text in (str(value), str(name))
        ):
            steps += _step(
                closure, "scratchpad", int(str(key)), f"{name}: {value}", "has it in it", choice=True
            )
    return steps


def _questions(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    expects = "expected" if "expected" in columns_of(connection, "saved_queries") else "'[]'"
    for key, name, query, filter, expected in connection.execute(
        f"SELECT query_id, name, query, filter, {expects} FROM saved_queries"
    ).fetchall():
        if any(closure.texts.carried_by(str(text)) for text in (name, query, filter)):
            steps += _step(
                closure, "question", int(str(key)), str(query), "has it in it", choice=True
            )  # fmt: skip
            continue
        steps += _fewer(closure, "saved_queries", "query_id", int(str(key)), "expected", str(expected))
    return steps


def _recalls(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    for key, query, told, session_id in connection.execute(
        "SELECT recall_id, query, memory_ids, session_id FROM recalls"
    ).fetchall():
        in_session = session_id in closure.sessions
        if in_session or closure.texts.touches(str(query)) or closure.texts.is_one(str(query)):
            why = "an agent asked this in the session" if in_session else "an agent asked this"
            steps += _step(closure, "recall", int(str(key)), str(query), why)
        else:
            steps += _fewer(closure, "recalls", "recall_id", int(str(key)), "memory_ids", str(told))
    return steps


def _fewer(closure: Closure, table: str, name: str, key: int, column: str, stored: str) -> list[Step]:
    """The list of ids in a column without those that go, where any of them does."""
    value = _any(stored)
    left = without(value, closure.ids)
    if left == value:
        return []
    return [Step(table, name, key, {column: "[]" if left is NOTHING else json_text(left)}, None)]


def _runs(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    for key, job, report, error in connection.execute(
        "SELECT run_id, job, report, error FROM job_runs"
    ).fetchall():
        value = _object(str(report))
        left = dict(value)
        if "ids" in value:
            cleaned = without(value["ids"], closure.ids)
            left["ids"] = [] if cleaned is NOTHING else cleaned
        for part in ("summary", "skipped"):
            if says(left.get(part), closure):
                left[part] = CLEARED
        if says(left.get("notes"), closure):
            left["notes"] = [note for note in left["notes"] if not says(note, closure)]
        values: dict[str, Any] = {} if left == value else {"report": json_text(left)}
        if error and says(error, closure):
            values["error"] = CLEARED
        if values:
            quoted = (
                "error" in values or left.get("summary") == CLEARED or left.get("notes") != value.get("notes")
            )
            carrier = Carrier(
                key=f"run:{key}", place="run", title=str(job), why="its report quotes it", fate="cleared"
            )  # fmt: skip
            steps.append(Step("job_runs", "run_id", int(str(key)), values, carrier if quoted else None))
    return steps


def _summaries(connection: apsw.Connection, closure: Closure) -> list[Step]:
    steps: list[Step] = []
    for eid, summary in connection.execute(
        "SELECT eid, summary FROM entities WHERE summary IS NOT NULL AND eid NOT IN (SELECT value FROM json_each(?))",
        (as_json(closure.entities),),
    ).fetchall():
        if closure.texts.touches(str(summary)):
            steps += _step(
                closure, "entity", int(str(eid)), str(summary), "a description that quotes it",
                {"summary": None},
            )  # fmt: skip
    return steps


def keys_of(steps: Sequence[Step], table: str) -> set[int]:
    """The rows of a table that are deleted."""
    return {step.key for step in steps if step.table == table and step.values is None}
