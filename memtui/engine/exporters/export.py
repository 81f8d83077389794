"""Export a memory to a file or folder, in a format that others can read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, get_args

from msgspec.structs import replace

from memtui import atomic_file
from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.records import ExportProgress, ExportReport
from memtui.engine.records.exchange import ExportFormat
from memtui.engine.search.filters.compiler import ACTIVE, CompiledFilter
from memtui.engine.search.filters.sql import EXPOSED
from memtui.engine.store import locks
from memtui.engine.store.connections import Connections
from memtui.engine.store.export_rows import ALL, Selection
from memtui.engine.store.sql import scalar

from . import jsonl
from .note_folder import open_note_folder
from .vault import VaultWriter

FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
_BESIDE = ("", "-wal", "-shm", *(f".{kind}" for kind in locks.KINDS))


def export(
    connections: Connections,
    target: Path | BinaryIO,
    *,
    format: ExportFormat,
    filter: CompiledFilter | None,
    history: bool,
    without_secrets: bool,
    force: bool,
    clock: Clock,
    progress: Callable[[ExportProgress], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> ExportReport:
    """Write what passes the filter (None: everything, the Trash too) to a file or a stream.

    Nothing is left behind by an error, or when ``cancelled``. Raises InputError, DiskFullError.
    """
    if format not in FORMATS:
        raise InputError(f"There is no export format {format!r}.", f"Formats: {', '.join(FORMATS)}.")
    started = time.monotonic()
    selection = (
        ALL if filter is None else Selection(where=filter.where, bindings=filter.bindings, narrowed=True)
    )

    def write_lines(file: BinaryIO) -> jsonl.JsonlWriter | None:
        with connections.read() as connection:
            return jsonl.write(
                connection, file, selection, filter=filter.text if filter else "", history=history,
                without_secrets=without_secrets, made_at=int(clock()), progress=progress, cancelled=cancelled,
            )  # fmt: skip

    if format == "markdown":
        if not isinstance(target, Path):
            raise InputError("Notes are written to a folder, not to a stream.", "Name a folder.")
        if history:
            raise InputError("Notes have no history.", "--format jsonl can have it.")
        # Unless the filter asks for it, the Trash stays where it is.
        notes = selection if filter else Selection(where=ACTIVE)
        if without_secrets:
            notes = replace(notes, where=f"({notes.where}) AND NOT coalesce({EXPOSED}, 0)")
        return _export_vault(connections, target, notes, started, progress, cancelled)
    written: jsonl.JsonlWriter | None = None
    if isinstance(target, Path):
        _refuse_memory_file(connections.path, target)
        with atomic_file.write_atomically(target, force=force) as file:
            written = write_lines(file)
            if written is None:
                raise atomic_file.AbandonFile
    else:
        written = write_lines(target)
        target.flush()
    secrets_found = 0 if without_secrets else _count_secrets(connections, selection)
    return ExportReport(
        path=str(target) if isinstance(target, Path) else None,
        format=format,
        counts=written.counts if written else {},
        size=written.size if written else 0,
        seconds=time.monotonic() - started,
        content_hash=written.content_hash if written else "",
        secrets=secrets_found,
        cancelled=written is None,
    )


def _export_vault(
    connections: Connections, target: Path, selection: Selection, started: float,
    progress: Callable[[ExportProgress], None] | None, cancelled: Callable[[], bool],
) -> ExportReport:  # fmt: skip
    done, stopped = 0, True
    counts: dict[str, int] = {}

    def note_progress(total: int) -> None:
        nonlocal done
        done += 1
        if cancelled():
            raise atomic_file.AbandonFile
        if progress:
            progress(ExportProgress(done=done, total=total))

    with open_note_folder(target) as folder:
        with connections.read() as connection:
            vault = VaultWriter(connection, selection, folder, note_progress)
            vault.write()
        stopped, counts = False, vault.counts
    secrets_found = _count_secrets(connections, selection)
    return ExportReport(
        path=str(target), format="markdown", counts=counts, size=0 if stopped else folder.size,
        seconds=time.monotonic() - started, kept=tuple(folder.kept), secrets=secrets_found, cancelled=stopped,
    )  # fmt: skip


def _count_secrets(connections: Connections, selection: Selection) -> int:
    """How many of the memories show a secret."""
    with connections.read() as connection:
        return int(
            scalar(
                connection,
                f"SELECT count(*) FROM memories m WHERE ({selection.where}) AND {EXPOSED}",
                selection.bindings,
            )
        )


def _refuse_memory_file(memory: Path | None, target: Path) -> None:
    if memory is None:
        return
    for suffix in _BESIDE:
        own = memory.with_name(memory.name + suffix)
        if target.absolute() == own.absolute() or (target.exists() and own.exists() and target.samefile(own)):
            raise InputError(f"{target} is the memory itself.", "Choose another name for the export.")
