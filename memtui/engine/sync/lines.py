"""What a batch holds: a row's line with what sync knows of it, a row that went, a memory that was erased."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from memtui.engine.records import ID_PREFIX, Record, Stamp
from memtui.engine.store import stamps
from memtui.engine.store.export_rows import (
    AnyLine,
    DecisionLine,
    DeletedKeyLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    ProposalLine,
    QuestionLine,
    ScratchpadLine,
    SessionLine,
)
from memtui.engine.store.tables import Id

SESSION, CARD, QUESTION, PROFILE, DECISION, ENTITY = (
    "session:",
    "card:",
    "question:",
    "profile:",
    "decision:",
    "ent_",
)
"""How the names of things begin; a memory's is its id, a key of the scratchpad has ``stamps.PAD``."""


_Cleared = Annotated[str, Meta(pattern=r"^([0-9a-f]{2}){1,64}:[0-9a-f]{64}$")]
_Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class RowLine(Record, tag_field="sync", tag="row", omit_defaults=True):
    """A row as it is now. ``versions``: its stamps of ``sync_versions``; ``through``: of a session, up to which memory it
    has been consolidated."""

    line: AnyLine
    versions: tuple[Stamp, ...] = ()
    through: Id | None = None


class GoneLine(Record, tag_field="sync", tag="gone", omit_defaults=True):
    """A row that an undo, or somebody, took away; ``decided``: what was known of it there."""

    thing: str
    versions: tuple[Stamp, ...]
    decided: tuple[Stamp, ...] = ()


class ErasedLine(Record, tag_field="sync", tag="erased", omit_defaults=True):
    """What was erased for good: ids of memories and names of people, names of sessions.

    ``kept``: what the person kept then, each as ``Sealer.keyed_hash`` of its name (``erase.devices.name_on_devices``). Names of
    notes and projects may tell of what is erased later, and a line of this kind is never taken out of its batch.
    ``covered``: rows that stay without words of theirs; they come before it in the batch. ``cleared``: notes, questions and
    tags that went, as ``SALT:HASH`` (``store.sync_erased``).
    """

    names: tuple[Id, ...] = ()
    kept: tuple[_Hash, ...] = ()
    covered: tuple[Id, ...] = ()
    cleared: tuple[_Cleared, ...] = ()


class TombstonesLine(Record, tag_field="sync", tag="tombstones", omit_defaults=True):
    """All that a device knows as erased, for who has not read the batches that told of it: ``hashes`` under any of ``salts``."""

    salts: tuple[Annotated[str, Meta(pattern=r"^([0-9a-f]{2}){1,64}$")], ...]
    hashes: tuple[_Hash, ...]


SyncLine = RowLine | GoneLine | ErasedLine | TombstonesLine
encode = msgspec.json.Encoder(order="deterministic").encode
decode = msgspec.json.Decoder(SyncLine).decode


def thing_of(line: AnyLine) -> str:
    """What a line is about, as stamps call it."""
    match line:
        case SessionLine():
            return SESSION + line.session_id
        case EntityLine() | MemoryLine():
            return line.id
        case ScratchpadLine() | DeletedKeyLine():
            return stamps.PAD + line.key
        case ProposalLine():
            return CARD + line.id
        case QuestionLine():
            return QUESTION + line.name
        case ProfileLine():
            return PROFILE + line.name
        case DecisionLine():
            return decision_name(line.decision, line.entity, line.other, line.memory, line.key)
    raise TypeError(f"{type(line)} does not travel by itself")


def decision_name(decision: str, *about: Any) -> str:
    """``about``: the ids of an entity, another one and a memory, and a key; None where it is about none."""
    return DECISION + "\n".join((decision, *(str(one or "") for one in about)))


def is_memory(thing: str) -> bool:
    return thing.startswith(tuple(ID_PREFIX.values()))
