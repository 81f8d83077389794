"""The state of models, vectors and jobs for Maintenance: what works, what is missing, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.present.format import file_size, plural
from memtui.present.past import time_ago
from memtui.present.reembedding import better_ranking_note, model_change_note

from .topic_text import HealthLine

if TYPE_CHECKING:
    from memtui.engine.memory import Memory


def read_health(memory: Memory, now: float) -> list[HealthLine]:
    """Blocks."""
    return [*_model_lines(memory), *_file_lines(memory, now)]


def _model_lines(memory: Memory) -> Iterator[HealthLine]:
    stats, options = memory.stats(), memory.options
    if options.embedder == "off":
        yield HealthLine(
            "vectors",
            "switched off: search goes by words and names only",
            well=False,
            remedy="settings: embedder",
        )
    else:
        yield HealthLine("vectors", stats.vectors, well=stats.embedded > 0 or not stats.unembedded)
        if stats.vectors_wanted:
            yield HealthLine("model", model_change_note(stats), well=False)
        if stats.vectors_problem:
            yield HealthLine("search", f"goes without vectors: {stats.vectors_problem}", well=False)
    if stats.ranking_note:
        yield HealthLine("ranking", stats.ranking_note, well=False)
    elif stats.better_ranking:
        yield HealthLine("ranking", better_ranking_note(stats))
    if stats.unembedded:
        vector_note = "they wait" if stats.vectors_problem else "made in the background"
        text = f"{plural(stats.unembedded, 'memory has', 'memories have')} none yet: {vector_note}"
        yield HealthLine("lacking", text, well=False)
    if stats.unlinked:
        yield HealthLine(
            "names", f"{plural(stats.unlinked, 'memory waits', 'memories wait')} for its names", well=False
        )
    if memory.models.accurate_ner_available:
        yield HealthLine("names", "found by rules, then by a model (Enrichment)")
    else:
        yield HealthLine(
            "names", "found by rules only", remedy="spaCy with a model, or a language model, finds more"
        )
    if options.llm.configured:
        yield HealthLine("LLM", f"{options.llm.model} at {options.llm.base_url}")
    else:
        yield HealthLine(
            "LLM",
            "none: facts are drawn by rules, no reflection",
            remedy="settings: llm.base_url and llm.model",
        )
    if stats.quarantined:
        text = f"{plural(stats.quarantined, 'memory holds', 'memories hold')} what looks like a secret: no model sees it"
        yield HealthLine("secrets", text, well=False)


def _file_lines(memory: Memory, now: float) -> Iterator[HealthLine]:
    status = memory.jobs.status()
    if memory.readonly:
        yield HealthLine("jobs", "not run here: this memory is open for reading only")
    elif status.leading:
        yield HealthLine("jobs", "run by this program when they are due")
    else:
        yield HealthLine("jobs", "not running here; another memtui may run them")
    if status.clock:
        yield HealthLine(
            "clock",
            status.clock,
            well=False,
            remedy="confirm here that it is right: the key is above the list",
        )
    if status.problem:
        yield HealthLine("problem", status.problem, well=False)
    if memory.path is not None:
        made = memory.backups.all()
        if made:
            size = sum(one.size for one in made)
            text = f"{plural(len(made), 'backup')}, the latest {time_ago(made[0].at, now)}, {file_size(size)} in all"
            yield HealthLine("backups", text)
        else:
            yield HealthLine("backups", "none yet", well=False, remedy="run Backups to make one")
        yield HealthLine("file", f"{file_size(memory.stats().file_bytes)}, {memory.path}")
