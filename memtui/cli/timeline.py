"""``memtui timeline``: how much there is of each topic, person or project over time."""

from __future__ import annotations

import textwrap
import time
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from memtui.engine.records import LAYERS, ROWS_BY, UNITS, Layer, Replacement, RowsBy, Timeline, Unit
from memtui.engine.search.listing import without_turns
from memtui.present import timeline as words
from memtui.present.format import local_date
from memtui.present.text import visible_text

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import print_replacements, shown_glyphs
from .output import err, out, paint, paint_line, print_json, print_note, row, terminal_columns
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory

# A drawing in a pipe is as wide as this, and one on a terminal at most as wide as that.
_PIPED, _WIDEST = 80, 200
_ROWS = 20
# Of more facts than this the latest are looked at.
_LOOKED_THROUGH = 5_000


@click.command("timeline", cls=Command, option_of_words="--by")
@click.option(
    "--by", type=click.Choice(ROWS_BY), default="topic", show_default=True, help="What each row is."
)
@click.option("--unit", "-u", type=click.Choice(UNITS), help="The periods (default: the finest that fit).")
@click.option(
    "--layer", "-l", type=click.Choice(LAYERS), help="Count only this (default: draw learned, name all)."
)
@click.option(
    "--filter", "-f", "filter", default="", metavar="F", help="Only memories that pass this filter."
)
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 200),
    default=_ROWS,
    show_default=True,
    help="At most this many rows, and changes.",
)
@click.option("--draw/--no-draw", default=None, help="Draw it (default: on a terminal).")
@json_option
@pass_invocation
def timeline_command(
    invocation: Invocation,
    by: RowsBy,
    unit: Unit | None,
    layer: Layer | None,
    filter: str,
    limit: int,
    draw: bool | None,
    json: bool,
) -> int:
    """Show over time how much was learned of each topic, person or project.

    And what was changed, forgotten, has faded, or was recalled by agents. A sentence says
    what is in each row; on a terminal the rows are drawn first.

    \b
    memtui timeline --by person --unit month
    memtui timeline --layer changed --filter topic:plan
    """
    columns = terminal_columns()
    across = min(columns or _PIPED, _WIDEST)
    layers = (layer,) if layer else LAYERS
    most = words.grid_width(across)
    with invocation.open_readonly() as memory:
        timeline = memory.view.timeline(
            without_turns(filter), by=by, unit=unit, most=most, rows=limit, layers=layers
        )
        changes = (
            _latest_replacements(memory, without_turns(filter), timeline, limit) if layer == "changed" else ()
        )
        whole = memory.view.timeline(without_turns(""), most=most) if timeline.earliest is None else timeline
    has_counts = any(any(row.counts[one]) for row in (timeline.all, *timeline.rows) for one in layers)
    if json:
        print_json({**asdict(timeline), **({"changes": changes} if layer == "changed" else {})})
        return OK if has_counts else NEGATIVE
    if timeline.earliest is None:
        span = "" if whole.earliest is None else f"; memories begin on {local_date(whole.earliest)}"
        err(f"nothing passes this filter{span}" if filter else "nothing is remembered yet")
        return NEGATIVE
    out(row(paint(words.headline(timeline), "bold")))
    if draw if draw is not None else columns is not None:
        _print_timeline(timeline, layer or "learned", across, invocation)
        out()
    for one in words.rows_in_order(timeline):
        sentence = words.row_sentence(timeline, one)
        out(
            sentence
            if columns is None
            else textwrap.fill(visible_text(sentence), columns, subsequent_indent="  ")
        )
    if timeline.left_out:
        print_note(f"{words.left_out_text(timeline)}: --limit, or --filter")
    if changes:
        out()
        print_replacements(changes, time.time(), indent=1)
    elif "changed" in layers and timeline.all.total("changed"):
        print_note("--layer changed tells what it was and what it is now")
    return OK if has_counts else NEGATIVE


def _latest_replacements(
    memory: Memory, filter: str, timeline: Timeline, most: int
) -> tuple[Replacement, ...]:
    """What took whose place in the time that is shown, the latest first."""
    known = memory.view.page(f"{filter} is:changed", limit=_LOOKED_THROUGH)
    replaced = memory.view.replacements([one.id for one in known])
    new = {one.id for one in known}
    those = {one.ids: one for each in replaced.values() for one in each if one.new.id in new}
    inside = [one for one in those.values() if timeline.bounds[0] <= one.at < timeline.bounds[-1]]
    return tuple(sorted(inside, key=lambda one: -one.at)[:most])


def _print_timeline(timeline: Timeline, layer: Layer, across: int, invocation: Invocation) -> None:
    signs = shown_glyphs(invocation)
    for line in words.draw_timeline(timeline, layer, words.plan_drawing(timeline, across), signs):
        out(paint_line(line))
