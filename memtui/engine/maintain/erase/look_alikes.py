"""Memories that have the very text in them, whatever they were drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apsw

from memtui.engine.store import cjk, words

from .going import COLUMNS, Closure
from .matching import LEAST, folded

_WORDS_ASKED = 12


def twins(
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
        for columns in with_phrase(connection, row.content):
            id = str(columns[1])
            if id in found.rows or id in found.offered or whole not in folded(str(columns[3])):
                continue
            if backup and id not in kept and not stays(id):
                taken.append(found.take(columns, "the same text"))
            else:
                found.offer(columns, "it has the same text in it")
    return taken


def with_phrase(connection: apsw.Connection, text: str) -> list[Sequence[Any]]:
    """Memories that may have the text in them, by its first words."""
    looked: list[tuple[str, str]] = []
    if phrase := _first_words(text):
        looked.append(("memories_fts", f'content : "{phrase}"'))
    if pairs := cjk.bigrams(text)[:_WORDS_ASKED]:
        phrase = " ".join(pairs[:1] if len(cjk.runs(text)[0]) < _WORDS_ASKED else pairs)
        looked.append(("memories_cjk", f'"{phrase}"'))
    found: dict[int, Sequence[Any]] = {}
    for table, match in looked:
        for row in connection.execute(
            f"SELECT {COLUMNS} FROM memories m WHERE m.rid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)",
            (match,),
        ):
            found[int(str(row[0]))] = row
    return list(found.values())


def _first_words(text: str) -> str:
    """What to ask a full-text index for, in quotes, to find the text; "" if it has no words."""
    return " ".join(words.words(text)[:_WORDS_ASKED])
