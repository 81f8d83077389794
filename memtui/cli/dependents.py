"""What depends on memories, before they are changed: the same words for every command that has ``--dry-run``."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from memtui.present.dependents import AFTERWARDS, NOTHING, lines
from memtui.present.memory import without_secrets

from .memory_lines import glyphs, memory_line
from .output import brief, emit, in_role, note, out, paint, printed_cells, row

if TYPE_CHECKING:
    from memtui.engine.records import Dependents, MemoryRecord

    from .invocation import Invocation

_LABEL = 10

dry_run_option = click.option(
    "--dry-run", "-n", is_flag=True, help="Show what depends on it, and change nothing."
)


def print_before(invocation: Invocation, ids: Sequence[str], json: bool, what: str, **more: Any) -> None:
    """What a command would be about, and what depends on that. ``what``: ``corrected``; ``more``: fields for ``--json``."""
    with invocation.reading() as memory:
        found = memory.view.dependents(ids)
    if json:
        emit({"dry_run": True, **more, "dependents": plain(found)})
        return
    signs = glyphs(invocation)
    for one in found.of:
        out(memory_line(one, signs, paint(f"would be {what}", "yellow")))
    print_dependents(found)
    if not found.any:
        out(paint(f"  {NOTHING}", "dim"))
    elif found.drawn or found.summaries:
        note(AFTERWARDS)
    note("nothing was changed")


def plain(found: Dependents) -> Dependents:
    """The same without the secrets in it: what is to go is often looked at with somebody else."""
    return replace(
        found,
        of=tuple(map(_plain, found.of)),
        same_turns=tuple(map(_plain, found.same_turns)),
        drawn=tuple(map(_plain, found.drawn)),
    )


def _plain(memory: MemoryRecord) -> MemoryRecord:
    return replace(memory, content=without_secrets(memory))


def print_dependents(found: Dependents, *, without: Collection[str] = ()) -> None:
    """A line for each."""
    for label, parts in lines(found, time.time(), without=without):
        *first, (text, role) = parts
        begun = [paint(label.ljust(_LABEL), "dim"), *(in_role(*part) for part in first)]
        left = row("  ", row(*begun[:1], row(*begun[1:], gap="")))
        out(row(left, in_role(brief(text, printed_cells(left)), role), gap=""))
