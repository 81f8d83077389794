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


_ALL_PAGES = 1 << 30
_NO_ROW = -1
"""No memory has this rid."""


def forget_deleted(connection: apsw.Connection, table: str) -> None:
    """Leave nothing in an index of what was deleted from it, which it only marks; inside the caller's transaction."""
    forgetting = DeletedRowPurge(table, _ALL_PAGES)
    while forgetting.step(connection):
        pass


class DeletedRowPurge:
    """Makes an index let go of what was deleted from it until the first step, about ``pages`` pages at each step.

    All segments are merged into one. That drops what is marked as deleted if nothing older is left that the marks would
    have to hide: FTS5 sees to that by what level it merges from. It begins such a merge only if segments are on two
    levels or more. Others may write between the steps; what they write is merged later.
    """

    def __init__(self, table: str, pages: int) -> None:
        self._table = table
        self._pages = pages
        self._whole = False
        """Whether the merge of all segments was begun."""
        self._added = False

    def step(self, connection: apsw.Connection) -> bool:
        """One step, inside the caller's transaction; whether another is needed."""
        self._run_command(connection, "flush")
        in_use = [level for level in _read_levels(connection, self._table) if level.segments]
        if any(level.merging for level in in_use):
            # A merge that was begun goes on, unless a lower level has as many segments: then all is merged anew.
            if not self._run_command(connection, "merge", self._pages):
                self._whole = True
                self._run_command(connection, "merge", -self._pages)
            return True
        if self._whole or not in_use:
            return False
        if len(in_use) == 1 and self._added:  # FTS5 puts segments of a page together on one level
            self._run_command(connection, "rebuild")
            return False
        if len(in_use) == 1 and in_use[0].segments == 1:
            self._add_segments(connection)
            self._added = True
            return True
        self._whole = len(in_use) > 1
        self._run_command(connection, "merge", -self._pages)
        return True

    def _add_segments(self, connection: apsw.Connection) -> None:
        """An entry and the mark that it is deleted, on the lowest level."""
        table = self._table
        column = connection.execute(f"PRAGMA table_info({table})").fetchall()[0][1]
        connection.execute(f"INSERT INTO {table}(rowid, {column}) VALUES (?, 'x')", (_NO_ROW,))
        self._run_command(connection, "flush")
        connection.execute(
            f"INSERT INTO {table}({table}, rowid, {column}) VALUES ('delete', ?, 'x')", (_NO_ROW,)
        )
        self._run_command(connection, "flush")

    def _run_command(self, connection: apsw.Connection, command: str, pages: int | None = None) -> bool:
        """Give the index a command; whether it wrote anything."""
        before = connection.total_changes()
        connection.execute(f"INSERT INTO {self._table}({self._table}, rank) VALUES (?, ?)", (command, pages))
        return connection.total_changes() - before > 1  # the command is a change itself


class _SegmentLevel(NamedTuple):
    merging: int
    segments: int


def _read_levels(connection: apsw.Connection, table: str) -> list[_SegmentLevel]:
    """The levels of an index, from the record that FTS5 keeps of them."""
    record = scalar(connection, f"SELECT block FROM {table}_data WHERE id = 10")
    numbers = iter(decode_varints(record[4:]))  # after a cookie
    levels, _, _ = next(numbers), next(numbers), next(numbers)
    level_sizes = []
    for _ in range(levels):
        level = _SegmentLevel(next(numbers), next(numbers))
        level_sizes.append(level)
        for _ in range(3 * level.segments):  # of each its number, first and last page
            next(numbers)
    return level_sizes


def decode_varints(block: bytes) -> list[int]:
    """SQLite's variable-length integers: seven bits a byte, the highest bit says that more follow."""
    numbers: list[int] = []
    value = 0
    for byte in block:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return numbers
