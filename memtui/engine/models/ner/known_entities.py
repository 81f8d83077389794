"""Find the names of known entities in a text, as whole words.

An alias wins over any guess. Case and the form of letters do not matter (NFKC, casefolded), with one
exception: a name that is also an ordinary word ("May", "Will") counts only with its capital letter and
not where a sentence begins. Scripts without blanks between words are searched letter by letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from . import words
from .names import opens_sentence
from .span import NameSpan

CONFIDENCE = 0.95
_word = re.compile(r"\w+")
_unspaced = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_blank = re.compile(r"\s")
_cluster = re.compile("[\\s\\S][\u0300-\u036f\u3099\u309a]*")
_NOTHING: dict[int, dict[str, tuple[str, str, str]]] = {}


class KnownNames:
    """A dictionary of aliases; reading it from several threads is safe, adding is not.

    ``names``: (alias, name of the entity, type) each. A later alias of the same key replaces an earlier one.
    """

    def __init__(self, names: Iterable[tuple[str, str, str]] = ()) -> None:
        # First word -> length of the name -> name: thousands may begin alike, but have few lengths.
        self._by_start: dict[str, dict[int, dict[str, tuple[str, str, str]]]] = {}
        for alias, name, type in names:
            self.add_alias(alias, name, type)

    def __len__(self) -> int:
        return sum(len(names) for lengths in self._by_start.values() for names in lengths.values())

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def add_alias(self, alias: str, name: str, type: str) -> None:
        """Know one more alias. One without a letter or digit, or a single letter, is not searched for."""
        key = " ".join(_fold_text(alias).split()).lstrip("@#")
        start = _index_key(key)
        if start and len(key) > 1 and key.startswith(start):
            self._by_start.setdefault(start, {}).setdefault(len(key), {})[key] = (alias, name, type)

    def find_names(self, text: str) -> list[NameSpan]:
        """The known names in ``text``; they may overlap (the longest is the one that ``merge`` keeps)."""
        if not self._by_start:
            return []
        folded, places = _fold_with_offsets(text)
        if self._by_start.keys().isdisjoint(_word.findall(folded)) and _unspaced.search(folded) is None:
            return []
        spans: list[NameSpan] = []
        for match in _word.finditer(folded):
            self._collect_matches(spans, text, folded, places, match.start(), match[0])
            if not match[0].isascii():
                for letter in _unspaced.finditer(folded, match.start(), match.end()):
                    self._collect_matches(spans, text, folded, places, letter.start(), letter[0])
        return spans

    def _collect_matches(
        self, spans: list[NameSpan], text: str, folded: str, places: Sequence[int], at: int, start: str
    ) -> None:
        for length, names in self._by_start.get(start, _NOTHING).items():
            end = at + length
            key = folded[at:end]
            entry = names.get(key)
            if entry is None:
                continue
            alias, name, type = entry
            first, last = places[at], places[end] if end < len(places) else len(text)
            if first < last and _ends_word(folded, end) and _matches_case(alias, key, text, first):
                spans.append(
                    NameSpan(
                        text=text[first:last],
                        start=first,
                        end=last,
                        type=type,
                        confidence=CONFIDENCE,
                        provider="known",
                        name=name,
                    )
                )


def _fold_text(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _fold_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """The folded text, blanks made equal, and for each of its letters the place in ``text``."""
    folded = _fold_text(text)
    if text.isascii() or (len(folded) == len(text) and unicodedata.is_normalized("NFKC", text)):
        return _blank.sub(" ", folded), range(len(text))
    letters: list[str] = []
    places: list[int] = []
    for cluster in _cluster.finditer(text):
        here = _fold_text(cluster[0])
        letters.append(here)
        places += [cluster.start()] * len(here)
    return _blank.sub(" ", "".join(letters)), places


def _index_key(key: str) -> str:
    """What the index is by: the first word, or the first letter where words have no blanks between them."""
    match = _word.search(key)
    if match is None:
        return ""
    return match[0][0] if _unspaced.match(match[0]) else match[0]


def _ends_word(folded: str, end: int) -> bool:
    after = folded[end : end + 1]
    inner = after.isalnum() or after == "_"
    return not inner or _unspaced.match(folded[end - 1]) is not None


def _matches_case(alias: str, key: str, text: str, at: int) -> bool:
    if not alias[:1].isupper() or " " in key:
        return True
    if key in words.NOT_NAMES or key in words.OPENERS:
        return text[at].isupper() and not opens_sentence(text, at)
    # Who writes without capitals means the name; who uses them would have used one here.
    return text[at].isupper() or text.islower()
