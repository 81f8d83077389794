"""The MCP reference memory server's ``memory.jsonl``: entities with observations, and relations between them.

Servers after it write ``from_entity``, ``to_entity``, ``relation_type`` and ``entity_type`` for the same, or ``_type`` and
observations that are objects with a text and a time (mcp-think-tank, iq-mcp). Its own ``read_graph`` gives one object with
``entities`` and ``relations``.

An observation becomes a fact about its entity (which it is told to be, where its text does not say so), a relation
a sentence about both. An agent wrote them down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.base import Item, NamedEntity, Note
from memtui.engine.records import EntityType, Skip

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream

SOURCE = "import:mcp-memory"
NO_NAME = "no name"


class _Line(msgspec.Struct, rename="camel"):
    type: Any = None
    name: Any = None
    entity_type: Any = None
    observations: Any = None
    from_: Any = msgspec.field(default=None, name="from")
    to: Any = None
    relation_type: Any = None
    # As some servers after it write the same.
    from_entity: Any = msgspec.field(default=None, name="from_entity")
    to_entity: Any = msgspec.field(default=None, name="to_entity")
    relation: Any = msgspec.field(default=None, name="relation_type")
    entity: Any = msgspec.field(default=None, name="entity_type")
    marked_type: Any = msgspec.field(default=None, name="_type")
    # The whole graph in one object.
    entities: Any = None
    relations: Any = None


_DECODER = msgspec.json.Decoder(_Line)


def _sniff(head: StreamHead) -> bool:
    return head.begins_with_object(b"entities", b"relations", b"observations") or any(
        (kind == "entity" and isinstance(record.get("observations"), list))
        or (kind == "relation" and not {"relationType", "relation_type"}.isdisjoint(record))
        for record in head.objects
        for kind in (record.get("type", record.get("_type")),)
    )


def read(stream: Stream) -> Iterator[Item | Skip]:
    """The last type that an entity had is that of its relations: as many as a line may hold are kept in mind."""
    types = _Types()
    for line in foreign_values.decode_each(_DECODER, stream.records(), stream):
        if isinstance(line, Skip):
            yield line
            continue
        kind = line.type or line.marked_type
        if isinstance(line.entities, list) and kind is None:
            yield from _parse_graph(line, stream, types)
        elif kind == "entity":
            yield from _parse_entity(line, stream, types)
        elif kind == "relation":
            yield _parse_relation(line, stream, types)
        else:
            yield Skip(reason=base.NOT_A_MESSAGE)


FORMAT = Format("mcp-memory", "MCP memory", _sniff, read)


class _Types:
    """The types of the entities met so far, up to a bound; the others count as "other"."""

    _MOST = 100_000

    def __init__(self) -> None:
        self._known: dict[str, EntityType] = {}

    def learn(self, name: str, type: EntityType) -> NamedEntity:
        if len(self._known) < self._MOST:
            self._known[name] = type
        return NamedEntity(name=name, type=type)

    def named(self, name: str) -> NamedEntity:
        return NamedEntity(name=name, type=self._known.get(name, "other"))


def _parse_graph(graph: _Line, stream: Stream, types: _Types) -> Iterator[Item | Skip]:
    """Entities first: relations name their types."""
    for entity in _convert_lines(graph.entities, stream):
        yield from [entity] if isinstance(entity, Skip) else _parse_entity(entity, stream, types)
    for relation in _convert_lines(graph.relations, stream):
        yield relation if isinstance(relation, Skip) else _parse_relation(relation, stream, types)


def _convert_lines(listed: Any, stream: Stream) -> Iterator[_Line | Skip]:
    for one in listed if isinstance(listed, list) else []:
        yield msgspec.convert(one, _Line) if isinstance(one, dict) else stream.skip(base.NOT_A_MESSAGE)


def _parse_entity(line: _Line, stream: Stream, types: _Types) -> Iterator[Item | Skip]:
    name = foreign_values.title_line(line.name)
    if name is None:
        yield stream.skip(NO_NAME)
        return
    said = line.entity_type or line.entity
    named = types.learn(name, foreign_values.entity_type(said))
    kind = foreign_values.title_line(said)
    yield NamedEntity(name=name, type=named.type, summary=kind if named.type == "other" else None)
    observations = line.observations if isinstance(line.observations, list) else []
    for observation in observations:
        text, time = _text_and_time(observation)
        if text is None:
            yield stream.skip(base.NO_TEXT)
            continue
        yield Note(
            kind="fact",
            content=text if name.casefold() in text.casefold() else f"{name}: {text}",
            source_key="mcp-memory:" + foreign_values.hash_parts(name, text),
            source=SOURCE,
            trust="agent",
            event_time=foreign_values.event_time(time, stream),
            about=(named,),
        )


def _text_and_time(observation: Any) -> tuple[str | None, Any]:
    """The text of an observation, if it has one, and its time as it is written."""
    time = None
    if isinstance(observation, dict):
        time = observation.get("timestamp", observation.get("ts"))
        observation = next(
            (text_found for key in ("text", "content", "contents") if (text_found := observation.get(key))),
            None,
        )
    return (observation.strip() or None if isinstance(observation, str) else None), time


def _parse_relation(line: _Line, stream: Stream, types: _Types) -> Note | Skip:
    ends = line.from_ or line.from_entity, line.to or line.to_entity
    one, other, relation_words = (
        foreign_values.title_line(value) for value in (*ends, line.relation_type or line.relation)
    )
    if one is None or other is None or relation_words is None:
        return stream.skip(NO_NAME)
    words = re.sub(r"[_\s]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", relation_words)).lower()
    return Note(
        kind="fact",
        content=f"{one} {words} {other}.",
        source_key="mcp-memory:" + foreign_values.hash_parts("relation", one, relation_words, other),
        source=SOURCE,
        trust="agent",
        about=(types.named(one), types.named(other)),
    )
