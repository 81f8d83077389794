"""PostgreSQL as a store, through psycopg: one table of objects, one database for many memories.

``postgresql://USER:PASSWORD@HOST/DATABASE/MEMORY``: the word after the database names the memory (``main`` without it).
Parameters after ``?`` are libpq's (``sslmode=verify-full``). Every call is one statement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from memtui.engine.errors import UsageError
from memtui.engine.installation import command_for_extra

from . import base
from .base import MOST_BYTES, SyncStoreError, checked_name, checked_prefix
from .urls import StoreUrl

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 30
_DEFAULT_MEMORY = "main"
_TABLE = """
CREATE TABLE IF NOT EXISTS memtui_sync (
    memory text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    data bytea NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (memory, name)
)"""
# Batches are compressed and encrypted: trying again would be in vain.
_AS_IT_IS = "ALTER TABLE memtui_sync ALTER COLUMN data SET STORAGE EXTERNAL"
_REASONS = {
    "28": "it refused this user or password",
    "3D": "there is no such database",
    "42": "this user may not make or use the table memtui_sync",
    "53": "it has no room or no connection left",
    "57": "it stopped the statement",
}
"""What the class of an SQLSTATE means to the person."""

_AT_CONNECTING = {"28": "authentication failed", "3D": "does not exist", "53": "too many"}

T = TypeVar("T")


class PostgresStore:
    """Objects as rows of ``memtui_sync``. Raises UsageError where psycopg is not installed."""

    def __init__(self, url: StoreUrl) -> None:
        try:
            import psycopg
        except ImportError:
            raise UsageError(
                "Sync over PostgreSQL needs psycopg.", command_for_extra("sync-servers")
            ) from None
        self.url = url.shown
        self._psycopg = psycopg
        database, _, memory = url.path.partition("/")
        self._memory = memory or _DEFAULT_MEMORY
        given = {
            "host": url.host,
            "port": url.port,
            "user": url.user,
            "password": url.password,
            "dbname": database,
        }
        self._connect: dict[str, Any] = {
            **{name: value for name, value in given.items() if value},
            "connect_timeout": _CONNECT_SECONDS,
            "tcp_user_timeout": _ANSWER_SECONDS * 1_000,
            "application_name": "memtui",
            **url.parameters,
        }
        self._connection: Any = None
        self._run_statement(lambda connection: None)

    def put_if_absent(self, name: str, data: bytes) -> bool:
        row = (self._memory, checked_name(name), data)
        done = self._run_statement(
            lambda c: (
                c.execute(
                    "INSERT INTO memtui_sync(memory, name, data) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                    row,
                ).rowcount
            )
        )
        return bool(done == 1)

    def get(self, name: str) -> bytes | None:
        row = self._run_statement(
            lambda c: c.execute(
                "SELECT CASE WHEN octet_length(data) <= %s THEN data END, octet_length(data) FROM memtui_sync "
                "WHERE memory = %s AND name = %s",
                (MOST_BYTES, self._memory, checked_name(name)),
                binary=True,
            ).fetchone()
        )
        if row is None:
            return None
        if row[0] is None:
            raise base.large_object_error(name, row[1])
        return bytes(row[0])

    def list_since(self, prefix: str, after: str = "") -> list[str]:
        checked_prefix(prefix)
        # "0" comes after "/", "~" after all that a name may have.
        bounds = (self._memory, max(prefix, after), f"{prefix[:-1]}0" if prefix else "~")
        found = self._run_statement(
            lambda c: c.execute(
                "SELECT name FROM memtui_sync WHERE memory = %s AND name > %s AND name < %s ORDER BY name",
                bounds,
            ).fetchall()
        )
        return [name for (name,) in found if base.is_name(name)]

    def replace(self, name: str, data: bytes) -> None:
        row = (self._memory, checked_name(name), data)
        self._run_statement(
            lambda c: c.execute(
                "INSERT INTO memtui_sync(memory, name, data) VALUES (%s, %s, %s) "
                "ON CONFLICT (memory, name) DO UPDATE SET data = excluded.data, written_at = now()",
                row,
            )
        )

    def delete(self, name: str) -> None:
        key = (self._memory, checked_name(name))
        self._run_statement(
            lambda c: c.execute("DELETE FROM memtui_sync WHERE memory = %s AND name = %s", key)
        )

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _make_table(self) -> None:
        # Two devices that make it at once: the second finds it made.
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(hashtext('memtui_sync'))")
            self._connection.execute(_TABLE)
            self._connection.execute(_AS_IT_IS)

    def _run_statement(self, statement: Callable[[Any], T]) -> T:
        """Run a statement; once more where the table was missing, or where the connection had ended meanwhile.

        Errors are given without their text, which may repeat the address.
        """
        psycopg = self._psycopg
        try:
            try:
                return statement(self._open_connection())
            except psycopg.errors.UndefinedTable:
                self._make_table()
            except psycopg.OperationalError:
                if not self._connection or not self._connection.closed:
                    raise
                self._connection = None
            return statement(self._open_connection())
        except psycopg.Error as error:
            if self._connection is not None and self._connection.closed:
                self._connection = None
            raise self._store_error(error) from None

    def _open_connection(self) -> Any:
        if self._connection is None:
            # Not prepared: a pooler may give each statement another connection.
            self._connection = self._psycopg.connect(**self._connect, autocommit=True, prepare_threshold=None)
        return self._connection

    def _store_error(self, error: Any) -> SyncStoreError:
        # A connection that is refused comes without its SQLSTATE.
        text = str(error)
        state = error.sqlstate or next(
            (state for state, words in _AT_CONNECTING.items() if words in text), ""
        )
        reason = _REASONS.get(state[:2]) or f"it did not answer ({type(error).__name__})"
        return SyncStoreError(
            f"{self.url} cannot be used: {reason}.",
            "Check its address, that it is running, and what this user may do.",
        )
