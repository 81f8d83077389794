"""Select what an erase deletes: the chosen memories, what was derived from them, and names that nothing else mentions.

The same is worked out in the file and in each backup, since a backup may hold what the file no longer does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import apsw
from msgspec.structs import replace

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import MemoryRecord
from memtui.engine.records.erase import EraseRequest
from memtui.engine.store import history, memories, sessions, withheld
from memtui.engine.store.sql import as_json, scalar, storable_text

from . import names
from .closure import COLUMNS, ErasedRows, FormerMemory
from .history import former_by_ids, former_derived, former_of_sessions, former_sessions, session_texts
from .names import add_unused_names, cross_source_copies


def add_derived(
    connection: apsw.Connection, erased_rows: ErasedRows, ids: Sequence[str], stays: Callable[[str], bool]
) -> list[str]:
    """Take what was drawn from ``ids`` only, and earlier wordings of them; offer what is near to them."""
    added_ids: list[str] = []
    for row in connection.execute(
        f"""
        SELECT DISTINCT {COLUMNS}, l.rel FROM memory_links l JOIN memories m ON m.id = l.from_id
        WHERE l.to_id IN (SELECT value FROM json_each(?))
        """,
        (as_json(ids),),
    ).fetchall():
        *columns, relation = row
        if columns[1] in erased_rows.rows:
            continue
        if relation != "source":
            erased_rows.add_optional_carrier(
                columns,
                "a later wording of it" if relation == "supersedes" else "it was merged into this",
            )
        elif stays(str(columns[1])):
            erased_rows.add_optional_carrier(columns, "drawn from it", fate_else="erased")
        elif _has_other_sources(connection, erased_rows, str(columns[1])):
            erased_rows.add_optional_carrier(columns, "drawn from it and from others")
        else:
            added_ids.append(erased_rows.add_row(columns, "drawn from it"))
    for source in connection.execute(
        f"""
        SELECT DISTINCT {COLUMNS} FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.from_id IN (SELECT value FROM json_each(?)) AND l.rel = 'source' ORDER BY m.rid
        """,
        (as_json(ids),),
    ).fetchall():
        if source[1] not in erased_rows.rows:
            erased_rows.add_optional_carrier(source, "it was drawn from this")
    for row in connection.execute(
        f"""
        SELECT DISTINCT {COLUMNS}, m.ended_by FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.from_id IN (SELECT value FROM json_each(?)) AND l.rel IN ('supersedes', 'merged')
        """,
        (as_json(ids),),
    ).fetchall():
        *columns, ended_by = row
        if columns[1] in erased_rows.rows:
            continue
        if ended_by in ("superseded", "merged") and not stays(str(columns[1])):
            added_ids.append(erased_rows.add_row(columns, "an earlier wording of it"))
        else:
            erased_rows.add_optional_carrier(columns, "an earlier wording of it")
    return added_ids


def add_derived_in_history(
    connection: apsw.Connection,
    erased_rows: ErasedRows,
    made: Sequence[FormerMemory],
    stays: Callable[[str], bool],
) -> list[str]:
    """The same for what only history still has: redo would bring it back."""
    ids = erased_rows.memory_ids
    added_ids: list[str] = []
    for former in made:
        row = former.row
        if row.id in ids:
            continue
        if former.drawn_from & ids:
            if stays(row.id):
                erased_rows.add_optional_carrier(row, "drawn from it, taken back since", fate_else="erased")
            elif _exists_anywhere(connection, former.drawn_from - ids):
                erased_rows.add_optional_carrier(row, "drawn from it and from others, taken back since")
            else:
                added_ids.append(erased_rows.add_former(former, "drawn from it, taken back since"))
        elif former.replaced & ids:
            why = "a later wording of it, taken back since"
            if erased_rows.texts.carried_by(row.content) and not stays(
                row.id
            ):  # no image may keep these words
                added_ids.append(erased_rows.add_former(former, why))
            else:
                erased_rows.add_optional_carrier(row, why)
    return added_ids


def _exists_anywhere(connection: apsw.Connection, ids: Iterable[str]) -> bool:
    """Whether the file or its history still has one of these memories."""
    known = scalar(
        connection,
        "SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1",
        (as_json(ids),),
    )
    return known is not None or bool(former_by_ids(connection, ids))


def _has_other_sources(connection: apsw.Connection, erased_rows: ErasedRows, id: str) -> bool:
    return any(
        source not in erased_rows.rows
        for (source,) in connection.execute(
            """
            SELECT l.to_id FROM memory_links l JOIN memories m ON m.id = l.to_id
            WHERE l.from_id = ? AND l.rel = 'source'
            """,
            (id,),
        )
    )


def _preserve_withholding(connection: apsw.Connection, erased_rows: ErasedRows) -> None:
    """What the person keeps from agents stays so without the fact by which they said it: it is forgotten."""
    gone = erased_rows.memory_ids
    lost = withheld.withheld_turns(connection) - withheld.withheld_turns(connection, without=gone)
    for rid, id in connection.execute(
        "SELECT rid, id FROM memories WHERE rid IN (SELECT value FROM json_each(?)) AND valid_until IS NULL",
        (as_json(lost),),
    ).fetchall():
        if id in gone:
            continue
        erased_rows.exposed.append(int(str(rid)))
        if (carrier := erased_rows.optional_carriers.get(str(id))) is not None:
            why = f"{carrier.why}; you keep it from agents, so it goes to the Trash"
            erased_rows.optional_carriers[carrier.key] = replace(carrier, why=why)


def add_session(
    connection: apsw.Connection,
    erased_rows: ErasedRows,
    session_id: str,
    backup: bool,
    stays: Callable[[str], bool],
) -> None:
    """All turns of a session go, and what was noted in it without a source. Raises NotFoundError outside of a ``backup``."""
    taken_back = former_of_sessions(connection, [storable_text(session_id)])
    if not backup and not taken_back:
        sessions.get(connection, session_id)
    title = _session_title(connection, session_id)
    if title is not None:
        erased_rows.sessions[session_id] = title
    for row in connection.execute(
        f"""
        SELECT {COLUMNS}, m.kind = 'episode' FROM memories m WHERE m.session_id = ? AND (
            m.kind = 'episode' OR NOT EXISTS (SELECT 1 FROM memory_links l WHERE l.from_id = m.id AND l.rel = 'source'))
        """,
        (session_id,),
    ).fetchall():
        said = bool(row[-1])
        if not stays(str(row[1])) and (said or str(row[1]) not in erased_rows.request.keep):
            erased_rows.add_row(
                row[:-1], "said in the session" if said else "drawn from the session", chosen=said
            )
    for gone in taken_back:
        id, said = gone.row.id, gone.row.kind == "episode"
        if stays(id) or (gone.live and id not in erased_rows.rows):
            continue  # it is back, in another session
        if said or not (gone.drawn_from or id in erased_rows.request.keep):
            erased_rows.add_former(
                gone, "said in the session" if said else "drawn from the session", chosen=said
            )
    _add_former_session(connection, erased_rows, session_id)


def add_empty_sessions(connection: apsw.Connection, erased_rows: ErasedRows) -> None:
    """A session goes with its last memory."""
    named = {row.session_id for row in erased_rows.every_row if row.session_id} - erased_rows.sessions.keys()
    ids = erased_rows.memory_ids
    remembered = {
        one.row.session_id for one in former_of_sessions(connection, named) if one.row.id not in ids
    }
    for session_id in named:
        rest = scalar(
            connection,
            "SELECT 1 FROM memories WHERE session_id = ? AND rid NOT IN (SELECT value FROM json_each(?)) LIMIT 1",
            (session_id, as_json(erased_rows.memory_rids)),
        )
        title = _session_title(connection, session_id)
        if rest is None and title is not None:
            erased_rows.sessions[session_id] = title
        if rest is None and session_id not in remembered:
            _add_former_session(connection, erased_rows, session_id)


def add_session_summaries(connection: apsw.Connection, erased_rows: ErasedRows) -> None:
    """Summaries of a session that loses turns, now or before: a summary has other words than they."""
    first: dict[str, int] = {}
    for row in erased_rows.every_row:
        if row.kind == "episode" and row.session_id and row.session_id not in erased_rows.sessions:
            first[row.session_id] = min(row.rid, first.get(row.session_id, row.rid))
    for session_id, turn in first.items():
        for sid, summary, error, through in connection.execute(
            "SELECT sid, summary, last_error, consolidated_through FROM sessions_consolidations WHERE session_id = ?",
            (session_id,),
        ).fetchall():
            covered = turn <= int(str(through or 0))
            erased_rows.sessions_losing_turns[int(str(sid))] = covered
            texts = [*((summary,) if covered else ()), error, *session_texts(connection, int(str(sid)))]
            stays = None if covered else summary
            erased_rows.derived_texts.update(
                dict.fromkeys(str(text) for text in texts if text and text != stays)
            )
        for session in former_sessions(connection, session_id):
            erased_rows.sessions_losing_turns[session.sid] = True
            erased_rows.derived_texts.update(
                dict.fromkeys((*session.words, *session_texts(connection, session.sid)))
            )


def _session_title(connection: apsw.Connection, session_id: str) -> str | None:
    """Of a session that has none ""; None where there is no such session."""
    title: str | None = scalar(
        connection,
        "SELECT coalesce(title, '') FROM sessions_consolidations WHERE session_id = ?",
        (session_id,),
    )
    return title


def _add_former_session(connection: apsw.Connection, erased_rows: ErasedRows, session_id: str) -> None:
    for session in former_sessions(connection, session_id):
        erased_rows.sessions.setdefault(session_id, session.title)
        erased_rows.sessions_gone.add(session.sid)
        erased_rows.derived_texts.update(dict.fromkeys(session.words))


def select_erased_rows(
    connection: apsw.Connection, request: EraseRequest, *, stays: Callable[[str], bool] = lambda id: False,
    elsewhere: Sequence[str] = (), backup: bool = False,
) -> ErasedRows:  # fmt: skip
    """What ``request`` takes with it.

    ``stays``: memories that are kept whatever they were drawn from. ``elsewhere``: texts that are known to go. In a
    ``backup`` ids may be missing, and what only the backup still says goes without being asked for. Raises
    NotFoundError, InputError for what cannot be erased.
    """
    erased_rows = ErasedRows(request)
    kept = frozenset(request.keep)
    if request.session_id is not None:
        add_session(connection, erased_rows, request.session_id, backup, stays)
    named = dict.fromkeys((*request.ids, *(key for key in request.also if _looks_like_memory_id(key))))
    chosen = frozenset(request.ids)
    for id in named:
        _add_memory(connection, erased_rows, id, backup, chosen=id in chosen)
    for gone in former_by_ids(connection, named):
        is_chosen = gone.row.id in chosen
        erased_rows.add_former(gone, "chosen" if is_chosen else "chosen as well", chosen=is_chosen)
    if not backup and not erased_rows.memory_ids:
        raise InputError("Nothing to erase was named.", "Give the ids of memories, or a session.")
    for text in elsewhere:
        erased_rows.add_erased_text(text)
    added = list(erased_rows.memory_ids)
    made: list[FormerMemory] | None = None
    while added:
        derived_ids = add_derived(connection, erased_rows, added, lambda id: id in kept or stays(id))
        if made is None:
            made = former_derived(connection)
        derived_ids += add_derived_in_history(
            connection, erased_rows, made, lambda id: id in kept or stays(id)
        )
        if not derived_ids:
            derived_ids = cross_source_copies(connection, erased_rows, stays, backup, kept)
        added = derived_ids
    for id in erased_rows.memory_ids:
        erased_rows.optional_carriers.pop(id, None)
    erased_rows.unlisted -= erased_rows.memory_ids
    _preserve_withholding(connection, erased_rows)
    add_empty_sessions(connection, erased_rows)
    add_session_summaries(connection, erased_rows)
    names.add_distinctive_words(connection, erased_rows)
    add_unused_names(connection, erased_rows, kept)
    names.add_distinctive_names(connection, erased_rows)
    return erased_rows


def _looks_like_memory_id(key: str) -> bool:
    return ":" not in key


def _add_memory(
    connection: apsw.Connection, erased_rows: ErasedRows, id: str, backup: bool, *, chosen: bool
) -> None:
    row = connection.execute(
        f"SELECT {COLUMNS} FROM memories m WHERE m.id = ?", (storable_text(id),)
    ).fetchone()
    if row is None and not backup:
        try:
            whole: MemoryRecord = memories.get(connection, id, 0)
        except NotFoundError:
            if (gone := history.operation_that_removed(connection, storable_text(id))) is None or gone[
                0
            ] != id:
                raise
        else:
            row = connection.execute(
                f"SELECT {COLUMNS} FROM memories m WHERE m.rid = ?", (whole.rid,)
            ).fetchone()
    if row is not None:
        erased_rows.add_row(row, "chosen" if chosen else "chosen as well", chosen=chosen)
