"""``memtui list``: the memories that pass a filter, in an order."""

from __future__ import annotations

from typing import get_args

import click

from memtui.engine.search.listing import DEFAULT_LIST, SortKey

from .door import Door
from .errors import NEGATIVE, OK
from .lines import age, glyphs, memory_line, tell_cautions
from .output import emit, err, note, out
from .root import Command, json_option, pass_door
from .text_input import given_text


@click.command("list", cls=Command)
@click.argument("filter", nargs=-1)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=50, help="At most so many.  [default: 50]")
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out the first N.")
@click.option(
    "--sort", type=click.Choice(get_args(SortKey)), default="time", help="The order.  [default: time]"
)
@click.option("--ascending", is_flag=True, help="The oldest, smallest or first one first.")
@json_option
@pass_door
def list_command(
    door: Door, filter: tuple[str, ...], limit: int, offset: int, sort: SortKey, ascending: bool, json: bool,
) -> int:  # fmt: skip
    """List the memories that pass FILTER; without one all facts, reflections and observations.

    Exit code 1 when there is none.

    \b
    memtui list tag:food             memtui list is:trash
    memtui list kind:fact --sort confidence --ascending
    """
    given = given_text(filter)
    return listed(
        door, given or DEFAULT_LIST, limit, json, offset=offset, sort=sort, descending=not ascending
    )


def listed(
    door: Door,
    filter: str,
    limit: int,
    json: bool,
    *,
    offset: int = 0,
    sort: SortKey = "time",
    descending: bool = True,
) -> int:
    """Print what passes ``filter``; returns the exit code. Raises FilterError."""
    with door.reading() as memory:
        found = memory.view.page(filter, sort=sort, descending=descending, offset=offset, limit=limit)
        total = memory.view.count(filter)
        cautions = memory.view.cautions([one.id for one in found])
        culprit = None if total else memory.view.emptied_by(filter)
    if json:
        emit({"filter": filter, "total": total, "memories": found, "cautions": cautions})
        return OK if found else NEGATIVE
    signs = glyphs(door)
    ages = [age(one.event_time) for one in found]
    for one, when in zip(found, ages, strict=True):
        out(memory_line(one, signs, when.rjust(max(map(len, ages)))))
        tell_cautions(cautions.get(one.id, ()))
    left = total - offset - len(found)
    if not found:
        err("nothing found")
    elif left > 0:
        note(f"{left:,} more: --offset {offset + len(found)} goes on")
    if culprit is not None:
        note(f"The filter lets nothing through: {culprit.term}")
    return OK if found else NEGATIVE
