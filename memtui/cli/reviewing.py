"""``memtui review``: what needs the person's decision, worst first; the app's Review pane lists the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.ui.format import plural

from .lines import age, glyphs, memory_line
from .output import Style, brief, emit, out, paint, row
from .root import Command, json_option, pass_door

if TYPE_CHECKING:
    from memtui.engine.maintain.review import ReviewItem
    from memtui.ui.glyphs import Glyphs

    from .door import Door

_COLOURS: dict[str, Style] = {
    "conflict": "red", "wish": "cyan", "held": "yellow", "duplicate": "yellow", "suspicious": "yellow",
    "entities": "cyan", "fading": "dim", "new": "cyan",
}  # fmt: skip
_EVIDENCE = 3


@click.command("review", cls=Command)
@click.option("--all", "every", is_flag=True, help="Also what is more than a day's twenty cards.")
@json_option
@pass_door
def review_command(door: Door, every: bool, json: bool) -> None:
    """List what needs a decision of yours: conflicts, wishes, duplicates, names that may be one, and so on.

    Decide in the app (memtui, then 1), or with confirm, correct and forget.
    """
    with door.reading() as memory:
        inbox = memory.upkeep.inbox(all=every)
    if json:
        emit(inbox)
        return
    signs = glyphs(door)
    for item in inbox.items:
        _tell(item, signs)
    if not inbox.items:
        out(paint("all clear", "green"))
    later = f"; {plural(inbox.later, 'more card')} tomorrow, or now with --all" if inbox.later else ""
    decided = f"; {inbox.settled} decided today" if inbox.settled else ""
    out(f"{len(inbox.items)} left{decided}{later}")


def _tell(item: ReviewItem, signs: Glyphs) -> None:
    out(row(paint(item.kind, _COLOURS[item.kind]), item.reason))
    if item.text and item.wish is None:
        out(row("   ", brief(item.text, 6)))
    for name, memory in zip(_names(item), item.memories, strict=True):
        out(memory_line(memory, signs, f"   {name}", age(memory.event_time).rjust(3)))
        for known in item.replaced:
            if known.id == memory.supersedes:
                out(row("       ", paint(brief(f"instead of: {known.content}", 10), "yellow")))
    if item.text and item.wish is not None:
        out(row("   to:", brief(item.text, 8)))
    for turn in item.sources[:_EVIDENCE]:
        out(row("       ", paint(brief(f"from {turn.id}: {turn.content}", 10), "dim")))


def _names(item: ReviewItem) -> list[str]:
    pair = item.kind in ("conflict", "duplicate")
    return ["new", "old"] if pair else [""] * len(item.memories)
