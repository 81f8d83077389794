"""``memtui list``: the memories that pass a filter, sorted."""

from __future__ import annotations

import shlex
from typing import get_args

import click

from memtui.engine.errors import UsageError
from memtui.engine.search.listing import DEFAULT_LIST, SortKey

from .errors import NEGATIVE, OK
from .invocation import Invocation, text_of_words
from .memory_lines import memory_line, print_what_changed, shown_glyphs, time_ago
from .output import err, out, paint, print_json, print_note, row
from .root import Command, json_option, pass_invocation


@click.command("list", cls=Command)
@click.argument("filter", nargs=-1)
@click.option("--filter", "-f", "filters", multiple=True, metavar="F", help="The same as FILTER.")
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), default=50, help="At most this many.  [default: 50]"
)
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out the first N.")
@click.option(
    "--sort", type=click.Choice(get_args(SortKey)), default="time", help="The order.  [default: time]"
)
@click.option("--ascending", is_flag=True, help="Oldest, smallest or first letter first.")
@click.option(
    "--saved",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="Use the saved filter NAME. Without NAME, list the saved filters.",
)
@click.option("--save", metavar="NAME", help="Save FILTER under a name, in this memory.")
@click.option("--unsave", metavar="NAME", help="Remove this saved filter.")
@json_option
@pass_invocation
def list_command(
    invocation: Invocation, filter: tuple[str, ...], filters: tuple[str, ...], limit: int, offset: int, sort: SortKey,
    ascending: bool,
    saved: str | None, save: str | None, unsave: str | None, json: bool,
) -> int:  # fmt: skip
    """List the memories that pass FILTER. Without one, all facts, reflections and observations.

    Exit code 1 when there is none.

    \b
    memtui list tag:food             memtui list is:trash
    memtui list kind:fact --sort confidence --ascending
    memtui list --save travel tag:travel after:1y
    memtui list --saved travel kind:fact
    """
    expression = " ".join((text_of_words(filter), *filters)).strip()
    if sum(one is not None for one in (saved, save, unsave)) > 1:
        raise UsageError("Only one of --saved, --save and --unsave can be given.", "Leave out the others.")
    if unsave is not None:
        return _remove_saved_filter(invocation, unsave, expression)
    if saved == "":
        return _print_saved_filters(invocation, expression, json)
    if saved is not None:
        with invocation.open_readonly() as memory:
            expression = f"{memory.filters.named(saved).filter} {expression}".strip()
    if save is not None:
        if not expression:
            raise UsageError("Which filter?", f"memtui list --save {save} tag:work")
        with invocation.open_existing(must_write=True) as memory:
            kept = memory.filters.save(save, expression)
        print_note(f"{'saved' if kept else 'saved already'}: memtui list --saved {shlex.quote(save)}")
    return print_list(
        invocation,
        expression or DEFAULT_LIST,
        limit,
        json,
        offset=offset,
        sort=sort,
        descending=not ascending,
    )


def _print_saved_filters(invocation: Invocation, filter: str, json: bool) -> int:
    """Print the saved filters."""
    if filter:
        raise UsageError("Which saved filter?", "memtui list --saved NAME FILTER")
    with invocation.open_readonly() as memory:
        saved = memory.filters.saved()
    if json:
        print_json({"filters": saved})
    for one in () if json else saved:
        out(row(one.name, paint(one.filter, "dim")))
    if not saved:
        err("no saved filters")
    return OK if saved else NEGATIVE


def _remove_saved_filter(invocation: Invocation, name: str, filter: str) -> int:
    if filter:
        raise UsageError("--unsave takes only the name.", f"memtui list --unsave {shlex.quote(name)}")
    with invocation.open_existing(must_write=True) as memory:
        memory.filters.remove(name)
    print_note("Removed. To bring it back: memtui undo")
    return OK


def print_list(
    invocation: Invocation,
    filter: str,
    limit: int,
    json: bool,
    *,
    offset: int = 0,
    sort: SortKey = "time",
    descending: bool = True,
) -> int:
    """Print what passes ``filter``; returns the exit code. Raises FilterError."""
    with invocation.open_readonly() as memory:
        memories = memory.view.page(filter, sort=sort, descending=descending, offset=offset, limit=limit)
        total = memory.view.count(filter)
        ids = [one.id for one in memories]
        cautions, replaced = memory.view.cautions(ids), memory.view.replacements(ids)
        culprit = None if total else memory.view.emptied_by(filter)
    if json:
        print_json(
            {
                "filter": filter,
                "total": total,
                "memories": memories,
                "cautions": cautions,
                "replacements": replaced,
            }
        )
        return OK if memories else NEGATIVE
    signs = shown_glyphs(invocation)
    ages = [time_ago(one.event_time) for one in memories]
    for one, when in zip(memories, ages, strict=True):
        out(memory_line(one, signs, when.rjust(max(map(len, ages)))))
        print_what_changed(one, cautions.get(one.id, ()), replaced.get(one.id, ()))
    more = total - offset - len(memories)
    if not memories:
        err("nothing found")
    elif more > 0:
        print_note(f"{more:,} more: --offset {offset + len(memories)}")
    if culprit is not None:
        print_note(f"No memory passes this part of the filter: {culprit.term}")
    return OK if memories else NEGATIVE
