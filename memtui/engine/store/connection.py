"""The connections of a process to its memory file: one writer, readers as needed, each used by one thread at a time.

Writes begin IMMEDIATE, so that two processes wait for each other at the start of a transaction and never fail in its
middle.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from memtui.engine.errors import ReadOnlyError, StoreError

from .connecting import connect, translate
from .running import RunLocks
from .vec0 import load_vec0

_TURN_SECONDS = 0.002


class Connections:
    """The writer and the readers of one file in this process.

    ``:memory:`` has a single connection, so readers there wait for the writer. ``first``: one that is open already.
    """

    def __init__(
        self, path: Path | None, *, readonly: bool = False, immutable: bool = False, first: apsw.Connection | None = None
    ) -> None:  # fmt: skip
        self.path = path
        self.readonly = readonly
        self.runs = RunLocks(path)
        self._immutable = immutable
        self.vectors_missing = ""
        self._write_lock = threading.RLock()
        self._pool_lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._closed = False
        self._data_version = 0
        self._turn_over = 0.0  # when long work last let others write
        # Operations of this process that could not be ended for lack of space, with their labels (history.py).
        self.unfinished: dict[int, str] = {}
        self._asked: apsw.Connection | None = None
        self._checkpoint_lock = threading.Lock()
        self._checkpointer: apsw.Connection | None = None
        first = self._connect(write=not readonly, opened=first)
        self._writer = None if readonly else first
        if readonly:
            self._idle.append(first)

    def _connect(self, *, write: bool, opened: apsw.Connection | None = None) -> apsw.Connection:
        connection = opened or connect(self.path, write=write, immutable=self._immutable)
        self.vectors_missing = load_vec0(connection)
        return connection

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """A connection for reading one consistent snapshot; returned to the pool afterwards."""
        if self.path is None:
            with self._write_lock:
                yield self._require_writer()
            return
        with self._pool_lock:
            self._check_open()
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or self._connect(write=False)
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except apsw.InterruptError:
            raise
        except (apsw.Error, UnicodeDecodeError) as error:
            raise translate(error, self.path) from error
        finally:
            if connection is not None:
                with self._pool_lock:
                    if self._closed:
                        connection.close()
                    else:
                        self._idle.append(connection)

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """The writer inside a BEGIN IMMEDIATE transaction: committed at the end, rolled back on any error."""
        if self.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to change it."
            )
        with self._write_lock:
            connection = self._require_writer()
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
            except (apsw.Error, UnicodeDecodeError) as error:
                raise translate(error, self.path) from error

    @contextmanager
    def write_in_turn(self) -> Iterator[apsw.Connection]:
        """Like ``write``, for long work in many transactions: whoever waits comes before the next one of them."""
        # What was done since the last one was time enough for others, too.
        time.sleep(max(self._turn_over + _TURN_SECONDS - time.monotonic(), 0.0))
        with self.write() as connection:
            yield connection
        self._turn_over = time.monotonic()

    @contextmanager
    def exclusive(self) -> Iterator[apsw.Connection]:
        """The writer outside any transaction, for backup, VACUUM and pragmas."""
        with self._write_lock:
            try:
                yield self._require_writer()
            except (apsw.Error, UnicodeDecodeError) as error:
                raise translate(error, self.path) from error

    def checkpoint(self) -> None:
        """Move what is committed from the log into the file, as far as readers allow; writers need not do it then."""
        if self.path is None or self.readonly:
            return
        # Not by the writer: the disk may take its time, and whoever writes need not wait for it.
        with self._checkpoint_lock:
            self._check_open()
            try:
                if self._checkpointer is None:
                    self._checkpointer = self._connect(write=True)
                self._checkpointer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.BusyError:
                pass  # another program is at it
            except apsw.Error as error:
                raise translate(error, self.path) from error

    def data_version(self) -> int:
        """Changes when another process has committed. Never waits: while a write runs, the last answer stands."""
        if not self._write_lock.acquire(blocking=False):
            return self._data_version
        try:
            watcher = self._writer or self._watcher()
            self._data_version = int(watcher.pragma("data_version"))
        except apsw.Error as error:
            raise translate(error, self.path) from error
        finally:
            self._write_lock.release()
        return self._data_version

    def _watcher(self) -> apsw.Connection:
        """A read-only memory has no writer to ask; one reader is kept aside, since the number is its own."""
        self._check_open()
        if self._asked is None:
            self._asked = self._connect(write=False)
        return self._asked

    def _require_writer(self) -> apsw.Connection:
        self._check_open()
        if self._writer is None:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to change it."
            )
        return self._writer

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("This memory is closed.", "Open it again.")

    def close(self) -> None:
        with self._checkpoint_lock, self._write_lock, self._pool_lock:
            self._closed = True
            self.runs.release_all()
            for connection in (*self._idle, self._asked, self._checkpointer, self._writer):
                if connection is not None:
                    connection.close()
            self._idle.clear()
