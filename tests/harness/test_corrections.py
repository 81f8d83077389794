"""A correction holds at every door: what was said before is never told before what holds now, or without its caution.

Stories are made up: the person states something; it is drawn as a fact; they correct it, forget it, or forget it and
withhold its turns; an assistant echoes it, it is imported and consolidated again. Then every door is asked. What is linked by
its source is held to it, and the echo, which says the same in the same words.

An export carries the decision to another device, whose clock is wrong, and back.

Must fail on: a look-up of cautions that finds nothing; a ranking that does not move what was corrected; an import that merges
nothing, or that goes by the clock.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from memtui import Memory
from memtui.cli import run
from memtui.engine import reconcile
from memtui.engine.records import MemoryRecord, Options, Stamp
from memtui.engine.search import cautions
from memtui.engine.store import stamps
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import run_tool
from memtui.hook.quick import HookMemory

pytestmark = pytest.mark.corrections

STORIES = 300
DAY = 86_400
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
TOPICS = (
    ("I work at {}.", "The user works at {}", "where does the user work at {}", "Initech Globex Hooli Vandelay Umbrella"),
    ("I live in {}.", "The user lives in {}", "does the user live in {}", "Oslo Bergen Turku Ghent Porto"),
    ("My cat is called {}.", "The user's cat is called {}", "is the cat called {}", "Tom Minka Pixel Luna Biscuit"),
    ("I am allergic to {}.", "The user is allergic to {}", "are they allergic to {}", "peanuts shellfish pollen latex wheat"),
    ("My dentist is called {}.", "The user's dentist is called {}", "is it dentist {}", "Berg Lindqvist Moreau Okafor Silva"),
)  # fmt: skip
ASIDES = ("The weather was fine at the weekend.", "The old bridge was closed for repairs again.", "")


class Story(NamedTuple):
    """What is said (``old``), what holds then (``new``), and what happens in between."""

    number: int
    said: str
    fact: str
    question: str
    old: str
    new: str
    decision: Literal["correct", "forget", "withhold"]
    echo: bool
    again: bool
    imported: bool
    aside: str


def stories(count: int) -> Iterator[Story]:
    for number in range(count):
        dice = random.Random(number)
        said, fact, question, values = dice.choice(TOPICS)
        old, new = dice.sample(values.split(), 2)
        decision: Any = dice.choice(("correct", "correct", "forget", "withhold"))
        yield Story(
            number, said, fact, question, old, new, decision, *(dice.random() < 0.5 for _ in range(3)), dice.choice(ASIDES)
        )  # fmt: skip


class Told(NamedTuple):
    """A story that happened: its file, the turn and the fact, the operation that decided."""

    story: Story
    path: Path
    turn: MemoryRecord
    operation: int


def happen(story: Story, place: Path) -> Told:
    start = time.time() - 40 * DAY
    now = [start]
    path = place / f"story-{story.number}.db"
    lines = place / f"story-{story.number}.jsonl"
    lines.write_text(
        "\n".join(
            json.dumps({"session_id": "talk", "role": role, "content": text, "event_time": start})
            for role, text in (("user", story.said.format(story.old)), ("user", story.aside))
            if text
        )
    )
    with Memory.open(path, clock=lambda: now[0], options=OPTIONS) as memory:
        memory.files.import_paths([lines])
        memory.models.index_pending()
        (session,) = [one.session_id for one in memory.view.sessions()]
        asyncio.run(memory.consolidate(session))
        (fact,) = [one for one in memory.view.page("kind:fact") if story.old in one.content]
        (turn,) = memory.view.sources(fact.id)
        memory.files.export(undecided(path))
        now[0] += DAY
        if story.decision == "correct":
            memory.correct(fact.id, story.fact.format(story.new))
        else:
            memory.forget(fact.id, withhold=story.decision == "withhold")
        operation = memory.view.operations(limit=1)[0].op_id
        now[0] += DAY
        if story.echo:
            memory.record_turn("later", "assistant", f"As you told me: {story.said.format(story.old)}")
            memory.record_turn("later", "user", "Thanks, that is all.")
            asyncio.run(memory.consolidate("later"))
        if story.imported:
            memory.files.import_paths([lines])
            asyncio.run(memory.consolidate())
        if story.again:
            asyncio.run(memory.consolidate(session, again=True))
        assert not [one for one in memory.view.page("kind:fact") if story.old in one.content], "it came back"
    return Told(story, path, turn, operation)


def undecided(path: Path) -> Path:
    """The export of a story from before the person decided."""
    return path.with_suffix(".undecided.jsonl")


def carried(told: Told) -> Told:
    """The story on another device: it knew of the fact, and hears of the decision by an export; its clock is wrong."""
    export, there = told.path.with_suffix(".out.jsonl"), told.path.with_suffix(".elsewhere.db")
    with Memory.open(told.path, options=OPTIONS) as memory:
        memory.files.export(export, force=True)
    with Memory.open(there, clock=lambda: time.time() - 400 * DAY, options=OPTIONS) as memory:
        memory.files.import_paths([undecided(told.path)])
        memory.models.index_pending()
        taken = memory.files.import_paths([export]).operation
        memory.models.index_pending()
    return told._replace(path=there, operation=taken.op_id if taken else 0)


def active_with_old(told: Told) -> list[str]:
    """Facts that tell the old value as if it held."""
    with Memory.open(told.path, options=OPTIONS) as memory:
        return [one.content for one in memory.view.page("kind:fact") if told.story.old in one.content]


def caution_of(story: Story) -> str:
    return story.new if story.decision == "correct" else "forgotten"


def wrong_in_text(told: Told, text: str) -> list[str]:
    """The lines that tell the old value before or without what is known of it now; the line below may say it."""
    lines = text.splitlines()
    wrong = []
    for place, line in enumerate(lines):
        before = "\n".join(lines[: place + 2])
        if told.story.old in line and caution_of(told.story) not in before:
            wrong.append(line)
    return wrong


# The doors: each gives what it tells wrongly.


def by_search(told: Told) -> list[str]:
    with Memory.open(told.path, options=OPTIONS) as memory:
        hits = memory.search(told.story.question.format(told.story.old)).hits
    places = {hit.memory.content: hit.rank for hit in hits}
    wrong = [hit.memory.content for hit in hits if hit.memory.id == told.turn.id and not hit.cautions]
    new = places.get(told.story.fact.format(told.story.new))
    if told.story.decision == "correct" and new and new > places.get(told.turn.content, new):
        wrong.append("the turn stands before what corrects it")
    return wrong


def by_tools(told: Told) -> list[str]:
    wrong = []
    with Memory.open(told.path, options=OPTIONS, actor=f"agent:{told.story.number}") as memory:
        agent = Agent(memory)
        for tool, given in (
            ("search_memory", {"query": told.story.question.format(told.story.old)}),
            ("get_entity_info", {"name": told.story.old}),
        ):
            answer = run_tool(agent, tool, given)
            assert answer.ok or tool == "get_entity_info", answer.text
            found = answer.structured["memories"] if answer.structured else []
            for one in found:
                if one["id"] == told.turn.id:
                    named = caution_of(told.story) in one.get("caution", "") and one.get("ended")
                    if told.story.decision == "withhold" or not named:
                        wrong.append(f"{tool}: {one}")
    return wrong


def by_context(told: Told) -> list[str]:
    with Memory.open(told.path, options=OPTIONS) as memory:
        return wrong_in_text(told, memory.context(told.story.question.format(told.story.old)).text)


def by_hook(told: Told) -> list[str]:
    quick = HookMemory(told.path, agent="claude-code", options=OPTIONS)
    try:
        prompt = told.story.question.format(told.story.old)
        return wrong_in_text(told, quick.context_block(prompt, "now", source="claude-code").text)
    finally:
        quick.close()


def by_sdk(told: Told) -> list[str]:
    agents_sdk = pytest.importorskip("memtui.agents_sdk")
    with Memory.open(told.path, options=OPTIONS, actor="agent:sdk") as memory:
        known = agents_sdk.AgentMemory(memory)
        text = known._build_context(told.story.question.format(told.story.old), None, 5)
    return wrong_in_text(told, text)


def by_vault(told: Told) -> list[str]:
    vault = told.path.with_suffix(".vault")
    with Memory.open(told.path, options=OPTIONS) as memory:
        memory.files.export(vault, format="markdown")
    wrong = []
    for note in sorted(vault.rglob("Days/*.md")):
        wrong += [line for part in note.read_text().split("\n**") for line in wrong_in_text(told, part)]
    return wrong


DOORS: tuple[Callable[[Told], list[str]], ...] = (
    by_search, by_tools, by_context, by_hook, by_sdk, by_vault,
)  # fmt: skip


def wrong_at_doors(told: Told) -> list[str]:
    return [f"{told.story} {door.__name__}: {one}" for door in DOORS for one in door(told)]


def test_the_old_value_is_never_told_before_or_without_the_new(
    tmp_path: Path, sized: Callable[[int], int]
) -> None:
    wrong = []
    for story in stories(sized(STORIES)):
        told = happen(story, tmp_path)
        wrong += wrong_at_doors(told)
        with Memory.open(told.path, options=OPTIONS) as memory:
            memory.undo(told.operation)
            assert memory.view.cautions([told.turn.id]) == {}
    assert wrong == []


def test_an_export_carries_it_to_another_device(tmp_path: Path, sized: Callable[[int], int]) -> None:
    wrong = []
    for story in stories(sized(STORIES)):
        here = happen(story, tmp_path)
        there = carried(here)
        wrong += [*wrong_at_doors(there), *active_with_old(there)]
        for told in (there, here):  # what was exported before brings nothing back on either
            with Memory.open(told.path, options=OPTIONS) as memory:
                before = memory.files.content_hash()
                assert memory.files.import_paths([undecided(here.path)]).operation is None
                assert memory.files.content_hash() == before
            wrong += active_with_old(told)
        with Memory.open(there.path, options=OPTIONS) as memory:
            assert there.operation
            memory.undo(there.operation)
            assert memory.view.cautions([there.turn.id]) == {}
    assert wrong == []


def test_the_other_device_decides_and_this_one_hears_of_it(
    tmp_path: Path, sized: Callable[[int], int]
) -> None:
    """Back: the other device takes the decision back, and says something else of the same fact."""
    for story in stories(sized(STORIES)):
        here = happen(story, tmp_path)
        there = carried(here)
        back = there.path.with_suffix(".back.jsonl")
        with Memory.open(there.path, clock=lambda: time.time() - 400 * DAY, options=OPTIONS) as memory:
            (old,) = [one for one in memory.view.page("kind:fact is:trash") if story.old in one.content]
            memory.restore(old.id)
            memory.files.export(back)
        with Memory.open(here.path, options=OPTIONS) as memory:
            report = memory.files.import_paths([back])
            assert report.decisions.get("restored") == 1, (story, report)
            assert [one for one in memory.view.page("kind:fact") if one.id == old.id]


def test_an_import_that_merges_nothing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [happen(story, tmp_path) for story in stories(6)]
    monkeypatch.setattr(stamps, "compare_stamps", lambda ours, theirs: "same")
    assert any(active_with_old(carried(one)) for one in told)


def test_an_import_that_goes_by_the_clock_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other device's clock is a year behind: what it does last would lose by it."""
    (story,) = stories(1)
    here = happen(story, tmp_path)
    there = carried(here)
    back = there.path.with_suffix(".back.jsonl")
    with Memory.open(there.path, clock=lambda: time.time() - 400 * DAY, options=OPTIONS) as memory:
        (old,) = [one for one in memory.view.page("kind:fact is:trash") if story.old in one.content]
        memory.restore(old.id)
        memory.files.export(back)
    real = reconcile.meeting.compare_decisions

    def by_clock(ours: Stamp | None, theirs: Stamp, **given: Any) -> reconcile.meeting.Meeting | None:
        return None if ours is not None and theirs.at < ours.at else real(ours, theirs, **given)

    monkeypatch.setattr(reconcile.meeting, "compare_decisions", by_clock)
    with Memory.open(here.path, options=OPTIONS) as memory:
        assert memory.files.import_paths([back]).decisions.get("restored") is None


def test_the_command_line_tells_it_too(
    tmp_path: Path, sized: Callable[[int], int], monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:  # fmt: skip
    wrong = []
    for story in stories(max(sized(STORIES) // 5, 3)):
        told = happen(story, tmp_path)
        monkeypatch.setenv("MEMTUI_DB", str(told.path))
        asked = told.story.question.format(told.story.old)
        for call_ in (
            ("search", asked), ("list", "kind:episode"), ("context", asked),
        ):  # fmt: skip
            capfdbinary.readouterr()
            run(list(call_))
            wrong += [f"{call_}: {one}" for one in wrong_in_text(told, capfdbinary.readouterr()[0].decode())]
    assert wrong == []


def test_a_look_up_that_finds_nothing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [happen(story, tmp_path) for story in stories(6)]
    monkeypatch.setattr(cautions, "_find_by_column", lambda *given: {})
    assert any(by_search(one) for one in told)
    assert any(by_tools(one) for one in told)
    assert any(by_vault(one) for one in told)


def test_a_ranking_that_does_not_move_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [happen(story, tmp_path) for story in stories(6)]
    real = cautions.behind_successors
    monkeypatch.setattr(
        cautions, "behind_successors", lambda connection, fused, now, **given: cautions.Reordered(
            fused, real(connection, fused, now, **given).cautions
        ),
    )  # fmt: skip
    assert any(by_search(one) for one in told)
