"""The connections of a process to its memory file: one writer, readers as needed, each used by one thread at a time.

Writes begin IMMEDIATE, so that two processes wait for each other at the start of a transaction and never fail in its
middle.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from memtui.engine.errors import ReadOnlyError, ReplacedFileError, StoreError

from .connection import connect, load_vec0, translate_error
from .running_operations import RunLocks

Inode = tuple[int, int]


class FileIdentity(NamedTuple):
    """Device and inode of the file, its write-ahead log and the log's index; None for what is not there."""

    file: Inode | None
    log: Inode | None
    shared: Inode | None


def identify_file(path: Path) -> FileIdentity:
    name = os.fspath(path)
    return FileIdentity(
        _device_and_inode(name), _device_and_inode(f"{name}-wal"), _device_and_inode(f"{name}-shm")
    )


def _device_and_inode(name: str) -> Inode | None:
    try:
        status = os.stat(name)  # noqa: PTH116 - before every write: a Path costs as much again
    except OSError:
        return None
    return status.st_dev, status.st_ino


def describe_difference(known: FileIdentity, now: FileIdentity) -> str:
    """What happened to the files since they were ``known``, in words; "" if they are the same."""
    if now.file != known.file:
        return "was deleted or moved away" if now.file is None else "was replaced by another file"
    for before, after in ((known.log, now.log), (known.shared, now.shared)):
        if before is not None and before != after:
            return "lost its write-ahead log, which was " + ("deleted" if after is None else "replaced")
    return ""


_TURN_SECONDS = 0.002
_RETURN_SECONDS = 10.0


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
        self._returned = threading.Condition(self._pool_lock)
        self._idle: list[apsw.Connection] = []
        self._lent = 0
        self._closed = False
        self._data_version = 0
        self._turn_over = 0.0  # when long work last let others write
        # Operations of this process that could not be ended for lack of space, with their labels (history.py).
        self.unfinished: dict[int, str] = {}
        self._watcher: apsw.Connection | None = None
        self._checkpoint_lock = threading.Lock()
        self._checkpointer: apsw.Connection | None = None
        self._writer: apsw.Connection | None = None
        self._known: FileIdentity | None = None
        self._not_reopened = ""
        self._opened = 0  # how many files were opened, one after the other
        self._one_file = threading.local()
        self._adopt_connection(first or connect(path, write=not readonly, immutable=immutable))

    def _adopt_connection(self, first: apsw.Connection) -> None:
        """Go on with the file that this connection has open."""
        self._opened += 1
        self.vectors_missing = load_vec0(first)
        if self.path is not None:
            first.pragma("schema_version")  # from here on the log and its index are there
            self._known = identify_file(self.path)
        if self.readonly:
            self._idle.append(first)
        else:
            self._writer = first

    def _new_connection(self, *, write: bool) -> apsw.Connection:
        connection = connect(self.path, write=write, immutable=self._immutable)
        try:
            self.refuse_replaced()
            self.vectors_missing = load_vec0(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def replacement_problem(self) -> str:
        """What happened to the file since it was opened ("was deleted or moved away"); "" if it is the same."""
        if self.path is None or self._known is None or self._closed:
            return ""
        return describe_difference(self._known, identify_file(self.path))

    def refuse_replaced(self, hint: str = "") -> None:
        """Raise ReplacedFileError where the file is not the one that is open."""
        happened = self.replacement_problem
        if not happened:
            return
        assert self.path is not None and self._known is not None
        if self.path.exists():
            next_step = "Open the memory again to go on with what is there now."
        else:
            next_step = "Put it back or restore a backup (memtui restore), then open the memory again."
        self._save_log()
        raise ReplacedFileError(
            f"{self.path} {happened} while it was open.", f"{hint or 'Nothing was written.'} {next_step}"
        )

    def _save_log(self) -> None:
        """A log without a name dies with this process: copy its content into the file before a new one is made."""
        assert self.path is not None and self._known is not None
        # Another thread is writing: it does the same when it ends.
        if not self._write_lock.acquire(blocking=False):
            return
        try:
            now, known = identify_file(self.path), self._known
            ours = (
                now.file == known.file and now.log in (None, known.log) and now.shared in (None, known.shared)
            )
            if ours and self._writer is not None and not self._writer.in_transaction:
                with suppress(apsw.Error):
                    self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        finally:
            self._write_lock.release()

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
            self._lent += 1
        try:
            connection = connection or self._new_connection(write=False)
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except apsw.InterruptError:
            raise
        except (apsw.Error, UnicodeDecodeError) as error:
            raise translate_error(error, self.path) from error
        finally:
            with self._returned:
                self._lent -= 1
                self._returned.notify_all()
                if connection is not None and self._closed:
                    connection.close()
                elif connection is not None:
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
            self.refuse_replaced()
            self._refuse_later_file()
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                    self.refuse_replaced("The last change went into the file that was there: make it again.")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
            except (apsw.Error, UnicodeDecodeError) as error:
                raise translate_error(error, self.path) from error

    @contextmanager
    def pin_file(self) -> Iterator[None]:
        """Inside, this thread writes only to the file that is open now: what it read of that says nothing about another."""
        before = getattr(self._one_file, "opened", None)
        self._one_file.opened = self._opened
        try:
            yield
        finally:
            self._one_file.opened = before

    def _refuse_later_file(self) -> None:
        begun = getattr(self._one_file, "opened", None)
        if begun is not None and begun != self._opened:
            raise ReplacedFileError(
                f"{self.path} was replaced by another file while this ran.",
                "What was not written yet was left out. Start it again.",
            )

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
            writer = self._require_writer()
            self.refuse_replaced()
            try:
                yield writer
            except (apsw.Error, UnicodeDecodeError) as error:
                raise translate_error(error, self.path) from error

    def checkpoint(self) -> None:
        """Move what is committed from the log into the file, as far as readers allow; writers need not do it then."""
        if self.path is None or self.readonly:
            return
        # Not by the writer: the disk may take its time, and whoever writes need not wait for it.
        with self._checkpoint_lock:
            self._check_open()
            self.refuse_replaced()
            try:
                if self._checkpointer is None:
                    self._checkpointer = self._new_connection(write=True)
                self._checkpointer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.BusyError:
                pass  # another program is at it
            except apsw.Error as error:
                raise translate_error(error, self.path) from error

    def data_version(self) -> int:
        """Changes when another process has committed. Never waits: while a write runs, the last answer stands."""
        if not self._write_lock.acquire(blocking=False):
            return self._data_version
        try:
            self.refuse_replaced()
            watcher = self._writer or self._change_watcher()
            self._data_version = int(watcher.pragma("data_version"))
        except apsw.Error as error:
            raise translate_error(error, self.path) from error
        finally:
            self._write_lock.release()
        return self._data_version

    def _change_watcher(self) -> apsw.Connection:
        """A read-only memory has no writer to ask; one reader is kept aside, since the number is its own."""
        self._check_open()
        if self._watcher is None:
            self._watcher = self._new_connection(write=False)
        return self._watcher

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
        if self._not_reopened:
            raise ReplacedFileError(
                f"{self.path} was replaced while it was open, and what is there now could not be opened:"
                f" {self._not_reopened}",
                "Restore a backup (memtui restore), then open the memory again.",
            )

    @contextmanager
    def replace_file(self) -> Iterator[Callable[[apsw.Connection, bool], None]]:
        """Close every connection; inside, hand over one to the file that is there now, and whether it is immutable.

        Raises StoreError while somebody reads for over 10 seconds. If nothing is handed over, every call raises
        ReplacedFileError until another try.
        """
        with self._checkpoint_lock, self._write_lock, self._returned:
            if self._closed:
                self._check_open()
            reading = not self._returned.wait_for(lambda: not self._lent, _RETURN_SECONDS)
            if reading or (self._writer is not None and self._writer.in_transaction):
                raise StoreError("The memory is in use in this program.", "Try again in a moment.")
            self._close_connections()

            def hand_over(first: apsw.Connection, immutable: bool) -> None:
                self._immutable = immutable
                self._adopt_connection(first)
                self._not_reopened = ""

            try:
                yield hand_over
            except BaseException as error:
                self._not_reopened = str(error) or type(error).__name__
                raise

    def _close_connections(self) -> None:
        # The last one to close takes the log into the file and deletes both by name: not those of another file.
        replaced = bool(self.replacement_problem)
        if replaced:
            self._save_log()
        for connection in (*self._idle, self._watcher, self._checkpointer, self._writer):
            if connection is not None:
                if replaced:
                    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                connection.close()
        self._idle.clear()
        self._watcher = self._checkpointer = self._writer = None

    def close(self) -> None:
        with self._checkpoint_lock, self._write_lock, self._pool_lock:
            if not self._closed:
                self._close_connections()
            self._closed = True
            self.runs.release_all()
