"""A small memory with a past, a frozen clock, an app on them, and ways to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.memory import Memory
from memtui.engine.records import Options
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.memories.pane import MemoriesPane
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from memtui.ui.widgets.row_table import RowTable
from textual._context import active_app
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

NOW = 1_763_812_800  # Saturday 22 November 2025, 12:00 UTC
DAY = 86_400
OPTIONS = Options(background=False)


@dataclass
class Story:
    """A memory file and the clock by which it was written."""

    path: Path
    now: float = NOW

    def clock(self) -> float:
        return self.now

    def open(self, *, readonly: bool = False, actor: str = "person") -> Memory:
        return Memory.open(self.path, clock=self.clock, options=OPTIONS, readonly=readonly, actor=actor)

    def app(self, *, readonly: bool = False, **given: Any) -> MemtuiApp:
        look = given.pop("look", Appearance(motion=False))
        if "state" not in given:  # most tests are about the list of memories, or begin there
            given["state"] = at_pane("memories")
        return MemtuiApp(
            lambda: self.open(readonly=readonly),
            name="personal",
            look=look,
            readonly=readonly,
            clock=self.clock,
            **given,
        )


def at_pane(place: str) -> UiState:
    """A state in which the app begins with this pane."""
    state = UiState(None)
    state.pane = place
    return state


Until = Callable[[], object]


# What threads do for the app at the moment (conftest.py fills it).
IN_THREADS: set[asyncio.Future[Any]] = set()


async def quiet(app: App[Any], most: int = 60) -> None:
    """Let every message be handled, every thread answer, and what comes of it be drawn.

    However slow the machine is: loop and timers keep their order. Where a test itself holds threads back, what
    else there is to do gets ``most`` rounds.
    """
    for _ in range(most):
        await Pilot(app)._wait_for_screen()
        if not IN_THREADS:
            await asyncio.sleep(0)
            await Pilot(app)._wait_for_screen()
            if not IN_THREADS:
                return
        await asyncio.sleep(0.01)


async def still(app: App[Any], delay: float = 0.15) -> None:
    """Quiet, also after what comes with a delay: previews, searches while typing."""
    await quiet(app)
    await asyncio.sleep(delay)
    await quiet(app)
    await asyncio.sleep(0.02)  # the next frame


async def true(condition: Until, seconds: float = 60.0) -> None:
    """Let the app work until something is true. The time is no promise: it only ends a test that hangs."""
    for _ in range(int(seconds / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"it never came true{_screen_now()}")


def _screen_now() -> str:
    """What the app shows, for the message of a test that waited in vain."""
    app = active_app.get(None)
    if app is None or not app.screen_stack:
        return ""
    shown = "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())
    return f": {[type(screen).__name__ for screen in app.screen_stack]}, focus {app.focused!r}\n{shown}"


async def until(condition: Until) -> None:
    """Let the app work until something is true, and then until what came with it is there as well."""
    await true(condition)
    if (app := active_app.get(None)) is not None:
        await quiet(app, most=20)


async def settle(app: MemtuiApp) -> None:
    """Let the list and its preview arrive."""
    await true(lambda: app.screen_stack and app.main.is_mounted and app.main.pane.query(RowTable))
    table = app.main.pane.query_one(RowTable)
    await true(lambda: table._pages is not None and table._pages.keys is not None and table._next is None)
    await still(app, 0.12)
    await true(lambda: not app.operations.running)
    await true(lambda: not any(worker.is_running for worker in app.workers if worker.group == "preview"))


def there(app: MemtuiApp, dialog: type[Screen[Any]]) -> bool:
    """Whether a dialog is on screen and takes keys: one that is only on its way loses the first of them."""
    screen = app.screen
    ready = screen.is_mounted and (screen.focused is not None or not screen.focus_chain)
    return isinstance(screen, dialog) and ready


@asynccontextmanager
async def running(app: MemtuiApp, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[None]]:
    """The app with its memory open and its first rows shown."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(app)
        await pilot.pause()
        yield pilot


def screen_text(app: MemtuiApp) -> str:
    """What the terminal would show."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def memories(app: MemtuiApp) -> MemoriesPane:
    pane = app.main.pane
    assert isinstance(pane, MemoriesPane)
    return pane
