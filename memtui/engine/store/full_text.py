"""Keep the full-text indexes quick to search: merge the small segments that every commit adds.

FTS5 would do this inside the commits of writers; here it is done beside them, in small transactions.
"""

from __future__ import annotations

import apsw

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
