"""The state of models, vectors and jobs for Maintenance: what works, what is missing, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.present.format import file_size, plural
from memtui.present.past import time_ago
from memtui.present.reembedding import better_ranking_note, model_change_note

from .topic_text import Health

if TYPE_CHECKING:
    from memtui.engine.memory import Memory


def read_health(memory: Memory, now: float) -> list[Health]:
    """Blocks."""
    return [*_models(memory), *_file(memory, now)]


def _models(memory: Memory) -> Iterator[Health]:
    stats, options = memory.stats(), memory.options
    if options.embedder == "off":
        yield Health(
            "vectors",
            "switched off: search goes by words and names only",
            well=False,
            remedy="settings: embedder",
        )
    else:
        yield Health("vectors", stats.vectors, well=stats.embedded > 0 or not stats.unembedded)
        if stats.vectors_wanted:
            yield Health("model", model_change_note(stats), well=False)
        if stats.vectors_problem:
            yield Health("search", f"goes without vectors: {stats.vectors_problem}", well=False)
    if stats.ranking_note:
        yield Health("ranking", stats.ranking_note, well=False)
    elif stats.better_ranking:
        yield Health("ranking", better_ranking_note(stats))
    if stats.unembedded:
        how = "they wait" if stats.vectors_problem else "made in the background"
        text = f"{plural(stats.unembedded, 'memory has', 'memories have')} none yet: {how}"
        yield Health("lacking", text, well=False)
    if stats.unlinked:
        yield Health(
            "names", f"{plural(stats.unlinked, 'memory waits', 'memories wait')} for its names", well=False
        )
    if memory.models.accurate_ner_available:
        yield Health("names", "found by rules, then by a model (Enrichment)")
    else:
        yield Health(
            "names", "found by rules only", remedy="spaCy with a model, or a language model, finds more"
        )
    if options.llm.configured:
        yield Health("LLM", f"{options.llm.model} at {options.llm.base_url}")
    else:
        yield Health(
            "LLM",
            "none: facts are drawn by rules, no reflection",
            remedy="settings: llm.base_url and llm.model",
        )
    if stats.quarantined:
        text = f"{plural(stats.quarantined, 'memory holds', 'memories hold')} what looks like a secret: no model sees it"
        yield Health("secrets", text, well=False)


def _file(memory: Memory, now: float) -> Iterator[Health]:
    status = memory.jobs.status()
    if memory.readonly:
        yield Health("jobs", "not run here: this memory is open for reading only")
    elif status.leading:
        yield Health("jobs", "run by this program when they are due")
    else:
        yield Health("jobs", "not running here; another memtui may run them")
    if status.clock:
        yield Health(
            "clock",
            status.clock,
            well=False,
            remedy="confirm here that it is right: the key is above the list",
        )
    if status.problem:
        yield Health("problem", status.problem, well=False)
    if memory.path is not None:
        made = memory.backups.list_all()
        if made:
            size = sum(one.size for one in made)
            text = f"{plural(len(made), 'backup')}, the latest {time_ago(made[0].at, now)}, {file_size(size)} in all"
            yield Health("backups", text)
        else:
            yield Health("backups", "none yet", well=False, remedy="run Backups to make one")
        yield Health("file", f"{file_size(memory.stats().file_bytes)}, {memory.path}")
