"""The full-text indexes: merging of small segments, and CJK bigrams.

FTS5 would do this inside the commits of writers; here it is done beside them, in small transactions.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import apsw

from .sql import scalar

# Han (with extensions), kana, hangul, and the marks that stand among them.
_CJK_RUN = "[々〆〇ぁ-ゖァ-ヺーｦ-ﾟ㐀-䶿一-鿿豈-﫿가-힣ᄀ-ᇿ\U00020000-\U000323af]+"


@cache
def cjk_pattern() -> re.Pattern[str]:
    """What a run is; compiled when first asked for, which takes milliseconds that no start should pay."""
    return re.compile(_CJK_RUN)


def cjk_runs(text: str) -> list[str]:
    """The runs in a text, in order."""
    return [] if text.isascii() else cjk_pattern().findall(text)


def cjk_bigrams(text: str) -> list[str]:
    """Overlapping pairs of every run, in order; a run of one character gives none."""
    return [run[i : i + 2] for run in cjk_runs(text) for i in range(len(run) - 1)]


def index_cjk(connection: apsw.Connection, rid: int, content: str) -> None:
    """Index the text's bigrams, if it has any."""
    pairs = cjk_bigrams(content)
    if pairs:
        connection.execute("INSERT INTO memories_cjk(rowid, bigrams) VALUES (?, ?)", (rid, " ".join(pairs)))


PAGES_PER_STEP = 64
TABLES = ("memories_fts", "facts_fts", "observations_fts")
# With the one that has no texts of its own (cjk.py).
ALL_TABLES = (*TABLES, "memories_cjk")
VOCABULARIES = ("memories_vocab", "facts_vocab", "observations_vocab", "cjk_vocab")


def merge(connection: apsw.Connection, pages: int = PAGES_PER_STEP) -> bool:
    """Write at most about ``pages`` pages of merged segments in each index; inside the caller's transaction.

    Returns whether there may be more to do.
    """
    before = connection.total_changes()
    for table in TABLES:
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('merge', ?)", (pages,))
    # Each command is one change itself; a merge changes rows of the index besides.
    return connection.total_changes() - before > len(TABLES)


def forget_deleted(connection: apsw.Connection, table: str) -> None:
    """Leave nothing in an index of what was deleted from it, which it only marks; inside the caller's transaction.

    Merging everything into one segment takes a fifth of the time of indexing every text anew. It drops what is marked
    if nothing older is left that the marks would have to hide: FTS5 sees to that by what level it merges from.
    """
    connection.execute(f"INSERT INTO {table}({table}) VALUES ('flush')")
    levels = _read_levels(connection, table)
    whole = sum(level.segments for level in levels)
    in_use = [level for level in levels if level.segments]
    # Segments of a single level are merged into the next one, older or not; a merge that was begun is only continued.
    begun = any(level.merging == level.segments == whole - 1 for level in in_use)
    command = "optimize" if len(in_use) > 1 and not begun else "rebuild"
    connection.execute(f"INSERT INTO {table}({table}) VALUES (?)", (command,))


class _SegmentLevel(NamedTuple):
    merging: int
    segments: int


def _read_levels(connection: apsw.Connection, table: str) -> list[_SegmentLevel]:
    """The levels of an index, from the record that FTS5 keeps of them."""
    record = scalar(connection, f"SELECT block FROM {table}_data WHERE id = 10")
    numbers = iter(decode_varints(record[4:]))  # after a cookie
    levels, _, _ = next(numbers), next(numbers), next(numbers)
    found = []
    for _ in range(levels):
        level = _SegmentLevel(next(numbers), next(numbers))
        found.append(level)
        for _ in range(3 * level.segments):  # of each its number, first and last page
            next(numbers)
    return found


def decode_varints(block: bytes) -> list[int]:
    """SQLite's variable-length integers: seven bits a byte, the highest bit says that more follow."""
    found: list[int] = []
    value = 0
    for byte in block:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(value)
            value = 0
    return found
