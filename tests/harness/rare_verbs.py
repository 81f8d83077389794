"""The verbs of a killed writer that take longer than a change of one row, each on what only this writer has.

Each returns what it acknowledges; None where another program was at it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memtui import Memory
from memtui.engine.store.history import INTERRUPTED

Line = dict[str, Any]
IMPORTED = 5


def merge(memory: Memory, words: str) -> Line:
    one, other = memory.remember(f"{words}, merged"), memory.remember(f"{words}, merged into it")
    memory.review.merge(one.id, [other.id])
    return {"id": one.id, "gone": other.id}


def decide(memory: Memory, words: str) -> Line:
    """An agent asks to forget a fact; the person grants it."""
    fact = memory.remember(f"{words}, to be decided")
    actor = memory.actor
    memory.actor = "agent:crew"
    memory.review.request_change("forget", fact.id, why=words)
    memory.actor = actor
    card = next(
        card
        for card in memory.review.items(limit=10_000)
        if card.change_request and card.memories[0].id == fact.id
    )
    memory.review.decide(card, "forget")
    return {"id": fact.id, "card": card.id}


def import_(memory: Memory, words: str) -> Line:
    assert memory.path is not None
    said = [f"{words}, imported turn {number}" for number in range(IMPORTED)]
    place = memory.path.parent / "imports" / f"{abs(hash(words))}.jsonl"
    place.parent.mkdir(exist_ok=True)
    place.write_text(
        "".join(json.dumps({"session_id": words, "role": "user", "content": one}) + "\n" for one in said)
    )
    operation = memory.files.import_paths([place]).operation
    assert operation is not None
    return {"session": words, "contents": said, "operation": operation.op_id}


def erase(memory: Memory, words: str) -> Line | None:
    # Unlike the rest: an erase takes along what says the same in nearly the same words.
    text = f"Blue stamps of lighthouses were collected by number {abs(hash(words))}"
    fact = memory.remember(text)
    proof = memory.files.erase(memory.files.plan_erase([fact.id]))
    return {"id": fact.id, "content": text} if proof.complete else None


def consolidate(memory: Memory, words: str) -> Line | None:
    """By rules, without a language model."""
    turn = memory.record_turn(words, "user", f"I am allergic to {words.replace(' ', '-')}.")
    found = asyncio.run(memory.consolidate(words))
    return {"session": words, "turn": turn.id} if found.operation else None


VERBS: dict[str, Callable[[Memory, str], Line | None]] = {
    "merge": merge, "decide": decide, "import": import_, "erase": erase, "consolidate": consolidate,
}  # fmt: skip


def is_kept(memory: Memory, line: Line) -> bool:
    """Whether what one of these verbs acknowledged is so. Raises NotFoundError for a memory that is gone."""
    verb = line["verb"]
    if verb == "merge":
        gone = memory.get(line["gone"])
        return memory.get(line["id"]).valid_until is None and gone.ended_by == "merged"
    if verb == "decide":
        with memory._core.connections.read() as connection:
            state = connection.execute(
                "SELECT state FROM proposals WHERE proposal_id = ? OR payload LIKE '%' || ? || '%'",
                (line["card"], line["id"]),
            ).fetchone()
        return memory.get(line["id"]).ended_by == "forgotten" and state == ("accepted",)
    if verb == "erase":
        return not _holds(memory, line["content"])
    if verb == "import" and memory.view.operation(line["operation"]).label.endswith(INTERRUPTED):
        return False
    with memory._core.connections.read() as connection:
        if verb == "import":
            rows = connection.execute(
                "SELECT content FROM memories WHERE session_id = ?", (line["session"],)
            ).fetchall()
            return {content for (content,) in rows} >= set(line["contents"])
        drawn = connection.execute(
            "SELECT count(*) FROM memories WHERE kind = 'fact' AND source_ids LIKE '%' || ? || '%'",
            (line["turn"],),
        ).fetchone()
        done = connection.execute(
            "SELECT consolidated_through >= (SELECT rid FROM memories WHERE id = ?) "
            "FROM sessions_consolidations WHERE session_id = ?",
            (line["turn"], line["session"]),
        ).fetchone()
    return drawn == (1,) and done == (1,)


def _holds(memory: Memory, text: str) -> bool:
    """Whether any file of the memory has the text: row, index, history, log or backup."""
    assert memory.path is not None
    own: list[Path] = [
        place
        for place in memory.path.parent.rglob(f"{memory.path.stem}*")
        if place.is_file() and place.suffix != ".jsonl"
    ]
    return any(text.encode() in place.read_bytes() for place in own)
