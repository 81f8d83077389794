"""``memtui timeline``: how much there is of each topic, person or project over time."""

from __future__ import annotations

import textwrap

import click
from msgspec.structs import asdict

from memtui.engine.records import LAYERS, ROWS_BY, UNITS, Layer, RowsBy, Timeline, Unit
from memtui.engine.search.listing import without_turns
from memtui.present import timeline as words
from memtui.present.format import local_date
from memtui.present.text import visible

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import glyphs
from .output import columns_shown, drawn, err, out, paint, print_json, print_note, row
from .root import Command, json_option, pass_invocation

# A drawing in a pipe is as wide as this, and one on a terminal at most as wide as that.
_PIPED, _WIDEST = 80, 200
_ROWS = 20


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
    help="At most this many rows.",
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
    columns = columns_shown()
    across = min(columns or _PIPED, _WIDEST)
    layers = (layer,) if layer else LAYERS
    most = words.grid_width(across)
    with invocation.reading() as memory:
        found = memory.view.timeline(
            without_turns(filter), by=by, unit=unit, most=most, rows=limit, layers=layers
        )
        whole = memory.view.timeline(without_turns(""), most=most) if found.earliest is None else found
    there = any(any(row.counts[one]) for row in (found.all, *found.rows) for one in layers)
    if json:
        print_json(asdict(found))
        return OK if there else NEGATIVE
    if found.earliest is None:
        span = "" if whole.earliest is None else f"; memories begin on {local_date(whole.earliest)}"
        err(f"nothing passes this filter{span}" if filter else "nothing is remembered yet")
        return NEGATIVE
    out(row(paint(words.headline(found), "bold")))
    if draw if draw is not None else columns is not None:
        _draw(found, layer or "learned", across, invocation)
        out()
    for one in words.rows(found):
        sentence = words.row_sentence(found, one)
        out(
            sentence if columns is None else textwrap.fill(visible(sentence), columns, subsequent_indent="  ")
        )
    if found.left_out:
        print_note(f"{words.left_out(found)}: --limit, or --filter")
    return OK if there else NEGATIVE


def _draw(found: Timeline, layer: Layer, across: int, invocation: Invocation) -> None:
    signs = glyphs(invocation)
    for line in words.draw(found, layer, words.plan(found, across), signs):
        out(drawn(line))
