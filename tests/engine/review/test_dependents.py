"""What depends on a memory is listed before it is corrected, and waits as one card afterwards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError, ProtectedError
from memtui.engine.records import Entity, MemoryRecord, Options
from memtui.engine.review import dependents as review_dependents
from memtui.engine.review.cards import ReviewItem
from memtui.engine.store import memories
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import run_tool

from clock import Clock

NOW = 1_773_316_800  # 12 March 2026, noon UTC
DAY = 86_400
SEEDED = 50
OLD, NEW = "Ada works at Initech", "Ada works at Globex"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        yield memory


def note(memory: Memory, content: str, kind: Any, *sources: MemoryRecord, **more: Any) -> MemoryRecord:
    """A note that was drawn from others, as a job draws it."""
    now = int(memory._core.clock())
    with memory._core.change("test", "Drew a note") as op:
        rid = memories.insert(
            op.connection, kind=kind, content=content, event_time=now, created_at=now, trust="user",
            source_ids=[one.id for one in sources], category="insight" if kind == "observation" else None, **more,
        )  # fmt: skip
        assert rid is not None
    memory.models.index_pending()
    return memory.view.rows([rid])[0]


def turn(memory: Memory, text: str) -> MemoryRecord:
    return memory.record_turn("monday", "user", text)


def ada(memory: Memory) -> Entity:
    (found,) = [one for one in memory.view.entity_list.page() if one.canonical_name == "Ada"]
    return found


@pytest.fixture
def story(memory: Memory, clock: Clock) -> tuple[MemoryRecord, MemoryRecord, MemoryRecord]:
    """A fact, a reflection and an observation that were drawn from it, a summary that says it; a day later."""
    said = turn(memory, "Ada works at Initech and likes hiking.")
    fact = note(memory, OLD, "fact", said)
    other = note(memory, "Pavel plays chess", "fact")
    week = note(memory, "The week was about Ada's job at Initech.", "reflection", fact, other)
    insight = note(memory, "Ask Ada about Initech on Fridays.", "observation", fact)
    memory.entities.describe(ada(memory).id, "A friend who works at Initech")
    clock.now += DAY
    return fact, week, insight


def card(memory: Memory) -> ReviewItem:
    (found,) = [one for one in memory.review.items() if one.kind == "dependents"]
    return found


def cards(memory: Memory) -> list[ReviewItem]:
    return [one for one in memory.review.items() if one.kind == "dependents"]


def test_all_kinds_of_dependents_are_told(memory: Memory, clock: Clock) -> None:
    said = turn(memory, "Ada works at Initech and likes hiking.")
    fact = note(memory, OLD, "fact", said)
    hiking = note(memory, "Ada likes hiking", "fact", said)
    week = note(memory, "The week was about Initech.", "reflection", fact)
    memory.entities.describe(ada(memory).id, "A friend who works at Initech")
    memory.questions.expect("where does Ada work", fact.id)
    memory.questions.expect("what does Ada like", hiking.id)
    for times, agent in ((1, "agent:claude"), (2, "agent:codex")):
        memory.actor = agent
        for _ in range(times):
            clock.now += 60
            memory.note_recall("where does Ada work", [fact, hiking])
    memory.actor = "person"
    dependents = memory.view.dependents([fact.id])
    assert [one.id for one in dependents.memories] == [fact.id]
    assert [one.id for one in dependents.same_turns] == [hiking.id]
    assert [one.id for one in dependents.derived] == [week.id]
    assert [one.canonical_name for one in dependents.summaries] == ["Ada"]
    assert [one.query for one in dependents.questions] == ["where does Ada work"]
    assert [(one.agent, one.times, one.last - one.first) for one in dependents.served] == [
        ("codex", 2, 60),
        ("claude", 1, 0),
    ]
    assert dependents.any and dependents.is_needed
    with pytest.raises(NotFoundError):
        memory.view.dependents(["fact_nothing"])


def test_of_a_turn_what_was_drawn_from_it(memory: Memory) -> None:
    said = turn(memory, "Ada works at Initech.")
    fact = note(memory, OLD, "fact", said)
    dependents = memory.view.dependents([said.id])
    assert ([one.id for one in dependents.derived], dependents.same_turns) == ([fact.id], ())


def test_what_was_drawn_from_an_earlier_wording_depends_on_the_later_one(memory: Memory) -> None:
    fact = note(memory, OLD, "fact", turn(memory, "Ada works at Initech."))
    week = note(memory, "The week was about Initech.", "reflection", fact)
    memory.questions.expect("where does Ada work", fact.id)
    new = memory.correct(fact.id, NEW)
    dependents = memory.view.dependents([new.id])
    assert [one.id for one in dependents.derived] == [week.id]
    assert len(dependents.questions) == 1


@pytest.mark.parametrize(
    "summary",
    [
        "A friend who works at Globex",
        "Likes hiking in the Alps",
        "Initech",
        "Pavel's sister, born on 3 May",
        "Works from home",
    ],
)
def test_a_summary_that_says_something_else_is_none_of_them(memory: Memory, summary: str) -> None:
    fact = note(memory, "Ada works at Initech since 2019", "fact")
    memory.entities.describe(ada(memory).id, summary)
    assert not memory.view.dependents([fact.id]).summaries


def test_one_card_waits_and_tells_what_was_corrected(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, insight = story
    assert not cards(memory)
    memory.correct(fact.id, NEW)
    waits = card(memory)
    assert waits.reason == (
        "3 things were drawn from what you corrected: “Ada works at Initech”, now “Ada works at Globex”"
    )
    # Long texts are cut where they differ.
    long = "Every Tuesday after work she meets the people of the choir in the old school"
    reason = review_dependents.DependentsCard(
        "", (msgspec.structs.replace(fact, content=f"{long} at six"),), (week,), (), "you corrected",
        now=msgspec.structs.replace(fact, content=f"{long} at seven"),
    ).describe_reason([week])  # fmt: skip
    assert "school at six”, now “…" in reason and "school at seven”" in reason
    assert {one.id for one in waits.memories} == {week.id, insight.id}
    assert [one.canonical_name for one in waits.entities] == ["Ada"]
    assert waits.offered == ("keep", "forget", "correct", "snooze")
    memory.undo()
    assert not cards(memory)
    memory.redo()
    assert card(memory).id == waits.id


def test_nothing_drawn_no_card(memory: Memory) -> None:
    fact = note(memory, OLD, "fact", turn(memory, "Ada works at Initech."))
    memory.correct(fact.id, NEW)
    assert not cards(memory)


def test_told_with_the_caution_until_it_is_decided(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, insight = story
    new = memory.correct(fact.id, NEW)

    def summary() -> Any:
        memory.actor = "agent:claude"
        value: Any = run_tool(Agent(memory), "get_entity_info", {"name": "Ada"}).value
        memory.actor = "person"
        (profile,) = value.entities
        return profile

    assert memory.view.cautions([week.id])[week.id][0].successor == new
    assert "corrected on 13 Mar 2026: Ada works at Globex" in summary().caution
    memory.review.decide(card(memory), "keep")
    assert not memory.view.cautions([week.id, insight.id])
    assert not summary().caution
    assert not cards(memory)
    memory.undo()
    assert memory.view.cautions([week.id]) and summary().caution
    assert len(card(memory).parts) == 3


def test_each_of_them_is_decided_by_itself(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, insight = story
    memory.correct(fact.id, NEW)
    memory.review.decide(card(memory), "forget", keep=week.id)
    assert memory.get(week.id).ended_by == "forgotten"
    assert card(memory).reason.startswith("2 things were drawn")
    memory.review.decide(card(memory), "correct", keep=insight.id, text="Ask Ada about Globex on Fridays.")
    (left,) = memory.view.page("kind:observation")
    assert left.content == "Ask Ada about Globex on Fridays." and not memory.view.cautions([left.id])
    assert card(memory).reason.startswith("1 thing was drawn")
    memory.review.decide(card(memory), "correct", keep=ada(memory).id, text="A friend who works at Globex")
    assert ada(memory).summary == "A friend who works at Globex"
    assert not cards(memory)


def test_what_is_not_on_the_card_is_refused(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    memory.correct(story[0].id, NEW)
    waits = card(memory)
    with pytest.raises(InputError, match="is not on this card"):
        memory.review.decide(waits, "keep", keep="fact_nothing")
    with pytest.raises(InputError, match="fits only one"):
        memory.review.decide(waits, "correct", text="Another text")
    memory.actor = "agent:claude"
    with pytest.raises(ProtectedError):
        memory.review.decide(waits, "keep")


def test_forgotten_all_at_once(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, insight = story
    memory.forget(fact.id)
    waits = card(memory)
    assert "you forgot" in waits.reason
    memory.review.decide(waits, "forget")
    assert {memory.get(one.id).ended_by for one in (week, insight)} == {"forgotten"}
    assert ada(memory).summary is None
    assert not cards(memory)


def test_put_off_and_asked_again(
    memory: Memory, clock: Clock, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, _ = story
    memory.correct(fact.id, NEW)
    memory.review.decide(card(memory), "snooze", keep=week.id)
    assert week.id not in {one.id for one in card(memory).memories}
    memory.review.decide(card(memory), "snooze")
    assert not cards(memory)
    assert memory.view.cautions([week.id])  # not told without it meanwhile
    clock.now += 8 * DAY
    assert len(card(memory).parts) == 3


def test_corrected_elsewhere_it_leaves_the_card(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, insight = story
    memory.correct(fact.id, NEW)
    new = memory.correct(week.id, "The week was about Ada's job at Globex.")
    assert not memory.view.cautions([new.id])
    memory.forget(insight.id)
    memory.entities.describe(ada(memory).id, None)
    assert not cards(memory)


def test_corrected_again_what_was_kept_is_asked_again(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, _ = story
    new = memory.correct(fact.id, NEW)
    memory.review.decide(card(memory), "keep")
    memory.correct(new.id, "Ada works at Hooli")
    assert week.id in {one.id for one in card(memory).memories}


def test_many_forgotten_at_once_are_one_card(memory: Memory, clock: Clock) -> None:
    facts = [note(memory, f"Ada keeps bird number {number}", "fact") for number in range(4)]
    for fact in facts[:3]:
        note(memory, f"About {fact.content}", "reflection", fact)
    clock.now += DAY
    memory.change_all("forget", [fact.rid for fact in facts])
    assert card(memory).reason == (
        "3 things were drawn from what you forgot: “Ada keeps bird number 0” and 2 more"
    )
    memory.undo()
    assert not cards(memory)


def test_what_an_agent_corrected_waits_too(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    memory.actor = "agent:claude"
    memory.correct(story[0].id, NEW)
    memory.actor = "person"
    assert "drawn from what claude corrected" in card(memory).reason


def test_what_is_only_merged_asks_nothing_a_new_wording_does(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, week, _ = story
    twin = note(memory, "Ada is employed by Initech", "fact")
    memory.review.merge(twin.id, [fact.id])
    assert not cards(memory)
    memory.undo()
    memory.review.merge(fact.id, [twin.id], text=NEW)
    assert week.id in {one.id for one in card(memory).memories}


def test_erased_it_leaves_no_card(
    memory: Memory, story: tuple[MemoryRecord, MemoryRecord, MemoryRecord]
) -> None:
    fact, _, _ = story
    memory.correct(fact.id, NEW)
    assert cards(memory)
    memory.files.erase(memory.files.plan_erase([fact.id]))
    assert fact.id not in str(memory.review.items())


# -- 50 seeded corrections


def seeded(memory: Memory, number: int) -> tuple[MemoryRecord, dict[str, set[Any]]]:
    """A memory with one fact to correct among others, and what depends on it."""
    dice = random.Random(number)
    firms = dice.sample(
        ["Initech", "Globex", "Hooli", "Vandelay", "Umbrella", "Wonka", "Cyberdyne", "Soylent"], 4
    )
    people = dice.sample(["Ada", "Pavel", "Nadia", "Tomas", "Ingrid", "Marek"], 4)
    firm, person = firms[0], people[0]
    turns = [turn(memory, f"{name} works at {at}.") for name, at in zip(people, firms, strict=True)]
    facts = [note(memory, f"{name} works at {at}", "fact", turns[place])
             for place, (name, at) in enumerate(zip(people, firms, strict=True))]  # fmt: skip
    fact, others = facts[0], facts[1:]
    expected: dict[str, set[Any]] = {
        key: set() for key in ("same", "drawn", "summaries", "questions", "told")
    }
    for place in range(dice.randrange(4)):
        at = dice.choice(turns)
        one = note(memory, f"{person} has hobby {place}", "fact", at)
        if at is turns[0]:
            expected["same"].add(one.id)
    for place in range(dice.randrange(1, 6)):
        chosen = dice.sample(facts, dice.randrange(1, 4))
        kind = dice.choice(("reflection", "observation"))
        one = note(memory, f"Thought {place} about work", kind, *chosen)
        gone = dice.random() < 0.2
        if gone:
            memory.forget(one.id)
        if fact in chosen and not gone:
            expected["drawn"].add(one.id)
    named = {one.canonical_name: one for one in memory.view.entity_list.page()}
    for name in people:
        if name in named and dice.random() < 0.6:
            at = firm if dice.random() < 0.5 else dice.choice(firms[1:])
            form = dice.choice(("Works at {}", "A friend, works at {} in town", "Met at school; works at {}"))
            memory.entities.describe(named[name].id, form.format(at))
            if name == person and at == firm:
                expected["summaries"].add(name)
    for place in range(dice.randrange(4)):
        wanted = dice.choice(facts)
        memory.questions.expect(f"question {place}", wanted.id)
        if wanted is fact:
            expected["questions"].add(f"question {place}")
    for _ in range(dice.randrange(6)):
        agent = dice.choice(("claude", "codex", "cursor"))
        told = dice.sample(facts, dice.randrange(1, 3))
        memory.actor = f"agent:{agent}"
        memory.note_recall("work", told)
        memory.actor = "person"
        if fact in told:
            expected["told"].add(agent)
    assert others
    return fact, expected


@pytest.mark.parametrize("number", range(SEEDED))
def test_seeded_corrections_list_all_dependents_and_invent_none(
    memory: Memory, clock: Clock, number: int
) -> None:
    fact, expected = seeded(memory, number)
    clock.now += DAY
    assert listed(memory, fact) == expected
    memory.correct(fact.id, fact.content.replace("works", "volunteers"))
    waiting = {one.id for item in cards(memory) for one in item.memories}
    assert waiting == expected["drawn"]
    assert {one.canonical_name for item in cards(memory) for one in item.entities} == expected["summaries"]
    assert len(cards(memory)) == bool(expected["drawn"] or expected["summaries"])
    assert set(memory.view.cautions(list(waiting))) == expected["drawn"]


@pytest.mark.parametrize("number", range(SEEDED))
def test_seeded_corrections_of_a_name_list_the_facts_that_have_it_and_no_other(
    memory: Memory, clock: Clock, number: int
) -> None:
    fact, expected = seeded(memory, number)
    person, firm = fact.content.split(" works at ")
    dice = random.Random(number)
    texts = [
        f"{person} has a desk at {firm}",
        f"{person} cycles to {firm} on Fridays",
        f"{person}'s office at {firm} is small",
    ]
    others = ["{} went to school with {}'s boss", "{} likes the park near {}", "{} has a key of {}"]
    chosen = dice.sample(texts, dice.randrange(len(texts) + 1))
    named = {note(memory, text, "fact").id for text in chosen}
    for text in others:
        note(memory, text.format(dice.choice(["Olaf", "Sanne"]), firm), "fact")
    new = f"{person} works at Zorin"
    dependents = memory.view.dependents([fact.id]).after(new)
    assert {one.memory.id for one in dependents.naming} == named
    memory.correct(fact.id, new)
    waiting = {one.id for item in cards(memory) for one in item.memories}
    assert waiting == expected["drawn"] | named


def listed(memory: Memory, fact: MemoryRecord) -> dict[str, set[Any]]:
    dependents = memory.view.dependents([fact.id])
    return {
        "same": {one.id for one in dependents.same_turns},
        "drawn": {one.id for one in dependents.derived},
        "summaries": {one.canonical_name for one in dependents.summaries},
        "questions": {one.query for one in dependents.questions},
        "told": {one.agent for one in dependents.served},
    }


def _no_links(*_: object, **__: object) -> list[Any]:
    return []


@pytest.mark.parametrize("broken", ["_derived_memories", "_dependent_summaries", "_dependent_questions"])
def test_the_seeded_corrections_fail_where_a_kind_is_not_looked_for(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    from memtui.engine.review import dependents

    found = [seeded(memory, number) for number in range(3, 9)]
    monkeypatch.setattr(dependents, broken, _no_links)
    assert any(listed(memory, fact) != expected for fact, expected in found)
