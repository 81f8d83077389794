"""Facts with a name that a correction takes away: "My commute to Initech", once the user works at Globex.

Nothing links the two facts, so a name counts, written as one, in a fact of the same subject. Days and months are none. Another
word or number ("The rent is 900") counts only with further words of the corrected fact: "The rent of 900 is due on Monday".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from memtui.engine.consolidation.compare.change_words import day_names, month_names, words_under
from memtui.engine.consolidation.compare.similarity import tokens_as_written
from memtui.engine.consolidation.compare.vocabulary import FUNCTION_WORDS
from memtui.engine.records import MemoryRecord, SharedName
from memtui.engine.store import entities, memories
from memtui.engine.store import tokens as index_words

_MOST = 200
_LETTERS, _DIGITS = 4, 3
_USER = ("the", "user")
_Name = tuple[str, ...]
"""The words of a name in small letters."""
_SAYING = """
    SELECT f.rowid FROM facts_fts f JOIN memories m ON m.rid = f.rowid
    WHERE facts_fts MATCH ? AND m.valid_until IS NULL ORDER BY f.rowid DESC LIMIT ?
"""


class _TextWords(NamedTuple):
    """The words of a text in small letters, without a genitive's ending; ``capital``: whether each begins with a capital."""

    plain: tuple[str, ...]
    capital: tuple[bool, ...]


def facts_with_name(
    connection: apsw.Connection, ended: Sequence[MemoryRecord], now: float
) -> tuple[SharedName, ...]:
    """The facts with a name of these memories, or with several words of theirs, the latest first.

    Which names and words hold on tells ``Dependents.after``.
    """
    own = {one.id for one in ended}
    shared_names: dict[tuple[int, str], SharedName] = {}
    for old in ended:
        if old.kind == "episode":
            continue
        words = _split_words(old.content)
        subject = _subject_of(words)
        for name in _names_in(connection, old, words):
            if name == subject:
                continue
            for one in _facts_saying(connection, name, now):
                theirs = _split_words(one.content)
                if one.id not in own and _is_about(theirs, subject) and _contains_name(theirs, name):
                    shared_names[one.rid, " ".join(name)] = SharedName(memory=one, name=" ".join(name))
        telling = list(dict.fromkeys(filter(_is_informative, words.plain)))
        for word in telling:
            for one in _facts_saying(connection, (word,), now):
                theirs = _split_words(one.content)
                beside = tuple(
                    other
                    for other in telling
                    if other != word and not other[0].isdigit() and other in theirs.plain
                )
                if (
                    one.id not in own
                    and word in theirs.plain
                    and len(beside) >= _further_words_needed(word)
                    and _is_about(theirs, subject)
                ):
                    shared_names.setdefault((one.rid, word), SharedName(memory=one, name=word, beside=beside))
    return tuple(shared_names[key] for key in sorted(shared_names, reverse=True))


def _split_words(text: str) -> _TextWords:
    words = [word.removesuffix("'s") for word in tokens_as_written(text)]
    return _TextWords(tuple(map(str.casefold, words)), tuple(word[0].isupper() for word in words))


def _names_in(connection: apsw.Connection, memory: MemoryRecord, words: _TextWords) -> Iterator[_Name]:
    """The names in a memory's text: of its entities, and what is written as a name."""
    known = entities.of_memory(connection, memory.rid)
    spelled = {_split_words(name).plain for one in known for name in (one.canonical_name, *one.aliases)}
    for name in sorted(spelled | set(_capitalised_names(words))):
        if name and _contains_name(words, name) and not all(map(_is_common, name)):
            yield name


def _capitalised_names(words: _TextWords) -> Iterator[_Name]:
    """Words with a capital in a row; the first word of a text may have one for another reason."""
    run: list[str] = []
    for word, capital in zip(words.plain[1:], words.capital[1:], strict=True):
        if capital and word not in FUNCTION_WORDS:
            run.append(word)
        else:
            yield tuple(run)
            run = []
    yield tuple(run)


def _is_common(word: str) -> bool:
    return (
        word in day_names() or word in month_names() or word in FUNCTION_WORDS or word in words_under("self")
    )


def _is_informative(word: str) -> bool:
    """Whether a word or number tells something: no day, no month, no word that anything may be said with."""
    if word[0].isdigit():
        return True
    small = words_under("small") | words_under("verbs of the person")
    return len(word) >= _LETTERS and not _is_common(word) and word not in small


def _further_words_needed(word: str) -> int:
    """How many further words must be the same where a fact shares this one."""
    return 1 if word[0].isdigit() and len(word) >= _DIGITS else 2


def _contains_name(words: _TextWords, name: _Name) -> bool:
    """Whether a name stands in a text, written as one."""
    length = len(name)
    return any(
        words.plain[at : at + length] == name and all(words.capital[at : at + length])
        for at in range(len(words.plain) - length + 1)
    )


def _subject_of(words: _TextWords) -> _Name:
    """``("the", "user")`` for what is of the person; the name that begins it, or its first word that tells something."""
    if not words.plain:
        return ()
    first = words.plain[0]
    if first in words_under("self") | words_under("verbs of the person") or words.plain[:2] == _USER:
        return _USER
    return next(((word,) for word in words.plain if word not in FUNCTION_WORDS), ())


def _is_about(words: _TextWords, subject: _Name) -> bool:
    if subject == _USER:
        return _subject_of(words) == _USER
    return bool(subject) and subject[0] in words.plain


def _facts_saying(connection: apsw.Connection, name: _Name, now: float) -> list[MemoryRecord]:
    """The latest active facts that have the words of a name."""
    match = " AND ".join(f'"{word}"' for part in name for word in index_words.text_words(part))
    if not match:
        return []
    rows = connection.execute(_SAYING, (f"content : ({match})", _MOST))
    return memories.by_rid(connection, [rid for (rid,) in rows], now)
