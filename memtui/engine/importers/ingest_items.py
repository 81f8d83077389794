"""What an import brings beside turns, notes, names, scratchpad entries: what of a batch is new, and storing it."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memtui.engine.curate import intake
from memtui.engine.errors import InputError
from memtui.engine.store import erased

from . import account, item_writing, storing_items, writing
from .account import Account
from .item_writing import NewItem, NewNote
from .items import Item, Named, Note, ReadTalk

TOO_LONG_NOTE = "too long"


class ItemIngest:
    """``ordering`` tells whether a text talks to the assistant: such a one is not taken for confirmed."""

    def __init__(self, shared: Account, ordering: Callable[[str], bool]) -> None:
        self._shared = shared
        self._ordering = ordering
        self._names: dict[Named, Named | None] = {}

    def take(self, items: list[Item]) -> None:
        """Sort out what is new in a batch of what is not turns, and store it."""
        shared = self._shared
        keys = [item.source_key for item in items if isinstance(item, Note)]
        with shared.connections.read() as connection:
            there = writing.known_keys(connection, keys)
            gone = erased.erased(connection, filter(None, map(item_writing.erased_key, items)))
            known = item_writing.known_ids(connection, items)
        new: list[NewItem] = []
        for item in items:
            if item_writing.erased_key(item) in gone:
                shared.skip(account.ERASED)
            elif isinstance(item, Note) and item.id in known:
                if item_writing.says_the_same(item.content, known[item.id]):
                    shared.already_there += 1
                else:
                    shared.skip(item_writing.EDITED, item.id)
            elif isinstance(item, Note) and item.source_key in there:
                shared.already_there += 1
            elif checked := self._checked(item):
                new.append(checked)
        with shared.connections.read() as connection:
            texts = {item_writing.erased_text(item): item for item in new}
            for text in erased.erased(connection, filter(None, texts)):
                new.remove(texts[text])
                shared.skip(account.ERASED)
            told = item_writing.told_texts(connection, new)
            fresh = [item for item in new if not item_writing.is_there(connection, item, told)]
            taken_keys = sum(item_writing.other_value(connection, item) for item in new)
        for _ in range(taken_keys):
            shared.skip(item_writing.KEY_IN_USE)
        there_now = sum(not isinstance(item, ReadTalk) for item in new)
        there_now -= sum(not isinstance(item, ReadTalk) for item in fresh)
        shared.already_there += there_now - taken_keys
        self._count(self._dry(fresh) if shared.dry_run else self._store(fresh, told))

    def _checked(self, item: Item) -> NewItem | None:
        try:
            return item_writing.checked(item, self._shared.options, self._ordering, self._names)
        except InputError as error:
            too_long = isinstance(item, Note) and len(item.content) > _longest(item)
            self._shared.skip(TOO_LONG_NOTE if too_long else account.REFUSED, error.message)
            return None

    def _dry(self, items: list[NewItem]) -> list[NewItem]:
        fresh = []
        met = self._shared.met
        for item in items:
            text = item_writing.same_text(item)
            if met.add(item_writing.identity(item)) and (text is None or met.add(text)):
                fresh.append(item)
            else:
                self._shared.already_there += 1
        return fresh

    def _store(self, items: list[NewItem], told: set[str]) -> list[NewItem]:
        def some(connection: apsw.Connection, left: list[NewItem]) -> tuple[int, list[NewItem]]:
            return storing_items.store_some(
                connection, left, told, now=int(self._shared.clock()), seconds=account.SECONDS_PER_TRANSACTION
            )

        return self._shared.store(items, some)

    def _count(self, items: list[NewItem]) -> None:
        shared = self._shared
        for item in items:
            if isinstance(item, NewNote):
                episode = item.note.kind == "episode"
                shared.kinds["turn" if episode else item.note.kind] += 1
                shared.secrets += "secrets" in item.intake.attributes
                if episode and item.note.session_id is not None:
                    shared.met_session(item.note.session_id)
            elif not isinstance(item, ReadTalk):
                shared.kinds["entity" if isinstance(item, Named) else "scratchpad entry"] += 1


def _longest(note: Note) -> int:
    return intake.MAX_EPISODE if note.kind == "episode" else intake.MAX_NOTE
