"""``memtui picture``: a drawing of the app as an SVG file, to show to others."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import UsageError
from memtui.engine.records import ROWS_BY
from memtui.engine.search.listing import without_turns

from .errors import OK
from .invocation import Invocation
from .output import out, paint, print_json, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import RowsBy
    from memtui.ui.picture import PictureFrame

_SIZE = re.compile(r"(\d{1,3})x(\d{1,3})")
_COLUMNS = 120
_OTHER_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".pdf"})
_LEAST, _MOST = (40, 12), (400, 200)


@click.command("picture", cls=Command)
@click.argument("what", type=click.Choice(["you", "timeline", "entity"]))
@click.argument("words", metavar="[NAME] OUT.svg", nargs=-1)
@click.option("--size", metavar="WxH", help=f"In cells of a terminal, for example {_COLUMNS}x40.")
@click.option("--light", is_flag=True, help="Dark on light.")
@click.option("--filter", "-f", "filter", default="", metavar="F", help="Only memories that pass it.")
@click.option(
    "--by",
    type=click.Choice(ROWS_BY),
    default="topic",
    help="The rows of the timeline.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
@pass_invocation
def picture_command(
    invocation: Invocation, what: str, words: tuple[str, ...], size: str | None, light: bool,
    filter: str, by: RowsBy, force: bool, json: bool,
) -> int:  # fmt: skip
    """Draw what is known about you, your memories over time, or whom NAME is seen with, into OUT.svg.

    Facts and names with secrets are left out, and what waits for you. --filter leaves out more: "-topic:health".
    The file needs no font from the network.

    \b
    memtui picture you about-me.svg --filter "-tag:private" --light
    memtui picture timeline years.svg --by person --size 160x40
    memtui picture entity "Ada" ada.svg
    """
    from memtui.atomic_file import require_free, write_atomically
    from memtui.ui import picture
    from memtui.ui.theme import DARK, LIGHT, Appearance

    name, path = _name_and_path(what, words)
    columns, rows = _parse_size(size)
    target = Path(path).expanduser()
    if target.suffix.lower() in _OTHER_PICTURES:
        raise UsageError(
            f"A picture is written as SVG, and {target.suffix} is another format.",
            f"Write {target.with_suffix('.svg').name}; a browser opens it, and saves it as an image.",
        )
    require_free(target, force=force)
    look = Appearance(LIGHT if light else DARK, invocation.configuration.settings.general.ascii, motion=False)
    frame = picture.PictureFrame(look, columns, rows, time.time(), filter)
    with invocation.open_readonly() as memory:
        svg = _render_svg(memory, what, name, by, frame)
    with write_atomically(target, force=force) as file:
        file.write(svg.encode())
    if json:
        print_json({"path": str(target.absolute()), "bytes": len(svg.encode())})
    else:
        out(row("wrote", paint(str(target.absolute()), "bold"), gap=" "))
    return OK


def _name_and_path(what: str, words: Sequence[str]) -> tuple[str | None, str]:
    if what == "entity" and len(words) == 2:
        return words[0], words[1]
    if what != "entity" and len(words) == 1:
        return None, words[0]
    wanted = 'memtui picture entity "Ada" ada.svg' if what == "entity" else f"memtui picture {what} out.svg"
    raise UsageError(
        "It takes the file to write, and of an entity its name before.", f"For example: {wanted}"
    )


def _parse_size(text: str | None) -> tuple[int, int | None]:
    """Columns and rows; rows None: as many as are needed."""
    if text is None:
        return _COLUMNS, None
    match = _SIZE.fullmatch(text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(least <= number <= most for number, least, most in zip(size, _LEAST, _MOST, strict=True)):
        raise UsageError(f"{text!r} is not a size.", "From 40x12 to 400x200, for example 120x40.")
    return size


def _render_svg(memory: Memory, what: str, name: str | None, by: RowsBy, frame: PictureFrame) -> str:
    from memtui.ui import picture

    if name is not None:
        return picture.neighbourhood_svg(memory.view.neighbourhood(name, frame.filter), frame)
    if what == "timeline":
        timeline = memory.view.timeline(
            without_turns(frame.filter), by=by, most=picture.periods_that_fit(frame.columns)
        )
        return picture.timeline_svg(timeline, frame)
    return picture.portrait_svg(memory.view.portrait(frame.filter, months=False), frame)
