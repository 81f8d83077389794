"""What a start pays for before the window is there: modules and rules are counted, nothing is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from memtui.engine.errors import StoreError
from memtui.engine.memory import Memory
from memtui.ui.app import MemtuiApp
from memtui.ui.main_screen import MainScreen

PROGRAM = """
import asyncio, json, sys
from memtui.ui.app import MemtuiApp

def painted(app):
    styles = app.stylesheet.source
    print(json.dumps({
        "modules": list(sys.modules), "rules": len(app.stylesheet.rules),
        "own": sum(len(one.content) for (path, _), one in styles.items() if path.endswith(".tcss")),
    }))
    app.exit()

def never():
    raise AssertionError("the memory was opened before the window was painted")

async def main():
    MemtuiApp.begin_opening = painted
    await MemtuiApp(never).run_async(headless=True, size=(120, 40))

asyncio.run(main())
"""


def test_the_first_paint_waits_for_few_modules_and_few_rules() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=root, check=True
    )
    start = json.loads(done.stdout)
    ours = {name for name in start["modules"] if name.startswith("memtui.")}
    assert ours & {"memtui.engine.memory", "memtui.engine.store", "memtui.engine.search"} == set()
    assert not {"apsw", "click", "numpy", "sqlite3", "logging.handlers", "openai"} & set(start["modules"])
    panes = {name for name in ours if name.startswith("memtui.ui.panes.")}
    shown = {
        "entity_links",
        "memory_actions",
        "pane",
        "registry",
        "you",
        "you.pane",
        "you.rows",
    }
    assert panes == {f"memtui.ui.panes.{name}" for name in shown}
    # Each module is read, each rule parsed at every start: a few more are a few milliseconds.
    assert len(ours) <= 65, sorted(ours)
    assert start["rules"] <= 60
    assert start["own"] <= 2_200


@pytest.mark.parametrize(
    ("size", "expected"), [((120, 40), {"-split", "-high"}), ((80, 24), {"-stacked", "-low"})]
)
async def test_the_first_layout_is_that_of_the_window(
    size: tuple[int, int], expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[set[str]] = []
    refresh_layout = MainScreen._refresh_layout

    def noted(screen: MainScreen, *args: Any, **options: Any) -> None:
        laid_out.append({name for name in screen.classes if name.startswith("-")})
        refresh_layout(screen, *args, **options)

    def refused() -> Memory:
        raise StoreError("not here", "it need not be opened")

    monkeypatch.setattr(MainScreen, "_refresh_layout", noted)
    async with MemtuiApp(refused).run_test(size=size) as pilot:
        await pilot.pause()
    assert laid_out[0] >= expected
