"""Name, type, merge, split and link entities, and who decided what. Functions inside the caller's operation.

The person's word wins: what the person decided, an agent may not change (ProtectedError), and no program does.
Every name is a row (store/entities.py), so that a merge and a split are one update, and an undo is exact.
"""

from __future__ import annotations

from itertools import starmap
from typing import Any, NamedTuple

import apsw

from memtui.engine.errors import InputError, ProtectedError
from memtui.engine.memories import validation
from memtui.engine.records import Entity, EntityMerge, MemoryRecord
from memtui.engine.store import entities, entity_lists, entity_names
from memtui.engine.store.entities import (
    NAME_DECIDED,
    SUMMARY_DECIDED,
    TYPE_DECIDED,
    TYPE_DECIDED_BY_AGENT,
    VOTES,
    entity_key,
)
from memtui.engine.store.entity_lists import GROUP
from memtui.engine.store.sql import scalar, storable_text

PERSON = "person"


class PairDecision(NamedTuple):
    """That two are two. ``split_off``: the key of the name that was taken from one of them; None if it was said outright."""

    decision_id: int
    actor: str
    split_off: str | None


def decision_bits(connection: apsw.Connection, eid: int) -> int:
    """The bits of what somebody decided about the row of an entity (NAMED, TYPED, ... of ``store.entities``)."""
    return int(scalar(connection, "SELECT protected FROM entities WHERE eid = ?", (eid,)))


def require_undecided(connection: apsw.Connection, entity: Entity, bits: int, actor: str, verb: str) -> None:
    """Raise ProtectedError where the person decided any of ``bits``, and it is not the person who would change it."""
    if actor != PERSON and decision_bits(connection, entity.eid) & bits:
        raise ProtectedError(
            f"The person decided about {entity.canonical_name}: {actor} may not {verb} it.", "Ask the person."
        )


def record_decision(connection: apsw.Connection, eid: int, bit: int, *, clear: bool = False) -> None:
    """Record a decision about an entity; ``clear`` removes it."""
    operator = "& ~" if clear else "|"
    connection.execute(f"UPDATE entities SET protected = protected {operator} ? WHERE eid = ?", (bit, eid))


def note_decision(
    connection: apsw.Connection, decision: str, eid: int, actor: str, now: int, *, other: int | None = None,
    rid: int | None = None, key: str | None = None,
) -> None:  # fmt: skip
    """Note what was decided (``link``, ``unlink``, ``distinct``) about an entity and a memory, or another entity."""
    connection.execute(
        "INSERT INTO entity_decisions(decision, entity_id, other_id, rid, key, at, actor) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (decision, eid, other, rid, key, now, actor),
    )


def withdraw_decision(
    connection: apsw.Connection, decision: str, memory: MemoryRecord, entity: Entity, actor: str
) -> bool:
    """Take back what was decided before about this memory; whether anything was.

    Raises ProtectedError when that was the person's decision.
    """
    rows: Any = connection.execute(
        f"""
        SELECT decision_id, actor FROM entity_decisions
        WHERE decision = ?3 AND rid = ?1 AND entity_id IN {GROUP.format(eid="?2")}
        """,
        (memory.rid, entity.eid, decision),
    ).fetchall()
    for decision_id, by in rows:
        if by == PERSON and actor != PERSON:
            raise ProtectedError(
                f"The person decided about {memory.id} and {entity.canonical_name}: {actor} may not change it.",
                "Ask the person.",
            )
        forget_decision(connection, decision_id)
    return bool(rows)


def decisions_between(connection: apsw.Connection, one: int, other: int) -> list[PairDecision]:
    """All that was decided between two entities or names of them."""
    rows: Any = connection.execute(
        f"""
        SELECT decision_id, actor, key FROM entity_decisions WHERE decision = 'distinct' AND (
            (entity_id IN {GROUP.format(eid="?1")} AND other_id IN {GROUP.format(eid="?2")})
            OR (entity_id IN {GROUP.format(eid="?2")} AND other_id IN {GROUP.format(eid="?1")}))
        """,
        (one, other),
    )
    return list(starmap(PairDecision, rows))


def forget_decision(connection: apsw.Connection, decision_id: int) -> None:
    connection.execute("DELETE FROM entity_decisions WHERE decision_id = ?", (decision_id,))


MAX_CHARACTERS = 200


def rename(connection: apsw.Connection, entity: Entity, name: str, *, actor: str, now: int) -> None:
    """Call it otherwise; the old name stays as an alias."""
    name = clean_name(name)
    require_undecided(connection, entity, NAME_DECIDED, actor, "rename")
    _assign_name(connection, entity, name, now)
    _set_column(connection, entity.eid, "canonical_name = ?", name)
    if actor == PERSON:
        record_decision(connection, entity.eid, NAME_DECIDED)


def retype(connection: apsw.Connection, entity: Entity, type: str, *, actor: str) -> None:
    type = entity_lists.check_type(type)
    require_undecided(connection, entity, TYPE_DECIDED, actor, "retype")
    _set_column(connection, entity.eid, "type = ?", type)
    record_decision(connection, entity.eid, TYPE_DECIDED if actor == PERSON else TYPE_DECIDED_BY_AGENT)


def add_alias(connection: apsw.Connection, entity: Entity, alias: str, *, now: int) -> None:
    """One more name of it; texts that have it are read again."""
    _assign_name(connection, entity, clean_name(alias), now)


def split(connection: apsw.Connection, entity: Entity, alias: str, *, actor: str, now: int) -> int:
    """Make an entity of its own of one of the names, with the memories that name it so; returns its eid."""
    require_undecided(connection, entity, NAME_DECIDED, actor, "split")
    key = entity_key(alias)
    if key == entity_key(entity.canonical_name):
        raise InputError(
            f"{entity.canonical_name!r} is the main name of this entity.",
            "Rename it first, or split off another name.",
        )
    row: Any = connection.execute(
        f"""
        SELECT a.alias_id, a.entity_id, a.alias FROM entity_aliases a
        WHERE a.key = ? AND a.entity_id IN {GROUP.format(eid="?2")} LIMIT 1
        """,
        (key, entity.eid),
    ).fetchone()
    if row is None:
        names = ", ".join(entity.aliases) or "it has no other name"
        raise InputError(f"{alias!r} is not an alias of {entity.canonical_name}.", f"Its aliases: {names}.")
    alias_id, eid, name = row
    if eid == entity.eid:  # it was called so before: its own row keeps the id, the name gets another one
        eid = _bare_row(connection, name, entity.type, now)
        connection.execute("UPDATE entity_aliases SET entity_id = ? WHERE alias_id = ?", (eid, alias_id))
    else:
        _set_column(connection, eid, "merged_into = NULL", None)
    note_decision(connection, "distinct", entity.eid, actor, now, other=eid, key=key)
    return int(eid)


def preview_merge(connection: apsw.Connection, survivor: Entity, absorbed: Entity) -> EntityMerge:
    """What ``merge`` would make."""
    _require_different(survivor, absorbed)
    total = int(
        scalar(
            connection,
            f"""
            SELECT count(DISTINCT rid) FROM memory_entities WHERE at IS NOT NULL
            AND (eid IN {GROUP.format(eid="?1")} OR eid IN {GROUP.format(eid="?2")})
            """,
            (survivor.eid, absorbed.eid),
        )
    )
    names = dict.fromkeys((*survivor.aliases, absorbed.canonical_name, *absorbed.aliases))
    names.pop(survivor.canonical_name, None)
    return EntityMerge(
        survivor=survivor,
        absorbed=absorbed,
        memories_after=total,
        moved=absorbed.mention_count,
        aliases=tuple(names),
        type=_merged_type(connection, survivor, absorbed),
    )


def merge(connection: apsw.Connection, survivor: Entity, absorbed: Entity, *, actor: str) -> None:
    """Make one of two. The absorbed one's names, links and id lead to the survivor from then on."""
    type = _merged_type(connection, survivor, absorbed)
    _require_different(survivor, absorbed)
    require_undecided(connection, absorbed, NAME_DECIDED | TYPE_DECIDED | SUMMARY_DECIDED, actor, "merge")
    for decision in decisions_between(connection, survivor.eid, absorbed.eid):
        if decision.actor == PERSON and actor != PERSON:
            raise ProtectedError(
                f"The person keeps {survivor.canonical_name} and {absorbed.canonical_name} apart: {actor} may not merge them.",
                "Ask the person.",
            )
        forget_decision(connection, decision.decision_id)
    _merge_chain(connection, survivor.eid, absorbed.eid)
    if type != survivor.type:
        _set_column(connection, survivor.eid, "type = ?", type)
    if (
        decision_bits(connection, absorbed.eid) & TYPE_DECIDED
        and not decision_bits(connection, survivor.eid) & TYPE_DECIDED
    ):
        record_decision(connection, survivor.eid, TYPE_DECIDED)
    if survivor.summary is None and absorbed.summary is not None:
        _set_column(connection, survivor.eid, "summary = ?", absorbed.summary)
    if absorbed.pinned and not survivor.pinned:
        _set_column(connection, survivor.eid, "pinned = 1", None)


def keep_apart(connection: apsw.Connection, one: Entity, other: Entity, *, actor: str, now: int) -> None:
    """They are two, however alike they look: no merge of them is suggested again."""
    _require_different(one, other)
    if all(decision.split_off is not None for decision in decisions_between(connection, one.eid, other.eid)):
        note_decision(connection, "distinct", one.eid, actor, now, other=other.eid)


def unlink(
    connection: apsw.Connection, memory: MemoryRecord, entity: Entity, *, actor: str, now: int
) -> None:
    """The memory is not about it, whatever stands in its text."""
    rows: Any = connection.execute(
        f"SELECT eid FROM memory_entities WHERE rid = ?1 AND eid IN {GROUP.format(eid='?2')}",
        (memory.rid, entity.eid),
    ).fetchall()
    if not rows:
        raise InputError(
            f"{memory.id} is not linked to {entity.canonical_name}.", "memtui show lists its links."
        )
    withdraw_decision(connection, "link", memory, entity, actor)
    for (eid,) in rows:
        note_decision(connection, "unlink", eid, actor, now, rid=memory.rid)


def link(connection: apsw.Connection, memory: MemoryRecord, entity: Entity, *, actor: str, now: int) -> None:
    """The memory is about it, whatever stands in its text."""
    said_otherwise = withdraw_decision(connection, "unlink", memory, entity, actor)
    linked = scalar(
        connection,
        f"SELECT 1 FROM memory_entities WHERE rid = ?1 AND eid IN {GROUP.format(eid='?2')}",
        (memory.rid, entity.eid),
    )
    if said_otherwise or not linked:
        note_decision(connection, "link", entity.eid, actor, now, rid=memory.rid)


def mark_not_entity(connection: apsw.Connection, entity: Entity, *, actor: str) -> None:
    """It is no entity: its names are not looked for any more."""
    require_undecided(connection, entity, NAME_DECIDED | TYPE_DECIDED | SUMMARY_DECIDED, actor, "hide")
    _set_column(connection, entity.eid, "hidden = 1", None)


def describe(connection: apsw.Connection, entity: Entity, summary: str | None, *, actor: str) -> None:
    """A line that says who or what it is; None takes it away."""
    require_undecided(connection, entity, SUMMARY_DECIDED, actor, "describe")
    text = " ".join(storable_text(summary).replace("\0", " ").split()) if summary else ""
    _set_column(connection, entity.eid, "summary = ?", validation.without_secrets(text)[:2_000] or None)
    if actor == PERSON:
        record_decision(connection, entity.eid, SUMMARY_DECIDED, clear=not text)


def pin(connection: apsw.Connection, entity: Entity, pinned: bool) -> None:
    _set_column(connection, entity.eid, "pinned = ?", int(pinned))


def clean_name(name: str) -> str:
    """A name without blanks around it. Raises InputError for one that has nothing to read."""
    name = " ".join(storable_text(name).replace("\0", " ").split())
    if not entity_key(name):
        raise InputError("There is no name to use.", "Give at least one letter or sign.")
    if len(name) > MAX_CHARACTERS:
        raise InputError(
            f"A name has at most {MAX_CHARACTERS} characters; this one has {len(name):,}.", "Shorten it."
        )
    if validation.without_secrets(name) != name:
        raise InputError("The name holds a secret.", "Take it out.")
    return name


def _assign_name(connection: apsw.Connection, entity: Entity, name: str, now: int) -> None:
    """See that the name leads to this entity. Raises InputError when it is another one's."""
    others = []
    for row, survivor, hidden in entity_names.entities_named(connection, name):
        if survivor == entity.eid:
            return
        if hidden or _has_no_links(connection, survivor):  # no entity is left behind the name
            _set_column(connection, survivor, "hidden = 0", None)
            if row == survivor:
                _merge_chain(connection, entity.eid, row)
            else:
                _set_column(connection, row, "merged_into = ?", entity.eid)
            return
        if all(
            decision.split_off is not None for decision in decisions_between(connection, entity.eid, survivor)
        ):
            others.append(survivor)
    for other in entities.by_eid(connection, others):
        raise InputError(
            f"{name!r} is already the name of another entity: {other.canonical_name} ({other.type}, {other.id}).",
            "Merge the two, or keep them apart first: then both may have it.",
        )
    entities.make_row(connection, name, entity.type, now, merged_into=entity.eid)


def _has_no_links(connection: apsw.Connection, eid: int) -> bool:
    link = scalar(
        connection,
        "SELECT mention_count = 0 AND protected = 0 AND pinned = 0 AND summary IS NULL FROM entities WHERE eid = ?",
        (eid,),
    )
    return bool(link)


def _bare_row(connection: apsw.Connection, name: str, type: str, now: int) -> int:
    """A row whose name is still another row's."""
    eid = entities.make_row(connection, name, type, now)
    connection.execute("DELETE FROM entity_aliases WHERE entity_id = ?", (eid,))
    return eid


def _merge_chain(connection: apsw.Connection, survivor: int, absorbed: int) -> None:
    """Merge with all that was merged before: no chains."""
    connection.execute(
        "UPDATE entities SET merged_into = ?1 WHERE eid = ?2 OR merged_into = ?2", (survivor, absorbed)
    )


def _require_different(one: Entity, other: Entity) -> None:
    if one.eid == other.eid:
        raise InputError(
            f"These are already the same entity: {one.canonical_name} ({one.id}).",
            "Name two different entities.",
        )


def _merged_type(connection: apsw.Connection, survivor: Entity, absorbed: Entity) -> str:
    """What somebody decided; else what most of the memories of both say."""
    for one in (survivor, absorbed):
        if decision_bits(connection, one.eid) & (TYPE_DECIDED | TYPE_DECIDED_BY_AGENT):
            return one.type
    votes: Any = connection.execute(
        f"""
        SELECT v.type FROM entity_votes v JOIN entities n ON n.eid = v.eid
        WHERE v.eid IN {GROUP.format(eid="?1")} OR v.eid IN {GROUP.format(eid="?2")}
        GROUP BY v.type ORDER BY v.type = 'other', sum({VOTES}) DESC, v.type = ?3 DESC LIMIT 1
        """,
        (survivor.eid, absorbed.eid, survivor.type),
    ).fetchone()
    return str(votes[0]) if votes else survivor.type


def _set_column(connection: apsw.Connection, eid: int, what: str, value: str | int | None) -> None:
    values = (value, eid) if "?" in what else (eid,)
    connection.execute(f"UPDATE entities SET {what} WHERE eid = ?", values)
