"""Reading a session again: the difference to what was drawn before, the person's decisions, one undo; and by rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.protocol import Context, Draft, Extraction
from memtui.engine.consolidation.plan import Consolidation, Plan
from memtui.engine.errors import DegradedError
from memtui.engine.records import MemoryRecord, Options

from clock import Clock

START = 1_760_000_000.0
IDLE = 31 * 60
TALK = ("I live in Bergen.", "I'm allergic to walnuts.", "I work at Hexa.")
FACTS = ["I live in Bergen", "I'm allergic to walnuts", "I work at Hexa"]


class Model:
    """Stands for a language model: draws given facts, each from the turn of that place."""

    name = "llm"
    limit = None

    def __init__(self, *facts: tuple[str, int], fail: Exception | None = None) -> None:
        self.facts = facts
        self.fail = fail

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        if self.fail:
            raise self.fail
        return Extraction(
            drafts=tuple(Draft(kind="fact", content=text, sources=(turns[at].id,)) for text, at in self.facts)
        )

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        return 0


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(place: Path, clock: Clock) -> Iterator[Memory]:
    """A session of three turns that rules have read."""
    with Memory.open(place, clock=clock, options=Options(background=False)) as opened:
        for turn in TALK:
            clock.now += 20
            opened.record_turn("s1", "user", turn)
        clock.now += IDLE
        asyncio.run(opened.consolidate())
        assert contents(opened) == FACTS
        clock.now += 60
        yield opened


def contents(memory: Memory, filter: str = "kind:fact") -> list[str]:
    return [record.content for record in memory.view.page(filter, descending=False)]


def fact(memory: Memory, word: str) -> MemoryRecord:
    (found,) = memory.view.page(f"kind:fact {word}")
    return found


def read_again(memory: Memory, *facts: tuple[str, int], preview: bool = False) -> Consolidation:
    call = memory.sessions.consolidate("s1", again=True, preview=preview, extractor=Model(*facts))
    return asyncio.run(call)


def plan_of(found: Consolidation) -> Plan:
    (plan,) = found.plans
    return plan


def test_the_preview_is_the_difference_and_writes_nothing(memory: Memory) -> None:
    before = memory.stats()
    plan = plan_of(
        read_again(
            memory,
            ("I live in Bergen", 0),
            ("Is badly allergic to walnuts", 1),
            ("Likes long talks", 2),
            preview=True,
        )
    )
    told = plan.difference
    assert [line.content for line in told.unchanged] == ["I live in Bergen"]
    assert [line.content for line in told.new] == ["Likes long talks"]
    assert [(line.known, line.content) for line in told.reworded] == [
        ("I'm allergic to walnuts", "Is badly allergic to walnuts")
    ]
    assert [line.content for line in told.retired] == ["I work at Hexa"]
    assert memory.stats() == before and contents(memory) == FACTS


def test_what_is_no_longer_drawn_goes_to_the_trash_and_one_undo_brings_all_back(memory: Memory) -> None:
    found = read_again(memory, ("I live in Bergen", 0), ("Is badly allergic to walnuts", 1))
    assert contents(memory) == ["I live in Bergen", "Is badly allergic to walnuts"]
    (gone,) = memory.view.page("is:forgotten")
    (old,) = memory.view.page("is:superseded")
    assert (gone.content, old.content) == ("I work at Hexa", "I'm allergic to walnuts")
    assert fact(memory, "badly").supersedes == old.id
    assert found.operation is not None and found.operation.label.endswith(
        "1 reworded, 1 removed, 1 unchanged"
    )
    assert memory.files.check().ok
    memory.undo()
    assert contents(memory) == FACTS
    assert memory.view.session("s1").by_rules


def test_what_the_person_decided_about_stays_as_they_left_it(memory: Memory) -> None:
    memory.correct(fact(memory, "Bergen").id, "I live in Oslo")
    memory.tag(fact(memory, "walnuts").id, add=["ours"])
    memory.confirm(fact(memory, "Hexa").id)
    before = contents(memory)
    told = plan_of(read_again(memory, preview=True)).difference
    assert told.retired == () and sorted(line.reason for line in told.unchanged) == [
        "you confirmed it", "you confirmed it", "you tagged it",
    ]  # fmt: skip
    found = read_again(memory)
    assert contents(memory) == before and "ours" in fact(memory, "walnuts").tags
    assert found.total("retired") == 0


def test_what_was_kept_in_review_stays_and_what_was_accepted_in_a_preview_does_not(
    memory: Memory, clock: Clock
) -> None:
    (card,) = memory.review.items()
    memory.review.decide(card, "keep")
    assert {line.reason for line in plan_of(read_again(memory, preview=True)).difference.unchanged} == {
        "you kept it"
    }
    memory.undo()
    assert len(plan_of(read_again(memory, preview=True)).difference.retired) == 3
    memory.record_turn("s2", "user", "I like rain.")
    clock.now += IDLE
    seen = asyncio.run(memory.consolidate("s2", preview=True))
    asyncio.run(memory.sessions.apply(seen.plans))
    again = asyncio.run(memory.sessions.consolidate("s2", again=True, preview=True, extractor=Model()))
    assert [line.content for line in plan_of(again).difference.retired] == ["I like rain"]


@pytest.mark.parametrize("wording", ["I live in Bergen", "Lives in Bergen", "The person's home in Bergen"])
@pytest.mark.parametrize("verb", ["forget", "correct"])
def test_what_the_person_took_away_does_not_come_back(memory: Memory, verb: str, wording: str) -> None:
    old = fact(memory, "Bergen")
    memory.forget(old.id) if verb == "forget" else memory.correct(old.id, "I live in Oslo")
    found = read_again(memory, (wording, 0), ("I'm allergic to walnuts", 1), ("I work at Hexa", 2))
    assert not [one for one in contents(memory) if "Bergen" in one]
    plan = plan_of(found)
    shown = [line for line in plan.difference.new if not line.accepted]
    reason = f"you {'took it away' if verb == 'forget' else 'corrected it'}: “I live in Bergen”"
    assert [line.reason for line in shown] in ([], [reason])
    # What was forgotten and only reads like it is shown, to be let in; a value that was corrected is not drawn at all.
    assert shown or wording == "I live in Bergen" or verb == "correct"


def test_what_a_reading_dropped_may_be_drawn_by_a_later_one(memory: Memory, clock: Clock) -> None:
    read_again(memory, ("I live in Bergen", 0))
    clock.now += 60
    found = asyncio.run(memory.consolidate("s1", again=True))
    assert sorted(contents(memory)) == sorted(FACTS)
    assert found.total("added") == 2 and found.total("unchanged") == 1


def test_what_another_conversation_says_too_stays(memory: Memory, clock: Clock) -> None:
    memory.record_turn("s2", "user", "I live in Bergen.")
    clock.now += IDLE
    asyncio.run(memory.consolidate())
    told = plan_of(read_again(memory, preview=True)).difference
    assert [line.reason for line in told.unchanged] == ["another conversation says it too"]
    assert len(told.retired) == 2


def test_a_decision_between_preview_and_writing_has_the_last_word(memory: Memory) -> None:
    plan = plan_of(read_again(memory, preview=True))
    memory.tag(fact(memory, "Hexa").id, add=["ours"])
    done = asyncio.run(memory.sessions.apply([plan]))
    assert contents(memory) == ["I work at Hexa"]
    assert (done.total("retired"), done.total("unchanged")) == (2, 1)


def test_a_rejected_line_leaves_what_is_there(memory: Memory) -> None:
    plan = plan_of(read_again(memory, preview=True))
    asyncio.run(memory.sessions.apply([plan.with_line(0, accepted=False)]))
    assert contents(memory) == ["I live in Bergen"]


def test_without_a_name_all_that_were_read_are_read_again_and_none_that_waits(
    memory: Memory, clock: Clock
) -> None:
    memory.record_turn("s2", "user", "I like rain.")
    memory.record_turn("s3", "user", "I like hail.")
    memory.sessions.skip("s3")
    clock.now += IDLE
    assert memory.sessions.estimate(again=True).sessions == 1
    found = asyncio.run(memory.consolidate(again=True))
    assert [one.session_id for one in found.outcomes] == ["s1"]
    assert found.total("unchanged") == 3


def test_a_reading_that_fails_leaves_what_was_drawn_and_nothing_waits(memory: Memory) -> None:
    call = memory.sessions.consolidate("s1", again=True, extractor=Model(fail=DegradedError("gone")))
    found = asyncio.run(call)
    assert [one.state for one in found.outcomes] == ["failed"] and found.operation is None
    assert contents(memory) == FACTS and memory.pending_sessions() == []


def test_a_session_says_whether_rules_read_any_of_it(memory: Memory, clock: Clock) -> None:
    assert memory.view.session("s1").by_rules
    memory.record_turn("s1", "user", "I like rain.")
    clock.now += IDLE
    asyncio.run(memory.sessions.consolidate("s1", extractor=Model()))
    assert memory.view.session("s1").by_rules, "the first part is still read by rules alone"
    read_again(memory)
    session = memory.view.session("s1")
    assert (session.by_rules, session.read_by) == (False, "llm")
    memory.record_turn("s2", "user", "I like hail.")
    memory.sessions.skip("s2")
    assert not memory.view.session("s2").by_rules
