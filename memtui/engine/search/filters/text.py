"""Words of a filter: found through an index, checked against the text where the index cannot tell.

The full-text index finds words by their stem. Words in quotes, beginnings of words and signs ("C++") are looked up by what of
them is indexed, and then looked for in the text itself. Chinese, Japanese and Korean use the index of bigrams. What no
index has (a single character, some signs) is looked for in every text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from memtui.engine.store import full_text
from memtui.engine.store.tokens import fold_spelling, fold_text, text_stems, text_words

from .terms import Value

# Around and inside words in ordinary sentences: dropping them loses nothing.
_PUNCTUATION = frozenset(".,;:!?'\"()[]{}<>-–—…’‘“”«»„¿¡/")

Bind = Callable[[Any], str]


def text_condition(value: Value, table: str, bind: Bind) -> str:
    """The condition for one word or phrase; ``table`` is the full-text index to ask."""
    text = value.text.strip()
    if full_text.cjk_pattern().search(text):
        return _cjk_condition(text, bind)
    if not text_words(text):
        return f"instr(m.content, {bind(text or '*')}) > 0"
    checks = _literal_checks(value, text, bind)
    lookup = (
        f"m.rid IN (SELECT rowid FROM {table} WHERE {table} MATCH {bind(_match_expression(value, text))})"
    )
    return " AND ".join([lookup, *checks])


def plain_match(value: Value) -> str | None:
    """The FTS5 query that alone decides about this word; None if the text has to be looked at."""
    text = value.text.strip()
    if (
        value.quoted
        or value.prefix
        or full_text.cjk_pattern().search(text)
        or not text_words(text)
        or _has_signs(text)
    ):
        return None
    return _phrase_expression(text_words(text))


def content_query(match: str) -> str:
    """An FTS5 query over the content alone: speaker and date have keys of their own in a filter."""
    return f"content : ({match})"


def _match_expression(value: Value, text: str) -> str:
    found = text_words(text)
    if not value.prefix:
        return content_query(_phrase_expression(found))
    *whole, beginning = found
    alternatives = _prefix_expression(beginning)
    return content_query(" AND ".join([*(_phrase_expression([word]) for word in whole), f"({alternatives})"]))


def _phrase_expression(words: list[str]) -> str:
    return f'"{" ".join(words)}"'


def _prefix_expression(word: str) -> str:
    """FTS5 query for the stems of all words that begin so (and some more).

    A stem can be shorter than the beginning that was typed ("using" is indexed as "us"), so only its
    first letters are looked up, and those shorter than that as they are (y may have become i).
    """
    head = word[:3] if text_stems(word[:3]) == [word[:3]] else word[:2]
    shorter = [head[:length] for length in range(1, len(head) + 1)]
    shorter += [f"{start[:-1]}i" for start in shorter if start.endswith("y")]
    return " OR ".join([f'"{head}" *', *(f'"{start}"' for start in shorter)])


def _literal_checks(value: Value, text: str, bind: Bind) -> list[str]:
    checks = []
    if value.quoted or value.prefix:
        wanted = " ".join(["", *text_words(text)]) + ("" if value.prefix else " ")
        checks.append(f"instr(plain(m.content), {bind(wanted)}) > 0")
    if _has_signs(text):
        checks.append(f"instr(fold(m.content), {bind(fold_text(text))}) > 0")
    return checks


def _has_signs(text: str) -> bool:
    return any(
        not (c.isalnum() or c.isspace() or c in _PUNCTUATION or unicodedata.combining(c))
        for c in fold_spelling(text)
    )


def _cjk_condition(text: str, bind: Bind) -> str:
    check = f"instr(fold(m.content), {bind(fold_text(text))}) > 0"
    pairs = [full_text.cjk_bigrams(run) for run in full_text.cjk_runs(text)]
    match = " AND ".join(_phrase_expression(run) for run in pairs if run)
    if not match:
        return check
    # What is not yet in the index of bigrams waits in the queue.
    return f"""m.rid IN (SELECT rowid FROM memories_cjk WHERE memories_cjk MATCH {bind(match)}
        UNION ALL SELECT rid FROM index_queue WHERE text = 1) AND {check}"""
