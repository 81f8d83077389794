"""``memtui show``: everything about one memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memtui.engine.records import (
    Caution,
    Entity,
    MemoryDetail,
    MemoryRecord,
    Operation,
    Recall,
    Record,
    Replacement,
    RowChange,
    Stamp,
)
from memtui.present import caution, decision, replacement
from memtui.present import memory as words
from memtui.present.changes import attribute_values
from memtui.present.format import local_time, plural
from memtui.present.operation import author_suffix, recall_line

from .invocation import Invocation
from .memory_lines import change_rows, memory_line, memory_sign, shown_glyphs, time_ago
from .output import out, paint, paint_line, print_json, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.present.glyphs import Glyphs


@click.command("show", cls=Command)
@click.argument("id")
@json_option
@pass_invocation
def show_command(invocation: Invocation, id: str, json: bool) -> None:
    """Show everything about the memory ID: text, sources, what was drawn from it, and its changes."""

    with invocation.open_readonly() as memory:
        detail = memory.view.detail(id)
    if json:
        print_json(ShownMemory.of(detail))
    else:
        print_memory(detail, shown_glyphs(invocation))


# What the text below tells in words.
_TOLD_ATTRIBUTES = frozenset({"supersedes", "secrets", "redacted", "pinned_at", "withheld_from"})


class ShownChange(Record):
    """One recorded change of the memory and the operation it was part of."""

    operation: Operation
    change: RowChange


class ShownMemory(Record):
    """What ``memtui show --json`` tells; ``versions`` is the chain of corrections, oldest first.

    ``replacements``: what took whose place in its chain, also what was said later and what Review asks."""

    memory: MemoryRecord
    sources: tuple[MemoryRecord, ...]
    derived: tuple[MemoryRecord, ...]
    versions: tuple[MemoryRecord, ...]
    neighbours: tuple[MemoryRecord, ...]
    entities: tuple[Entity, ...]
    history: tuple[ShownChange, ...]
    recalls: tuple[Recall, ...]
    cautions: tuple[Caution, ...] = ()
    decided: tuple[Stamp, ...] = ()
    withheld_from: tuple[str, ...] = ()
    asked: bool = False
    replacements: tuple[Replacement, ...] = ()

    @classmethod
    def of(cls, detail: MemoryDetail) -> ShownMemory:
        """Only a turn has neighbours: those of its transcript."""
        return cls(
            memory=detail.memory,
            sources=detail.sources,
            derived=detail.derived,
            versions=detail.versions,
            neighbours=detail.around if detail.memory.kind == "episode" else (),
            entities=detail.entities,
            history=tuple(ShownChange(operation=op, change=change) for op, change in detail.history),
            recalls=detail.recalls,
            cautions=detail.cautions,
            decided=detail.decided,
            withheld_from=detail.withheld_from,
            asked=detail.asked,
            replacements=detail.replacements,
        )


def print_memory(detail: MemoryDetail, signs: Glyphs) -> None:
    """Print it for people."""
    portrait = ShownMemory.of(detail)
    memory = portrait.memory
    head = (paint(words.kind_label(memory), "bold"), words.speaker_note(memory), paint(memory.id, "dim"))
    out(row(memory_sign(memory, signs), *head))
    out(memory.content)
    out()
    for line in table(_fact_rows(portrait, detail)):
        out(line)
    lists = {
        "said in": portrait.sources,
        "derived": portrait.derived,
        "versions": replacement.versions(portrait.replacements),
        "around it": portrait.neighbours if len(portrait.neighbours) > 1 else (),
    }
    for title, memories in lists.items():
        if memories:
            out()
            out(paint(title, "bold"))
        for other in memories:
            mark = signs.cursor if other.id == memory.id else " "
            out(memory_line(other, signs, mark, time_ago(other.event_time).rjust(4)))
    _print_history(portrait, detail)


def _fact_rows(portrait: ShownMemory, detail: MemoryDetail) -> list[tuple[str, str]]:
    memory, now = portrait.memory, time.time()

    def time_and_age(seconds: float) -> str:
        return f"{local_time(seconds, now)} ({time_ago(seconds)})"

    rows: list[tuple[str, str]] = [
        ("when", time_and_age(memory.event_time)),
        ("recorded", time_and_age(memory.created_at)),
    ]
    rows += [(label, paint_line(line)) for label, line in caution.caution_lines(portrait.cautions, now)]
    rows += [(label, paint_line(line)) for label, line in words.state_lines(memory, detail.fades, now)]
    rows += [
        (label, paint_line(line))
        for label, line in replacement.chain_lines(portrait.replacements, now, memory)
    ]
    rows += [
        (label, paint_line(line))
        for label, line in (*words.open_card_text(detail), *words.withheld_from_text(detail))
    ]
    if memory.session_id:
        rows.append(("session", memory.session_id))
    if memory.project:
        rows.append(("project", memory.project))
    if said_by := ", ".join(part for part in (memory.source_role, memory.source) if part):
        rows.append(("from", said_by))
    for label, entities in words.entities_by_type(portrait.entities).items():
        rows.append((label, ", ".join(entity.canonical_name for entity in entities)))
    if memory.access_count and memory.last_accessed is not None:
        times = f"{plural(memory.access_count, 'time')} on {plural(memory.recall_days, 'day')}"
        rows.append(("recalled", f"{times}, last {time_and_age(memory.last_accessed)}"))
    if secrets := memory.attributes.get("secrets"):
        done = "blacked out" if memory.attributes.get("redacted") else "kept from models"
        rows.append(("secret", f"{', '.join(secrets)}: {done}"))
    rest = {name: value for name, value in memory.attributes.items() if name not in _TOLD_ATTRIBUTES}
    return [*rows, *attribute_values(rest, now)]


def _print_history(portrait: ShownMemory, detail: MemoryDetail) -> None:
    if portrait.history:
        out()
        out(paint("history", "bold"))
    rows = []
    for entry in portrait.history:
        operation = entry.operation
        rows.append(
            (str(operation.op_id), time_ago(operation.at), f"{operation.label}{author_suffix(operation)}")
        )
        if entry.change.before is not None:
            rows += [("", "", f"  {text}") for _, text in change_rows(entry.change)]
    for line in table(rows, right=(0, 1)):
        out(line)
    for line in table(
        [(label, paint_line(line)) for label, line in decision.other_devices(detail, time.time())]
    ):
        out(line)
    if portrait.recalls:
        out()
        out(paint("told to", "bold"))
    for recall in portrait.recalls:
        out(paint_line(recall_line(recall, time.time())))
