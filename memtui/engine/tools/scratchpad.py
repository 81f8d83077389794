"""Tools for the scratchpad: keys with a text each, shared by the person and all agents without a scope.

An agent with a scope has the entries of that scope only.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from memtui.engine.memories.validation import MAX_KEY, MAX_VALUE
from memtui.engine.records import Record
from memtui.engine.records.saved import ScratchpadNote

from .agent import Agent
from .base import Arguments, Tool
from .recall import local_time

_MOST_KEYS = 500
_MOST_FOUND = 20
_EXCERPT = 2_000
Key = Annotated[str, Meta(max_length=MAX_KEY, description="The key, on one line, as in api.limit.")]


class ScratchpadEntry(Record):
    """``updated``: when it was last written. ``whole``: False if only the beginning of the value is given."""

    key: str
    value: str
    updated: str
    whole: bool = True


class KeyList(Record):
    """``more``: how many keys are not listed here."""

    keys: tuple[str, ...]
    more: int = 0


class ScratchpadEntries(Record):
    entries: tuple[ScratchpadEntry, ...]


def make_entry(note: ScratchpadNote, most: int = MAX_VALUE) -> ScratchpadEntry:
    return ScratchpadEntry(
        key=note.key,
        value=note.value[:most],
        updated=local_time(note.updated_at),
        whole=len(note.value) <= most,
    )


class WriteArguments(Arguments):
    key: Key
    value: Annotated[str, Meta(max_length=MAX_VALUE, description="The text to keep under it.")]


def write_entry(agent: Agent, arguments: WriteArguments) -> ScratchpadEntry:
    return make_entry(agent.scratchpad.set(arguments.key, arguments.value), _EXCERPT)


class ReadArguments(Arguments):
    key: Key


def read_entry(agent: Agent, arguments: ReadArguments) -> ScratchpadEntry:
    return make_entry(agent.scratchpad.get(arguments.key))


class ListArguments(Arguments):
    prefix: Annotated[str, Meta(max_length=MAX_KEY, description="Only keys that begin so.")] = ""


def list_keys(agent: Agent, arguments: ListArguments) -> KeyList:
    keys = agent.scratchpad.keys(arguments.prefix)
    return KeyList(keys=tuple(keys[:_MOST_KEYS]), more=max(0, len(keys) - _MOST_KEYS))


class SearchArguments(Arguments):
    query: Annotated[
        str,
        Meta(min_length=1, max_length=1_000, description="What to look for in keys and values, in any case."),
    ]


def search(agent: Agent, arguments: SearchArguments) -> ScratchpadEntries:
    notes = agent.scratchpad.search(arguments.query, limit=_MOST_FOUND)
    return ScratchpadEntries(entries=tuple(make_entry(note, _EXCERPT) for note in notes))


TOOLS = (
    Tool(
        name="scratchpad_write", group="scratchpad", arguments=WriteArguments,
        returns=ScratchpadEntry, run=write_entry, writes=True,
        description="Keep a text under a key while you work; an older text under it is replaced. Other agents of your "
        "scope and the person share the scratchpad. For facts about the person use remember_fact.",
    ),
    Tool(
        name="scratchpad_read", group="scratchpad", arguments=ReadArguments, returns=ScratchpadEntry, run=read_entry,
        description="Read the text under a key of the scratchpad.",
    ),
    Tool(
        name="scratchpad_list", group="scratchpad", arguments=ListArguments, returns=KeyList, run=list_keys,
        description="List the keys of the scratchpad, all or those that begin with a prefix.",
    ),
    Tool(
        name="scratchpad_search", group="scratchpad", arguments=SearchArguments, returns=ScratchpadEntries, run=search,
        description="Find entries of the scratchpad by words in their key or text, in any case; the latest first.",
    ),
)  # fmt: skip
