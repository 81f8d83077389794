"""Checks of the file itself: pages, references, schema, permissions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from memtui import operating_system, paths
from memtui.engine.records import Finding
from memtui.engine.store import backup, full_text, migration, tables
from memtui.engine.store.sql import scalar

from .findings import CheckContext, make_finding

RESTORE = "Restore a backup from before: memtui backup list shows them, memtui restore compares first."
_LISTING = (
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'vec_memories_*'"
)

DERIVED = (
    "index_queue", "embeddings", "word_vectors", "memory_entities", "memory_links", "entity_votes", "enrichments",
    "enriched_links", "question_results",
)  # fmt: skip
"""Tables whose rows a program can make again: one that points at nothing is deleted."""


FIXED = ("folding",)
"""Tables that every file has with the same rows."""


def check_pages(context: CheckContext) -> Iterator[Finding]:
    """The pages of the file are whole."""
    for table in full_text.ALL_TABLES:
        # Opening a cursor makes FTS5 look at what other programs wrote since; the PRAGMA would take that for damage.
        try:
            context.connection.execute(f"SELECT rowid FROM {table} LIMIT 1").fetchall()
        except (apsw.SQLError, apsw.CorruptError):
            continue  # the checks of the schema and of full text say so
    pragma = "integrity_check" if context.deep else "quick_check"
    for (problem,) in context.connection.execute(f"PRAGMA {pragma}(100)"):
        text = str(problem)
        if text != "ok" and not backup.is_full_text_problem(text):  # full text has its own check
            yield make_finding("pages", text, repairable=backup.is_index_problem(text), remedy=RESTORE)


def foreign_keys(context: CheckContext) -> Iterator[Finding]:
    """Whatever points at a row points at one that is there."""
    broken: dict[str, int] = {}
    for table, *_ in context.connection.execute("PRAGMA foreign_key_check"):
        broken[str(table)] = broken.get(str(table), 0) + 1
    for table, number in sorted(broken.items()):
        yield make_finding(
            "foreign keys",
            f"rows of {table} point at something that is gone ({number:,})",
            repairable=table in DERIVED,
            remedy=RESTORE,
        )


@cache
def expected_schema() -> dict[tuple[str, str], str]:
    """(type, name) to normalised SQL of everything that a file of this version has."""
    model = apsw.Connection(":memory:")
    try:
        migration.create_schema(model)
        return existing_schema(model)
    finally:
        model.close()


Contents = tuple[tuple[Any, ...], ...]


def table_contents(connection: apsw.Connection, table: str) -> Contents:
    return tuple(connection.execute(f"SELECT * FROM {table} ORDER BY 1"))


@cache
def fixed_contents(table: str) -> Contents:
    """The rows that a table of ``FIXED`` should have."""
    model = apsw.Connection(":memory:")
    try:
        migration.create_schema(model)
        return table_contents(model, table)
    finally:
        model.close()


def existing_schema(connection: apsw.Connection) -> dict[tuple[str, str], str]:
    """(type, name) to normalised SQL of everything that the file has."""
    return {(kind, name): _normalise_sql(sql) for kind, name, sql in connection.execute(_LISTING)}


_TOKEN = re.compile(r"""--[^\n]*|('(?:[^']|'')*'|"(?:[^"]|"")*"|[\w.]+|[(),]|[^\w\s.'"(),]+)""")


def _normalise_sql(sql: str) -> str:
    """The SQL without comments and with one space between tokens: ALTER TABLE lays out a column in its own way."""
    return " ".join(token for token in _TOKEN.findall(sql) if token)


def check_schema(context: CheckContext) -> Iterator[Finding]:
    """Tables, indexes, views and triggers are those of this version; no key is given out twice."""
    wanted, have = expected_schema(), existing_schema(context.connection)
    for kind, name in sorted(wanted.keys() | have.keys()):
        if wanted.get((kind, name)) == have.get((kind, name)):
            continue
        what = (
            "is missing" if (kind, name) not in have
            else "is unknown" if (kind, name) not in wanted
            else "differs"
        )  # fmt: skip
        yield make_finding(
            "schema", f"{kind} {name} {what}", repairable=can_be_made(kind, name, have), remedy=RESTORE
        )
    for table in FIXED:
        if ("table", table) in have and table_contents(context.connection, table) != fixed_contents(table):
            yield make_finding(
                "schema", f"table {table} does not hold the rows of this version", repairable=True
            )
    for table, least in too_low_sequences(context.connection).items():
        yield make_finding(
            "schema", f"{table} would give out a key for the second time (below {least:,})", repairable=True
        )


def can_be_made(kind: str, name: str, have: dict[tuple[str, str], str]) -> bool:
    """Whether repair can bring it in order without touching a row that somebody decided on."""
    if kind in ("trigger", "view", "index"):
        return True
    owner = owner_of(name)
    if owner is not None:  # the index as a whole is made anew, unless its inner tables alone are there
        return ("table", owner) in have or ("table", name) not in have
    return name in (*DERIVED, *FIXED) and ("table", name) not in have


def owner_of(table: str) -> str | None:
    """The full-text index (or vocabulary of one) that a table is, or belongs to."""
    for name in (*full_text.ALL_TABLES, *full_text.VOCABULARIES):
        if table == name or (table.startswith(f"{name}_") and name in full_text.ALL_TABLES):
            return name
    return None


def too_low_sequences(connection: apsw.Connection) -> dict[str, int]:
    """Tables whose next key is one that was given out before, with the least number that their counter must have.

    A key that is used again would hand the vector, links and history of one memory to another.
    """
    if not _table_exists(connection, "changes"):
        return {}
    stands = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    named = dict(connection.execute("SELECT tbl, max(hi) FROM changes GROUP BY tbl"))
    low = {}
    for table, covered in tables.COVERED.items():
        if _table_exists(connection, table):
            highest = scalar(connection, f"SELECT coalesce(max({covered.key}), 0) FROM {table}")
            least = max(int(highest), int(named.get(table, 0)))
            if stands.get(table, 0) < least:
                low[table] = least
    return low


def _table_exists(connection: apsw.Connection, table: str) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone() is not None


def check_permissions(context: CheckContext) -> Iterator[Finding]:
    """Only the owner may read the file, its log, its backups, and the folders that memtui made."""
    path = context.connections.path
    if path is None or not operating_system.has_modes():
        return
    for part in owner_only_files(path):
        mode = operating_system.loose_mode(part)
        if mode is not None:
            problem = (
                f"others may look into {part} ({mode:04o})"
                if part.is_dir()
                else f"others may read {part} ({mode:04o})"
            )
            yield make_finding("permissions", problem, repairable=True, warning=True)


def owner_only_files(path: Path) -> list[Path]:
    """The files and folders of a memory that only its owner may read (links are not followed)."""
    beside = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]
    backups = path.parent / backup.FOLDER
    folders = [backups]
    if path.parent == paths.data_folder():  # another folder may be anything of the person's
        folders.append(path.parent)
    kept = backup.files_in_backup_folder(
        path
    )  # what else lies in the folder, or behind a link to it, belongs to others
    return [part for part in (*beside, *folders, *kept) if part.exists() and not part.is_symlink()]
