"""``memory.entities``: read and correct entities. Each correction is one undoable operation.

What the person decided stays, whatever is read, imported or enriched later; an agent may not change it. An
entity is named by its id, its name, an alias, or a beginning of its id that is unique; an id that was merged
leads to the survivor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import apsw

from memtui.engine.core import Core
from memtui.engine.entities import operations
from memtui.engine.errors import InputError
from memtui.engine.overview.neighbourhood import load_neighbourhood
from memtui.engine.records import Entity, EntityMerge, EntityProfile, MemoryRecord
from memtui.engine.search.filters import compiler
from memtui.engine.store import entities, entity_lists, entity_names, history, memories
from memtui.engine.store.entities import Mention
from memtui.engine.store.entity_lists import EntityOrder

SEEN_WITH = 12
"""So many entities that it is seen with are in a profile."""


class _EntityChange(NamedTuple):
    """An open correction."""

    op: history.OpenOperation
    now: int

    @property
    def connection(self) -> apsw.Connection:
        return self.op.connection

    def entity(self, name_or_id: str) -> Entity:
        return entity_names.find_entity(self.connection, name_or_id)

    def memory(self, id: str) -> MemoryRecord:
        return memories.get(self.connection, id, self.now)


class Entities:
    """Reading and correcting."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._list = entity_lists.EntityList(core.connections)

    # Reading

    def page(
        self, filter: str = "", *, type: str | None = None, order: EntityOrder = "mentions", offset: int = 0,
        limit: int = 100,
    ) -> list[Entity]:  # fmt: skip
        """Entities that have all words of ``filter`` in one of their names, pinned ones first.

        ``order``: the most mentioned first, by name, the latest seen first, the earliest seen first. Raises
        InputError for an unknown type or order, and for a bad offset or limit.
        """
        if offset < 0 or limit < 0:
            raise InputError("Offset and limit cannot be negative.", "For example limit=100.")
        words = f"{filter} type:{entity_lists.check_type(type)}" if type is not None else filter
        return self._list.page(words, order=order, offset=offset, limit=limit)

    def get(self, name_or_id: str, *, limit: int = 100) -> EntityProfile:
        """Everything about one entity: itself, its memories, whom it is seen with.

        Raises NotFoundError with near names, InputError that lists the candidates when it could be several.
        """
        if limit < 0:
            raise InputError("The limit cannot be negative.", "For example 100.")
        with self._core.connections.read() as connection:
            entity = entity_names.find_entity(connection, name_or_id)
            now = self._core.clock()
            around = load_neighbourhood(
                connection, entity, compiler.compile_filter("", now), now, limit=SEEN_WITH, with_latest=False
            )
            return EntityProfile(
                entity=entity,
                memories=tuple(entity_lists.linked_memories(connection, entity, now, limit=limit)),
                total=entity.mention_count,
                seen_with=around.companions,
                others=around.others,
                unlinked=entity_lists.count_unlinked(connection, entity.eid),
                waiting=entity_lists.count_unread_texts(connection),
            )

    def named_in(self, text: str) -> tuple[Mention, ...]:
        """Names that the text alone shows, without what the memory knows of names."""
        return self._core.indexer.names_by_rules(text)

    def merge_candidates(self, name_or_id: str) -> list[Entity]:
        """Other entities that may be the same one, as Review asks about them, the most mentioned first.

        Raises NotFoundError, InputError for a name of several entities.
        """
        from memtui.engine.review import merge_candidates

        with self._core.connections.read() as connection:
            return merge_candidates.candidates_for_entity(
                connection, entity_names.find_entity(connection, name_or_id), self._core.clock()
            )

    def preview_merge(self, survivor: str, absorbed: str) -> EntityMerge:
        """What ``merge`` would make. Raises NotFoundError."""
        with self._core.connections.read() as connection:
            pair = (
                entity_names.find_entity(connection, survivor),
                entity_names.find_entity(connection, absorbed),
            )
            return operations.preview_merge(connection, *pair)

    # Correcting

    def rename(self, id: str, name: str) -> Entity:
        """Change the name; the old name stays as an alias. Raises NotFoundError, InputError when another one has this name."""
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.rename(change.connection, entity, name, actor=self._core.actor, now=change.now)
            return self._label_change(
                change, entity.eid, f"Renamed “{entity.canonical_name}” to “{operations.clean_name(name)}”"
            )

    def retype(self, id: str, type: str) -> Entity:
        """Say what it is: person, project, organization, location, email, url, date or other. Raises NotFoundError."""
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.retype(change.connection, entity, type, actor=self._core.actor)
            return self._label_change(
                change, entity.eid, f"Made “{entity.canonical_name}” a {entity_lists.check_type(type)}"
            )

    def add_alias(self, id: str, alias: str) -> Entity:
        """Add another name. Texts that have this name are read again.

        Raises NotFoundError, InputError when another entity has the name.
        """
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.add_alias(change.connection, entity, alias, now=change.now)
            return self._label_change(
                change,
                entity.eid,
                f"“{entity.canonical_name}” is also called “{operations.clean_name(alias)}”",
            )

    def remove_alias(self, id: str, alias: str) -> Entity:
        """It is not called so: what memories call so is somebody else from then on (see ``split``).

        Raises NotFoundError.
        """
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.split(change.connection, entity, alias, actor=self._core.actor, now=change.now)
            return self._label_change(
                change,
                entity.eid,
                f"“{entity.canonical_name}” is not called “{operations.clean_name(alias)}”",
            )

    def split(self, id: str, alias: str) -> Entity:
        """Make an entity of its own of an alias; the memories that name it so go with it. Returns the new one.

        Raises NotFoundError.
        """
        with self._open_correction() as change:
            entity = change.entity(id)
            eid = operations.split(change.connection, entity, alias, actor=self._core.actor, now=change.now)
            return self._label_change(
                change, eid, f"Split “{operations.clean_name(alias)}” off “{entity.canonical_name}”"
            )

    def merge(self, survivor: str, absorbed: str) -> Entity:
        """Make one of two: names, links and id of the absorbed one lead to the survivor, which is returned.

        Raises NotFoundError.
        """
        with self._open_correction() as change:
            kept, gone = change.entity(survivor), change.entity(absorbed)
            operations.merge(change.connection, kept, gone, actor=self._core.actor)
            return self._label_change(
                change, kept.eid, f"Merged “{gone.canonical_name}” into “{kept.canonical_name}”"
            )

    def keep_apart(self, id: str, other: str) -> Entity:
        """Say that they are two: no merge of them is suggested any more. Raises NotFoundError."""
        with self._open_correction() as change:
            one, two = change.entity(id), change.entity(other)
            operations.keep_apart(change.connection, one, two, actor=self._core.actor, now=change.now)
            return self._label_change(
                change, one.eid, f"“{one.canonical_name}” and “{two.canonical_name}” are two"
            )

    def unlink(self, memory_id: str, entity_id: str) -> Entity:
        """The memory is not about this, whatever its text names. Raises NotFoundError, InputError when it is not linked to it."""
        with self._open_correction() as change:
            memory, entity = change.memory(memory_id), change.entity(entity_id)
            operations.unlink(change.connection, memory, entity, actor=self._core.actor, now=change.now)
            return self._label_change(
                change, entity.eid, f"{memory.id} is not about “{entity.canonical_name}”"
            )

    def link(self, memory_id: str, entity_id: str) -> Entity:
        """Link a memory to an entity, whatever its text names. Raises NotFoundError."""
        with self._open_correction() as change:
            memory, entity = change.memory(memory_id), change.entity(entity_id)
            operations.link(change.connection, memory, entity, actor=self._core.actor, now=change.now)
            return self._label_change(change, entity.eid, f"{memory.id} is about “{entity.canonical_name}”")

    def not_an_entity(self, id: str) -> Entity:
        """Not an entity: its names are no longer listed, found or linked. Raises NotFoundError."""
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.mark_not_entity(change.connection, entity, actor=self._core.actor)
            return self._label_change(change, entity.eid, f"“{entity.canonical_name}” is not an entity")

    def describe(self, id: str, summary: str | None) -> Entity:
        """Set the line that says who or what it is; None removes it. Raises NotFoundError."""
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.describe(change.connection, entity, summary, actor=self._core.actor)
            return self._label_change(change, entity.eid, f"Described “{entity.canonical_name}”")

    def pin(self, id: str, pinned: bool = True) -> Entity:
        """Pin or unpin an entity; pinned ones come first in every list. Raises NotFoundError."""
        with self._open_correction() as change:
            entity = change.entity(id)
            operations.pin(change.connection, entity, pinned)
            return self._label_change(
                change, entity.eid, f"{'Pinned' if pinned else 'Unpinned'} “{entity.canonical_name}”"
            )

    @contextmanager
    def _open_correction(self) -> Iterator[_EntityChange]:
        self._core.must_write("correct it")
        with self._core.operation("entity", "Corrected an entity") as op:
            yield _EntityChange(op, int(self._core.clock()))
        if not self._core.options.background:  # no background job reads the texts again
            self._core.indexer.read_texts()
        self._core.announce(op)

    def _label_change(self, change: _EntityChange, eid: int, label: str) -> Entity:
        """Name the operation; returns the entity as it is now."""
        change.op.label = label
        (entity,) = entities.by_eid(change.connection, [eid])
        return entity
