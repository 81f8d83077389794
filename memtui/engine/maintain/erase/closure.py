"""Which memories, sessions and names go: what was chosen, and what is known from nothing else.

The same is worked out in the file and in each backup, since a backup may hold what the file no longer does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import MemoryRecord
from memtui.engine.store import cjk, memories, rows, sessions, words
from memtui.engine.store.sql import as_json, scalar, storable

from .matching import LEAST, Texts, folded
from .records import Carrier, Request
from .taken_back import Gone, drawn_from_others, of_sessions, sessions_gone, told_of, with_ids

_WORDS_ASKED = 12
_MOST_OFFERED = 200


class Row(NamedTuple):
    """A memory as it stands in the file, and why it goes."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    why: str
    chosen: bool = False


class Closure:
    """What goes. ``gone``: memories that only history still has (taken back since), by rid."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.rows: dict[str, Row] = {}
        self.gone: dict[int, Gone] = {}
        self.offered: dict[str, Carrier] = {}
        self.unlisted: set[str] = set()
        """What would be offered if it were not so much."""
        self.sessions: dict[str, str] = {}
        """Those that go as a whole, with their titles."""
        self.sessions_gone: set[int] = set()
        """Keys of those that only history still has."""
        self.entities: dict[int, tuple[str, str]] = {}
        """eid to (id, name)."""
        self.texts = Texts()
        self.contents: dict[str, None] = {}
        """The texts that go, here or elsewhere, in full."""
        self.retold: dict[int, bool] = {}
        """Keys of sessions that lose a turn; whether the summary that they have now was made of it."""
        self.told: dict[str, None] = {}
        """What was made of them and goes as well, or stands in history: summaries and errors of sessions."""

    def add_text(self, text: str) -> None:
        self.texts.add(text)
        self.contents[text] = None

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.rows) | frozenset(row.id for row in self.gone.values())

    @property
    def every_row(self) -> list[Row | Gone]:
        """What goes, each memory once, whether the file has it or only history."""
        return [*self.rows.values(), *(row for row in self.gone.values() if row.id not in self.rows)]

    @property
    def rids(self) -> list[int]:
        return sorted([row.rid for row in self.rows.values()])

    @property
    def every_rid(self) -> set[int]:
        return {*self.rids, *self.gone}


def closure(
    connection: apsw.Connection, request: Request, *, stays: Callable[[str], bool] = lambda id: False,
    elsewhere: Sequence[str] = (), backup: bool = False,
) -> Closure:  # fmt: skip
    """What ``request`` takes with it.

    ``stays``: memories that are kept whatever they were drawn from. ``elsewhere``: texts that are known to go. In a
    ``backup`` ids may be missing, and what only the backup still says goes without being asked for. Raises
    NotFoundError, InputError for what cannot be erased.
    """
    found = Closure(request)
    kept = frozenset(request.keep)
    if request.session_id is not None:
        _take_session(connection, found, request.session_id, backup, stays)
    named = dict.fromkeys((*request.ids, *(key for key in request.also if _is_memory(key))))
    chosen = frozenset(request.ids)
    for id in named:
        _take_one(connection, found, id, backup, chosen=id in chosen)
    for gone in with_ids(connection, named):
        _take_gone(found, gone, "chosen" if gone.id in chosen else "chosen as well", chosen=gone.id in chosen)
    if not backup and not found.ids:
        raise InputError("Nothing to erase was named.", "Give the ids of memories, or a session.")
    for text in elsewhere:
        found.add_text(text)
    waiting = list(found.ids)
    made: list[Gone] | None = None
    while waiting:
        taken = _follow(connection, found, waiting, lambda id: id in kept or stays(id))
        if made is None:
            made = drawn_from_others(connection)
        taken += _follow_gone(connection, found, made, lambda id: id in kept or stays(id))
        if not taken:
            taken = _twins(connection, found, stays, backup, kept)
        waiting = taken
    for id in found.ids:
        found.offered.pop(id, None)
    found.unlisted -= found.ids
    _sessions(connection, found)
    _retold(connection, found)
    _entities(connection, found, kept)
    return found


def _is_memory(key: str) -> bool:
    return ":" not in key


_COLUMNS = "m.rid, m.id, m.kind, m.content, m.session_id, m.source_key, m.source_role"


def _take(found: Closure, row: Sequence[Any], why: str, *, chosen: bool = False) -> str:
    taken = Row._make((*row, why, chosen))
    found.rows[taken.id] = taken
    found.add_text(taken.content)
    return taken.id


def _take_one(connection: apsw.Connection, found: Closure, id: str, backup: bool, *, chosen: bool) -> None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM memories m WHERE m.id = ?", (storable(id),)).fetchone()
    if row is None and not backup:
        try:
            whole: MemoryRecord = memories.get(connection, id, 0)
        except NotFoundError:
            if (gone := rows.taken_by(connection, storable(id))) is None or gone[0] != id:
                raise
        else:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM memories m WHERE m.rid = ?", (whole.rid,)
            ).fetchone()
    if row is not None:
        _take(found, row, "chosen" if chosen else "chosen as well", chosen=chosen)


def _take_gone(found: Closure, gone: Gone, why: str, *, chosen: bool = False) -> str:
    if not gone.live:
        found.gone[gone.rid] = gone._replace(why=why, chosen=chosen)
    found.add_text(gone.content)
    return gone.id


def _take_session(
    connection: apsw.Connection, found: Closure, session_id: str, backup: bool, stays: Callable[[str], bool]
) -> None:
    taken_back = of_sessions(connection, [storable(session_id)])
    if not backup and not taken_back:
        sessions.get(connection, session_id)
    title = _title(connection, session_id)
    if title is not None:
        found.sessions[session_id] = title
    for row in connection.execute(
        f"""
        SELECT {_COLUMNS}, m.kind = 'episode' FROM memories m WHERE m.session_id = ? AND (
            m.kind = 'episode' OR NOT EXISTS (SELECT 1 FROM memory_links l WHERE l.from_id = m.id AND l.rel = 'source'))
        """,
        (session_id,),
    ).fetchall():
        said = bool(row[-1])
        if not stays(str(row[1])) and (said or str(row[1]) not in found.request.keep):
            _take(found, row[:-1], "said in the session" if said else "drawn from the session", chosen=said)
    for gone in taken_back:
        said = gone.kind == "episode"
        if stays(gone.id) or (gone.live and gone.id not in found.rows):
            continue  # it is back, in another session
        if said or not (gone.drawn_from or gone.id in found.request.keep):
            _take_gone(found, gone, "said in the session" if said else "drawn from the session", chosen=said)
    _take_session_gone(connection, found, session_id)


def _title(connection: apsw.Connection, session_id: str) -> str | None:
    """Of a session that has none ""; None where there is no such session."""
    title: str | None = scalar(
        connection,
        "SELECT coalesce(title, '') FROM sessions_consolidations WHERE session_id = ?",
        (session_id,),
    )
    return title


def _take_session_gone(connection: apsw.Connection, found: Closure, session_id: str) -> None:
    for session in sessions_gone(connection, session_id):
        found.sessions.setdefault(session_id, session.title)
        found.sessions_gone.add(session.sid)
        found.told.update(dict.fromkeys(session.words))


def _follow(
    connection: apsw.Connection, found: Closure, ids: Sequence[str], stays: Callable[[str], bool]
) -> list[str]:
    """Take what was drawn from ``ids`` only, and earlier wordings of them; offer what is near to them."""
    taken: list[str] = []
    for row in connection.execute(
        f"""
        SELECT DISTINCT {_COLUMNS}, l.rel FROM memory_links l JOIN memories m ON m.id = l.from_id
        WHERE l.to_id IN (SELECT value FROM json_each(?))
        """,
        (as_json(ids),),
    ).fetchall():
        *columns, relation = row
        if columns[1] in found.rows:
            continue
        if relation != "source":
            _offer(
                found,
                columns,
                "a later wording of it" if relation == "supersedes" else "it was merged into this",
            )
        elif stays(str(columns[1])):
            _offer(found, columns, "drawn from it", fate_else="erased")
        elif _other_sources(connection, found, str(columns[1])):
            _offer(found, columns, "drawn from it and from others")
        else:
            taken.append(_take(found, columns, "drawn from it"))
    for source in connection.execute(
        f"""
        SELECT DISTINCT {_COLUMNS} FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.from_id IN (SELECT value FROM json_each(?)) AND l.rel = 'source' ORDER BY m.rid
        """,
        (as_json(ids),),
    ).fetchall():
        if source[1] not in found.rows:
            _offer(found, source, "it was drawn from this")
    for row in connection.execute(
        f"""
        SELECT DISTINCT {_COLUMNS}, m.ended_by FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.from_id IN (SELECT value FROM json_each(?)) AND l.rel IN ('supersedes', 'merged')
        """,
        (as_json(ids),),
    ).fetchall():
        *columns, ended_by = row
        if columns[1] in found.rows:
            continue
        if ended_by in ("superseded", "merged") and not stays(str(columns[1])):
            taken.append(_take(found, columns, "an earlier wording of it"))
        else:
            _offer(found, columns, "an earlier wording of it")
    return taken


def _follow_gone(
    connection: apsw.Connection, found: Closure, made: Sequence[Gone], stays: Callable[[str], bool]
) -> list[str]:
    """The same for what only history still has: redo would bring it back."""
    ids = found.ids
    taken: list[str] = []
    for row in made:
        if row.id in ids:
            continue
        if row.drawn_from & ids:
            if stays(row.id):
                _offer(found, row, "drawn from it, taken back since", fate_else="erased")
            elif _left_of(connection, row.drawn_from - ids):
                _offer(found, row, "drawn from it and from others, taken back since")
            else:
                taken.append(_take_gone(found, row, "drawn from it, taken back since"))
        elif row.replaced & ids:
            why = "a later wording of it, taken back since"
            if found.texts.carried_by(row.content) and not stays(row.id):  # no image may keep these words
                taken.append(_take_gone(found, row, why))
            else:
                _offer(found, row, why)
    return taken


def _left_of(connection: apsw.Connection, ids: Iterable[str]) -> bool:
    """Whether the file or its history still has one of these memories."""
    known = scalar(
        connection,
        "SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1",
        (as_json(ids),),
    )
    return known is not None or bool(with_ids(connection, ids))


def _other_sources(connection: apsw.Connection, found: Closure, id: str) -> bool:
    return any(
        source not in found.rows
        for (source,) in connection.execute(
            """
            SELECT l.to_id FROM memory_links l JOIN memories m ON m.id = l.to_id
            WHERE l.from_id = ? AND l.rel = 'source'
            """,
            (id,),
        )
    )


def _offer(found: Closure, columns: Sequence[Any], why: str, *, fate_else: str = "") -> None:
    id = str(columns[1])
    if id in found.offered:
        return
    if len(found.offered) >= _MOST_OFFERED:
        found.unlisted.add(id)
        return
    found.offered[id] = Carrier(
        key=id, place="memory", title=str(columns[3]), why=f"{why} (kept as you wished)" if fate_else else why,
        fate="kept", choice=True, kind=str(columns[2]),
    )  # fmt: skip


def _twins(
    connection: apsw.Connection,
    found: Closure,
    stays: Callable[[str], bool],
    backup: bool,
    kept: frozenset[str],
) -> list[str]:
    """Other memories with the very text in them: offered; in a backup taken, where nobody can choose them any more."""
    taken: list[str] = []
    for row in found.every_row:
        whole = folded(row.content)
        if len(whole) < LEAST:
            continue
        for columns in _with_phrase(connection, row.content):
            id = str(columns[1])
            if id in found.rows or id in found.offered or whole not in folded(str(columns[3])):
                continue
            if backup and id not in kept and not stays(id):
                taken.append(_take(found, columns, "the same text"))
            else:
                _offer(found, columns, "it has the same text in it")
    return taken


def first_words(text: str) -> str:
    """What to ask a full-text index for, in quotes, to find the text; "" if it has no words."""
    return " ".join(words.words(text)[:_WORDS_ASKED])


def _with_phrase(connection: apsw.Connection, text: str) -> list[Sequence[Any]]:
    """Memories that may have the text in them, by its first words."""
    looked: list[tuple[str, str]] = []
    if phrase := first_words(text):
        looked.append(("memories_fts", f'content : "{phrase}"'))
    if pairs := cjk.bigrams(text)[:_WORDS_ASKED]:
        phrase = " ".join(pairs[:1] if len(cjk.runs(text)[0]) < _WORDS_ASKED else pairs)
        looked.append(("memories_cjk", f'"{phrase}"'))
    found: dict[int, Sequence[Any]] = {}
    for table, match in looked:
        for row in connection.execute(
            f"SELECT {_COLUMNS} FROM memories m WHERE m.rid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)",
            (match,),
        ):
            found[int(str(row[0]))] = row
    return list(found.values())


def _sessions(connection: apsw.Connection, found: Closure) -> None:
    """A session goes with its last memory."""
    named = {row.session_id for row in found.every_row if row.session_id} - found.sessions.keys()
    ids = found.ids
    remembered = {row.session_id for row in of_sessions(connection, named) if row.id not in ids}
    for session_id in named:
        rest = scalar(
            connection,
            "SELECT 1 FROM memories WHERE session_id = ? AND rid NOT IN (SELECT value FROM json_each(?)) LIMIT 1",
            (session_id, as_json(found.rids)),
        )
        title = _title(connection, session_id)
        if rest is None and title is not None:
            found.sessions[session_id] = title
        if rest is None and session_id not in remembered:
            _take_session_gone(connection, found, session_id)


def _retold(connection: apsw.Connection, found: Closure) -> None:
    """What was told of a session that loses turns, now or before: a summary has other words than they."""
    first: dict[str, int] = {}
    for row in found.every_row:
        if row.kind == "episode" and row.session_id and row.session_id not in found.sessions:
            first[row.session_id] = min(row.rid, first.get(row.session_id, row.rid))
    for session_id, turn in first.items():
        for sid, summary, error, through in connection.execute(
            "SELECT sid, summary, last_error, consolidated_through FROM sessions_consolidations WHERE session_id = ?",
            (session_id,),
        ).fetchall():
            covered = turn <= int(str(through or 0))
            found.retold[int(str(sid))] = covered
            told = [*((summary,) if covered else ()), error, *told_of(connection, int(str(sid)))]
            stays = None if covered else summary
            found.told.update(dict.fromkeys(str(text) for text in told if text and text != stays))
        for session in sessions_gone(connection, session_id):
            found.retold[session.sid] = True
            found.told.update(dict.fromkeys((*session.words, *told_of(connection, session.sid))))


def _entities(connection: apsw.Connection, found: Closure, kept: frozenset[str]) -> None:
    """Names that stand in nothing else."""
    rids = as_json(found.rids)
    only_here = connection.execute(
        """
        SELECT e.eid, e.id, e.canonical_name FROM entities e
        WHERE e.eid IN (SELECT eid FROM memory_entities WHERE rid IN (SELECT value FROM json_each(?1)))
          AND NOT EXISTS (SELECT 1 FROM memory_entities o WHERE o.eid = e.eid
                          AND o.rid NOT IN (SELECT value FROM json_each(?1)))
        """,
        (rids,),
    ).fetchall()
    for eid, id, name in [*only_here, *_unlinked_names(connection, found)]:
        if f"entity:{id}" in kept:
            found.offered[f"entity:{id}"] = Carrier(
                key=f"entity:{id}", place="entity", title=str(name), why="named only there (kept as you wished)",
                fate="kept", choice=True,
            )  # fmt: skip
        else:
            found.entities[int(str(eid))] = (str(id), str(name))


def _unlinked_names(connection: apsw.Connection, found: Closure) -> list[Sequence[Any]]:
    """Names without any link (somebody said that they are none) that stand in these texts and in no other."""
    texts = "\n".join(found.contents).casefold()
    names = connection.execute(
        "SELECT eid, id, canonical_name FROM entities e "
        "WHERE NOT EXISTS (SELECT 1 FROM memory_entities l WHERE l.eid = e.eid)"
    ).fetchall()
    return [
        row
        for row in names
        if (name := str(row[2]).casefold()) in texts
        and not any(
            str(other[1]) not in found.rows and name in str(other[3]).casefold()
            for other in _with_phrase(connection, str(row[2]))
        )
    ]
