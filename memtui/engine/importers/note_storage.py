"""Store notes, scratchpad entries and names: the SQL of one transaction of an import.

A note follows the one before it in the same statement where nothing of it depends on that one, since every statement
costs a segment of the full-text index (``memories.insert_all``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import apsw

from memtui.engine.clock import EARLIEST, LATEST
from memtui.engine.errors import InputError
from memtui.engine.memories import operations, validation
from memtui.engine.records import NewMemory
from memtui.engine.store import (
    entities,
    full_text,
    memories,
    recording_rules,
    scratchpad,
    sessions,
    tombstones,
)
from memtui.engine.store.entities import Mention
from memtui.engine.store.sql import json_text, scalar

from . import note_validation, report, turns
from .base import ConsolidatedSession, NamedEntity, Note, PadEntry, Stored
from .note_validation import NewItem, NewNote, item_exists, item_identity, same_text_key, unknown_names
from .report import CHARACTERS_AT_ONCE, MERGED_PAGES, ROWS_AT_ONCE, CountedRecord, ImportCounts

_ROWS_PER_LOOK = 8
_MOST_SOURCES = 200


def store_some(
    connection: apsw.Connection, items: Sequence[NewItem], stored: set[str], *, now: int, seconds: float
) -> tuple[int, list[NewItem]]:
    """Store items until the time is up: how many were taken, and those that were not there already.

    ``stored`` gains the texts and keys that are stored.
    """
    until = time.monotonic() + seconds
    storing = _NoteStorage(connection, stored, now)
    processed = 0
    for processed, item in enumerate(items, 1):
        storing.store_item(item)
        if processed % _ROWS_PER_LOOK == 0 and time.monotonic() > until:
            break
    storing.flush_waiting()
    full_text.merge(connection, MERGED_PAGES)
    return processed, storing.stored


class _NoteStorage:
    """One transaction: notes wait for others to share their statement, sessions are registered once for all their turns."""

    def __init__(self, connection: apsw.Connection, stored: set[str], now: int) -> None:
        self.stored: list[NewItem] = []
        self._connection = connection
        self._stored = stored
        self._now = now
        # The rows of names seen in this transaction: no other writer can change them in the meantime.
        self._names: dict[NamedEntity, int | None] = {}
        self._turn_sessions: dict[str, tuple[int, int, str]] = {}
        self._batch: list[tuple[NewNote, NewMemory]] = []
        # The source keys and ids of what waits: what leads to one of them has to follow it.
        self._keys: set[str] = set()
        # The ids that what waits keeps.
        self._given: set[str] = set()
        self._characters = 0

    def store_item(self, item: NewItem) -> None:
        """Store an item, now or with the next ones, if it is not there already."""
        note = item.note if isinstance(item, NewNote) else None
        if note is None or self._keys.intersection((note.supersedes, *note.drawn_from)):
            self._store_notes()
        if note is None or note.kind != "episode":
            self._register_sessions()  # what follows from turns looks for their session
        if item_exists(self._connection, item, self._stored) or item_identity(item) in self._stored:
            return
        if isinstance(item, NewNote):
            self._defer_note(item)
        elif self._store_item_beside_memories(item):
            self.stored.append(item)

    def flush_waiting(self) -> None:
        """Store what still waits."""
        self._store_notes()
        self._register_sessions()

    def _defer_note(self, item: NewNote) -> None:
        note = item.note
        self._batch.append((item, self._note_row(item)))
        self._keys.update((note.source_key, note.id or note.source_key))
        self._characters += len(note.content)
        self._stored.update((item_identity(item), same_text_key(item) or item_identity(item)))
        if note.kind == "episode" and note.session_id is not None:
            at = _event_time(note, self._now)
            first, last, _ = self._turn_sessions.get(note.session_id, (at, at, note.source))
            self._turn_sessions[note.session_id] = min(first, at), max(last, at), note.source
        if len(self._batch) == ROWS_AT_ONCE or self._characters > CHARACTERS_AT_ONCE:
            self._store_notes()

    def _note_row(self, item: NewNote) -> NewMemory:
        note = item.note
        attributes = {**note.attributes, **item.intake.attributes}
        if note.supersedes and (earlier := self._ids_of_source_keys((note.supersedes,))):
            attributes["supersedes"] = earlier[0]
        session_id = note.session_id
        if (
            note.kind != "episode"
            and session_id is not None
            and not scalar(
                self._connection, "SELECT 1 FROM sessions_consolidations WHERE session_id = ?", (session_id,)
            )
        ):
            session_id = None
        return NewMemory(
            id=note.id or self._free_id(note), kind=note.kind, category=note.category, content=note.content,
            event_time=_event_time(note, self._now), project=note.project, created_at=self._now, trust=note.trust,
            session_id=session_id, source_role=note.role, source=note.source, source_key=note.source_key,
            confidence=note.confidence, decay_rate=note.decay_rate or 0.0,
            confirmed_at=self._now if item.vouched else None, source_ids=self._ids_of_source_keys(note.drawn_from),
            tags=note.tags, attributes=attributes,
            topic=note.topic, happens_at=note.happens_at,
        )  # fmt: skip

    def _free_id(self, note: Note) -> str | None:
        """The id that it had elsewhere, unless a memory here has it, or one that waits; None for a new one."""
        own = note.earlier_id
        if own is None or own in self._given:
            return None
        if memories.memory_exists(self._connection, own):
            return None
        self._given.add(own)
        return own

    def _store_notes(self) -> None:
        """Insert what waits by one statement, and what belongs to each row."""
        batch, self._batch = self._batch, []
        self._keys.clear()
        self._given.clear()
        self._characters = 0
        rids = memories.insert_all(self._connection, [row for _, row in batch])
        for rid, (item, _) in zip(rids, batch, strict=True):
            if rid is not None:
                self._link_and_supersede(rid, item)
                self.stored.append(item)

    def _link_and_supersede(self, rid: int, item: NewNote) -> None:
        note = item.note
        if note.ended_at is not None:
            ended = int(min(max(note.ended_at, EARLIEST), self._now))
            memories.update(self._connection, rid, valid_until=ended, ended_by=note.ended_by)
        operations.keep_from_vectors(self._connection, rid, item.intake)
        at = None if note.ended_at is not None else _event_time(note, self._now)
        for named in note.about:
            if named not in self._names:
                self._names[named] = self._learn_entity(named)
            if (eid := self._names[named]) is not None:
                vote = named.type if named.type != "other" else None
                entities.add_first_link(self._connection, rid, eid, at, vote)

    def _register_sessions(self) -> None:
        if self._turn_sessions:
            self._store_notes()
        for session_id, (first, last, source) in self._turn_sessions.items():
            sessions.register_session(self._connection, session_id, first, last, source=source)
        self._turn_sessions.clear()

    def _store_item_beside_memories(self, item: PadEntry | NamedEntity | ConsolidatedSession) -> bool:
        if isinstance(item, PadEntry):
            scratchpad.set_value(self._connection, item.key, item.value, self._now)
        elif isinstance(item, NamedEntity):
            return self._learn_entity(item) is not None
        else:
            at = int(min(max(item.at, EARLIEST), self._now))
            sessions.mark_consolidated(self._connection, item.session_id, at)
        return True

    def _ids_of_source_keys(self, source_keys: Sequence[str]) -> list[str]:
        """The memories of source keys; keys of nothing are left out."""
        if not source_keys:
            return []
        rows = self._connection.execute(
            "SELECT id FROM memories WHERE source_key IN (SELECT value FROM json_each(?1)) "
            "OR id IN (SELECT value FROM json_each(?1)) ORDER BY rid",
            (json_text(source_keys[:_MOST_SOURCES]),),
        )
        return [str(memory_id) for (memory_id,) in rows]

    def _learn_entity(self, named: NamedEntity) -> int | None:
        """The row of a name, made with its other names where they are new; None if it could be several."""
        eid = entities.resolve(self._connection, Mention(named.name, named.type, named.name))
        if eid is None:
            eid = entities.make_row(self._connection, named.name, named.type, self._now)
            if named.summary:
                self._connection.execute(
                    "UPDATE entities SET summary = ? WHERE eid = ?", (named.summary, eid)
                )
        if eid < 0:
            return None
        survivor = int(
            scalar(
                self._connection,
                "SELECT coalesce(merged_into, eid) FROM entities WHERE eid = ?",
                (eid,),
            )
        )
        for alias in unknown_names(self._connection, named):
            entities.make_row(self._connection, alias, named.type, self._now, merged_into=survivor)
        return eid


def _event_time(note: Note, now: int) -> int:
    return int(min(max(note.event_time or now, EARLIEST), LATEST) // 1)


TOO_LONG_NOTE = "too long"


class NoteImporter:
    """``ordering``: whether a text gives orders to the assistant. Such a text does not count as confirmed."""

    def __init__(self, shared: ImportCounts, ordering: Callable[[str], bool]) -> None:
        self._shared = shared
        self._ordering = ordering
        self._names: dict[NamedEntity, NamedEntity | None] = {}
        # The texts and keys that are there, as far as the batch in hand is concerned.
        self._stored_texts: set[str] = set()

    def select_new(self, connection: apsw.Connection, items: Sequence[Stored]) -> list[NewItem]:
        shared = self._shared
        stored_keys = turns.known_keys(
            connection, [item.source_key for item in items if isinstance(item, Note)]
        )
        gone = tombstones.erased_among(connection, filter(None, map(note_validation.erased_key, items)))
        known = note_validation.known_ids(connection, items)
        never = recording_rules.never_recorded(connection)
        new: list[NewItem] = []
        for item in items:
            if note_validation.erased_key(item) in gone:
                shared.skip(report.ERASED)
            elif isinstance(item, Note) and recording_rules.excluded_subject_in(never, [item.content]):
                shared.skip(turns.UNWANTED)
            elif isinstance(item, Note) and item.id in known:
                if note_validation.equal_except_layout(item.content, known[item.id]):
                    shared.already_there += 1
                else:
                    shared.skip(note_validation.EDITED, item.id)
            elif isinstance(item, Note) and item.source_key in stored_keys:
                shared.already_there += 1
            elif checked := self._check_item(item):
                new.append(checked)
        texts = {note_validation.erased_text(item): item for item in new}
        for text in tombstones.erased_among(connection, filter(None, texts)):
            new.remove(texts[text])
            shared.skip(report.ERASED)
        self._stored_texts = note_validation.stored_texts(connection, new)
        fresh: list[NewItem] = []
        for one in new:
            if not note_validation.item_exists(connection, one, self._stored_texts):
                fresh.append(one)
            elif note_validation.has_other_value(connection, one):
                shared.skip(note_validation.KEY_IN_USE)
            else:
                shared.already_there += not isinstance(one, ConsolidatedSession)
        return fresh

    def _check_item(self, item: Stored) -> NewItem | None:
        try:
            return note_validation.check_item(item, self._shared.options, self._ordering, self._names)
        except InputError as error:
            too_long = isinstance(item, Note) and len(item.content) > _longest_text(item)
            self._shared.skip(TOO_LONG_NOTE if too_long else report.REFUSED, error.message)
            return None

    def identities(self, item: NewItem) -> tuple[str, ...]:
        text = note_validation.same_text_key(item)
        return (
            (note_validation.item_identity(item),)
            if text is None
            else (note_validation.item_identity(item), text)
        )

    def store_some(self, connection: apsw.Connection, new: Sequence[NewItem]) -> tuple[int, list[NewItem]]:
        taken, stored = store_some(
            connection,
            new,
            self._stored_texts,
            now=int(self._shared.clock()),
            seconds=report.SECONDS_PER_TRANSACTION,
        )
        self._shared.already_there += taken - len(stored)
        return taken, stored

    def counted_record(self, item: NewItem) -> CountedRecord:
        if isinstance(item, NewNote):
            episode = item.note.kind == "episode"
            return CountedRecord(
                "turn" if episode else item.note.kind,
                item.note.session_id if episode else None,
                "secrets" in item.intake.attributes,
            )
        if isinstance(item, ConsolidatedSession):
            return CountedRecord(None)
        return CountedRecord("entity" if isinstance(item, NamedEntity) else "scratchpad entry")


def _longest_text(note: Note) -> int:
    return validation.MAX_EPISODE if note.kind == "episode" else validation.MAX_NOTE
