"""--db with a store of another program: a throwaway copy, read-only, made by importing it into a temporary memory."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from memtui.engine.application_id import HEADER_BYTES, is_of_memtui
from memtui.engine.errors import InputError, ReadOnlyError
from memtui.engine.installation import runnable_text

if TYPE_CHECKING:
    from memtui.engine.records import ImportReport, Options

# Names are linked for so many memories: more would be waited for.
_LINKED = 5_000
# So many files of a folder are looked at: it may be meant for a folder with a memory.
_MOST_FILES = 20_000
_NOTES = "markdown"


class ForeignStore(NamedTuple):
    """``label``: its program, as people call it."""

    label: str
    path: Path

    @property
    def title(self) -> str:
        return f"{self.label} · read-only copy"

    @property
    def reason_readonly(self) -> str:
        return f"This is a read-only copy of {self.path.name}, a store of {self.label}"

    @property
    def import_command(self) -> str:
        """The command that imports it for good."""
        return runnable_text(f"memtui import {shlex.quote(str(self.path))}")

    def refusal_error(self) -> ReadOnlyError:
        """What a command that would change something raises."""
        return ReadOnlyError(
            f"{self.path} is a store of {self.label}: memtui only reads it.",
            f"To bring it into a memory of yours, leave --db out: {self.import_command}",
        )


def foreign_store(path: Path) -> ForeignStore | None:
    """The store of another program at ``path``; None if it is a memory of memtui, nothing, or nothing that can be imported.

    A folder counts if all that it has is of one program. Raises InputError for the store of a program that is newer than
    memtui.
    """
    folder = path.is_dir()
    if not folder:
        try:
            with path.open("rb") as file:
                header = file.read(HEADER_BYTES)
        except OSError:
            return None
        if not header or is_of_memtui(header):
            return None
    from memtui.engine.importers import refusals
    from memtui.engine.importers.detect import find_sources
    from memtui.engine.importers.ingest import format_names
    from memtui.engine.importers.limits import LIMITS

    limits = replace(LIMITS, files=_MOST_FILES) if folder else LIMITS
    try:
        detected = find_sources([path], limits=limits)
    except refusals.NewerSchemaError:
        raise
    except InputError:
        return None
    formats = tuple(dict.fromkeys(one.format for one in detected.sources))
    if folder and (len(formats) > 1 or _NOTES in formats):
        return None
    # A memory that lost its mark has an error of its own.
    return None if "memtui-backup" in formats else ForeignStore(format_names(formats), path)


@contextmanager
def open_store_copy(store: ForeignStore, options: Options) -> Iterator[tuple[Path, ImportReport]]:
    """A memory with what is in the store, in a temporary folder that is deleted afterwards. Raises InputError."""
    import tempfile

    from memtui.engine.memory import Memory

    with tempfile.TemporaryDirectory(prefix="memtui-copy-") as folder:
        place = Path(folder, "copy.db")
        with Memory.open(place, options=copy_options(options)) as memory:
            report = memory.files.import_paths([store.path])
            memory.models.index_pending(_LINKED, wait_for_network=False)
        yield place, report


def copy_options(options: Options) -> Options:
    """Those of a copy: nothing of it leaves the machine, and no vectors are made that would be thrown away."""
    from memtui.engine.records import LlmOptions

    return replace(
        options, embedder="off", network=False, llm=LlmOptions(), background=False, allow_unsafe_fs=True
    )
