"""The context block: exactly what an agent is told before it answers, and what was kept from it.

A few facts that bear on the prompt, then the week's reflection. Kept back are texts that talk to the
assistant instead of about the person, unless the person said or confirmed them, and texts with a secret.
"""

from __future__ import annotations

import math
import re

import apsw

from memtui.engine.errors import InputError
from memtui.engine.records import Hit, MemoryRecord, Profile, Record, SearchResult
from memtui.engine.store import memories

from .filters import compile
from .ranking import QueryEmbedder
from .search import search

FACTS_TITLE = "## Relevant memory"
INSIGHT_TITLE = "## Weekly insight"
LIMIT = 5
MOST = 100
# An older reflection is not this week's any more.
INSIGHT_DAYS = 14
HOW_COUNTED = "one for every 4 characters, for each character of Chinese, Japanese and Korean"
_DAY = 86_400
# So many hits are looked through for ``limit`` that may be told.
_SPARE = 20
_ONE_EACH = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]")


class LeftOut(Record):
    """What would have been told, or made, and why it was not. ``memory`` None: not about one memory."""

    reason: str
    memory: MemoryRecord | None = None


class ContextBlock(Record):
    """What an agent is told: ``text`` is the block itself, empty when nothing bears on the prompt.

    ``hits`` are the facts in it, the best first; ``tokens`` is an estimate (``HOW_COUNTED``).
    """

    text: str
    tokens: int
    hits: tuple[Hit, ...]
    insight: MemoryRecord | None
    left_out: tuple[LeftOut, ...]
    result: SearchResult

    @property
    def memories(self) -> list[MemoryRecord]:
        """What is told, in the order of the text."""
        return [*(hit.memory for hit in self.hits), *([self.insight] if self.insight is not None else [])]


def brief(
    connection: apsw.Connection,
    prompt: str,
    *,
    filter: str = "",
    limit: int = LIMIT,
    profile: Profile,
    embedder: QueryEmbedder | str,
    now: float,
    session_id: str | None = None,
    fade_threshold: float = 0.05,
) -> ContextBlock:
    """Make the block for a prompt. Raises FilterError for a bad filter, InputError for a bad limit."""
    if not 1 <= limit <= MOST:
        raise InputError(f"A context block cannot hold {limit!r} facts.", f"Give a limit from 1 to {MOST}.")
    result = search(
        connection, prompt, filter=f"kind:fact {filter}".strip(), limit=limit + _SPARE, profile=profile,
        embedder=embedder, now=now, exclude_session=session_id, fade_threshold=fade_threshold,
    )  # fmt: skip
    told: list[Hit] = []
    left_out: list[LeftOut] = []
    for hit in result.hits:
        if len(told) == limit:
            break
        reason = why_kept_back(hit.memory)
        if reason:
            left_out.append(LeftOut(reason=reason, memory=hit.memory))
        else:
            told.append(hit)
    insight = _insight(connection, filter, now, fade_threshold)
    if insight is not None and (reason := why_kept_back(insight)):
        left_out.append(LeftOut(reason=reason, memory=insight))
        insight = None
    text = _block([hit.memory for hit in told], insight)
    return ContextBlock(
        text=text,
        tokens=estimate_tokens(text),
        hits=tuple(told),
        insight=insight,
        left_out=tuple(left_out),
        result=result,
    )


def holds_secret(memory: MemoryRecord) -> bool:
    """Whether a secret stands in it: no model may read it."""
    return "secrets" in memory.attributes and "redacted" not in memory.attributes


def why_kept_back(memory: MemoryRecord) -> str:
    """Why an agent is not told a memory; empty when it is."""
    if holds_secret(memory):
        return "it holds a secret"
    if memory.trust == "user" or memory.protected:
        return ""
    from memtui.engine.maintain.instructions import find_instructions  # its patterns take 20 ms

    reasons = find_instructions(memory.content)
    return f"it reads like an order ({reasons[0]}) and nobody confirmed it" if reasons else ""


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model makes of a text; no model is asked."""
    each = len(_ONE_EACH.findall(text))
    return each + math.ceil((len(text) - each) / 4)


def _insight(
    connection: apsw.Connection, filter: str, now: float, fade_threshold: float
) -> MemoryRecord | None:
    """The latest reflection, while it is fresh, if it passes the filter."""
    within = compile(f"kind:reflection {filter}".strip(), now, fade_threshold=fade_threshold)
    row = connection.execute(
        f"""
        SELECT m.rid FROM memories m WHERE m.event_time >= :since AND {within.where}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT 1
        """,
        {**within.bindings, "since": now - INSIGHT_DAYS * _DAY},
    ).fetchone()
    return memories.by_rid(connection, [int(row[0])], now)[0] if row else None


def _block(facts: list[MemoryRecord], insight: MemoryRecord | None) -> str:
    parts = []
    if facts:
        parts.append("\n".join([FACTS_TITLE, *(f"- {_one_line(fact.content)}" for fact in facts)]))
    if insight is not None:
        parts.append(f"{INSIGHT_TITLE}\n{insight.content.strip()}")
    return "\n\n".join(parts)


def _one_line(text: str) -> str:
    """A bullet has one line: a memory cannot open a section of its own."""
    return " ".join(text.split())
