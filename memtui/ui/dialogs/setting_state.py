"""The present effect of a setting: counted in the memory, or tested."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memtui.present.format import count, plural
from memtui.present.reembedding import better_ranking_note, model_change_note

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import LlmOptions, Options


def state_of(memory: Memory, name: str) -> str:
    """One line about the effect of a setting. Blocks."""
    section, _, key = name.partition(".")
    match section, key:
        case "general", "db":
            return str(memory.path) if memory.path is not None else "in this process only"
        case "embedder", _:
            stats = memory.stats()
            waiting = f", {count(stats.unembedded)} waiting" if stats.unembedded else ""
            vectors = plural(stats.embedded, "memory has a vector", "memories have vectors")
            model_change = (
                f"; {model_change_note(stats)} (in Maintenance, Models)" if stats.vectors_wanted else ""
            )
            ranking = f"; {better_ranking_note(stats)}" if stats.better_ranking and not model_change else ""
            return f"{vectors}{waiting} ({stats.vectors}){model_change}{ranking}"
        case "search", "profile":
            stats = memory.stats()
            note = stats.ranking_note or better_ranking_note(stats)
            names = ", ".join(profile.name for profile in memory.questions.profiles())
            return f"{names}; {note}" if note else names
        case "decay", _:
            fading = memory.view.count("is:fading")
            return f"{plural(fading, 'fact')} will fade within a week, {count(memory.view.count('is:faded'))} did"
        case "retention", "days":
            run = memory.jobs.run_now("retention", dry_run=True)
            return run.report.summary if run.report else "as set"
        case "secrets", _:
            return f"{plural(memory.stats().quarantined, 'text holds', 'texts hold')} a secret: no vector, no model"
        case "llm", _:
            llm = memory.options.llm
            return (
                f"{llm.model} at {llm.base_url}" if llm.configured else "no model; memtui works without one"
            )
        case _:
            return "as set"


def test_embedder(options: Options) -> str:
    """Make a vector with the chosen model, and report the result. Blocks. Raises InputError, DegradedError."""
    from memtui.engine.models.embedder_choice import Embedders

    started = time.perf_counter()
    embedder = Embedders(options).wanted()
    numbers = embedder.embed(["a test"]).shape[1]
    took = time.perf_counter() - started
    where = f" at {embedder.sends_to}" if embedder.sends_to else ""
    return f"{embedder.model_id} works{where}: {numbers} numbers a text, ready in {took:.1f} s."


async def test_llm(options: LlmOptions) -> str:
    """Ask the model one small question, and report the result. Raises InputError, DegradedError."""
    from memtui.engine.models.llm import complete

    started = time.perf_counter()
    schema = {
        "type": "object", "properties": {"works": {"type": "boolean"}}, "required": ["works"],
        "additionalProperties": False,
    }  # fmt: skip
    reply = await complete(options, "Answer with JSON.", "Say that this works.", schema, name="test")
    took = time.perf_counter() - started
    if not isinstance(reply.data.get("works"), bool):
        return f"{options.model} answers, but not in the requested format: choose another model."
    return f"{options.model} works: {count(reply.tokens)} tokens, {took:.1f} s."
