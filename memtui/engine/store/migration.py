"""Give a new file the current format, and bring an older file to it.

``schema.sql`` is the format of a new file. A migration is a numbered SQL file; ``user_version`` says which have run.
An upgrade goes: check, back up, one exclusive transaction, check, commit.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import apsw

from memtui.engine.errors import CorruptFileError

from . import triggers


class Migration(NamedTuple):
    version: int
    name: str
    sql: str


@cache
def load_migrations() -> tuple[Migration, ...]:
    """All migrations, oldest first."""
    migrations = []
    for entry in Path(__file__).with_name("migrations").iterdir():
        match = re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name)
        if match:
            migrations.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(migrations))


def current_version() -> int:
    return load_migrations()[-1].version


def file_version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def create_schema(connection: apsw.Connection) -> None:
    """Make the tables of an empty file, inside the caller's transaction."""
    connection.execute(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
    apply_pending(connection)


def apply_pending(connection: apsw.Connection, steps: tuple[Migration, ...] | None = None) -> int:
    """Run what is missing inside the caller's transaction; returns the version reached."""
    steps = load_migrations() if steps is None else steps
    version = file_version(connection)
    for step in steps:
        if step.version > version:
            connection.execute(step.sql)
            version = step.version
    triggers.install(connection)
    connection.execute(f"PRAGMA user_version = {version}")
    return version


def upgrade_schema(
    connection: apsw.Connection, path: Path, steps: tuple[Migration, ...] | None = None
) -> Path | None:
    """Upgrade an existing file if it is behind. Returns the backup taken first, None if nothing was to do."""
    steps = load_migrations() if steps is None else steps
    if file_version(connection) >= steps[-1].version:
        return None
    _assert_sound(connection, path)
    from .backup import back_up

    backup = back_up(connection, path, reason="migration")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if file_version(connection) < steps[-1].version:  # another process may have been quicker
            apply_pending(connection, steps)
            _assert_sound(connection, path)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return backup


def _assert_sound(connection: apsw.Connection, path: Path) -> None:
    problem = connection.pragma("quick_check")
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if problem != "ok" or broken:
        raise CorruptFileError(
            f"{path} cannot be upgraded: its check says {problem if problem != 'ok' else broken}.",
            "The file was left as it is. Restore a backup or run memtui check.",
        )
