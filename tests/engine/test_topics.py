"""What a fact is about and the day that it names: drawn, corrected, kept, carried, and how it fades."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import InputError, ProtectedError
from memtui.engine.records import MemoryRecord, Options

DAY = 86_400
SAID = datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp()  # a Wednesday
OPTIONS = Options(background=False, embedder="off")


class Desk:
    def __init__(self, place: Path, options: Options = OPTIONS) -> None:
        self.now = SAID
        self.place = place
        self.memory = Memory.open(place, clock=lambda: self.now, options=options)

    def draw(self, *turns: str, project: str | None = None) -> dict[str, MemoryRecord]:
        """What is drawn from a conversation, by the beginning of its text."""
        for turn in turns:
            self.memory.record_turn("talk", "user", turn, project=project)
        self.now += 3600
        asyncio.run(self.memory.sessions.consolidate("talk"))
        return {one.content: one for one in self.memory.view.page("kind:fact")}


@pytest.fixture
def desk(place: Path) -> Iterator[Desk]:
    opened = Desk(place)
    yield opened
    opened.memory.close()


def day(memory: MemoryRecord) -> str | None:
    return None if memory.happens_at is None else f"{datetime.fromtimestamp(memory.happens_at, UTC):%Y-%m-%d}"


def test_what_is_drawn_has_its_topic_and_its_day(desk: Desk) -> None:
    drawn = desk.draw(
        "I'm allergic to peanuts.",
        "We booked the ferry to Norway, we leave on 12 June.",
        "From now on, always answer in British English.",
    )
    allergy = next(one for text, one in drawn.items() if "peanuts" in text)
    ferry = next(one for text, one in drawn.items() if "ferry" in text)
    rule = next(one for text, one in drawn.items() if "British" in text)
    assert (allergy.topic, rule.topic) == ("health", "rule")
    assert day(ferry) == "2026-06-12"
    assert all("health" not in one.tags and "rule" not in one.tags for one in drawn.values())
    # What is allergic stays so; a plan does not.
    assert (allergy.decay_rate, rule.decay_rate, ferry.decay_rate) == (0.0, 0.0, 0.1)
    assert not allergy.protected


def test_a_plan_does_not_fade_before_its_day_and_is_past_after_it(desk: Desk) -> None:
    ferry = next(iter(desk.draw("We booked the ferry to Norway, we leave on 12 June.").values()))
    view = desk.memory.view
    assert view.count("is:past") == 0
    desk.now = datetime(2026, 6, 12, 20, tzinfo=UTC).timestamp()
    assert desk.memory.get(ferry.id).effective == pytest.approx(ferry.confidence, abs=0.04)
    assert view.count("is:past") == view.count("is:stale") == 0
    desk.now += 12 * 3600
    assert [one.id for one in view.page("is:past")] == [ferry.id] == [one.id for one in view.page("is:stale")]
    desk.now += 20 * DAY
    assert desk.memory.get(ferry.id).effective < ferry.confidence / 5
    assert desk.memory.get(ferry.id).active


def test_which_topics_last_is_a_setting(place: Path) -> None:
    desk = Desk(place, Options(background=False, embedder="off", lasting=("plan",)))
    drawn = desk.draw("I'm allergic to peanuts.")
    assert {one.decay_rate for one in drawn.values()} == {0.1}
    desk.memory.close()


def test_the_person_corrects_topic_and_day_and_can_undo_it(desk: Desk) -> None:
    [fact] = desk.draw("I'm allergic to peanuts.").values()
    memory = desk.memory
    changed = memory.classify(fact.id, topic="Preference", happens="12 june")
    assert (changed.topic, day(changed), changed.decay_rate) == ("preference", "2026-06-12", 0.1)
    assert memory.classify(fact.id, topic="health").decay_rate == 0.0
    assert memory.classify(fact.id, happens="none").happens_at is None
    assert memory.classify(fact.id, topic="none").topic is None
    for expected in ("health", "health", "preference", "health"):
        memory.undo()
        assert memory.get(fact.id).topic == expected
    assert memory.get(fact.id) == fact
    memory.redo()
    assert memory.get(fact.id).topic == "preference"


def test_a_later_reading_keeps_what_the_person_corrected(desk: Desk) -> None:
    [fact] = desk.draw("I'm allergic to peanuts.").values()
    desk.memory.classify(fact.id, topic="preference")
    drawn = desk.draw("I'm allergic to peanuts.", "I live in Porto.")
    assert drawn[fact.content].topic == "preference"
    seen = asyncio.run(desk.memory.sessions.consolidate("talk", again=True, preview=True))
    [plan] = [one.plan for one in seen.outcomes if one.plan]
    assert [line.reason for line in plan.lines if line.content == fact.content] == ["you changed it"]


@pytest.mark.parametrize(("topic", "happens"), [("hobby", None), (None, "soon")])
def test_what_is_no_topic_and_no_day_is_refused(desk: Desk, topic: str | None, happens: str | None) -> None:
    fact = desk.memory.remember("Ada lives in Porto")
    with pytest.raises(InputError):
        desk.memory.classify(fact.id, topic=topic, happens=happens)


def test_only_facts_have_a_topic(desk: Desk) -> None:
    turn = desk.memory.record_turn("talk", "user", "hello")
    with pytest.raises(InputError, match="is not a fact"):
        desk.memory.classify(turn.id, topic="health")


def test_an_agent_may_not_sort_what_the_person_stated(desk: Desk) -> None:
    fact = desk.memory.remember("Ada lives in Porto")
    with (
        Memory.open(desk.place, actor="agent:codex", options=OPTIONS) as agent,
        pytest.raises(ProtectedError),
    ):
        agent.classify(fact.id, topic="home")


def test_what_the_person_writes_names_its_day_and_may_have_its_topic(desk: Desk) -> None:
    fact = desk.memory.remember("The dentist is on Friday", topic="health")
    assert (fact.topic, day(fact), fact.decay_rate) == ("health", "2026-03-06", 0.0)
    desk.now += 30 * DAY
    # The words of the day are the same: it is the Friday that was meant.
    assert day(desk.memory.correct(fact.id, "The dentist, Dr Ito, is on Friday")) == "2026-03-06"
    [fact] = desk.memory.view.page("kind:fact")
    moved = desk.memory.correct(fact.id, "The dentist, Dr Ito, is on 20 April")
    assert (moved.topic, day(moved)) == ("health", "2026-04-20")


def test_many_are_sorted_as_one_operation(desk: Desk) -> None:
    facts = [desk.memory.remember(f"Number {n} lives in Porto") for n in range(3)]
    done = desk.memory.change_all("classify", [one.rid for one in facts], topic="people")
    assert done is not None and done.label == "Set the topic or date of 3 memories"
    assert desk.memory.view.count("topic:people") == 3
    desk.memory.undo()
    assert desk.memory.view.count("topic:people") == 0


def test_filters(desk: Desk) -> None:
    remember = desk.memory.remember
    remember("The dentist is on Friday", topic="health")
    remember("The wedding is on 12 June 2026", topic="plan")
    remember("Ada lives in Porto", topic="people")
    desk.memory.classify(remember("Bo lives in Faro").id, topic="none")

    def found(filter: str) -> set[str]:
        return {one.content.split()[1] for one in desk.memory.view.page(filter)}

    assert found("topic:health,plan") == {"dentist", "wedding"}
    assert found("-topic:* kind:fact") == {"lives"}
    assert found("happens:2026-03") == {"dentist"}
    assert found("happens:tomorrow..") == {"dentist", "wedding"}
    assert found("happens:..2026-05") == {"dentist"}
    assert found("happens:today..+1w") == {"dentist"}
    assert found("happens:*") == {"dentist", "wedding"}
    assert found("-happens:* kind:fact") == {"lives"}


def test_an_export_carries_both(desk: Desk, tmp_path: Path) -> None:
    fact = desk.memory.remember("The dentist is on Friday", topic="health")
    for name in ("all.jsonl", "vault"):
        desk.memory.files.export(tmp_path / name, format="markdown" if name == "vault" else "jsonl")
        with Memory.open(tmp_path / f"from-{name}.db", options=OPTIONS) as other:
            other.files.import_paths([tmp_path / name])
            [again] = other.view.page("kind:fact")
            assert (again.topic, again.happens_at) == (fact.topic, fact.happens_at)


def test_what_was_drawn_before_is_as_it_was(desk: Desk) -> None:
    fact = desk.memory.remember("The dentist is on Friday", topic="health")
    desk.now += 10
    before = desk.now
    desk.now += 10
    desk.memory.classify(fact.id, topic="plan", happens="2026-05-01")
    [then] = desk.memory.history.as_of(before).page()
    assert (then.topic, day(then)) == ("health", "2026-03-06")


@pytest.mark.parametrize(("fade", "rate"), [(False, 0.0), (True, 0.1)])
def test_facts_from_own_notes_do_not_fade_unless_told(tmp_path: Path, fade: bool, rate: float) -> None:
    note = tmp_path / "garden.md"
    note.write_text(
        "# Garden\n\n- The raised beds are made of larch\n- The pump is in the shed\n", encoding="utf-8"
    )
    options = Options(background=False, embedder="off", notes_fade=fade)
    with Memory.open(tmp_path / "memory.db", options=options) as memory:
        memory.files.import_paths([note])
        facts = memory.view.page("kind:fact")
        assert facts and {one.decay_rate for one in facts} == {rate}
        assert not any(one.protected for one in facts)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Marit is allergic to shellfish", "health"),
        ("Elias cant have lactose", "health"),
        ("Always answer in British English", "rule"),
        ("My sister is called Nell", "people"),
    ],
)
def test_what_the_person_writes_gets_its_topic(desk: Desk, text: str, topic: str) -> None:
    written = desk.memory.remember(text)
    assert written.topic == topic
    assert [one.id for one in desk.memory.view.page(f"topic:{topic}")] == [written.id]
    changed = desk.memory.classify(written.id, topic="none")
    assert changed.topic is None


def test_a_topic_that_is_given_stays_and_an_agent_gives_its_own(desk: Desk, place: Path) -> None:
    assert desk.memory.remember("Marit is allergic to shellfish", topic="people").topic == "people"
    with Memory.open(place, actor="agent:cli", options=OPTIONS) as agent:
        assert agent.remember("Elias is allergic to cats").topic is None


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("swimming tuesday and thursday before work", "routine"),
        ("rent went up to 1,150 and the landlord keeps the garden", "home"),
        ("Hallo, ich heiße Jule und komme aus Bremen", "identity"),
        ("no bullet points, and answer in English please", "rule"),
    ],
)
def test_what_has_no_form_gets_a_likely_topic(desk: Desk, text: str, topic: str) -> None:
    written = desk.memory.remember(text)
    assert [one.id for one in desk.memory.view.page(f"topic:{topic}")] == [written.id]


def test_a_guessed_topic_hides_no_day_and_gives_way_to_what_the_person_says(desk: Desk) -> None:
    guessed = desk.memory.remember("swimming with Ada on 3 december, before work")
    assert guessed.topic is not None
    assert guessed.happens_at is not None
    said = desk.memory.remember("Swimming with Ada on 3 december, before work", topic="decision")
    assert (said.id, said.topic) == (guessed.id, "decision")
    assert desk.memory.remember(said.content, topic="home").topic == "decision"
    other = desk.memory.classify(desk.memory.remember("Tea at four, always").id, topic="preference")
    assert desk.memory.remember("Tea at four, always", topic="home").topic == other.topic == "preference"


def test_what_was_written_down_lately_is_found_whenever_it_was_said(desk: Desk) -> None:
    desk.memory.remember("Ada lives in Porto")
    desk.now += 10 * DAY
    desk.draw("I'm allergic to peanuts.")
    view = desk.memory.view
    assert view.count("kind:fact added:7d") == view.count("kind:fact added:today") == 1
    assert view.count("kind:fact added:2026-03") == view.count("kind:fact added:..today") == 2
    assert view.count("kind:fact -added:7d") == 1
    # An old conversation that is brought in today is of its own day, and new all the same.
    turn = desk.memory.record_turn("old", "user", "hello", event_time=SAID - 400 * DAY)
    assert view.count(f"added:7d id:{turn.id}") == 1
    assert view.count(f"after:7d id:{turn.id}") == 0
