"""Bigrams for Chinese, Japanese and Korean, which write no spaces between words.

FTS5's tokenizers miss a two-character name inside a run of such text, so these runs are indexed as
overlapping pairs: 東京都 becomes "東京 京都".
"""

from __future__ import annotations

import re
from functools import cache

import apsw

# Han (with extensions), kana, hangul, and the marks that stand among them.
_RUN = "[々〆〇ぁ-ゖァ-ヺーｦ-ﾟ㐀-䶿一-鿿豈-﫿가-힣ᄀ-ᇿ\U00020000-\U000323af]+"


@cache
def pattern() -> re.Pattern[str]:
    """What a run is; compiled when first asked for, which takes milliseconds that no start should pay."""
    return re.compile(_RUN)


def runs(text: str) -> list[str]:
    """The runs in a text, in order."""
    return [] if text.isascii() else pattern().findall(text)


def bigrams(text: str) -> list[str]:
    """Overlapping pairs of every run, in order; a run of one character gives none."""
    return [run[i : i + 2] for run in runs(text) for i in range(len(run) - 1)]


def index(connection: apsw.Connection, rid: int, content: str) -> None:
    """Index the text's bigrams, if it has any."""
    pairs = bigrams(content)
    if pairs:
        connection.execute("INSERT INTO memories_cjk(rowid, bigrams) VALUES (?, ?)", (rid, " ".join(pairs)))
