"""Words as the full-text index sees them, and the SQL functions with which queries check the text itself.

The index stems its words, so that "trains" finds "train". It folds letters that have two spellings (ё and е, Greek accents,
vowel points); ``fold_spelling`` does the same as the view over the texts. A query may ask for the exact word, for the
beginning of one, or for signs that the index drops ("C++"). Then what the index found is checked with
``fold_text`` and ``padded_words``. Queries use them; the schema never does, so that a program without them can write the file.
"""

from __future__ import annotations

import struct
import threading
import unicodedata
from collections.abc import Callable
from typing import Any

import apsw

_Tokenizer = Any  # apsw's, whose result depends on the flags of the call
# As in the schema (0008_folding.sql).
_UNICODE = [
    "unicode61", "remove_diacritics", "2", "categories", "L* Mn Mc N* Co", "separators", "\ufe0e\ufe0f",
]  # fmt: skip
_TWO_PARTS = {unicodedata.normalize("NFD", one): one for one in "йЙїЇўЎ"}
_FOLDED = str.maketrans(
    dict(zip("ёЁάέήίόύώϊϋΐΰςΆΈΉΊΌΎΏΪΫøØłŁđĐıآأإٱىیةک", "еЕαεηιουωιυιυσΑΕΗΙΟΥΩΙΥoOlLdDiااااييهك", strict=True))
    | {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
    | dict.fromkeys(map(chr, (*range(0x5B0, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C7)), "")  # Hebrew vowel points
    | dict.fromkeys(
        map(chr, (0x640, *range(0x64B, 0x653), 0x670)), ""
    )  # Arabic ones, and the lengthening of lines
)
_SAYING_NOTHING = (
    "a about above after again all also am an and any are as at be because been before being below between both but "
    "by can could did do does doing done each few for from further get gets getting got had has have having he her "
    "here hers herself him himself his how i if in into is it its itself just let like ll m me might more most must "
    "my myself no nor not of off on once only or other our ours out over own re s said same say says shall she "
    "should so some such t than that the their theirs them themselves then there these they this those through to "
    "too under until up us ve very was we were what when where whether which while who whom whose why will with "
    "would you your yours"
)
STOP_WORDS = frozenset(_SAYING_NOTHING.split())
"""English words that say next to nothing about what a text is about."""


class _Tokenizers(threading.local):
    """SQLite's own tokenizers, one pair for each thread: a connection belongs to one."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.plain: _Tokenizer = self.connection.fts5_tokenizer(_UNICODE[0], _UNICODE[1:])
        self.stemmed: _Tokenizer = self.connection.fts5_tokenizer("porter", _UNICODE)


_tokenizers = _Tokenizers()


def _to_utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def fold_spelling(text: str) -> str:
    """The text with what is written in two ways written in one."""
    if text.isascii():
        return text
    for two, one in _TWO_PARTS.items():
        text = text.replace(two, one)
    return text.translate(_FOLDED)


def word_spans(text: str) -> list[tuple[int, int, str]]:
    """Where the words of a text stand (code points, the end not included), each as ``text_words`` gives it."""
    raw: list[tuple[int, int, str]] = _tokenizers.plain(
        _to_utf8(text), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False
    )
    lengths = [0]
    for character in text:
        lengths.append(lengths[-1] + len(_to_utf8(character)))
    place_of = {length: index for index, length in enumerate(lengths)}
    spans = []
    for first, last, _ in raw:
        start, end = place_of[first], place_of[last]
        # A word of nothing but marks is none.
        spans += [(start, end, word) for word in text_words(text[start:end])[:1]]
    return spans


def text_words(text: str) -> list[str]:
    """The words of a text: lower case, without diacritics, not stemmed."""
    words: list[str] = _tokenizers.plain(
        _to_utf8(fold_spelling(text)),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return words


def text_stems(text: str) -> list[str]:
    """The words of a text as the index keeps them; as many as ``text_words`` gives."""
    stems: list[str] = _tokenizers.stemmed(
        _to_utf8(fold_spelling(text)),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return stems


def fold_text(text: str) -> str:
    """Two texts that differ only in case, spacing and Unicode form fold to the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def padded_words(text: str) -> str:
    """The words with one space before and after each, so that ``" word "`` is a whole word in it."""
    return f" {' '.join(text_words(text))} "


def occurrences(api: apsw.FTS5ExtensionApi, *_: Any) -> Any:
    """For a row of a full-text query: the number of its words, then how often each phrase of the query occurs in it.

    Unsigned numbers of four bytes, the lowest first.
    """
    counts = [0] * api.phrase_count
    for phrase in range(len(counts)):
        for places in api.phrase_locations(phrase):
            counts[phrase] += len(places)
    return struct.pack(f"<{1 + len(counts)}I", api.column_size(-1), *counts)


def install(connection: apsw.Connection) -> None:
    """Make ``fold(text)`` (``fold_text``) and ``plain(text)`` (``padded_words``), where NULL gives NULL, and
    ``occurrences(index)`` known to a connection."""
    connection.register_fts5_function(occurrences.__name__, occurrences)
    for name, function in (("fold", fold_text), ("plain", padded_words)):
        connection.create_scalar_function(name, _passing_null(function), 1, deterministic=True)


def _passing_null(function: Callable[[str], str]) -> Callable[..., str | None]:
    return lambda value: None if value is None else function(str(value))
