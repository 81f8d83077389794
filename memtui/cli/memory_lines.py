"""One memory on one line, with its id, as every list shows it; and what depends on memories, for --dry-run."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from memtui.present import replacement
from memtui.present.caution import caution_line
from memtui.present.changes import column_changes, row_effect, table_label
from memtui.present.dependents import NOTHING, dependents_lines, review_note
from memtui.present.format import local_date, relative_time
from memtui.present.memory import is_past_plan, without_secrets
from memtui.present.text import one_line

from .invocation import Invocation
from .output import (
    Painted,
    cut_to_terminal,
    out,
    paint,
    paint_role,
    print_json,
    print_note,
    printed_cells,
    row,
    shows_unicode,
    terminal_width,
)

if TYPE_CHECKING:
    from memtui.engine.records import Caution, Dependents, MemoryRecord, Replacement, RowChange
    from memtui.present.glyphs import Glyphs


_BESIDE = 36


def shown_glyphs(invocation: Invocation) -> Glyphs:
    """The signs that stdout can show; the plain ones when the settings say so."""
    from memtui.present.glyphs import ASCII, UNICODE

    return ASCII if invocation.configuration.settings.general.ascii or not shows_unicode() else UNICODE


def memory_sign(memory: MemoryRecord, signs: Glyphs) -> str:
    """The kind, and beside it what is special: in the Trash, or protected."""
    beside = signs.ended if not memory.active else signs.protected if memory.protected else " "
    return f"{signs.kinds[memory.kind]}{beside}"


def time_ago(seconds: float) -> str:
    return relative_time(seconds, time.time())


def memory_line(memory: MemoryRecord, signs: Glyphs, *before: str) -> Painted:
    """What stands ``before``, then id, signs, topic, date and text, on one line that fits the terminal."""
    topic = (paint(memory.topic, "cyan"),) if memory.topic else ()
    now = time.time()
    date: tuple[str, ...] = ()
    if memory.happens_at is not None:
        day, past = local_date(memory.happens_at, now), is_past_plan(memory, now)
        date = (paint(f"{day}, past", "yellow") if past else paint(day, "dim"),)
    line_start = row(*before, paint(memory.id, "dim"), memory_sign(memory, signs), *topic, *date)
    return row(line_start, cut_to_terminal(without_secrets(memory), printed_cells(line_start) + 2))


def print_cautions(cautions: Sequence[Caution]) -> None:
    """Print below a memory's line what of it is no longer true."""
    for caution in cautions:
        line_start = row("    ", paint_role("!", "warning"))
        width = printed_cells(line_start) + 2
        parts = []
        for text, role in caution_line(caution, time.time()):
            parts.append(paint_role(cut_to_terminal(text, width) if role != "warning" else text, role))
            width += printed_cells(parts[-1])
        out(row(line_start, row(*parts, gap="")))


def print_what_changed(
    memory: MemoryRecord,
    cautions: Sequence[Caution],
    replacements: Sequence[Replacement],
    *,
    undecided_only: bool = False,
) -> None:
    """Print below a memory's line what of it is no longer true or may have changed, and what it took the place of.

    ``undecided_only``: of the replacements only those that the person has not decided.
    """
    print_cautions(cautions)
    # A caution tells already what took its place.
    beside = [one for one in replacements if one.new.id == memory.id or not cautions]
    if undecided_only:
        beside = [one for one in beside if one.how == "asked" or replacement.changed_by(one)]
    print_replacements(beside, time.time(), of=memory)


def print_replacements(
    replacements: Sequence[Replacement], now: float, of: MemoryRecord | None = None, *, indent: int = 4
) -> None:
    """Print what took whose place; with ``of`` below that memory's line, without the new text where it is that one's."""
    for one in replacements:
        texts = replacement.line(one, now, of)
        if of is None and replacement.moved_days(one, now):
            texts = (*texts, (f": {' '.join(without_secrets(one.new).split())}", "text"))
        line_start = row(
            " " * indent, paint_role(replacement.label(one), "warning" if one.how == "asked" else "accent")
        )
        stored = [text for text, role in texts if role == "text"]
        fixed = sum(printed_cells(text) for text, role in texts if role != "text")
        width = max(terminal_width() - printed_cells(line_start) - 2 - fixed, 20) // max(len(stored), 1)
        parts = [paint_role(one_line(text, width) if role == "text" else text, role) for text, role in texts]
        out(row(line_start, row(*parts, gap="")))


def change_rows(change: RowChange, title: str = "") -> list[tuple[str, str]]:
    """A changed row as lines of a table: which one, and each column's old and new value.

    ``title``: the name of the row. Of a memory it is shown when the row was added or removed.
    """
    row_name = change.memory_id or f"{table_label(change.table)} {title or change.key}"
    if change.before is None or change.after is None:
        quoted = f" “{cut_to_terminal(title, _BESIDE)}”" if change.memory_id and title else ""
        return [(row_name, f"{row_effect(change.before, change.after)}{quoted}")]
    changes = column_changes(change.before, change.after, time.time())
    return [(row_name, f"{one.label}: {one.was} -> {one.now}") for one in changes]


_LABEL = 10

dry_run_option = click.option(
    "--dry-run", "-n", is_flag=True, help="Show what depends on it, and change nothing."
)


def print_dry_run(
    invocation: Invocation, ids: Sequence[str], json: bool, what: str, *, text: str | None = None, **more: Any
) -> None:
    """Print the memories that would change, and what depends on them.

    ``what``: the change, such as ``corrected``. ``text``: the text that takes their place, "" for that of the first;
    None where nothing does. ``more``: fields for ``--json``.
    """
    with invocation.open_readonly() as memory:
        dependents = memory.view.dependents(ids)
    if text is not None:
        dependents = dependents.after(text or dependents.memories[0].content)
    if json:
        print_json({"dry_run": True, **more, "dependents": without_shown_secrets(dependents)})
        return
    signs = shown_glyphs(invocation)
    for one in dependents.memories:
        out(memory_line(one, signs, paint(f"would be {what}", "yellow")))
    for one in dependents.standing if what == "forgotten" else ():
        out(memory_line(one, signs, paint("would stand again", "green")))
    print_dependents(dependents)
    if not dependents.any:
        out(paint(f"  {NOTHING}", "dim"))
    elif dependents.derived or dependents.summaries or (dependents.naming and dependents.replaced):
        print_note(review_note(dependents))
    print_note("nothing was changed")


def without_shown_secrets(dependents: Dependents) -> Dependents:
    """The same with secrets blacked out, because others may look at the screen too."""
    return replace(
        dependents,
        memories=tuple(map(_without_secrets, dependents.memories)),
        same_turns=tuple(map(_without_secrets, dependents.same_turns)),
        derived=tuple(map(_without_secrets, dependents.derived)),
        naming=tuple(replace(one, memory=_without_secrets(one.memory)) for one in dependents.naming),
        wording=(),  # these tell something only once a text takes their place
        standing=tuple(map(_without_secrets, dependents.standing)),
    )


def _without_secrets(memory: MemoryRecord) -> MemoryRecord:
    return replace(memory, content=without_secrets(memory))


def print_dependents(dependents: Dependents, *, without: Collection[str] = ()) -> None:
    """Print a line for each thing that depends on them."""
    for label, parts in dependents_lines(dependents, time.time(), without=without):
        *first, (text, role) = parts
        begun = [paint(label.ljust(_LABEL), "dim"), *(paint_role(*part) for part in first)]
        line_start = row("  ", row(*begun[:1], row(*begun[1:], gap="")))
        out(row(line_start, paint_role(cut_to_terminal(text, printed_cells(line_start)), role), gap=""))
