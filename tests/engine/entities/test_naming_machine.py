"""Corrections of who is who, in any order, with texts read again in between.

- what the person decided stays, whatever is read again;
- undoing everything restores the state of the start, to the last link and count;
- a redo right after an undo restores the state from before the undo;
- the file passes its check at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.models.ner import NameRecogniser, NameSpan, merge_spans
from memtui.engine.records import Options
from memtui.engine.store import entities as rows

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
TEXTS = (
    "Yesterday I met Ada Lovelace in Lisbon, and Ada was happy.",
    "Then Ada wrote to Bob Smith about #apollo.",
    "We went with Ann to project Apollo; @ann came too.",
    "昨天我见到李雷了。",
    "I saw Bob Smith and Ann near Lisbon, Countess said so.",
)
NAMES = (
    "Ada",
    "Ada Lovelace",
    "Bob Smith",
    "Ann",
    "Lisbon",
    "apollo",
    "李雷",
    "Countess",
    "Robert",
    "@ann",
    "Алиса",
)
names = st.sampled_from(NAMES)


class NamingMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1_700_000_000
        self.memory = Memory.open(":memory:", clock=lambda: self.now, options=OPTIONS)
        self.ids = [self.memory.record_turn("talk", "user", text).id for text in TEXTS]
        self.ids.append(self.memory.remember("Lives with Ann in Lisbon").id)
        self._read_all()
        self.start = self._state()
        self.first_op = self.memory.view.operations(limit=1)[0].op_id
        self.stands: list[tuple[str, Callable[[], bool]]] = []

    def teardown(self) -> None:
        for operation in self.memory.view.operations(limit=10_000):
            standing = self.memory.view.operation(operation.op_id)
            if operation.op_id > self.first_op and operation.undoes is None and standing.undone_by is None:
                undone = self.memory.undo(operation.op_id)
                assert undone is not None and not undone.conflicts
        self._read_all()
        assert self._state() == self.start
        self.memory.close()

    def _state(self) -> list[tuple[Any, ...]]:
        """All that can be seen of names: not the numbers of the rows, but what they say."""
        with self.memory._core.connections.read() as connection:
            found = connection.execute(
                """
                SELECT e.id, e.canonical_name, e.type, e.mention_count, e.summary, e.protected, e.hidden, e.pinned,
                       (SELECT s.id FROM entities s WHERE s.eid = e.merged_into),
                       (SELECT group_concat(alias) FROM entity_aliases WHERE entity_id = e.eid),
                       (SELECT group_concat(l.rid || ':' || coalesce(l.at, '') || ':' || coalesce(l.vote, ''))
                        FROM (SELECT * FROM memory_entities WHERE eid = e.eid ORDER BY rid) l)
                FROM entities e ORDER BY e.id
                """
            ).fetchall()
            decided = connection.execute(
                "SELECT decision, entity_id, other_id, rid, key, actor FROM entity_decisions ORDER BY decision_id"
            ).fetchall()
        return [*found, *decided]

    def _read_all(self) -> None:
        """What a re-import, an enrichment or a repair comes to: every text is read for names again."""
        with self.memory._core.connections.write() as connection:
            connection.execute(
                "INSERT INTO index_queue(rid, text, vector) SELECT rid, 1, 0 FROM memories WHERE true "
                "ON CONFLICT(rid) DO UPDATE SET text = 1"
            )
        self.memory.models.index_pending()

    def _do(self, act: Callable[[], Any]) -> Any:
        with suppress(InputError):
            return act()

    @rule(name=names, new=names)
    def rename(self, name: str, new: str) -> None:
        self._do(lambda: self.memory.entities.rename(name, new))

    @rule(name=names, type=st.sampled_from(("person", "project", "location")))
    def retype(self, name: str, type: str) -> None:
        self._do(lambda: self.memory.entities.retype(name, type))

    @rule(name=names, alias=names)
    def add_alias(self, name: str, alias: str) -> None:
        self._do(lambda: self.memory.entities.add_alias(name, alias))

    @rule(name=names, alias=names)
    def split(self, name: str, alias: str) -> None:
        self._do(lambda: self.memory.entities.split(name, alias))

    @rule(name=names, other=names)
    def merge(self, name: str, other: str) -> None:
        self._do(lambda: self.memory.entities.merge(name, other))

    @rule(name=names, other=names)
    def keep_apart(self, name: str, other: str) -> None:
        self._do(lambda: self.memory.entities.keep_apart(name, other))

    @rule(name=names, which=st.integers(0, 5), link=st.booleans())
    def link(self, name: str, which: int, link: bool) -> None:
        verb = self.memory.entities.link if link else self.memory.entities.unlink
        self._do(lambda: verb(self.ids[which], name))

    @rule(name=names)
    def hide(self, name: str) -> None:
        self._do(lambda: self.memory.entities.not_an_entity(name))

    @rule(name=names, summary=st.sampled_from(("a friend", None)), pinned=st.booleans())
    def describe(self, name: str, summary: str | None, pinned: bool) -> None:
        self._do(lambda: self.memory.entities.describe(name, summary))
        self._do(lambda: self.memory.entities.pin(name, pinned))

    @rule(which=st.integers(0, 5))
    def forget(self, which: int) -> None:
        self._do(lambda: self.memory.forget(self.ids[which]))

    @rule()
    def read_again(self) -> None:
        self.memory.models.index_pending()
        before = self._state()
        self._read_all()
        assert self._state() == before

    @rule(which=st.integers(0, 5), type=st.sampled_from(("person", "organization")))
    def enrich(self, which: int, type: str) -> None:
        """A model reads a memory again; what it finds is derived, and the decisions win."""
        memory = self.memory.get(self.ids[which])
        word = "Ann" if "Ann" in memory.content else "Ada"
        at = memory.content.find(word)
        if at >= 0:
            self.memory.models.index_pending()
            decided = self._decided()
            span = NameSpan(
                text=word,
                start=at,
                end=at + len(word),
                type=type,
                confidence=0.9,
                provider="spacy",
                name=word,
            )
            found = merge_spans([*NameRecogniser().find_names_by_rules(memory.content), span])
            with self.memory._core.connections.write() as connection:
                rows.link(
                    connection,
                    memory.rid,
                    self.memory._core.indexer.find_mentions(memory.content, found),
                    self.now,
                )
            assert self._decided() == decided
            self._read_all()  # the rules have the last word again, so that the end can be compared with the start

    def _decided(self) -> list[Any]:
        with self.memory._core.connections.read() as connection:
            found: list[Any] = connection.execute(
                """
                SELECT id, canonical_name, hidden, pinned, summary, merged_into, iif(protected & 10, type, '') FROM entities
                UNION ALL SELECT decision, entity_id, other_id, rid, key, actor, '' FROM entity_decisions
                UNION ALL SELECT alias, entity_id, '', '', '', '', '' FROM entity_aliases
                """
            ).fetchall()
        return found

    @rule()
    def undo_and_redo(self) -> None:
        self.memory.models.index_pending()
        latest = self.memory.history.next_undo()
        if latest is None or latest.op_id <= self.first_op:
            return
        before = self._state()
        self.memory.undo()
        self.memory.models.index_pending()
        self.memory.redo()
        self.memory.models.index_pending()
        assert self._state() == before

    @precondition(
        lambda self: (
            (self.memory.history.next_undo() or 0) and self.memory.history.next_undo().op_id > self.first_op
        )
    )  # type: ignore[union-attr]
    @rule()
    def undo(self) -> None:
        self.memory.undo()

    @invariant()
    def the_file_is_sound(self) -> None:
        with self.memory._core.connections.read() as connection:
            doubled = connection.execute(
                "SELECT entity_id FROM entity_aliases GROUP BY entity_id HAVING count(*) > 1"
            ).fetchall()
        assert not doubled
        assert self.memory.files.check().findings == ()


def test_corrections_and_reading_again_in_any_order_are_taken_back_exactly(full: bool) -> None:
    run_state_machine_as_test(
        NamingMachine,
        settings=hypothesis.settings(max_examples=300 if full else 12, stateful_step_count=15, deadline=None),
    )
