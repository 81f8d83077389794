"""Bigrams for Chinese, Japanese and Korean, which write no spaces between words.

FTS5's tokenizers miss a two-character name inside a run of such text, so these runs are indexed as
overlapping pairs: 東京都 becomes "東京 京都".
"""

from __future__ import annotations

import re

import apsw

# Han (with extensions), kana, hangul, and the marks that stand among them.
RUN = re.compile("[々〆〇ぁ-ゖァ-ヺーｦ-ﾟ㐀-䶿一-鿿豈-﫿가-힣ᄀ-ᇿ\U00020000-\U000323af]+")


def runs(text: str) -> list[str]:
    return RUN.findall(text)


def bigrams(text: str) -> list[str]:
    """Overlapping pairs of every run, in order; a run of one character gives none."""
    return [run[i : i + 2] for run in RUN.findall(text) for i in range(len(run) - 1)]


def index(connection: apsw.Connection, rid: int, content: str) -> None:
    """Index the text's bigrams, if it has any."""
    pairs = bigrams(content)
    if pairs:
        connection.execute("INSERT INTO memories_cjk(rowid, bigrams) VALUES (?, ?)", (rid, " ".join(pairs)))
