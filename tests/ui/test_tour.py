"""The tour of the demo: seven steps that the person takes, or the key that goes on does; then one's own memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui.demo import create_demo
from memtui.ui.app import MemtuiApp
from memtui.ui.theme import Appearance
from memtui.ui.tour import STEPS, TourStrip
from ui_story import Story, screen_text, settle, still, until

SIZES = [(120, 40), (80, 24), (60, 20), (40, 12)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    create_demo(path, now=time.time())
    return path


@pytest.fixture
def toured(demo: Path, tmp_path: Path) -> Iterator[Story]:
    path = tmp_path / "demo.db"
    path.write_bytes(demo.read_bytes())
    yield Story(path, now=time.time())


def step(app: MemtuiApp) -> int | None:
    """The number of the step on screen; None without a tour."""
    return next((strip.number for strip in app.main.query(TourStrip)), None)


def operations(story: Story) -> int:
    with story.open(readonly=True) as memory:
        return len(memory.view.operations())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii", [False, True])
async def test_the_key_that_goes_on_takes_every_step_and_writes_nothing(
    toured: Story, size: tuple[int, int], ascii: bool
) -> None:
    before = operations(toured)
    app = toured.app(begins_with="tour", look=Appearance(ascii=ascii, motion=False))
    async with app.run_test(size=size, notifications=True) as pilot:
        for number, one in enumerate(STEPS):
            await until(lambda number=number: step(app) == number)
            await still(app)
            words = " ".join(screen_text(app).split())
            assert f"{number + 1}/7" in words
            assert one.text.partition(" ")[0] in words and "ctrl+n next" in words and "Esc end" in words
            if ascii:
                strip = app.main.query_one(TourStrip).region
                assert "\n".join(screen_text(app).splitlines()[strip.y : strip.bottom]).isascii()
            await pilot.press("ctrl+n")
        await until(lambda: not app.is_running)
    assert app.own_wanted
    assert operations(toured) == before


async def test_a_step_is_over_when_the_person_did_what_it_names(toured: Story) -> None:
    app = toured.app(begins_with="tour")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(lambda: step(app) == 0)
        for number, keys in enumerate(("2", "enter", "3"), 1):
            await still(app)
            await pilot.press(keys)
            await until(lambda number=number: step(app) == number)
        await pilot.press("/", *"walnuts")
        await still(app)
        assert step(app) == 3, "what is typed is no key yet"
        await pilot.press("enter")
        await until(lambda: step(app) == 4)
        for number, keys in enumerate(("1", "8"), 5):
            await pilot.press(keys)
            await until(lambda number=number: step(app) == number)
        await pilot.press("i")
        await until(lambda: not app.is_running)
    assert app.own_wanted


async def test_esc_ends_the_tour_where_there_is_no_other_way_back(toured: Story) -> None:
    app = toured.app(begins_with="tour")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        for number, key in enumerate(("2", "enter"), 1):
            await until(lambda number=number: step(app) == number - 1)
            await still(app)
            await pilot.press(key)
        await until(lambda: step(app) == 2)
        await pilot.press("escape")
        await still(app)
        assert step(app) == 2, "the first one leaves the full view"
        await pilot.press("escape")
        await until(lambda: step(app) is None)
        await still(app)
        assert "The tour is over" in screen_text(app)
        await pilot.press("ctrl+n")
        await still(app)
        assert app.is_running and not app.own_wanted


async def test_a_tour_that_only_reads_says_why_it_does_not_import(toured: Story) -> None:
    app = toured.app(begins_with="tour", readonly=True)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        for number in range(len(STEPS) - 1):
            await until(lambda number=number: step(app) == number)
            await pilot.press("ctrl+n")
        await until(lambda: step(app) == len(STEPS) - 1)
        await pilot.press("ctrl+n")
        await until(lambda: "reading only" in screen_text(app))
        assert app.is_running


async def test_ones_own_memory_begins_with_the_import(story: Story, tmp_path: Path) -> None:
    app = story.app(begins_with="import", home=tmp_path)
    async with app.run_test(size=(80, 24)):
        await settle(app)
        await until(lambda: "Import" in str(type(app.screen).__name__))
