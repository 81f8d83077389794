"""Take the screenshots of the README from the running app on the demo memory.

usage: python screenshots/make.py [--only NAME] [--svg]

Needs cairosvg and the font DejaVu Sans Mono for PNG (``--svg`` keeps the SVG instead). The demo's
clock stands still, so that the pictures change only when the screens do.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from memtui import Memory
from memtui.demo import create_demo
from memtui.engine.records import Options
from memtui.ui.app import MemtuiApp
from memtui.ui.svg import self_contained_svg
from memtui.ui.theme import Appearance

HERE = Path(__file__).parent
NOW = 1_789_500_000.0
WIDE = (120, 36)
NARROW = (80, 24)


class Shot(NamedTuple):
    """One picture: the keys that lead to it. ``~`` waits for the screen to settle."""

    name: str
    keys: tuple[str, ...] = ()
    theme: str = "memtui-dark"
    size: tuple[int, int] = WIDE


def typed(text: str) -> tuple[str, ...]:
    return tuple("space" if c == " " else "question_mark" if c == "?" else c for c in text)


SHOTS = (
    Shot("you"),
    Shot("you-light", theme="memtui-light"),
    Shot("memories-dark", ("2", "~")),
    Shot("memories-light", ("2", "~"), theme="memtui-light"),
    Shot("memories-narrow", ("2", "~", "j", "j"), size=NARROW),
    Shot("timeline", ("2", "~", "T", "~", "left", "left", "left", "down", "down", "~")),
    Shot("search-why", ("3", "~", "slash", *typed("what does Ada eat"), "~", "enter", "~")),
    Shot("correct", ("2", "~", "e", "~", *typed(" at Linzen"))),
    Shot("entities", ("4", "~", "enter", "~", "j", "j")),
    Shot("who-with-whom", ("4", "~", "w", "~", "j")),
    Shot("sessions", ("5", "~", "j")),
    Shot("observations", ("6", "~", "slash", *typed("replay deliveries"), "~", "enter", "~")),
    Shot("history", ("8", "~", "j", "j")),
    Shot("help", ("2", "~", "question_mark", "~")),
    Shot("review", ("1", "~")),
    Shot("maintenance", ("7", "~")),
)


async def take(shot: Shot, memory_file: Path) -> str:
    """The screen as SVG."""

    def clock() -> float:
        return NOW

    def opened() -> Memory:
        return Memory.open(memory_file, clock=clock, options=Options(background=False))

    app = MemtuiApp(opened, name="demo", look=Appearance(shot.theme, ascii=False, motion=False), clock=clock)
    async with app.run_test(size=shot.size) as pilot:
        await pilot.pause(1.5)
        for key in shot.keys:
            if key == "~":
                await pilot.pause(0.8)
            else:
                await pilot.press(key)
        await pilot.pause(1.0)
        return self_contained_svg(app.export_screenshot(title="memtui"))


def save(svg: str, name: str, *, keep_svg: bool) -> Path:
    if keep_svg:
        target = HERE / f"{name}.svg"
        target.write_text(svg, encoding="utf-8")
        return target
    import cairosvg

    svg = re.sub(r"font-family:\s*[^;]+;", "font-family: 'DejaVu Sans Mono';", svg)
    target = HERE / f"{name}.png"
    cairosvg.svg2png(bytestring=svg.encode(), write_to=str(target), scale=0.9)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="the name of one picture")
    parser.add_argument("--svg", action="store_true", help="keep SVG instead of PNG")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory_file = Path(folder) / "memory.db"
        create_demo(memory_file, now=NOW)
        with Memory.open(memory_file, clock=lambda: NOW) as memory:
            memory.models.index_pending()
        for shot in SHOTS:
            if arguments.only in (None, shot.name):
                print(save(asyncio.run(take(shot, memory_file)), shot.name, keep_svg=arguments.svg))


if __name__ == "__main__":
    main()
