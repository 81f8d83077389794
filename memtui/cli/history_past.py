"""What ``memtui history`` says of the past: the memory as it was, and what became of it between two moments."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memtui.present.format import count, local_time, plural
from memtui.present.memory import differences, without_secrets
from memtui.present.past import coverage_notes, kind_counts, verb_label, verb_role

from .errors import NEGATIVE, OK
from .memory_lines import memory_line
from .output import brief, emit, err, in_role, note, out, paint, row

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.past import PastChange
    from memtui.present.glyphs import Glyphs

_BESIDE = 24


def print_as_of(memory: Memory, when: str, words: str, *, limit: int, signs: Glyphs, json: bool) -> int:
    past = memory.history.as_of(when)
    counts, total, shown = past.counts(), past.count(words), past.page(words, limit=limit)
    if json:
        emit({"at": past.at, "reach": past.reach, "counts": counts, "found": total, "memories": shown})
        return OK if shown else NEGATIVE
    now = time.time()
    out(row(paint("as of", "dim"), local_time(past.at, now), paint(kind_counts(counts), "dim")))
    for one in shown:
        out(memory_line(one, signs))
    if total > len(shown):
        err(f"and {count(total - len(shown))} more: --limit shows them")
    for line in coverage_notes(past.reach, now):
        note(line)
    return OK if shown else NEGATIVE


def print_diff(memory: Memory, start: str, end: str, *, limit: int, signs: Glyphs, json: bool) -> int:
    found = memory.history.diff(start, end, limit=limit)
    if json:
        emit(found)
        return OK if found.counts or found.turns else NEGATIVE
    now = time.time()
    out(
        row(
            paint("from", "dim"),
            local_time(found.start, now),
            paint("to", "dim"),
            local_time(found.end, now),
            gap=" ",
        )
    )
    totals = [f"{count(number)} {verb_label(verb)}" for verb, number in found.counts.items()]
    totals += [f"{plural(number, 'turn')} {verb_label(verb)}" for verb, number in found.turns.items()]
    out(", ".join(totals) or "nothing changed")
    for change in found.changes:
        _print_change(change, signs)
    if found.more:
        err(f"and {count(found.more)} more: --limit shows them")
    for line in coverage_notes(found.reach, now):
        note(line)
    return OK if totals else NEGATIVE


def _print_change(change: PastChange, signs: Glyphs) -> None:
    one = change.memory
    word = in_role(verb_label(change.verb).ljust(11), verb_role(change.verb))
    old, new = change.before, change.after
    out(memory_line(one, signs, word))
    if old is None or new is None:
        return
    if old.content != new.content:
        out(row("           - was", brief(without_secrets(old), _BESIDE)))
    for label, was, now, _ in differences(old, new):
        out(f"           - {label}: {was} -> {now}")
