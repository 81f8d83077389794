"""Words and names of the texts that nothing says which stays: by them a question or a label still tells of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import apsw

from memtui.engine.models import ordinary_words
from memtui.engine.store import words

from . import columns
from .going import Closure
from .look_alikes import with_phrase

_LETTERS, _WITH_DIGITS = 8, 6
"""A word is telling from so many characters on."""
_LEAST_NAME, _PART = 3, 4
_OWNERS = 2
"""A word in the tags, project or source of so many memories that stay is theirs."""


def tell_words(connection: apsw.Connection, found: Closure) -> None:
    """Let the closure know its rare words: once it is known which memories stay."""
    candidates = {word for text in found.contents for word in words.words(text) if _is_long(word)}
    candidates -= ordinary_words.among(candidates)
    rids = frozenset(found.rids)
    rare = {word for word in candidates if not _said_elsewhere(connection, word, rids)}
    if rare:
        theirs = _of_several(connection, rids) | columns.own_stems(connection)
        rare = {word for word in rare if theirs.isdisjoint(words.stems(word))}
    found.texts.add_words(rare)


def tell_names(connection: apsw.Connection, found: Closure) -> None:
    """Let the closure know the names that go with it."""
    rids = frozenset(found.rids)
    names = {part for _, name in found.entities.values() for part in (name, *_parts(name))}
    found.texts.add_names(name for name in names if _is_telling(connection, name, rids))


def _parts(name: str) -> list[str]:
    """People are called by one of their names as well."""
    return [part for part in words.words(name) if len(part) >= _PART]


def _is_long(word: str) -> bool:
    return len(word) >= (_WITH_DIGITS if any(map(str.isdigit, word)) else _LETTERS)


def _said_elsewhere(connection: apsw.Connection, word: str, gone: frozenset[int]) -> bool:
    rows = connection.execute(
        "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?", (f'content : "{word}"',)
    )
    return any(rid not in gone for (rid,) in rows)


def _is_telling(connection: apsw.Connection, name: str, gone: frozenset[int]) -> bool:
    plain = words.plain(name)
    parts = plain.split()
    if len(plain) < _LEAST_NAME + 2 or ordinary_words.among(parts) == set(parts):
        return False
    return not any(
        row[0] not in gone and plain in words.plain(str(row[3])) for row in with_phrase(connection, name)
    )


def _of_several(connection: apsw.Connection, gone: frozenset[int]) -> set[str]:
    """Stems of the words by which several memories that stay are ordered."""
    found: Counter[str] = Counter()
    for rid, *named in connection.execute(
        "SELECT rid, tags, project, source FROM memories WHERE tags <> '[]' OR project IS NOT NULL OR source IS NOT NULL"
    ):
        if rid not in gone:
            found.update(set(_stems(named)))
    return {stem for stem, count in found.items() if count >= _OWNERS}


def _stems(texts: Iterable[object]) -> Iterator[str]:
    for text in texts:
        if text:
            yield from words.stems(str(text))
