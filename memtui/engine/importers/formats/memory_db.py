"""Another program's ``memory.db``: episodes, facts and reflections with their provenance, names and sessions.

Text is read as bytes, and numbers only where they are some: a row that is broken is passed over, not the file. For its
vectors, whose model is unknown, see ``carried_vectors``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from memtui.engine.importers.base import ConsolidatedSession, Item, NamedEntity, Note
from memtui.engine.memories import validation
from memtui.engine.records import ID_PREFIX, EndedBy, Kind, Skip, Trust

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..databases import Row, number_column, text_column
from ..stream import Stream

SOURCE = "import:memory-db"
VECTORS = "table of vectors left out: they are made anew"
UNKNOWN_KIND = "unknown kind"
NO_ID = "no id"
_REQUIRED_COLUMNS = frozenset(("id", "kind", "content", "event_time", "source_ids"))
_KINDS: tuple[Kind, ...] = ("episode", "fact", "reflection")
_OWN_ID = {kind: re.compile(f"{ID_PREFIX[kind]}[0-9a-f]{{12}}") for kind in _KINDS}
_FADED_CONFIDENCE = 0.05
_MOST_SUPERSEDED = 500_000
_LONGEST_REASON = 2_000
_TEXT_COLUMNS = ("id", "content", "session_id", "source_role", "source_ids", "tags", "attributes")
_NUMBER_COLUMNS = ("event_time", "confidence", "decay_rate", "valid_until")
_LIST = msgspec.json.Decoder(list[Any])
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _sniff(head: StreamHead) -> bool:
    columns = head.tables.get("memories", ())
    return _REQUIRED_COLUMNS.issubset(columns) and "rid" not in columns


def read(stream: Stream) -> Iterator[Item | Skip]:
    """Names first, then what was said, then what was drawn from it: so that a link finds what it leads to."""
    tables = stream.tables()
    columns = tables.get("memories", ())
    if {"canonical_name", "type"} <= set(tables.get("entities", ())):
        yield from _read_entities(stream, tables["entities"])
    reader = _Reader(stream, columns, linked="memory_entities" in tables and "entities" in tables)
    for kind in _KINDS:
        yield from reader.read(kind)
    yield from reader.other_kinds()
    if {"session_id", "consolidated_at"} <= set(tables.get("sessions_consolidations", ())):
        yield from _read_consolidated_sessions(stream)
    if "vec_memories_rowids" in tables:
        stream.warn(VECTORS)


FORMAT = Format("memory-db", "memory.db", _sniff, read)


def _read_entities(stream: Stream, columns: Sequence[str]) -> Iterator[NamedEntity | Skip]:
    wanted = ", ".join(
        text_column(name, columns) for name in ("canonical_name", "type", "aliases", "summary")
    )
    for row in stream.rows(f"SELECT {wanted} FROM entities ORDER BY rowid"):
        if isinstance(row, Skip):
            yield row
            continue
        name, type, aliases, summary = (foreign_values.read_text(value) for value in row)
        if one := foreign_values.title_line(name):
            known = tuple(alias for alias in _parse_strings(aliases) if alias.strip())
            yield NamedEntity(name=one, type=foreign_values.entity_type(type), aliases=known, summary=summary)
        else:
            yield stream.skip("no name")


class _Reader:
    """The rows of ``memories``, a kind at a time."""

    def __init__(self, stream: Stream, columns: Sequence[str], *, linked: bool) -> None:
        self.stream = stream
        about = """
            (SELECT CAST(json_group_array(json_array(CAST(e.canonical_name AS TEXT), CAST(e.type AS TEXT))) AS BLOB)
             FROM (SELECT entity_id FROM memory_entities WHERE memory_id = m.id LIMIT 50) j
             JOIN entities e ON e.id = j.entity_id)"""
        self.wanted = ", ".join([
            *(text_column(name, columns, "m.") for name in _TEXT_COLUMNS),
            *(number_column(name, columns, "m.") for name in _NUMBER_COLUMNS),
            "m.valid_until IS NOT NULL" if "valid_until" in columns else "0",
            about if linked else "NULL",
        ])  # fmt: skip
        self.superseded = self._superseded_ids() if "attributes" in columns else set()

    def read(self, kind: Kind) -> Iterator[Note | Skip]:
        for row in self.stream.rows(
            f"SELECT {self.wanted} FROM memories m WHERE m.kind = ? ORDER BY m.rowid", (kind,)
        ):
            yield row if isinstance(row, Skip) else self._parse_note(kind, row)

    def other_kinds(self) -> Iterator[Skip]:
        for row in self.stream.rows(
            "SELECT 1 FROM memories WHERE kind IS NULL OR kind NOT IN ('episode', 'fact', 'reflection')"
        ):
            yield row if isinstance(row, Skip) else self.stream.skip(UNKNOWN_KIND)

    def _superseded_ids(self) -> set[str]:
        """The ids that a later memory takes the place of."""
        ids: set[str] = set()
        for row in self.stream.rows(
            "SELECT CAST(attributes AS BLOB) FROM memories WHERE instr(attributes, 'supersedes') LIMIT ?",
            (_MOST_SUPERSEDED,),
        ):
            if not isinstance(row, Skip) and (id := _superseded_id(foreign_values.read_text(row[0]))):
                ids.add(id)
        return ids

    def _parse_note(self, kind: Kind, row: Row) -> Note | Skip:
        id, content, session, role, sources, tags, attributes = (
            foreign_values.read_text(value) for value in row[:7]
        )
        event_time, confidence, decay_rate, valid_until = (_float_or_none(value) for value in row[7:11])
        ended, about = bool(row[11]), foreign_values.read_text(row[12])
        foreign_id = foreign_values.read_identifier(id)
        if foreign_id is None:
            return self.stream.skip(NO_ID)
        if content is None or not content.strip():
            return self.stream.skip(base.NO_TEXT)
        drawn_from = tuple(source_key(one) for one in _parse_strings(sources))
        speaker = foreign_values.title_line(role)
        talk = foreign_values.read_identifier(session)
        if talk is None and kind == "episode":
            talk = self.stream.source.stem
        reason = _parse_object(attributes).get("conflict_reason")
        earlier = _superseded_id(attributes)
        return Note(
            kind=kind,
            content=content,
            source_key=source_key(foreign_id),
            source=SOURCE,
            trust=_memory_trust(kind, speaker, drawn_from),
            event_time=foreign_values.event_time(event_time, self.stream),
            confidence=1.0 if confidence is None else confidence,
            decay_rate=decay_rate,
            lasting=decay_rate == 0.0,
            ended_at=(self.stream.source.modified if valid_until is None else valid_until) if ended else None,
            ended_by=self._ended_by(kind, foreign_id, confidence),
            drawn_from=drawn_from,
            supersedes=source_key(earlier) if earlier else None,
            session_id=None if talk is None else _session_id(talk),
            role=speaker,
            tags=tuple(_parse_strings(tags)),
            earlier_id=id if id and _OWN_ID[kind].fullmatch(id) else None,
            attributes={"conflict_reason": reason[:_LONGEST_REASON]} if isinstance(reason, str) else {},
            about=tuple(_parse_entities(about)),
        )

    def _ended_by(self, kind: Kind, id: str, confidence: float | None) -> EndedBy:
        if id in self.superseded:
            return "superseded"
        return (
            "faded"
            if kind == "fact" and confidence is not None and confidence < _FADED_CONFIDENCE
            else "forgotten"
        )


def _memory_trust(kind: Kind, speaker: str | None, drawn_from: Sequence[str]) -> Trust:
    """An agent keeps a fact by itself; what has sources, a model drew from them."""
    if kind == "episode":
        return "tool" if speaker is None else validation.role_trust(speaker) or "agent"
    return "model" if drawn_from or kind == "reflection" else "agent"


def _read_consolidated_sessions(stream: Stream) -> Iterator[ConsolidatedSession | Skip]:
    for row in stream.rows(
        "SELECT CAST(session_id AS BLOB), CAST(consolidated_at AS REAL) FROM sessions_consolidations "
        "WHERE consolidated_at IS NOT NULL"
    ):
        if isinstance(row, Skip):
            yield row
        elif (talk := foreign_values.read_identifier(foreign_values.read_text(row[0]))) and (
            at := _float_or_none(row[1])
        ) is not None:
            yield ConsolidatedSession(session_id=_session_id(talk), at=at)


def _float_or_none(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def source_key(id: str) -> str:
    """The source key of a memory's id."""
    return f"memory-db:{foreign_values.read_identifier(id)}"


def _session_id(session: str) -> str:
    return f"memory-db:{session}"


def _parse_array(text: str | None) -> list[Any]:
    try:
        return _LIST.decode(text or "[]")
    except (msgspec.MsgspecError, RecursionError):
        return []


def _parse_object(text: str | None) -> dict[str, Any]:
    try:
        return _OBJECT.decode(text or "{}")
    except (msgspec.MsgspecError, RecursionError):
        return {}


def _parse_strings(text: str | None) -> list[str]:
    return [one for one in _parse_array(text) if isinstance(one, str) and one]


def _superseded_id(attributes: str | None) -> str | None:
    """The id in ``supersedes``, alone or the first of a list."""
    superseded = _parse_object(attributes).get("supersedes")
    first = superseded[0] if isinstance(superseded, list) and superseded else superseded
    return first if isinstance(first, str) and first else None


def _parse_entities(text: str | None) -> Iterator[NamedEntity]:
    for pair in _parse_array(text):
        if isinstance(pair, list) and len(pair) == 2 and (name := foreign_values.title_line(pair[0])):
            yield NamedEntity(name=name, type=foreign_values.entity_type(pair[1]))
