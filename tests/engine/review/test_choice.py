"""A card that asks which of several known facts a new statement has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options
from memtui.engine.review.cards import ReviewItem

from clock import Clock

KNOWN = (
    "My shift starts at 7 in the morning. I live in Leeds with my sister Nora. I am allergic to walnuts.",
    "My dentist is Dr Patel on Mill Lane. I drive a blue Skoda. The rent is 900 a month.",
    "My gym is on Tuesdays at 6. I work at the bakery on Hill Street. My piano lesson is on Thursdays at 5.",
)
NEW = "It moved to Fridays at 8 now"
SHIFT, GYM, PIANO = (
    "My shift starts at 7 in the morning",
    "My gym is on Tuesdays at 6",
    "My piano lesson is on Thursdays at 5",
)


def said(memory: Memory, clock: Clock, *contents: str) -> None:
    for content in contents:
        memory.record_turn(f"s{clock.now}", "user", content)
        clock.now += 86_400
        asyncio.run(memory.consolidate())


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as opened:
        said(opened, clock, *KNOWN, f"{NEW}.")
        yield opened


def asked(memory: Memory) -> list[ReviewItem]:
    return memory.review.items(kinds=("conflict", "choice"))


def choice(memory: Memory) -> ReviewItem:
    (card,) = asked(memory)
    assert card.kind == "choice"
    return card


def texts(card: ReviewItem) -> list[str]:
    return [one.content for one in card.memories]


def test_what_may_be_about_several_facts_is_one_card_with_three_of_them(memory: Memory) -> None:
    card = choice(memory)
    assert texts(card) == [NEW, SHIFT, GYM, PIANO]
    assert (card.reason, card.proposed) == ("this sounds like a change: of what?", "replace")
    assert card.offered == ("replace", "both", "merge", "forget", "snooze")
    assert memory.view.status().review == 1


def test_the_new_one_replaces_the_fact_that_was_chosen_and_undo_asks_again(memory: Memory) -> None:
    before = choice(memory)
    done = memory.review.decide(before, "replace", keep=before.memories[3].id)
    assert done is not None and done.label == f"Kept “{NEW}”; “{PIANO[:29]}…” fades out"
    new, shift, gym, piano = (memory.get(one.id) for one in before.memories)
    assert new.supersedes == piano.id
    assert (piano.active, piano.confidence) == (True, 0.3)
    assert (shift, gym) == before.memories[1:3]
    assert asked(memory) == []  # what shares no word with the answered one is not asked about again
    memory.undo()
    assert choice(memory) == before
    assert memory.get(new.id).supersedes is None


def test_the_new_one_and_the_chosen_one_become_one_fact_and_undo_asks_again(memory: Memory) -> None:
    before = choice(memory)
    new, shift, gym, piano = before.memories
    text = "My piano lesson is on Fridays at 8 now"
    done = memory.review.decide(before, "merge", keep=piano.id, text=text)
    assert done is not None and done.label == f"Merged “{NEW}” with “{PIANO[:29]}…”"
    assert asked(memory) == []
    assert text in {one.content for one in memory.view.page("kind:fact")}
    assert not memory.get(piano.id).active and not memory.get(new.id).active
    assert (memory.get(shift.id), memory.get(gym.id)) == (shift, gym)
    memory.undo()
    assert choice(memory) == before


def test_without_a_choice_it_replaces_the_likeliest(memory: Memory) -> None:
    card = choice(memory)
    memory.review.decide(card, "replace")
    assert memory.get(card.memories[0].id).supersedes == card.memories[1].id


def test_if_it_is_none_of_them_all_stay_and_it_is_not_asked_again(memory: Memory, clock: Clock) -> None:
    card = choice(memory)
    memory.review.decide(card, "both")
    assert asked(memory) == []
    known = [memory.get(one.id) for one in card.memories]
    assert [one.confidence for one in known] == [one.confidence for one in card.memories]
    assert all(one.active and one.supersedes is None for one in known)
    assert [one.reviewed_at is not None for one in known] == [True, False, False, False]
    said(memory, clock, f"{NEW}!")
    assert asked(memory) == []


def test_the_new_one_may_be_wrong(memory: Memory) -> None:
    card = choice(memory)
    memory.review.decide(card, "forget")
    assert not memory.get(card.memories[0].id).active
    assert all(memory.get(one.id) == one for one in card.memories[1:])
    assert asked(memory) == []


def test_what_the_card_does_not_offer_is_refused(memory: Memory) -> None:
    card = choice(memory)
    other = next(one for one in memory.view.page("kind:fact") if one.id not in {m.id for m in card.memories})
    for chosen in (other.id, card.memories[0].id):
        with pytest.raises(InputError, match="is not what this card offers"):
            memory.review.decide(card, "replace", keep=chosen)
    with pytest.raises(InputError, match="does not settle this card"):
        memory.review.decide(card, "keep")
    assert choice(memory) == card


def test_put_off_it_asks_again_after_a_week_and_about_none_of_them_meanwhile(
    memory: Memory, clock: Clock
) -> None:
    card = choice(memory)
    memory.review.decide(card, "snooze")
    shown = {one.id for item in memory.review.items() for one in item.memories}
    assert shown.isdisjoint(one.id for one in card.memories)
    clock.now += 8 * 86_400
    assert texts(choice(memory)) == texts(card)


def test_what_is_gone_is_no_choice_and_with_one_left_it_is_a_conflict(memory: Memory) -> None:
    _, shift, gym, piano = choice(memory).memories
    assert memory.view.detail(piano.id).asked
    memory.forget(gym.id)
    assert texts(choice(memory)) == [NEW, SHIFT, PIANO]
    memory.correct(piano.id, "My piano lesson is on Mondays")
    (card,) = asked(memory)
    assert (card.kind, texts(card)) == ("conflict", [NEW, SHIFT])
    memory.undo()
    assert texts(choice(memory)) == [NEW, SHIFT, PIANO]
    memory.forget(shift.id)
    (card,) = asked(memory)
    assert (card.kind, texts(card)) == ("conflict", [NEW, PIANO]) and memory.view.detail(piano.id).asked
    memory.forget(piano.id)
    assert asked(memory) == []


def test_what_was_erased_leaves_the_card(memory: Memory) -> None:
    gym = choice(memory).memories[2]
    memory.files.erase(memory.files.plan_erase([gym.id]))
    card = choice(memory)
    assert GYM not in texts(card) and len(card.memories) == 3


def test_a_preview_offers_the_same(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        for number, content in enumerate((*KNOWN, f"{NEW}.")):
            memory.record_turn(f"s{number}", "user", content)
            clock.now += 86_400
        before = asyncio.run(memory.consolidate(preview=True))
        (line,) = (line for plan in before.plans for line in plan.lines if line.content == NEW)
        assert line.action == "conflict"
        assert [line.known, *(one.known for one in line.meant)] == [SHIFT, GYM, PIANO]
        asyncio.run(memory.consolidate())
        assert texts(choice(memory)) == [NEW, SHIFT, GYM, PIANO]


def test_a_change_of_one_thing_alone_is_no_choice(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        said(
            memory,
            clock,
            "I take ramipril. I live in Leeds. My sister is called Nora.",
            "Off ramipril, on losartan now.",
        )
        (card,) = asked(memory)
        assert (card.kind, card.memories[1].content) == ("conflict", "I take ramipril")


@pytest.mark.parametrize("verdict", ["", "replace", "both"])
def test_the_card_goes_to_another_device_and_a_decision_too(
    memory: Memory, clock: Clock, tmp_path: Path, verdict: str
) -> None:
    card = choice(memory)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    memory.files.export(first)
    with Memory.open(tmp_path / "other.db", clock=clock, options=Options(background=False)) as other:
        other.files.import_paths([first])
        assert texts(choice(other)) == texts(card)
        if verdict:
            clock.now += 60
            memory.review.decide(card, verdict, keep=card.memories[2].id if verdict == "replace" else None)
            memory.files.export(second)
            other.files.import_paths([second])
            assert asked(other) == asked(memory) == []
            assert other.get(card.memories[0].id).supersedes == memory.get(card.memories[0].id).supersedes


LOW, HIGH, STOPPED = (
    "Doc put me on sertraline 25 mg every morning",
    "Sertraline got bumped to 50 mg since monday",
    "Stopped sertraline completely on 15 november, doc agreed",
)


@pytest.fixture
def medicine(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "medicine.db", clock=clock, options=Options(background=False)) as opened:
        said(opened, clock, LOW, HIGH, "Finally in nantes, moved in on the 17th", STOPPED)
        yield opened


def test_what_was_said_later_is_the_new_one_after_an_answer_too(medicine: Memory) -> None:
    card = next(one for one in asked(medicine) if one.kind == "choice")
    new, *known = card.memories
    low = next(one for one in known if one.content == LOW)
    medicine.review.decide(card, "replace", keep=low.id)
    cards = asked(medicine)
    assert cards and all(one.memories[0].id == new.id for one in cards)
    assert HIGH in {text for one in cards for text in texts(one)}
    assert medicine.view.status().review == len(cards)
    undecided = medicine.view.open_changes([one for one in known if one.content == HIGH]).perhaps_now
    assert [one.content for one in undecided.values()] == [STOPPED]
    medicine.undo()
    assert next(one for one in asked(medicine) if one.kind == "choice") == card


def test_each_that_may_have_changed_has_a_caution_while_it_is_asked(medicine: Memory) -> None:
    facts = [one for one in medicine.view.page("kind:fact") if one.content in (LOW, HIGH)]
    newer = medicine.view.open_changes(facts).perhaps_now
    assert {newer[one.id].content for one in facts} == {STOPPED}
    listed = list(medicine.view.page("kind:fact"))
    told = medicine.view.open_changes(listed).perhaps_now
    assert {medicine.get(id).content for id in told} == {LOW, HIGH}


def test_only_the_likeliest_is_told_as_perhaps_changed_where_no_agent_reads_it(medicine: Memory) -> None:
    """What shares nothing with the statement is a guess: You and lists do not tell of it."""
    place = next(one for one in medicine.view.page("kind:fact") if "nantes" in one.content)
    assert not medicine.view.replacements([place.id])


def test_what_may_be_about_any_of_them_is_no_change_of_the_likeliest(memory: Memory) -> None:
    """It names nothing of what it changed, so the likeliest of three is a guess."""
    new, shift, *_ = choice(memory).memories
    assert memory.view.replacements([new.id, shift.id]) == {}
    assert memory.view.count("is:changed") == 0


def test_what_clearly_is_about_one_of_them_is_told_as_a_change_of_it(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(tmp_path / "clear.db", clock=clock, options=Options(background=False)) as memory:
        said(memory, clock, *KNOWN, "The piano lesson with Vera moved to Fridays at 8 now.")
        cards = [one for one in asked(memory) if PIANO in texts(one)]
        told = {
            one.old.content
            for card in cards
            for one in memory.view.replacements([card.memories[0].id])[card.memories[0].id]
        }
        assert told == {PIANO}
        assert memory.view.count("is:changed") == 1
