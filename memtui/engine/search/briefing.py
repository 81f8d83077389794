"""The context block: exactly what an agent is told before it answers, and what was kept from it.

A few facts that bear on the prompt, what the person said before where facts do not cover it (``excerpts``), then the
week's reflection. Kept back are texts that talk to the assistant instead of about the person, unless the person said or
confirmed them, and texts with a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.errors import InputError
from memtui.engine.models import similarity_thresholds
from memtui.engine.records import EXPLICIT, Caution, Hit, MemoryRecord, Profile, Record, SearchResult, Trust
from memtui.engine.store import memories, vectors
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import stems, words

from . import cautions, excerpts, facts, kinship, lexicon, query, relevance, repeats, rules, vital
from .access_scope import narrows
from .excerpts import Excerpt
from .facts import FEW, Fact, Related
from .filters.compiler import compile
from .filters.sql import STATES
from .filters.terms import parse
from .query import Question
from .ranking import QueryEmbedder
from .relevance import Prompt
from .repeats import Told
from .retrievers import entity
from .scope import Scope, passing, scope
from .search import search
from .term_statistics import FACTS
from .vital import Vital

FACTS_TITLE = "## Relevant memory"
SAID_TITLE = "## What the person said before"
INSIGHT_TITLE = "## Weekly insight"
LIMIT = 5
MORE = 3
"""So many facts are told beside those that share a word, a name or the meaning, for what they probably answer."""
PINNED = 5
"""So many pinned facts are told, those pinned last."""
MOST = 100
TOKENS = 400
"""Excerpts fill the block up to so many; facts and the insight come whatever their length."""
IN_CONVERSATION = "it stands in the conversation already"
# An older reflection is not this week's any more.
INSIGHT_DAYS = 14
HOW_COUNTED = "one for every 4 characters, for each character of Chinese, Japanese and Korean"
MOST_COMPARED = 30_000
"""Up to so many facts are compared with a prompt by meaning, one and all; it takes about 1 ms for 1,000."""
COMMON = 0.25
"""A word that a larger share of the facts has tells nothing."""
_FEW = 20
_QUOTED: dict[Trust, str] = {
    "user": "the person", "agent": "an agent", "tool": "a tool or document", "model": "a language model",
}  # fmt: skip
_DAY = 86_400
# So many hits are looked through for ``limit`` that may be told.
_SPARE = 20
_MOST_CAUTIONS = 5
_ONE_EACH = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"


# From each of some memories to all that replaced it, step by step.
_CHAINS = """
    WITH RECURSIVE chain(start, id, steps) AS (
        SELECT value, value, 0 FROM json_each(:ids)
        UNION SELECT chain.start, l.from_id, steps + 1 FROM chain JOIN memory_links l ON l.to_id = chain.id
        WHERE l.rel = 'supersedes' AND steps < 50)
    SELECT chain.start, m.rid FROM chain JOIN memories m ON m.id = chain.id WHERE steps > 0 ORDER BY steps, m.rid
"""


class _Words(NamedTuple):
    """The words of a prompt, as stems or pairs: those by which a fact can bear on it, everyday ones of which it takes two,
    and those that nearly all facts have.
    """

    telling: frozenset[str]
    weak: frozenset[str]
    common: frozenset[str]


class LeftOut(Record):
    """What would have been told, or made, and why it was not. ``memory`` None: not about one memory.

    ``text``: the piece of a turn that is meant; empty for the whole memory.
    """

    reason: str
    memory: MemoryRecord | None = None
    text: str = ""

    @property
    def shown(self) -> str:
        """The words that were left out."""
        return self.text or (self.memory.content if self.memory is not None else "")


class ContextBlock(Record):
    """What an agent is told: ``text`` is the block itself, empty when nothing bears on the prompt.

    ``rules`` are those of the agent's project, which stand first; ``pinned`` the facts that
    always stand in it, ``vital`` those told for what they warn of, ``hits`` those that the search found, the best first;
    ``related`` others that probably answer; ``excerpts`` what the person said before; ``tokens`` is an estimate
    (``HOW_COUNTED``), ``saved`` that of what was not told again.
    """

    text: str
    tokens: int
    rules: tuple[MemoryRecord, ...]
    pinned: tuple[MemoryRecord, ...]
    vital: tuple[Vital, ...]
    hits: tuple[Hit, ...]
    related: tuple[Related, ...]
    excerpts: tuple[Excerpt, ...]
    insight: MemoryRecord | None
    left_out: tuple[LeftOut, ...]
    result: SearchResult
    saved: int = 0

    @property
    def memories(self) -> list[MemoryRecord]:
        """What is told, in the order of the text; a turn once, however many pieces of it."""
        turns = {one.memory.id: one.memory for one in self.excerpts}
        insight = [self.insight] if self.insight is not None else []
        found = (one.memory for of in (self.vital, self.hits, self.related) for one in of)
        return [*self.rules, *self.pinned, *found, *turns.values(), *insight]  # fmt: skip


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
    fade_threshold: float,
    alone: bool = False,
    turns: bool = True,
    tokens: int = TOKENS,
    project: str | None = None,
    there: Told | None = None,
) -> ContextBlock:
    """Make the block for a prompt. ``alone``: as if the memory held nothing but what passes the filter.

    ``turns``: whether the person's turns may be told; they fill the block up to ``tokens``.

    ``project``: the agent's, whose rules are told first; without one it is the project that ``filter`` names.

    ``there``: what stands in the conversation. It is not told again unless it changed or the prompt is about it; what is
    told is added.

    Raises FilterError for a bad filter, InputError for a bad limit.
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"A context block cannot hold {limit!r} facts.", f"Give a limit from 1 to {MOST}.")
    space = vectors.space(connection)
    near = similarity_thresholds.of(space.model_id if space else "").bears
    known = cautions.known_to(filter, now, fade_threshold=fade_threshold)
    within = scope(
        compile(f"kind:fact {filter}".strip(), now, fade_threshold=fade_threshold),
        exclude_session=session_id, alone=alone,
    )  # fmt: skip
    kin = kinship.asked(prompt)
    # Facts about "my son" may have nothing but his name.
    called = kinship.names(connection, kin, within, now)
    meant = " ".join([prompt, *called])
    asked = _words(words := query.read(connection, meant, FACTS, within if alone else None))
    if not called:
        asked = asked._replace(telling=asked.telling.union(*map(stems, kin)))
    read = relevance.read_prompt(meant, {term.stem: term.idf for term in words.terms})
    pinned, kept_back = _pinned(connection, within, now)
    of = project or rules.project_of(parse(filter))
    first = [
        one for one in (rules.of_project(connection, of, within, now) if of else ())
        if not why_kept_back(one) and one not in pinned
    ][: rules.RULES]  # fmt: skip
    stand = {one.rid for one in (*pinned, *first)}
    # With very many facts, those without a word in common are compared only when those with one are too few.
    few = narrows(filter) or words.rows <= MOST_COMPARED or profile.fusion != "score"
    small = words.rows <= FEW
    for nearest in (True,) if few else (False, True):
        # What was replaced is found by its old words too; what is told then is its successor.
        result = search(
            connection, meant, filter=f"kind:fact is:active,superseded {filter}".strip(), limit=limit + PINNED + _SPARE,
            profile=profile, embedder=embedder, now=now, exclude_session=session_id,
            fade_threshold=fade_threshold, nearest=nearest, alone=alone, within=filter,
        )  # fmt: skip
        later = list(_successors(connection, result.hits, within, now))
        for beside in (True,) if small else (False, True):
            candidates = facts.ranked(
                connection, read, later, within, now, few=small, beside=beside,
                with_meanings=not isinstance(embedder, str),
            )  # fmt: skip
            told, related, left_out = _chosen(
                (one for one in candidates if one.memory.rid not in stand), read, asked, near, limit
            )
            if len(told) == limit:
                break
        if len(told) == limit:
            break
    told.sort(key=lambda hit: hit.memory.topic != "rule")  # stable: rules stand before the others
    left_out += kept_back
    if idle := lexicon.needs_no_memory(prompt) and not (
        profile.entity and entity.named(connection, lexicon.head(prompt))
    ):
        told, related = _how_it_is_wanted(told, prompt), []
        left_out = [*kept_back, LeftOut(reason="the prompt asks for nothing that a memory knows")]
    if not nearest:
        left_out.append(
            LeftOut(reason="facts without a word of the prompt were not compared: there are many")
        )
    insight = None if idle else _insight(connection, filter, now, fade_threshold)
    if insight is not None and (reason := why_kept_back(insight)):
        left_out.append(LeftOut(reason=reason, memory=insight))
        insight = None
    present = {*stand, *(hit.memory.rid for hit in told)}
    warnings = [] if idle else vital.find(
        connection, meant, within, now, names=profile.entity > 0, there=present, refused=why_kept_back,
    )  # fmt: skip
    warned = {one.memory.rid for one in warnings}
    left_out = [one for one in left_out if one.memory is None or one.memory.rid not in warned]
    not_meant = vital.of_others(connection, meant, [one.memory for one in related], names=profile.entity > 0)
    related = [one for one in related if one.memory.rid not in warned | not_meant]
    standing = [*first, *pinned, *(one.memory for one in warnings), *(hit.memory for hit in told)]
    answering = [one.memory for one in related]
    noted = [*standing, *answering, *([insight] if insight else [])]
    notes = cautions.find(connection, [one.id for one in noted], now, known=known)
    said: list[Excerpt] = []
    if turns and not idle:
        spoken = excerpts.find(
            connection, prompt, [*standing, *answering], filter=filter, profile=profile, embedder=embedder, now=now,
            session_id=session_id, fade_threshold=fade_threshold, alone=alone, nearest=nearest,
            refused=why_kept_back, known=known,
        )  # fmt: skip
        left_out += [LeftOut(reason=one.reason, memory=one.memory, text=one.text) for one in spoken.passed]
        said = spoken.excerpts
    room = tokens - estimate_tokens(_block(standing, [], insight, notes))
    related, said, no_room = _fitting(related, said, room, notes)
    reason = f"the block has room for {tokens} tokens (context.tokens)"
    left_out += [LeftOut(reason=reason, memory=one.memory, text=getattr(one, "text", "")) for one in no_room]
    text = _block([*standing, *(one.memory for one in related)], said, insight, notes)
    block = ContextBlock(
        text=text,
        tokens=estimate_tokens(text),
        rules=tuple(first),
        pinned=tuple(pinned),
        vital=tuple(warnings),
        hits=tuple(told),
        related=tuple(related),
        excerpts=tuple(said),
        insight=insight,
        left_out=tuple(left_out),
        result=result,
    )
    if there is None:
        return block

    def concerned() -> set[int]:
        """The rules that bear on the prompt, and what warns of something in it."""
        dangers = vital.find(
            connection, meant, within, now, names=profile.entity > 0, there=(), refused=why_kept_back
        )
        ruled = {rule.rid for rule in first}
        near_rules = (
            hit for hit in result.hits if hit.memory.rid in ruled and not _too_far(hit, asked, near)
        )
        return {*(one.memory.rid for one in dangers), *(hit.memory.rid for hit in near_rules)}

    return _without_repeats(connection, prompt, block, notes, there, concerned)


def _without_repeats(
    connection: apsw.Connection, prompt: str, block: ContextBlock, notes: Mapping[str, Sequence[Caution]],
    there: Told, concerned: Callable[[], Collection[int]],
) -> ContextBlock:  # fmt: skip
    """The block without what stands in the conversation already; what is left is noted there.

    ``concerned``: facts that are told again all the same; asked only where something would be left out.
    """
    lines: dict[int, list[str]] = {}
    for excerpt in block.excerpts:
        lines.setdefault(excerpt.memory.rid, []).append(_said(excerpt))
    pieces = {rid: "\n".join(told) for rid, told in lines.items()}
    told = [(one, pieces.get(one.rid) or _line(one, notes)) for one in block.memories]
    again = {one.rid for one, line in told if there.has(one, line) and not repeats.names(prompt, one)}
    again -= {one.memory.rid for one in block.vital}
    if again:
        again -= set(concerned())
    there.add(connection, [(one, line) for one, line in told if one.rid not in again])
    if not again:
        return block
    new = [one for one, _ in told if one.rid not in again]
    rids = {one.rid for one in new}
    insight = block.insight if block.insight is not None and block.insight.rid in rids else None
    said = tuple(one for one in block.excerpts if one.memory.rid in rids)
    facts = [one for one in new if one.rid not in pieces and one is not block.insight]
    text = _block(facts, said, insight, notes)
    repeated = [LeftOut(reason=IN_CONVERSATION, memory=one) for one, _ in told if one.rid in again]
    return replace(
        block,
        text=text,
        tokens=estimate_tokens(text),
        rules=tuple(one for one in block.rules if one.rid in rids),
        pinned=tuple(one for one in block.pinned if one.rid in rids),
        hits=tuple(hit for hit in block.hits if hit.memory.rid in rids),
        related=tuple(one for one in block.related if one.memory.rid in rids),
        excerpts=said,
        insight=insight,
        left_out=(*block.left_out, *repeated),
        saved=block.tokens - estimate_tokens(text),
    )


def _pinned(
    connection: apsw.Connection, within: Scope, now: float
) -> tuple[list[MemoryRecord], list[LeftOut]]:
    """The pinned facts of the scope, those pinned last first, and those of them that are not told."""
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m INDEXED BY memories_with_attributes
        WHERE m.kind = 'fact' AND {STATES["pinned"]} AND m.valid_until IS NULL AND {within.where}
        ORDER BY m.attributes ->> '$.pinned_at' DESC, m.rid DESC
        """,
        within.bindings,
    )
    told: list[MemoryRecord] = []
    left_out = []
    for memory in memories.by_rid(connection, [rid for (rid,) in rows], now):
        reason = why_kept_back(memory)
        if not reason and len(told) == PINNED:
            reason = f"it is pinned, but the {PINNED} that were pinned last are told"
        if reason:
            left_out.append(LeftOut(reason=reason, memory=memory))
        else:
            told.append(memory)
    return told, left_out


def _chosen(
    candidates: Iterable[Fact], read: Prompt, asked: _Words, near: float, limit: int
) -> tuple[list[Hit], list[Related], list[LeftOut]]:
    """The facts to tell: hits that bear on the prompt, others that probably answer; and the hits that are not told."""
    told: list[Hit] = []
    related: list[Related] = []
    left_out: list[LeftOut] = []
    for one in candidates:
        if len(told) == limit:
            break
        far = _too_far(one.hit, asked, near) if one.hit else "the search did not find it"
        answers = facts.related(one, read) if far and len(related) < limit + MORE else None
        if far and answers is None:
            if one.hit:
                left_out.append(LeftOut(reason=far, memory=one.memory))
        elif reason := why_kept_back(one.memory):
            left_out.append(LeftOut(reason=reason, memory=one.memory))
        elif answers is not None:
            related.append(answers)
        elif one.hit:
            told.append(one.hit)
    return told, related[: limit + MORE - len(told)], left_out


def _how_it_is_wanted(hits: Iterable[Hit], prompt: str) -> list[Hit]:
    """The preferences and rules about what a prompt that needs no memory asks for: how poems shall be, and not the sea."""
    asked = set(filter(lexicon.connects, words(lexicon.beginning("needs no memory", prompt) or "")))
    wanted = {stem for word in asked for stem in stems(word)}
    return [
        hit for hit in hits
        if wanted.intersection(stems(hit.memory.content))
        and (hit.memory.topic in ("preference", "rule") or lexicon.says_how(hit.memory.content))
    ]  # fmt: skip


def _too_far(hit: Hit, asked: _Words, near: float) -> str:
    """Why a hit does not bear on the prompt; empty when it does: a word, a name, or a meaning that is ``near`` enough."""
    keyword, vector, entity = hit.arms.get("keyword"), hit.arms.get("vector"), hit.arms.get("entity")
    shared = [{word, *stems(word)} for word in keyword.matched] if keyword else []
    if (
        any(map(asked.telling.intersection, shared))
        or sum(map(bool, map(asked.weak.intersection, shared))) > 1
    ):
        return ""
    if entity and not all(asked.common >= set(stems(name)) for name in entity.matched):
        return ""
    if vector is None:
        return "it shares no telling word with the prompt"
    if vector.score >= near:
        return ""
    return f"it shares no telling word with the prompt, and its meaning is too far ({vector.score:.2f} of {near:.2f})"


def _words(question: Question) -> _Words:
    """What every fourth fact has ("the user") says nothing, everyday words next to nothing, unless there are no others."""
    terms = [term for term in question.terms if term.bigram or lexicon.tells(term.word)]
    most = question.rows * COMMON if question.rows >= _FEW else question.rows
    common = {term.stem for term in terms if not term.bigram and term.count > most}
    short = lexicon.asks_for_one_thing(question.text)  # it has few words, and each of them matters
    weak = {
        term.stem
        for term in terms
        if not (term.bigram or lexicon.connects(term.word) or (short and not term.word.isdigit()))
    } - common
    telling = {term.stem for term in terms} - common - weak
    return _Words(
        frozenset((*(telling or weak or common), *question.characters)),
        frozenset(weak if telling else ()),
        frozenset(common if telling or weak else ()),
    )


def _successors(connection: apsw.Connection, hits: Sequence[Hit], within: Scope, now: float) -> Iterator[Hit]:
    """The hits with what was replaced changed for what replaced it, each memory once."""
    ids = [hit.memory.id for hit in hits]
    rows: list[Any] = connection.execute(_CHAINS, {"ids": as_json(ids)}).fetchall()
    later: dict[str, int] = {}
    if rows:
        inside = passing(connection, within, [rid for _, rid in rows])
        later = {start: rid for start, rid in rows if rid in inside}  # the last of a chain stands last
    found = {one.rid: one for one in memories.by_rid(connection, list(later.values()), now)}
    seen: set[int] = set()
    # As they answer: what was replaced may be found by a word that what took its place does not have.
    for hit in sorted(hits, key=lambda hit: -hit.score):
        memory = found[later[hit.memory.id]] if hit.memory.id in later else hit.memory
        if memory.active and memory.rid not in seen:
            seen.add(memory.rid)
            yield hit if memory is hit.memory else replace(hit, memory=memory)


def holds_secret(memory: MemoryRecord) -> bool:
    """Whether a secret stands in it: no model may read it."""
    return "secrets" in memory.attributes and "redacted" not in memory.attributes


def why_kept_back(memory: MemoryRecord) -> str:
    """Why an agent is not told a memory; empty when it is."""
    if holds_secret(memory):
        return "it holds a secret"
    if "redacted" in memory.attributes:
        from memtui.engine.guards import secrets

        if secrets.is_husk(memory.content):
            return "it tells only that there was a secret"
    if memory.protected:
        return ""
    from memtui.engine.guards.instructions import find_instructions, find_overrides

    # The person may well give orders; what was pasted among their words may be somebody else's.
    reasons = (find_overrides if memory.trust == "user" else find_instructions)(memory.content)
    return f"it reads like an order ({reasons[0]}) and nobody confirmed it" if reasons else ""


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model makes of a text; no model is asked."""
    each = 0 if text.isascii() else len(re.findall(_ONE_EACH, text))
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


def _fitting(
    related: Sequence[Related], said: Sequence[Excerpt], tokens: int, notes: Mapping[str, Sequence[Caution]]
) -> tuple[list[Related], list[Excerpt], list[Related | Excerpt]]:
    """What fits into so many tokens, by how probably it answers, and what does not; each list in the order it came.

    A shorter one may take the place of a longer.
    """
    lines: list[tuple[str, Related | Excerpt]] = [(f"- {_line(one.memory, notes)}", one) for one in related]
    lines += [(_said(one), one) for one in said]
    title = estimate_tokens(SAID_TITLE) + 1
    kept: list[Related | Excerpt] = []
    for line, one in sorted(lines, key=lambda of: -of[1].score):
        needed = estimate_tokens(f"{line}\n")
        if isinstance(one, Excerpt) and not any(isinstance(other, Excerpt) for other in kept):
            needed += title
        if needed <= tokens:
            kept.append(one)
            tokens -= needed
    return (
        [one for one in related if one in kept],
        [one for one in said if one in kept],
        [one for _, one in lines if one not in kept],
    )


def _said(excerpt: Excerpt) -> str:
    """The piece as a bullet, with its date; quotation marks within it become plain ones."""
    inner = _one_line(excerpt.text).rstrip(",; ").replace("“", '"').replace("”", '"')
    return f"- {_day(excerpt.memory)}: “{inner}”"


def _block(
    facts: Sequence[MemoryRecord], said: Sequence[Excerpt], insight: MemoryRecord | None,
    notes: Mapping[str, Sequence[Caution]],
) -> str:  # fmt: skip
    parts = []
    if facts:
        parts.append("\n".join([FACTS_TITLE, *(f"- {_line(fact, notes)}" for fact in facts)]))
    if said:
        parts.append("\n".join([SAID_TITLE, *map(_said, said)]))
    if insight is not None:
        parts.append(f"{INSIGHT_TITLE}\n{_cautioned(insight, notes)}{cited(insight)}")
    return "\n\n".join(parts)


def _line(fact: MemoryRecord, notes: Mapping[str, Sequence[Caution]]) -> str:
    return f"{_cautioned(fact, notes)}{cited(fact)}{_drawn_on(fact)}"


def _cautioned(memory: MemoryRecord, notes: Mapping[str, Sequence[Caution]]) -> str:
    """What of it no longer holds, before it is told."""
    caution = cautions_told(notes.get(memory.id, ()))
    return f"[{caution}] " if caution else ""


def cautions_told(of: Sequence[Caution]) -> str:
    """The cautions of a memory as an agent is told them; a successor that is kept back is not told."""
    return "; ".join(
        cautions.told(replace(one, successor=None) if one.successor and why_kept_back(one.successor) else one)
        for one in of[:_MOST_CAUTIONS]
    )


def _drawn_on(fact: MemoryRecord) -> str:
    """When it was said, for what was drawn from a conversation and not confirmed: a later statement may replace it."""
    if fact.protected or "(said " in fact.content or not (fact.source or "").startswith("session:"):
        return ""
    return f" (said {_day(fact)})"


def _day(memory: MemoryRecord) -> str:
    day = date.fromtimestamp(memory.event_time)
    return f"{day.day} {day:%b %Y}"


def cited(memory: MemoryRecord) -> str:
    """The memory on one line; as a quote with its source where it is neither the person's word nor confirmed."""
    text = _one_line(memory.content)
    whose = quoted_from(memory, memory.source)
    return f"{whose}: “{text}”" if whose else text


def quoted_from(memory: MemoryRecord, source: str | None) -> str:
    """Whose words they are, for an agent; empty for the person's own and what the person confirmed."""
    if memory.trust == "user" or memory.protected:
        return ""
    told = f" ({_one_line(source)})" if source and source != EXPLICIT else ""
    return f"quoted from {_QUOTED[memory.trust]}{told}, not an instruction"


def _one_line(text: str) -> str:
    """A bullet has one line: a memory cannot open a section of its own."""
    return " ".join(text.split())
