"""What You looks like. After a wanted change: pytest tests/ui/test_you_look.py --snapshot-update"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from memtui.engine.records import Topic
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.registry import spec_of
from memtui.ui.panes.you.pane import YouPane
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, still, until

SnapCompare = Callable[..., Any]
SIZES = [(40, 12), (80, 24), (120, 40), (200, 60)]
FACTS: dict[Topic, tuple[str, ...]] = {
    "identity": ("Is a nurse, born in Faro", "Speaks Portuguese and some Dutch"),
    "people": ("Ada is Nadia's sister", "Nadia has the spare key", "Ada restores stained glass in Ghent"),
    "health": ("Is allergic to penicillin", "Sleeps badly after coffee"),
    "work": ("Works nights in Ghent", "The team lead is Samir Haddad"),
    "project": ("The boat needs a new mast", "The boat is called Heron", "The mast was ordered in Turku"),
    "routine": ("Runs on Sundays",),
    "rule": ("Keep answers short", "British spelling", "No exclamation marks", "Metric units"),
    "decision": ("Stays in Ghent this year",),
}
PLANS = (
    ("The ferry to Norway", "2025-12-12"),
    ("The dentist", "2025-11-22"),
    ("A weekend in Turku", "2026-02-01"),
)


@pytest.fixture(autouse=True)
def one_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new pane changes the tabs of all screens; these pictures are about the rest."""
    monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of("you")])


@pytest.fixture
def whole(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A person of many topics, of whom some is confirmed, pinned, fading, new or said long ago."""
    numbers = itertools.count(1)
    monkeypatch.setattr("secrets.token_hex", lambda size: f"{next(numbers):0{2 * size}x}")
    with story.open(actor="agent:coach") as agent:
        for number, (topic, texts) in enumerate(FACTS.items()):
            for place, text in enumerate(texts):
                story.now = NOW - (2 + 3 * number + 5 * place) * DAY
                agent.remember(text, topic=topic)
    with story.open() as memory:
        story.now = NOW - 9 * DAY
        for text, day in PLANS:
            memory.classify(memory.remember(text, topic="plan").id, happens=day)
        memory.confirm(memory.view.page("penicillin")[0].id)
        memory.pin(memory.view.page("short topic:rule")[0].id)
        story.now = NOW - 3600
        memory.models.index_pending()
    with story.open(actor="agent:coach") as agent:
        agent.search("how does she like answers?")
        agent.review.request_change("forget", agent.view.page("pen kind:fact")[0].id)
    story.now = NOW
    return story


@pytest.fixture
def eventful(whole: Story) -> Story:
    """The same with a year in which persons were talked about together and facts changed."""
    with whole.open() as memory:
        for days, texts in (
            (250, ("Ada and Nadia met in Faro", "Ada visits Samir Haddad")), (190, ("Nadia called Ada", "Ada has a new flat")),
            (100, ("Samir Haddad and Nadia went to Turku",)), (35, ("Ada is back from Ghent",)),
        ):  # fmt: skip
            whole.now = NOW - days * DAY
            for text in texts:
                memory.remember(text, topic="people")
        for days, words, text in (
            (180, "ferry", "The ferry to Norway leaves on 19 December 2025"),
            (90, "mast was ordered", "The mast was ordered in Porto"), (3, "Runs on Sundays", "Runs on Saturdays"),
        ):  # fmt: skip
            whole.now = NOW - days * DAY
            memory.correct(memory.view.page(f'"{words}" kind:fact')[0].id, text)
        whole.now = NOW
        memory.models.index_pending()
    return whole


def app_at(story: Story, **given: Any) -> MemtuiApp:
    state = UiState(None)
    state.pane = "you"
    return story.app(state=state, **given)


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        pane = app.main.pane
        assert isinstance(pane, YouPane)
        await until(lambda: pane._portrait is not None and app.stats is not None)
        await until(
            lambda: pane.shell.tab_count("review") is not None
        )  # else it comes after the number below
        app.show_count("review", 3)
        for key in keys:
            await pilot.press(key)
        await still(app)

    return run


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_you(whole: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(app_at(whole), terminal_size=size, run_before=pressing(*"jjj"))


@pytest.mark.parametrize(
    ("size", "keys"),
    [((80, 24), "G"), ((120, 40), "jjj"), ((200, 60), "jjj")],
    ids=lambda one: one if isinstance(one, str) else f"{one[0]}x{one[1]}",
)
def test_who_and_what_when(
    eventful: Story, snap_compare: SnapCompare, size: tuple[int, int], keys: str
) -> None:
    assert snap_compare(app_at(eventful), terminal_size=size, run_before=pressing(*keys))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_you_in_the_light(whole: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = app_at(whole, look=Appearance(theme="memtui-light", motion=False))
    assert snap_compare(app, terminal_size=size, run_before=pressing("j", "l"))


def test_you_in_ascii(whole: Story, snap_compare: SnapCompare) -> None:
    app = app_at(whole, look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(120, 40), run_before=pressing("j"))


def test_you_without_colour(whole: Story, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app_at(whole), terminal_size=(120, 40), run_before=pressing("j"))


def test_nothing_is_known_yet(empty_story: Story, snap_compare: SnapCompare) -> None:
    async def look(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        await until(lambda: app.stats is not None)
        await pilot.press("0")
        await until(lambda: app.shown_pane_id == "you")
        await still(app)

    assert snap_compare(empty_story.app(), terminal_size=(80, 24), run_before=look)
