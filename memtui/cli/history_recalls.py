"""What ``memtui history --recalls`` says: which agent was told what, when, and to which question."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memtui.engine.errors import NotFoundError
from memtui.engine.search.moments import moment
from memtui.present.format import local_time
from memtui.present.operation import quoted_query, saved, who

from .errors import NEGATIVE, OK
from .memory_lines import memory_line
from .output import brief, emit, err, out, paint, printed_cells, row

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord, Recall
    from memtui.present.glyphs import Glyphs

_AT_ONCE = 500


def print_recalls(
    memory: Memory, words: str, *, actor: str | None, until: str | None, limit: int, signs: Glyphs, json: bool
) -> int:
    """The latest first, each with the memories that were told; ``until``: none after that moment."""
    found = _latest(memory, words, actor, until, limit)
    served = [(recall, _known(memory, recall)) for recall in found]
    if json:
        emit({"recalls": [{"recall": recall, "memories": memories} for recall, memories in served]})
        return OK if found else NEGATIVE
    now = time.time()
    for recall, memories in served:
        left = row(
            local_time(recall.at, now),
            paint(who(recall.agent), "bold"),
            paint(recall.session_id or "", "dim"),
        )
        out(row(left, brief(quoted_query(recall), printed_cells(left) + 2)))
        for one in memories:
            out(memory_line(one, signs, "    "))
        if recall.saved:
            out(row("    ", paint(f"saved {saved(recall)}", "dim")))
        if gone := len(recall.memory_ids) - len(memories):
            out(row("    ", paint(f"and {gone} no longer there", "dim")))
    if not found:
        err("Agents were told nothing.")
    return OK if found else NEGATIVE


def _latest(memory: Memory, words: str, actor: str | None, until: str | None, limit: int) -> list[Recall]:
    last = None if until is None else moment(until, time.time())
    agent = actor.removeprefix("agent:") if actor else None
    found: list[Recall] = []
    offset = 0
    while len(found) < limit:
        some = memory.view.recall_list.page(words, offset=offset, limit=_AT_ONCE)
        offset += len(some)
        found += [
            one.recall
            for one in some
            if (last is None or one.recall.at <= last) and agent in (None, one.recall.agent)
        ]
        if len(some) < _AT_ONCE:
            break
    return found[:limit]


def _known(memory: Memory, recall: Recall) -> list[MemoryRecord]:
    found = []
    for id in recall.memory_ids:
        try:
            found.append(memory.get(id))
        except NotFoundError:
            continue  # its remembering was undone since
    return found
