"""What every command needs: the shared options, the settings, the open memory, and text from standard input."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import paths
from memtui.engine.errors import NotFoundError, OlderFileError, ReadOnlyError, StoreError, UsageError

if TYPE_CHECKING:
    from memtui.cli.store_copy import ForeignStore
    from memtui.config import Configuration
    from memtui.engine.memory import Memory
    from memtui.engine.records import Options
import sys

from memtui.engine.errors import InputError

# Ids of memories, entities and cards, as messages name them.
_names_an_id = re.compile(r"(?<!\w)(?:ep|fact|ref|obs|ent|prop)_[0-9a-f]").search
_NEW_COPY = "Each command with --demo makes a new copy, with other ids. memtui --demo opens one in the app."


@dataclass
class Invocation:
    """One call of memtui: the options that every command takes, before or after its name."""

    db: str | None = None
    readonly: bool = False
    demo: bool = False
    tour: bool = False
    ascii: bool = False
    allow_unsafe_fs: bool = False
    config: str | None = None

    @classmethod
    def without_command(cls, arguments: Sequence[str]) -> Invocation | None:
        """A command line of these options only. None for any other line: click reads it."""
        invocation, rest = cls(), iter(arguments)
        for argument in rest:
            name, equals, value = argument.partition("=")
            if argument in ("--readonly", "--demo", "--tour", "--ascii", "--allow-unsafe-fs"):
                setattr(invocation, argument[2:].replace("-", "_"), True)
                continue
            value_ = value if equals else next(rest, "-")
            if name not in ("--db", "--config") or value_.startswith("-"):
                return None
            setattr(invocation, name[2:], value_)
        return invocation

    @property
    def leaves_no_trace(self) -> bool:
        """With --readonly and --demo: no settings, log or state are written, and no file of another program."""
        return self.readonly or self.demo

    @cached_property
    def configuration(self) -> Configuration:
        """The settings in force. Raises InputError."""
        from memtui import config

        environment = {**os.environ, "MEMTUI_ASCII": "1"} if self.ascii else os.environ
        return config.load(Path(self.config).expanduser() if self.config else None, environment)

    def memory_path(self) -> Path:
        """The memory to open: --db, else MEMTUI_DB or the setting, else the one in the data folder."""
        named = self.db or self.configuration.settings.general.db
        return Path(named).expanduser() if named else paths.default_memory()

    @cached_property
    def foreign_store(self) -> ForeignStore | None:
        """The store of another program that --db names; None for a memory. Raises InputError for a newer store."""
        if not self.db or self.demo:
            return None
        from .store_copy import foreign_store

        return foreign_store(Path(self.db).expanduser())

    def refuse_foreign(self) -> None:
        """Raise ReadOnlyError if --db names the store of another program, for a command that needs a memory of its own."""
        if self.foreign_store is not None:
            raise self.foreign_store.refusal_error()

    def check_options(self) -> None:
        """Raise UsageError for options that contradict each other."""
        if self.demo and self.db:
            raise UsageError(
                "--demo and --db exclude each other: the demo has a memory of its own.", "Leave one out."
            )
        if self.tour and not self.demo:
            raise UsageError("--tour needs --demo.", "For example: memtui --demo --tour")
        if self.db == "":
            raise UsageError("--db needs a path.", "For example --db ~/memory.db")

    @contextmanager
    def open_readonly(self) -> Iterator[Memory]:
        """The memory, opened for reading only. Raises StoreError when there is none yet."""
        with self._open_memory(write=False, create=False) as memory:
            yield memory

    @contextmanager
    def open_existing(self, *, must_write: bool = False) -> Iterator[Memory]:
        """A memory that is there: writable if it may be, for reading only if not (unless ``must_write``)."""
        if must_write and self.readonly:
            raise _readonly_error()
        if must_write:
            self.refuse_foreign()
        with ExitStack() as stack:
            try:
                memory = stack.enter_context(self._open_memory(write=not self.readonly, create=False))
            except ReadOnlyError:
                if must_write:
                    raise
                memory = stack.enter_context(self._open_memory(write=False, create=False))
            yield memory
        if must_write:
            self._print_thrown_away()

    @contextmanager
    def open_or_create(self, *, background: bool = False) -> Iterator[Memory]:
        """The memory, created when there is none; ``background``: it makes links and vectors in the background.

        One that was created here and has nothing in it after an error is removed. Raises ReadOnlyError with --readonly.
        """
        if self.readonly:
            raise _readonly_error()
        self.refuse_foreign()
        missing = () if self.demo else _missing_paths(self.memory_path())
        try:
            with self._open_memory(write=True, create=True, background=background) as memory:
                yield memory
        except BaseException:
            _remove_unused(missing)
            raise
        self._print_thrown_away()

    def _print_thrown_away(self) -> None:
        if self.demo:
            from .output import print_note

            print_note("This changed a copy of the demo memory, which is now deleted.")

    @contextmanager
    def _open_memory(self, *, write: bool, create: bool, background: bool = False) -> Iterator[Memory]:
        from memtui import log
        from memtui.engine.memory import Memory

        self.check_options()
        unsafe = self.allow_unsafe_fs or self.demo
        options = self.configuration.settings.options(background=background, allow_unsafe_fs=unsafe)
        if self.demo:
            with demo_file() as path, Memory.open(path, options=options) as memory:
                try:
                    yield memory
                except NotFoundError as error:
                    if not _names_an_id(error.message):
                        raise
                    raise NotFoundError(error.message, _NEW_COPY) from error
            return
        if (store := self.foreign_store) is not None:
            with _open_foreign_copy(store, options) as memory:
                yield memory
            return
        path = self.memory_path()
        if paths.is_surely_missing(path):
            Memory.rescue(path).refuse_to_begin_anew()
        if not create and paths.is_surely_missing(path):
            hint = 'Create one: memtui remember "..." or memtui import PATH. To look at an example: memtui --demo'
            raise StoreError(f"There is no memory at {path}.", hint)
        if write:
            log.start()  # else lines of the log would be mixed with the answer
        with self._open_upgraded(path, write, options) as memory:
            if memory.files.unfinished_erase() is not None:
                from .output import print_note

                print_note("An erase was interrupted. To finish it: memtui erase --resume")
            yield memory

    def _open_upgraded(self, path: Path, write: bool, options: Options) -> Memory:
        """The open memory. A file of an older format is upgraded first, if that is allowed."""
        from memtui.engine.memory import Memory

        try:
            return Memory.open(path, readonly=not write, options=options)
        except OlderFileError:
            if self.readonly:
                raise
        Memory.open(path, options=options).close()
        return Memory.open(path, readonly=not write, options=options)


@contextmanager
def _open_foreign_copy(store: ForeignStore, options: Options) -> Iterator[Memory]:
    """A read-only copy of another program's store. Raises ReadOnlyError, with what to do, for whatever would change it."""
    from memtui.engine.memory import Memory
    from memtui.present.format import plural

    from .output import print_note
    from .store_copy import copy_options, open_store_copy

    with open_store_copy(store, options) as (path, report):
        left = f" ({plural(report.skipped, 'record')} of it left out)" if report.skipped else ""
        print_note(f"{store.reason_readonly}{left}. To keep it: {store.import_command}")
        with Memory.open(path, readonly=True, options=copy_options(options)) as memory:
            try:
                yield memory
            except ReadOnlyError:
                raise store.refusal_error() from None


def _missing_paths(path: Path) -> tuple[Path, ...]:
    """The memory at ``path`` and its folders, as far as they are not there yet."""
    return tuple(takewhile(paths.is_surely_missing, (path, *path.parents)))


def _remove_unused(missing: Sequence[Path]) -> None:
    """Delete the memory that was created at the first of ``missing``, and its folders, if it is empty."""
    from memtui.engine.memory import Memory

    if missing and Memory.rescue(missing[0]).remove_unused():
        with suppress(OSError):  # another program has files there
            for folder in missing[1:]:
                folder.rmdir()


@contextmanager
def demo_file() -> Iterator[Path]:
    """A demo memory in a temporary folder, deleted afterwards."""
    import tempfile
    import time

    from memtui.demo import create_demo

    with tempfile.TemporaryDirectory(prefix="memtui-demo-") as folder:
        path = Path(folder) / "demo.db"
        create_demo(path, now=time.time())
        yield path


def _readonly_error() -> ReadOnlyError:
    return ReadOnlyError("--readonly was given: nothing can be changed.", "Leave --readonly out.")


_MOST_BYTES = 1 << 20
_CONVERT = "Convert it first, for example with iconv."


def text_of_words(words: Sequence[str]) -> str:
    """``words`` joined, or what standard input holds when they are just ``-``.

    Raises InputError for another encoding, or for more text than a memory can have.
    """
    if tuple(words) == ("-",):
        return _standard_input()
    text = " ".join(words)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("The text is not valid UTF-8.", _CONVERT) from None
    return text


def _standard_input() -> str:
    raw = sys.stdin.buffer.read(_MOST_BYTES + 1) if sys.stdin is not None else b""
    if len(raw) > _MOST_BYTES:
        raise InputError(
            "Standard input holds more than 1 MiB: too much for one memory.",
            "Whole conversations are brought in with memtui import PATH.",
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"Standard input is not valid UTF-8 (byte {error.start}).", _CONVERT) from None
