"""Which memories, sessions and names go: what was chosen, and what is known from nothing else.

The same is worked out in the file and in each backup, since a backup may hold what the file no longer does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories, rows
from memtui.engine.store.sql import storable

from . import rare_words
from .drawn import follow, follow_gone
from .going import COLUMNS, Closure
from .lone_names import take_names
from .look_alikes import twins
from .records import Request
from .taken_back import Gone, drawn_from_others, with_ids
from .whole_sessions import emptied, retold, take_session


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
        take_session(connection, found, request.session_id, backup, stays)
    named = dict.fromkeys((*request.ids, *(key for key in request.also if _is_memory(key))))
    chosen = frozenset(request.ids)
    for id in named:
        _take_one(connection, found, id, backup, chosen=id in chosen)
    for gone in with_ids(connection, named):
        found.take_gone(gone, "chosen" if gone.id in chosen else "chosen as well", chosen=gone.id in chosen)
    if not backup and not found.ids:
        raise InputError("Nothing to erase was named.", "Give the ids of memories, or a session.")
    for text in elsewhere:
        found.add_text(text)
    waiting = list(found.ids)
    made: list[Gone] | None = None
    while waiting:
        taken = follow(connection, found, waiting, lambda id: id in kept or stays(id))
        if made is None:
            made = drawn_from_others(connection)
        taken += follow_gone(connection, found, made, lambda id: id in kept or stays(id))
        if not taken:
            taken = twins(connection, found, stays, backup, kept)
        waiting = taken
    for id in found.ids:
        found.offered.pop(id, None)
    found.unlisted -= found.ids
    emptied(connection, found)
    retold(connection, found)
    rare_words.tell_words(connection, found)
    take_names(connection, found, kept)
    rare_words.tell_names(connection, found)
    return found


def _is_memory(key: str) -> bool:
    return ":" not in key


def _take_one(connection: apsw.Connection, found: Closure, id: str, backup: bool, *, chosen: bool) -> None:
    row = connection.execute(f"SELECT {COLUMNS} FROM memories m WHERE m.id = ?", (storable(id),)).fetchone()
    if row is None and not backup:
        try:
            whole: MemoryRecord = memories.get(connection, id, 0)
        except NotFoundError:
            if (gone := rows.taken_by(connection, storable(id))) is None or gone[0] != id:
                raise
        else:
            row = connection.execute(
                f"SELECT {COLUMNS} FROM memories m WHERE m.rid = ?", (whole.rid,)
            ).fetchone()
    if row is not None:
        found.take(row, "chosen" if chosen else "chosen as well", chosen=chosen)
