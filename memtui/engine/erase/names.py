"""Distinctive words and names of erased texts (no kept row contains them), and look-alikes of the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apsw

from memtui.engine.models.ner import words
from memtui.engine.records.erase import Carrier
from memtui.engine.store import full_text, tokens
from memtui.engine.store.sql import as_json

from . import columns
from .closure import COLUMNS, ErasedRows, title_of
from .matching import LEAST, normalise_for_matching

_WORDS_ASKED = 12


def cross_source_copies(
    connection: apsw.Connection,
    erased_rows: ErasedRows,
    stays: Callable[[str], bool],
    backup: bool,
    kept: frozenset[str],
) -> list[str]:
    """Other memories with the very text in them: offered; in a backup they are always erased, as no choice can be made there."""
    erased_ids: list[str] = []
    for row in erased_rows.every_row:
        whole = normalise_for_matching(row.content)
        if len(whole) < LEAST:
            continue
        for found_row in memories_with_phrase(connection, row.content):
            id = str(found_row[1])
            if (
                id in erased_rows.rows
                or id in erased_rows.optional_carriers
                or whole not in normalise_for_matching(str(found_row[3]))
            ):
                continue
            if backup and id not in kept and not stays(id):
                erased_ids.append(erased_rows.add_row(found_row, "the same text"))
            else:
                erased_rows.add_optional_carrier(found_row, "it has the same text in it")
    return erased_ids


def memories_with_phrase(connection: apsw.Connection, text: str) -> list[Sequence[Any]]:
    """Memories that may have the text in them, by its first words."""
    looked: list[tuple[str, str]] = []
    if phrase := _phrase_query(text):
        looked.append(("memories_fts", f'content : "{phrase}"'))
    if pairs := full_text.cjk_bigrams(text)[:_WORDS_ASKED]:
        phrase = " ".join(pairs[:1] if len(full_text.cjk_runs(text)[0]) < _WORDS_ASKED else pairs)
        looked.append(("memories_cjk", f'"{phrase}"'))
    rows: dict[int, Sequence[Any]] = {}
    for table, match in looked:
        for row in connection.execute(
            f"SELECT {COLUMNS} FROM memories m WHERE m.rid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)",
            (match,),
        ):
            rows[int(str(row[0]))] = row
    return list(rows.values())


def _phrase_query(text: str) -> str:
    """What to ask a full-text index for, in quotes, to find the text; "" if it has no words."""
    return " ".join(tokens.text_words(text)[:_WORDS_ASKED])


_LETTERS, _WITH_DIGITS = 8, 6
"""A word is distinctive from so many characters on."""
_LEAST_NAME, _PART = 3, 4
_OWNERS = 2
"""A word in the tags, project or source of so many memories that stay is theirs."""


def add_distinctive_words(connection: apsw.Connection, erased_rows: ErasedRows) -> None:
    """Add the distinctive words of the erased texts. Call it when the kept memories are known."""
    candidates = {word for text in erased_rows.contents for word in tokens.text_words(text) if _is_long(word)}
    candidates -= words.ordinary_words(candidates)
    rids = frozenset(erased_rows.memory_rids)
    rare = {word for word in candidates if not _occurs_elsewhere(connection, word, rids)}
    if rare:
        theirs = _stems_of_common_tags(connection, rids) | columns.stems_of_schema(connection)
        rare = {word for word in rare if theirs.isdisjoint(tokens.text_stems(word))}
    erased_rows.texts.add_words(rare)


def add_distinctive_names(connection: apsw.Connection, erased_rows: ErasedRows) -> None:
    """Add the distinctive names of the erased entities."""
    rids = frozenset(erased_rows.memory_rids)
    names = {part for _, name in erased_rows.entities.values() for part in (name, *_name_parts(name))}
    erased_rows.texts.add_names(name for name in names if _is_distinctive(connection, name, rids))


def _name_parts(name: str) -> list[str]:
    """People are called by one of their names as well."""
    return [part for part in tokens.text_words(name) if len(part) >= _PART]


def _is_long(word: str) -> bool:
    return len(word) >= (_WITH_DIGITS if any(map(str.isdigit, word)) else _LETTERS)


def _occurs_elsewhere(connection: apsw.Connection, word: str, gone: frozenset[int]) -> bool:
    rows = connection.execute(
        "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?", (f'content : "{word}"',)
    )
    return any(rid not in gone for (rid,) in rows)


def _is_distinctive(connection: apsw.Connection, name: str, gone: frozenset[int]) -> bool:
    plain = tokens.padded_words(name)
    parts = plain.split()
    if len(plain) < _LEAST_NAME + 2 or words.ordinary_words(parts) == set(parts):
        return False
    return not any(
        row[0] not in gone and plain in tokens.padded_words(str(row[3]))
        for row in memories_with_phrase(connection, name)
    )


def _stems_of_common_tags(connection: apsw.Connection, gone: frozenset[int]) -> set[str]:
    """Stems of the words by which several memories that stay are ordered."""
    counts: Counter[str] = Counter()
    for rid, *named in connection.execute(
        "SELECT rid, tags, project, source FROM memories WHERE tags <> '[]' OR project IS NOT NULL OR source IS NOT NULL"
    ):
        if rid not in gone:
            counts.update(set(_stems_of(named)))
    return {stem for stem, count in counts.items() if count >= _OWNERS}


def _stems_of(texts: Iterable[object]) -> Iterator[str]:
    for text in texts:
        if text:
            yield from tokens.text_stems(str(text))


def add_unused_names(connection: apsw.Connection, erased_rows: ErasedRows, kept: frozenset[str]) -> None:
    """Names that stand in nothing else."""
    rids = as_json(erased_rows.memory_rids)
    only_here = connection.execute(
        """
        SELECT e.eid, e.id, e.canonical_name FROM entities e
        WHERE e.eid IN (SELECT eid FROM memory_entities WHERE rid IN (SELECT value FROM json_each(?1)))
          AND NOT EXISTS (SELECT 1 FROM memory_entities o WHERE o.eid = e.eid
                          AND o.rid NOT IN (SELECT value FROM json_each(?1)))
        """,
        (rids,),
    ).fetchall()
    for eid, id, name in [*only_here, *_unlinked_names(connection, erased_rows)]:
        if f"entity:{id}" in kept:
            erased_rows.optional_carriers[f"entity:{id}"] = Carrier(
                key=f"entity:{id}", place="entity", title=title_of(str(name)), why="named only there (kept as you wished)",
                outcome="kept", choice=True,
            )  # fmt: skip
        else:
            erased_rows.entities[int(str(eid))] = (str(id), str(name))


def _unlinked_names(connection: apsw.Connection, erased_rows: ErasedRows) -> list[Sequence[Any]]:
    """Names without any link that stand in these texts and in no other: other names of somebody, or no names at all."""
    texts = "\n".join(erased_rows.contents).casefold()
    names = connection.execute(
        "SELECT eid, id, canonical_name FROM entities e "
        "WHERE NOT EXISTS (SELECT 1 FROM memory_entities l WHERE l.eid = e.eid)"
    ).fetchall()
    return [
        row
        for row in names
        if ((name := str(row[2]).casefold()) in texts or erased_rows.texts.has_distinctive(str(row[2])))
        and not any(
            str(other[1]) not in erased_rows.rows and name in str(other[3]).casefold()
            for other in memories_with_phrase(connection, str(row[2]))
        )
    ]
