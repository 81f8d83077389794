"""Watch live session files, and import new turns a moment after they were written.

Files are checked once a second (``changed_files.py``) and read from where reading ended (``live.py``). Turns are stored
like any import: an existing turn is not added again, whoever brought it. All that comes in is one operation until
something else changes the memory, at most for an hour. It can be undone at any time; later turns begin another one.

The memory notes when everything was read and which files could not be read, so the next start reads only those and
newer files. Undone imports are not repeated.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records import Options, Skip, Turn
from memtui.engine.records.exchange import FollowResult
from memtui.engine.store import history
from memtui.engine.store.connections import Connections
from memtui.engine.store.export_rows import AnyLine
from memtui.engine.store.import_rows import OtherIds

from . import lock
from .base import Item, Note
from .changed_files import FileChanges, ReadMarks, UndoneImports
from .counters import DistinctCounter
from .detect import DetectionResult, find_sources
from .export_rows import PendingLines
from .ingest import ImportRun, format_names, in_batches
from .live import FileTail
from .reader import ReadTally, read_all, with_times
from .report import ImportOperation
from .stream import Source, SourceOpener

_LOOK_SECONDS = 1.0
ACTOR = "import"
# Formats of a record a line: they are read on where reading ended. Others are read again when they change, a large one with a
# pause of so many times what reading took.
LIVE = ("claude-code", "claude-history", "codex", "jsonl")
_PAUSE_SECONDS, _LONG_READ_SECONDS = 10.0, 0.5
_LONGEST_OPERATION = 3_600
_NOTED_SECONDS = 60
_TAILS_KEPT = 64
# A file that could not be read is tried again every so many looks.
_LOOKS_PER_FULL_LOOK = 15

Progress = Callable[[int, int, int], None] | None


class FollowOperation(ImportOperation):
    """An operation that grows while it is the latest one of the memory; then another one is begun."""

    def __init__(
        self, connections: Connections, clock: Clock, before_write: Callable[[], None], began: Callable[[], None]
    ) -> None:  # fmt: skip
        super().__init__(connections, clock, ACTOR, "Following sessions", before_write)
        self._began = began
        self._since = 0.0

    def begin_once(self) -> int:
        if self.op_id is None:
            self._began()
            self._since = time.monotonic()
        return super().begin_once()

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        if self.op_id is not None and time.monotonic() - self._since < _LONGEST_OPERATION:
            with history.reopen_latest(self._connections, self.op_id) as connection:
                if connection is not None:
                    yield connection
                    return
        self.op_id = None
        with super().transaction() as connection:
            yield connection


class FileFollower:
    """Follows ``places`` (files, folders) into a memory; to be used by one thread. A context manager."""

    def __init__(
        self, connections: Connections, places: Sequence[Path], *, clock: Clock, options: Options,
        before_write: Callable[[], None] = lambda: None, ordering: Callable[[str], bool] = lambda text: True,
    ) -> None:  # fmt: skip
        self.places = [place.expanduser().absolute() for place in places]
        self._connections = connections
        self._stack = ExitStack()
        self._operation = FollowOperation(connections, clock, before_write, self._start_label_counts)
        self._import = ImportRun(
            connections, DetectionResult(sources=()), self._stack.enter_context(DistinctCounter()),
            self._stack.enter_context(OtherIds()), self._stack.enter_context(PendingLines()), self._operation,
            dry_run=False, actor=ACTOR, clock=clock, options=options, ordering=ordering,
        )  # fmt: skip
        self._before: Counter[str] = Counter()
        self._formats: dict[str, None] = {}
        self._tails: OrderedDict[Path, FileTail] = OrderedDict()
        # When a file may be read as a whole again, by the monotonic clock.
        self._next: dict[Path, float] = {}
        self._taken_back = self._stack.enter_context(UndoneImports(connections))
        self._marks = ReadMarks(connections, self.places)
        # Files that could not be read, or not to their end.
        self._left = dict.fromkeys(self._marks.unread_files())
        self._looks = 0
        # When everything had been read last, as far as the memory does not know it yet; and what it knows.
        self._read = self._noted = 0.0
        self._changed = FileChanges(self.places, self._marks.all_read_at())
        for path in self._left:
            self._changed.watch_path(path)

    def __enter__(self) -> FileFollower:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def files(self) -> int:
        """How many files are watched."""
        return self._changed.files

    def run(
        self,
        stopped: threading.Event,
        on_result: Callable[[FollowResult], None],
        *,
        progress: Progress = None,
    ) -> None:
        """Look until ``stopped`` is set; ``on_result`` is called in this thread when something came in.

        Raises StoreError if the memory cannot be written.
        """
        while not stopped.is_set():
            if result := self.import_new(stopped.is_set, progress):
                on_result(result)
            stopped.wait(_LOOK_SECONDS)
        if self._read:
            self._note_read(self._read)

    def import_new(
        self, cancelled: Callable[[], bool] = lambda: False, progress: Progress = None
    ) -> FollowResult | None:
        """Bring in what was written since the last look; None if that was nothing new.

        ``progress`` is called with how many files are read, of how many, and how much came in.
        """
        started = time.time()
        self._looks += 1
        if self._looks % _LOOKS_PER_FULL_LOOK == 0:
            self._left = {path: None for path in self._left if self._changed.watch_path(path)}
        paths = self._changed.find_changed()
        before, left = self._import.account.kinds.copy(), self._left.copy()
        formats: dict[str, None] = {}
        try:
            with ExitStack() as stack:
                if paths:
                    stack.enter_context(lock.only_import(self._connections))
                    self._taken_back.load_undone()
                for number, path in enumerate(paths, 1):
                    if cancelled():
                        self._changed.forget(path)
                    elif format := self._import_file(path):
                        formats[format] = None
                    if progress:
                        progress(number, len(paths), (self._import.account.kinds - before).total())
        except lock.AnotherImportError:
            self._forget_and_retry(paths)
            return None
        except BaseException:
            # What was read but not stored is read again: turns that are there are not added twice.
            self._forget_and_retry(paths)
            with suppress(MemtuiError):
                self._operation.finish_operation(self._operation_label())
            raise
        came = self._import.account.kinds - before
        if not cancelled():
            self._read = started
            if came or self._left != left or (paths and started - self._noted > _NOTED_SECONDS):
                self._note_read(started)
        if not came:
            return None
        operation = self._operation.finish_operation(self._operation_label())
        return FollowResult(
            turns=came["turn"],
            others=came.total() - came["turn"],
            formats=tuple(formats),
            operation=operation,
        )

    def _forget_and_retry(self, paths: Sequence[Path]) -> None:
        for path in paths:
            self._tails.pop(path, None)
            self._changed.forget(path)

    # -- reading

    def _import_file(self, path: Path) -> str | None:
        """Bring in what is new in a file; its format, if it has one."""
        self._left.pop(path, None)
        try:
            for _ in range(2):
                tail = self._tails.get(path)
                if tail is None:
                    format = self._open_tail(path)
                    if format is None or path not in self._tails:
                        return format
                    tail = self._tails[path]
                self._tails.move_to_end(path)
                records = tail.read()
                if records is not None:
                    self._import.tally.place = str(path)
                    self._store_new(self._without_skips(with_times(records, tail.stream)))
                    self._formats[tail.format] = None
                    if tail.stream.half:
                        self._left[path] = None
                    return tail.format
                del self._tails[path]  # written anew
        except FileNotFoundError:
            self._tails.pop(path, None)
        except OSError:  # it may be readable later
            self._tails.pop(path, None)
            self._left[path] = None
        return None

    def _open_tail(self, path: Path) -> str | None:
        """See what a file is: one of lines gets a tail, another one is read as a whole."""
        began = time.monotonic()
        if began < self._next.get(path, began):
            self._changed.watch_path(path)
            self._left[path] = None
            return None
        try:
            detected = find_sources([path], own=self._connections.path)
            array = _is_array(path)
        except InputError as error:
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            return None  # nothing that can be imported, or not yet
        first = detected.sources[0]
        if first.format in LIVE and not (first.source.packed or first.source.member or array):
            self._tails[path] = FileTail(path, first.format, first.source)
            if len(self._tails) > _TAILS_KEPT:
                self._tails.popitem(last=False)
        else:
            tally = ReadTally(detected)
            self._store_new(read_all(detected, tally))
            self._formats[first.format] = None
            now = time.monotonic()
            if now - began > _LONG_READ_SECONDS:
                self._next[path] = now + _PAUSE_SECONDS * (now - began)
        return first.format

    def _without_skips(
        self, records: Iterator[Turn | Item | AnyLine | Skip]
    ) -> Iterator[Turn | Item | AnyLine | None]:
        for record in records:
            if isinstance(record, Skip):
                self._import.tally.count_skip(record)
            else:
                yield record

    def _store_new(self, records: Iterator[Turn | Item | AnyLine | None]) -> None:
        for batch in in_batches(one for one in records if not self._is_undone(one)):
            self._import.import_batch(batch)
        self._import.give_titles()

    def _is_undone(self, record: Turn | Item | AnyLine | None) -> bool:
        return isinstance(record, Turn | Note) and self._taken_back.has(record.source_key)

    # -- the operation and its label

    def _start_label_counts(self) -> None:
        """Another operation: its label counts from here."""
        self._before = self._import.account.kinds.copy()

    def _operation_label(self) -> str:
        counted = lock.count_text(self._import.account.kinds - self._before)
        return f"Followed {format_names(tuple(self._formats))}: {counted}"

    def _note_read(self, at: float) -> None:
        self._noted, self._read = at, 0.0
        self._marks.mark_read(at, self._left)


def _is_array(path: Path) -> bool:
    with SourceOpener() as opener, opener.open(Source(path=path, size=0, modified=0.0)) as stream:
        return stream.is_array
