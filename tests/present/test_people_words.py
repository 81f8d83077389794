"""Sessions, turns, entities and cards in words: the same for the app and the command line."""

from __future__ import annotations

from typing import get_args

from memtui.engine.records import Entity, MemoryRecord, Session
from memtui.engine.records.lists import SessionRow
from memtui.engine.review.cards import ReviewItem, ReviewKind
from memtui.present import entity, review, session

NOW = 1_700_000_000
DAY = 86_400


def talk(**fields: object) -> Session:
    known: dict[str, object] = {
        "session_id": "s1", "turns": 3, "first_seen_at": NOW, "last_seen_at": NOW, "source": "import:claude",
    }  # fmt: skip
    return Session(**(known | fields))  # type: ignore[arg-type]


def turn(**fields: object) -> MemoryRecord:
    known: dict[str, object] = {
        "rid": 5, "id": "turn_5", "kind": "episode", "content": "hello", "event_time": NOW, "created_at": NOW,
        "confidence": 1.0, "effective": 1.0, "decay_rate": 0.0, "trust": "user", "source_role": "user",
    }  # fmt: skip
    return MemoryRecord(**(known | fields))  # type: ignore[arg-type]


def test_a_session_says_where_it_comes_from_and_how_far_it_is() -> None:
    where = session.session_facts(talk(project="memtui"), NOW)
    assert where[:3] == ["import:claude", "memtui", "3 turns"]
    failed = SessionRow(sid=1, pending=True, session=talk(attempts=2, last_error="no answer"))
    assert session.session_state(failed) == ("failed", "error")
    assert session.consolidation_status(failed, NOW)[0] == "consolidating failed (2 tries)"
    assert session.consolidation_failure(failed) == "no answer"
    done = SessionRow(sid=1, pending=False, session=talk(consolidated_at=NOW))
    assert session.consolidation_status(done, NOW)[0] == "consolidated 14 Nov"
    assert session.consolidation_failure(done) == ""


def test_a_turn_says_who_spoke_and_what_is_special() -> None:
    assert [session.speaker_name(turn()), session.speaker_name(turn(source_role="tool"))] == ["you", "tool"]
    assert session.speaker_name(turn(source_role=None)) == "you"
    assert session.speaker_name(turn(source_role=None, kind="fact")) == "fact"
    assert session.turn_note(turn(), None)[0] == ""
    assert session.turn_note(turn(), 5)[0] == ""
    assert session.turn_note(turn(), 4)[0] == "not consolidated"
    assert session.turn_note(turn(attributes={"secrets": ["token"]}), 5)[0] == "holds a secret"
    assert session.turn_note(turn(valid_until=NOW, ended_by="superseded"), 5)[0] == "replaced"


def test_an_entity_says_how_else_it_is_called_and_where_it_is_mentioned() -> None:
    ada = Entity(
        eid=1, id="ent_1", canonical_name="Ada", type="person", mention_count=2, aliases=("@ada", "A."),
        first_seen=NOW - DAY, last_seen=NOW,
    )  # fmt: skip
    lines = {label: line[0][0] for label, line in entity.entity_facts(ada, 1, NOW)}
    assert lines == {
        "also": "@ada, A.", "mentioned": "in 2 memories, 13 Nov to 14 Nov", "not in": "1 memory that you took out",
    }  # fmt: skip
    assert entity.unsearched_note(0) == ""
    assert entity.unsearched_note(1) == "1 text waits to be read for names"


def test_a_card_says_what_it_is() -> None:
    said = [
        review.card_kind(ReviewItem(id="p1", kind=kind, reason="")) for kind in ("quarantined", "entities")
    ]
    assert said == [("quarantined", "warning"), ("same?", "accent")]
    kinds = [review.card_kind(ReviewItem(id="p1", kind=kind, reason=""))[0] for kind in get_args(ReviewKind)]
    assert max(map(len, kinds)) == review.KIND_CELLS <= 11, "they are a column of a list of 80 cells"
    assert len(set(kinds)) == len(kinds)
