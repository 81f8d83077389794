"""A memory file of memtui: a backup, or the file of another device. Read as the rows of an export.

A private copy is read, which is brought to the current format first: the file itself is never written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw

from memtui.engine.errors import MemtuiError
from memtui.engine.records import Skip
from memtui.engine.store import export_rows
from memtui.engine.store.backup import copy_into
from memtui.engine.store.export_rows import AnyLine
from memtui.engine.store.file import OWN_TABLES, open_file

from .. import databases
from ..base import Format, StreamHead
from ..stream import Stream


def _sniff(head: StreamHead) -> bool:
    return head.tables.keys() >= OWN_TABLES


def read(stream: Stream) -> Iterator[AnyLine | Skip]:
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        place = Path(folder, "memory.db")
        try:
            with databases.open_copy(stream.source.path, stream.limits) as source:
                copied = apsw.Connection(str(place))
                try:
                    copy_into(source, copied)
                finally:
                    copied.close()
            opened = open_file(place, allow_unsafe=True)
        except (MemtuiError, apsw.Error, OSError) as error:
            yield Skip(reason="cannot be opened as a memory", place=f"{stream.place} ({error})")
            return
        try:
            with opened.read() as connection:
                for line in export_rows.rows(connection):
                    stream.record += 1
                    yield line
        finally:
            opened.close()


FORMAT = Format("memtui-backup", "memtui backup", _sniff, read)
