"""What came and what is here no longer name memories that were erased, in whichever order a device hears of the two.

Where an erased memory is here, ``erase`` takes the references to it along. This is for the others: a line that names it and
comes after the erase, and a row that came before and names what this device never had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine.erase.references import attributes_without, clear_references, list_without
from memtui.engine.store import import_rows, tombstones
from memtui.engine.store.export_rows import AnyLine, MemoryLine, QuestionLine
from memtui.engine.store.sql import as_json, json_text

from .lines import RowLine, SyncLine

_decode = msgspec.json.Decoder().decode


def without_erased(connection: apsw.Connection, found: Sequence[SyncLine]) -> list[SyncLine]:
    """The lines; their memories and questions name nothing that is known as erased here."""
    # Not before it is known that anything was erased: a first sync has many lines.
    named = (id for one in found if isinstance(one, RowLine) for id in _named_ids(one.line))
    erased = frozenset(tombstones.erased_among(connection, named))
    if not erased:
        return list(found)
    return [_without(one, erased) if isinstance(one, RowLine) else one for one in found]


def clear(connection: apsw.Connection, ids: Iterable[str]) -> None:
    """Take references to these erased memories from the rows here, in the caller's operation, in which nothing is stamped.

    Of those that are here ``erase`` does it, which goes by the references.
    """
    absent = frozenset(
        str(id)
        for (id,) in connection.execute(
            "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM memories WHERE id = value)",
            (as_json(ids),),
        )
    )
    if not absent:
        return
    clear_references(connection, absent)
    for query_id, expected in connection.execute(
        "SELECT query_id, expected FROM saved_queries WHERE expected <> '[]'"
    ).fetchall():
        known = _decode(str(expected))
        left = list_without(known, absent)
        if left != known:
            connection.execute(
                "UPDATE saved_queries SET expected = ? WHERE query_id = ?", (json_text(left), query_id)
            )


def absent_ids(connection: apsw.Connection) -> list[str]:
    """Memories that rows here name and that are not here: another device may have erased them."""
    rows: Any = connection.execute(
        """
        SELECT to_id FROM memory_links l WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.id = l.to_id)
        UNION SELECT value FROM saved_queries q, json_each(q.expected)
        WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.id = value)
        """
    ).fetchall()
    return [str(id) for (id,) in rows]


def _named_ids(line: AnyLine) -> list[str]:
    match line:
        case MemoryLine():
            return [*import_rows.memory_ids(line.source_ids), *import_rows.memory_ids(line.attributes)]
        case QuestionLine():
            return import_rows.memory_ids(line.expected)
        case _:
            return []


def _without(one: RowLine, erased: frozenset[str]) -> RowLine:
    if erased.isdisjoint(_named_ids(one.line)):
        return one
    match one.line:
        case MemoryLine() as line:
            return replace(
                one,
                line=replace(
                    line,
                    source_ids=_raw(list_without(_decode(line.source_ids), erased)),
                    attributes=_raw(attributes_without(_decode(line.attributes), erased)),
                ),
            )
        case QuestionLine() as line:
            return replace(
                one, line=replace(line, expected=_raw(list_without(_decode(line.expected), erased)))
            )
        case _:
            return one


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json_text(value).encode())
