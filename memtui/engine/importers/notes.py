"""The notes, names and scratchpad entries of an import: what of a batch is new, and storing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw

from memtui.engine.errors import InputError
from memtui.engine.memories import validation
from memtui.engine.store import tombstones

from . import note_storage, note_validation, report, turns
from .items import ConsolidatedSession, Named, Note, Stored
from .note_validation import NewItem, NewNote
from .report import CountedRecord, ImportCounts

TOO_LONG_NOTE = "too long"


class Notes:
    """``ordering`` tells whether a text talks to the assistant: such a one is not taken for confirmed."""

    def __init__(self, shared: ImportCounts, ordering: Callable[[str], bool]) -> None:
        self._shared = shared
        self._ordering = ordering
        self._names: dict[Named, Named | None] = {}
        # The texts and keys that are there, as far as the batch in hand is concerned.
        self._stored: set[str] = set()

    def sort_out(self, connection: apsw.Connection, items: Sequence[Stored]) -> list[NewItem]:
        shared = self._shared
        there = turns.known_keys(connection, [item.source_key for item in items if isinstance(item, Note)])
        gone = tombstones.erased(connection, filter(None, map(note_validation.erased_key, items)))
        known = note_validation.known_ids(connection, items)
        new: list[NewItem] = []
        for item in items:
            if note_validation.erased_key(item) in gone:
                shared.skip(report.ERASED)
            elif isinstance(item, Note) and item.id in known:
                if note_validation.says_the_same(item.content, known[item.id]):
                    shared.already_there += 1
                else:
                    shared.skip(note_validation.EDITED, item.id)
            elif isinstance(item, Note) and item.source_key in there:
                shared.already_there += 1
            elif found := self._checked(item):
                new.append(found)
        texts = {note_validation.erased_text(item): item for item in new}
        for text in tombstones.erased(connection, filter(None, texts)):
            new.remove(texts[text])
            shared.skip(report.ERASED)
        self._stored = note_validation.stored_texts(connection, new)
        fresh: list[NewItem] = []
        for one in new:
            if not note_validation.is_there(connection, one, self._stored):
                fresh.append(one)
            elif note_validation.other_value(connection, one):
                shared.skip(note_validation.KEY_IN_USE)
            else:
                shared.already_there += not isinstance(one, ConsolidatedSession)
        return fresh

    def _checked(self, item: Stored) -> NewItem | None:
        try:
            return note_validation.checked(item, self._shared.options, self._ordering, self._names)
        except InputError as error:
            too_long = isinstance(item, Note) and len(item.content) > _longest(item)
            self._shared.skip(TOO_LONG_NOTE if too_long else report.REFUSED, error.message)
            return None

    def identities(self, item: NewItem) -> tuple[str, ...]:
        text = note_validation.same_text(item)
        return (note_validation.identity(item),) if text is None else (note_validation.identity(item), text)

    def store_some(self, connection: apsw.Connection, new: Sequence[NewItem]) -> tuple[int, list[NewItem]]:
        taken, stored = note_storage.store_some(
            connection,
            new,
            self._stored,
            now=int(self._shared.clock()),
            seconds=report.SECONDS_PER_TRANSACTION,
        )
        self._shared.already_there += taken - len(stored)
        return taken, stored

    def counted(self, item: NewItem) -> CountedRecord:
        if isinstance(item, NewNote):
            episode = item.note.kind == "episode"
            return CountedRecord(
                "turn" if episode else item.note.kind,
                item.note.session_id if episode else None,
                "secrets" in item.intake.attributes,
            )
        if isinstance(item, ConsolidatedSession):
            return CountedRecord(None)
        return CountedRecord("entity" if isinstance(item, Named) else "scratchpad entry")


def _longest(note: Note) -> int:
    return validation.MAX_EPISODE if note.kind == "episode" else validation.MAX_NOTE
