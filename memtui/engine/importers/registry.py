"""The registry of import formats: those of memtui, and those of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from memtui.engine.errors import InputError
from memtui.engine.records import Record, Skip, Turn
from memtui.engine.store.export_rows import AnyLine

from . import base
from .base import Format, Item, StreamHead
from .formats import (
    agents_sdk,
    aider,
    basic_memory,
    chatgpt,
    claude_ai,
    claude_ai_memories,
    claude_code,
    claude_history,
    claude_mem,
    claude_memory,
    codex,
    engram,
    gemini_cli,
    generic,
    langchain,
    letta,
    markdown,
    mcp_memory,
    mcp_memory_service,
    mem0,
    mem0_history,
    mem0_markdown,
    memory_db,
    mempalace,
    memtui_backup,
    memtui_export,
    observations,
    opencode,
    scratchpad,
    vault,
)
from .stream import Stream

GROUP = "memtui.importers"
Found = Turn | Item | AnyLine | Skip
# The more particular first: the first one that recognises a stream reads it.
BUILT_IN = (
    memtui_export.FORMAT,
    memtui_backup.FORMAT,
    claude_code.FORMAT,
    claude_history.FORMAT,
    claude_memory.FORMAT,
    codex.FORMAT,
    gemini_cli.FORMAT,
    opencode.FORMAT,
    chatgpt.FORMAT,
    claude_ai.FORMAT,
    claude_ai_memories.FORMAT,
    agents_sdk.FORMAT,
    langchain.FORMAT,
    letta.FORMAT,
    memory_db.FORMAT,
    claude_mem.FORMAT,
    engram.FORMAT,
    mcp_memory_service.FORMAT,
    mempalace.FORMAT,
    mem0_history.FORMAT,
    mcp_memory.FORMAT,
    observations.FORMAT,
    generic.LINES,
    generic.ARRAY,
    mem0.FORMAT,
    mem0_markdown.FORMAT,
    vault.FORMAT,
    basic_memory.FORMAT,
    aider.FORMAT,
    markdown.FORMAT,
    scratchpad.FORMAT,
)


class BrokenFormat(Record):
    """A format of another package that cannot be used, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"import format {self.name} left out: {self.reason}"


def _guard_format(name: str, label: str, foreign: Any) -> Format:
    """A format of another package: whatever it does, it stops no import."""

    def detect_format(head: StreamHead) -> bool:
        try:
            return bool(foreign.sniff(head))
        except Exception as error:
            _note_broken(name, f"it cannot look at a file ({type(error).__name__})")
            return False

    def read_stream(stream: Stream) -> Iterator[Found]:
        try:
            for record in foreign.read(stream):
                yield record if isinstance(record, Turn | Item | Skip) else stream.skip(base.NOT_A_MESSAGE)
        except Exception as error:
            yield stream.skip(f"the format {name} failed ({type(error).__name__})")

    return Format(name, label, detect_format, read_stream)


@cache
def _package_formats() -> tuple[tuple[Format, ...], dict[str, BrokenFormat]]:
    """The formats of installed packages, and those that cannot be used."""
    from importlib.metadata import entry_points

    by_name: dict[str, Format] = {format.name: format for format in BUILT_IN}
    broken: dict[str, BrokenFormat] = {}
    for point in entry_points(group=GROUP):
        try:
            format = point.load()
            if not (isinstance(format.name, str) and isinstance(format.label, str)):
                raise TypeError("name and label are texts")
            if not (callable(format.sniff) and callable(format.read)):
                raise TypeError("sniff and read are functions")
            if format.name in by_name:
                raise ValueError(f"there is a format {format.name} already")
            by_name[format.name] = _guard_format(format.name, format.label, format)
        except Exception as error:
            broken[point.name] = BrokenFormat(
                name=point.name, reason=f"{point.value} cannot be loaded ({type(error).__name__}: {error})"
            )
    return tuple(by_name.values())[len(BUILT_IN) :], broken


def all_formats() -> tuple[Format, ...]:
    """Those of memtui, then those of other packages."""
    return (*BUILT_IN, *_package_formats()[0])


def broken_formats() -> tuple[BrokenFormat, ...]:
    """Formats of other packages that cannot be used, so far as is known."""
    return tuple(_package_formats()[1].values())


def _note_broken(name: str, reason: str) -> None:
    _package_formats()[1].setdefault(name, BrokenFormat(name=name, reason=reason))


def get_format(name: str) -> Format:
    """Raises InputError, listing the known formats."""
    for format in all_formats():
        if format.name == name:
            return format
    known = ", ".join(format.name for format in all_formats())
    raise InputError(f"There is no import format {name!r}.", f"Known formats: {known}.")
