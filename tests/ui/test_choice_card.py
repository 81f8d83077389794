"""Review: a card that asks which of several facts a new one has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from memtui.engine.records import MemoryRecord
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.merge import FactMergeDialog
from memtui.ui.panes.registry import spec_of
from memtui.ui.panes.review.pane import ReviewPane
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from memtui.ui.widgets.bars import KeyBar, StatusLine
from textual.pilot import Pilot
from textual.widgets import TextArea
from ui_story import DAY, NOW, Story, running, screen_text, settle, still, until

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


@pytest.fixture
def moved(empty_story: Story) -> Story:
    with empty_story.open() as memory:
        for ago, said in enumerate((f"About that appointment. {NEW}.", *reversed(KNOWN)), 1):
            empty_story.now = NOW - 3 * ago * DAY
            memory.record_turn(f"talk-{ago}", "user", said)
        empty_story.now = NOW
        for ago in range(4, 0, -1):
            asyncio.run(memory.consolidate(f"talk-{ago}"))
    return empty_story


def at_review(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "review"
    return story.app(state=state, **given)


def review(app: MemtuiApp) -> ReviewPane:
    pane = app.main.pane
    assert isinstance(pane, ReviewPane)
    return pane


async def ready(app: MemtuiApp) -> None:
    await until(lambda: review(app).decisions.deck is not None)
    await settle(app)


def facts(story: Story) -> dict[str, MemoryRecord]:
    with story.open(readonly=True) as memory:
        return {one.content: one for one in memory.view.page("kind:fact")}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_card_has_the_new_one_all_choices_and_what_each_key_does(
    moved: Story, size: tuple[int, int]
) -> None:
    app = at_review(moved)
    async with running(app, size):
        await ready(app)
        text = screen_text(app)
        for shown in ("of what?", SHIFT, GYM, PIANO, "replaces the picked one",
                      "none of these", "the new one is wrong", "pick what changed"):  # fmt: skip
            assert shown in text, shown
        keys = [key.label for key in app.main.query_one(KeyBar).fitting_keys()]
        assert keys[:3] == ["replace it", "new is wrong", "none of these"]


@pytest.mark.parametrize(("keys", "chosen"), [("c", SHIFT), ("lc", GYM), ("llllc", PIANO), ("lhhc", SHIFT)])
async def test_the_picked_one_is_replaced_by_one_key(moved: Story, keys: str, chosen: str) -> None:
    app = at_review(moved)
    async with running(app) as pilot:
        await ready(app)
        await pilot.press(*keys)
        await until(lambda: "change?" not in screen_text(app))
        await until(lambda: app.main.query_one(StatusLine).said.startswith(f"Kept “{NEW}"))
        known = facts(moved)
        assert known[NEW].supersedes == known[chosen].id
        await pilot.press("u")
        await until(lambda: "of what?" in screen_text(app))
    assert facts(moved)[NEW].supersedes is None


async def test_the_new_one_and_the_picked_one_are_merged_into_one_text(moved: Story) -> None:
    app = at_review(moved)
    async with running(app) as pilot:
        await ready(app)
        await pilot.press("l", "m")
        await until(lambda: isinstance(app.screen, FactMergeDialog))
        assert GYM in screen_text(app) and NEW in screen_text(app)
        app.screen.query_one(TextArea).text = "My gym moved to Fridays at 8"
        await pilot.press("enter")
        await until(lambda: app.main.query_one(StatusLine).said.startswith(f"Merged “{NEW}” with “{GYM[:9]}"))
        known = facts(moved)
        assert "My gym moved to Fridays at 8" in known and GYM not in known and NEW not in known
        assert SHIFT in known and PIANO in known
        await pilot.press("u")
        await until(lambda: "of what?" in screen_text(app))


async def test_it_may_be_none_of_them(moved: Story) -> None:
    before = facts(moved)
    app = at_review(moved)
    async with running(app) as pilot:
        await ready(app)
        await pilot.press("b")
        await until(lambda: "change?" not in screen_text(app))
        await until(lambda: f"Kept “{NEW}” beside what was known" in app.main.query_one(StatusLine).said)
    assert {text: one.confidence for text, one in facts(moved).items()} == {
        text: one.confidence for text, one in before.items()
    }


async def test_marked_with_others_it_is_decided_by_itself(moved: Story) -> None:
    app = at_review(moved)
    async with running(app) as pilot:
        await ready(app)
        await pilot.press("asterisk", "c")
        await until(lambda: [card.item.kind for card in review(app).decisions.cards] == ["choice"])
        await pilot.press("asterisk", "c")
        await until(lambda: "two sides" in app.main.query_one(StatusLine).said)
    assert facts(moved)[NEW].supersedes is None


async def test_a_preview_shows_what_may_have_changed(empty_story: Story) -> None:
    with empty_story.open() as memory:
        for ago, said in enumerate(reversed(KNOWN), 2):
            empty_story.now = NOW - 3 * ago * DAY
            memory.record_turn(f"talk-{ago}", "user", said)
        empty_story.now = NOW - 2 * DAY
        await memory.consolidate()
        memory.record_turn("new", "user", f"{NEW}.")
        empty_story.now = NOW
    state = UiState(None)
    state.pane = "sessions"
    app = empty_story.app(state=state)
    async with running(app) as pilot:
        await settle(app)
        await pilot.press("d")
        await until(lambda: screen_text(app).count("or against") == 2)
        text = screen_text(app)
        assert SHIFT in text and GYM in text and PIANO in text


SnapCompare = Callable[..., Any]


async def shown(pilot: Pilot[None]) -> None:
    app = pilot.app
    assert isinstance(app, MemtuiApp)
    await ready(app)
    await until(lambda: app.stats is not None)
    await pilot.press("l")
    await still(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("theme", ["memtui", "memtui-light"])
def test_looks(
    moved: Story,
    snap_compare: SnapCompare,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    theme: str,
) -> None:
    monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of("review")])
    app = at_review(moved, look=Appearance(theme=theme, motion=False))
    assert snap_compare(app, terminal_size=size, run_before=shown)
