"""The context block: exactly what an agent is told before it answers, and what was kept from it.

A few facts that bear on the prompt (``fact_selection``), what the person said before where facts do not cover it
(``excerpts``), then the week's reflection; ``block_text`` writes them. Kept back are texts that talk to the assistant
instead of about the person, unless the person said or confirmed them, and texts with a secret (``kept_back``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import apsw
from msgspec.structs import replace

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.models.vectors import quantise_rows, thresholds_of
from memtui.engine.records import Hit, MemoryRecord, Profile, Record, SearchResult
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import memories, vectors

from . import (
    cautions,
    excerpts,
    fact_selection,
    facts,
    in_confidence,
    kinship,
    lexicon,
    named_days,
    query,
    relevance,
    repeats,
    rules,
    vital,
)  # fmt: skip
from .access_scope import is_narrowing
from .block_text import SAID_TITLE, BlockNotes, estimate_tokens, excerpt_line, fact_line, write_block
from .excerpts import Excerpt
from .facts import RelatedFact
from .filters.compiler import compile_filter
from .filters.sql import STATES
from .filters.terms import parse_filter
from .kept_back import LeftOut, why_kept_back
from .open_changes import find_open_changes
from .ranking import QueryEmbedder
from .repeats import ServedLines
from .retrievers import cosine, entity
from .scope import Scope, make_scope
from .scoring import Cosines
from .search import search_memories
from .term_statistics import FACTS
from .vital import VitalFact

LIMIT = 12
PINNED = 5
"""So many pinned facts are told, those pinned last."""
MOST = 100
TOKENS = 400
"""Excerpts fill the block up to so many; facts and the insight come whatever their length."""
OTHERS = "it is a health warning about somebody else"
IN_CONVERSATION = "it is in the conversation already"
# An older reflection is not this week's any more.
INSIGHT_DAYS = 14
MOST_COMPARED = 30_000
"""Up to so many facts are compared with a prompt by meaning, one and all; it takes about 1 ms for 1,000."""
MOST_READ = 20_000
"""Of a longer prompt the beginning and the end are read: the question comes before or after pasted text."""
_DAY = 86_400
# So many hits are looked through for ``limit`` that may be told.
_SPARE = 20


class ContextBlock(Record):
    """What an agent is told: ``text`` is the block itself, empty when nothing bears on the prompt.

    ``rules`` are those of the agent's project and those about answers, which come first; ``pinned`` the facts that
    always are in it, ``vital`` those told for what they warn of, ``hits`` those that the search found, the best first;
    ``related`` others that probably answer; ``excerpts`` what the person said before; ``tokens`` is an estimate
    (``block_text.HOW_COUNTED``), ``saved`` that of what was not told again.
    """

    text: str
    tokens: int
    rules: tuple[MemoryRecord, ...]
    pinned: tuple[MemoryRecord, ...]
    vital: tuple[VitalFact, ...]
    hits: tuple[Hit, ...]
    related: tuple[RelatedFact, ...]
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
        found = (one.memory for group in (self.vital, self.hits, self.related) for one in group)
        return [*self.rules, *self.pinned, *found, *turns.values(), *insight]  # fmt: skip


def shortened_prompt(prompt: str) -> str:
    """What is read of a prompt: all of it, or whole words of its beginning and its end."""
    if len(prompt) <= MOST_READ:
        return prompt
    half = MOST_READ // 2
    head, tail = prompt[: half + 1], prompt[-half - 1 :]
    beginning = max(head.rfind(" "), head.rfind("\n"), 0)
    end = min((at for at in (tail.find(" "), tail.find("\n")) if at >= 0), default=len(tail))
    return f"{head[:beginning]}\n{tail[end:]}".strip()


def build_block(
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
    served_lines: ServedLines | None = None,
) -> ContextBlock:
    """Make the block for a prompt. ``alone``: as if the memory held nothing but what passes the filter.

    ``turns``: whether the person's turns may be told; they fill the block up to ``tokens``.

    ``project``: the agent's, whose rules come first; without one it is the project that ``filter`` names.

    ``served_lines``: what is in the conversation. It is not told again unless it changed or the prompt is about it; what is
    told is added.

    Of a long prompt ``shortened_prompt`` says what is read. Raises FilterError for a bad filter, InputError for a bad limit.
    """
    prompt = shortened_prompt(prompt)
    if not 1 <= limit <= MOST:
        raise InputError(f"A context block cannot hold {limit!r} facts.", f"Give a limit from 1 to {MOST}.")
    space = vectors.vector_space(connection)
    near = thresholds_of(space.model_id if space else "").bears
    known = cautions.visible_scope(filter, now, fade_threshold=fade_threshold)
    scope = make_scope(
        compile_filter(f"kind:fact {filter}".strip(), now, fade_threshold=fade_threshold),
        exclude_session=session_id, alone=alone,
    )  # fmt: skip
    kin = kinship.asked_relations(prompt)
    # Facts about "my son" may have nothing but his name.
    called = kinship.relation_names(connection, kin, scope, now)
    meant = " ".join([prompt, *called])
    parsed_query = query.parse_query(connection, meant, FACTS, scope if alone else None)
    read = relevance.read_prompt(meant, {term.stem: term.idf for term in parsed_query.terms})
    pinned, kept_back = _pinned_facts(connection, scope, now)
    block_project = project or rules.project_in_filter(parse_filter(filter))
    first = _rules_of_project(connection, block_project, scope, now, pinned)
    stand = {one.rid for one in (*pinned, *first)}
    # With very many facts, those without a word in common are compared only when those with one are too few.
    few = is_narrowing(filter) or parsed_query.rows <= MOST_COMPARED or profile.fusion != "score"

    def search_facts(nearest: bool) -> SearchResult:
        return search_memories(
            connection, meant, filter=f"kind:fact is:active,superseded {filter}".strip(), limit=limit + PINNED + _SPARE,
            profile=profile, embedder=embedder, now=now, exclude_session=session_id,
            fade_threshold=fade_threshold, nearest=nearest, alone=alone, within=filter,
        )  # fmt: skip

    spoken = excerpts.own_words(
        filter, now, session_id=session_id, fade_threshold=fade_threshold, alone=alone
    )
    cosines = _cosines_to_prompt(connection, space, embedder, meant)
    prompt_words = fact_selection.prompt_words(parsed_query, () if called else kin)
    choice = fact_selection.choose_facts(
        connection, read, prompt_words, scope, now, search_facts, limit=limit, near=near, few=few,
        small=parsed_query.rows <= facts.FEW, with_meanings=not isinstance(embedder, str), without=stand,
        turns=spoken, cosines=cosines,
    )  # fmt: skip
    nearest, chosen, related, left_out = choice.by_meaning, choice.hits, choice.related, choice.left_out
    chosen.sort(key=lambda hit: hit.memory.topic != "rule")  # stable: rules come before the others
    left_out += kept_back
    if idle := lexicon.needs_no_memory(prompt) and not (
        profile.entity and entity.entities_named(connection, lexicon.before_paste(prompt))
    ):
        chosen, related = fact_selection.preferences_for_task(chosen, prompt), []
        left_out = [*kept_back, LeftOut(reason="the prompt asks for nothing that a memory knows")]
    if not nearest:
        left_out.append(
            LeftOut(reason="there are many facts: only those that share a word with the prompt were compared")
        )
    insight = None if idle else _latest_reflection(connection, filter, now, fade_threshold)
    if insight is not None and (reason := why_kept_back(insight)):
        left_out.append(LeftOut(reason=reason, memory=insight))
        insight = None
    present = {*stand, *(hit.memory.rid for hit in chosen)}
    warnings = [] if idle else vital.find_warnings(
        connection, meant, scope, now, names=profile.entity > 0, told_rids=present, refused=why_kept_back,
    )  # fmt: skip
    warned = {one.memory.rid for one in warnings}
    left_out = [one for one in left_out if one.memory is None or one.memory.rid not in warned]
    if not idle and not read.working:
        by_day = [
            RelatedFact(memory=one, score=1.0, reasons=(f"on {day:%a} {day.day} {day:%b}",))
            for day, one in named_days.facts_on_days(
                connection, named_days.find_days(prompt, now), scope, now
            )
            if one.rid not in present | warned and not why_kept_back(one)
        ]
        dated = {one.memory.rid for one in by_day}
        related = [*by_day, *(one for one in related if one.memory.rid not in dated)][
            : max(limit, len(by_day))
        ]
    not_meant = vital.warnings_of_others(
        connection, meant, [one.memory for one in related], names=profile.entity > 0
    )
    left_out += [LeftOut(reason=OTHERS, memory=one.memory) for one in related if one.memory.rid in not_meant]
    related = [one for one in related if one.memory.rid not in warned | not_meant]
    standing = [*first, *pinned, *(one.memory for one in warnings), *(hit.memory for hit in chosen)]
    answering = [one.memory for one in related]
    noted = [*standing, *answering, *([insight] if insight else [])]
    cautions_by_id = cautions.find_cautions(connection, [one.id for one in noted], now, known=known)
    chosen_excerpts: list[Excerpt] = []
    if turns and not idle:
        excerpted = excerpts.find_excerpts(
            connection, prompt, [*standing, *answering], called=called, filter=filter, profile=profile,
            embedder=embedder, now=now, session_id=session_id, fade_threshold=fade_threshold, alone=alone, nearest=nearest,
            refused=why_kept_back, known=known, cosines=cosines,
        )  # fmt: skip
        left_out += [LeftOut(reason=one.reason, memory=one.memory, text=one.text) for one in excerpted.passed]
        chosen_excerpts = excerpted.excerpts
    confided = in_confidence.find_confided(
        connection, [*noted, *(one.memory for one in chosen_excerpts)], known
    )
    notes = BlockNotes(
        cautions=cautions_by_id,
        confided=confided,
        undecided=find_open_changes(connection, noted, now, known),
    )
    unpinned = [one for one in standing if one not in pinned]
    room = tokens - estimate_tokens(write_block(unpinned, pinned, [], insight, notes))
    related, chosen_excerpts, no_room = _select_within_budget(related, chosen_excerpts, room, notes)
    reason = f"the block has room for {tokens} tokens (context.tokens)"
    left_out += [LeftOut(reason=reason, memory=one.memory, text=getattr(one, "text", "")) for one in no_room]
    text = write_block([*unpinned, *(one.memory for one in related)], pinned, chosen_excerpts, insight, notes)
    made = ContextBlock(
        text=text,
        tokens=estimate_tokens(text),
        rules=tuple(first),
        pinned=tuple(pinned),
        vital=tuple(warnings),
        hits=tuple(chosen),
        related=tuple(related),
        excerpts=tuple(chosen_excerpts),
        insight=insight,
        left_out=tuple(left_out),
        result=choice.result,
    )
    if served_lines is None:
        return made

    def concerned_rids() -> set[int]:
        """The rules that bear on the prompt, and what warns of something in it."""
        dangers = vital.find_warnings(
            connection, meant, scope, now, names=profile.entity > 0, told_rids=(), refused=why_kept_back
        )
        ruled = {rule.rid for rule in first}
        near_rules = (
            hit
            for hit in choice.result.hits
            if hit.memory.rid in ruled and not fact_selection.why_irrelevant(hit, prompt_words, near)
        )
        return {*(one.memory.rid for one in dangers), *(hit.memory.rid for hit in near_rules)}

    return _drop_repeats(connection, prompt, made, notes, served_lines, concerned_rids)


def _cosines_to_prompt(
    connection: apsw.Connection, space: VectorSpace | None, embedder: QueryEmbedder | str, prompt: str
) -> Cosines | None:
    """How near memories are to a prompt, where a model made the vectors whose cosines tell whether something answers."""
    if space is None or space.model_id not in relevance.SENTENCE_MODELS or isinstance(embedder, str):
        return None
    try:
        prompt_vector = quantise_rows(embedder.embed_query(prompt))[0].tobytes()
    except DegradedError:  # the search has said that there are no vectors
        return None
    return lambda rids: cosine.cosines_of_memories(connection, space, prompt_vector, rids)


def _drop_repeats(
    connection: apsw.Connection, prompt: str, made: ContextBlock, notes: BlockNotes,
    served_lines: ServedLines, concerned: Callable[[], Collection[int]],
) -> ContextBlock:  # fmt: skip
    """The block without what is in the conversation already; what is left is noted there.

    ``concerned``: facts that are told again all the same; asked only where something would be left out.
    """
    lines: dict[int, list[str]] = {}
    for excerpt in made.excerpts:
        lines.setdefault(excerpt.memory.rid, []).append(excerpt_line(excerpt, notes))
    pieces = {rid: "\n".join(chosen) for rid, chosen in lines.items()}
    chosen = [(one, pieces.get(one.rid) or fact_line(one, notes)) for one in made.memories]
    again = {
        one.rid
        for one, line in chosen
        if served_lines.was_served(one, line) and not repeats.names_memory(prompt, one)
    }
    again -= {one.memory.rid for one in made.vital}
    if again:
        again -= set(concerned())
    served_lines.add_served(connection, [(one, line) for one, line in chosen if one.rid not in again])
    if not again:
        return made
    new = [one for one, _ in chosen if one.rid not in again]
    rids = {one.rid for one in new}
    insight = made.insight if made.insight is not None and made.insight.rid in rids else None
    excerpts = tuple(one for one in made.excerpts if one.memory.rid in rids)
    facts = [one for one in new if one.rid not in pieces and one is not made.insight]
    pinned = tuple(one for one in made.pinned if one.rid in rids)
    text = write_block([one for one in facts if one not in pinned], pinned, excerpts, insight, notes)
    repeated = [LeftOut(reason=IN_CONVERSATION, memory=one) for one, _ in chosen if one.rid in again]
    return replace(
        made,
        text=text,
        tokens=estimate_tokens(text),
        rules=tuple(one for one in made.rules if one.rid in rids),
        pinned=pinned,
        hits=tuple(hit for hit in made.hits if hit.memory.rid in rids),
        related=tuple(one for one in made.related if one.memory.rid in rids),
        excerpts=excerpts,
        insight=insight,
        left_out=(*made.left_out, *repeated),
        saved=made.tokens - estimate_tokens(text),
    )


def _rules_of_project(
    connection: apsw.Connection,
    project: str | None,
    scope: Scope,
    now: float,
    pinned: Collection[MemoryRecord],
) -> list[MemoryRecord]:
    """The rules of the agent's project, then those about answers."""
    found: dict[int, MemoryRecord] = {}
    given = [rules.project_rules(connection, project, scope, now)] if project else []
    for rule_set in (*given, rules.answer_rules(connection, scope, now)):
        may = [
            one for one in rule_set if not why_kept_back(one) and one not in pinned and one.rid not in found
        ]
        found |= {one.rid: one for one in may[: rules.RULES]}
    return list(found.values())


def _pinned_facts(
    connection: apsw.Connection, scope: Scope, now: float
) -> tuple[list[MemoryRecord], list[LeftOut]]:
    """The pinned facts of the scope, those pinned last first, and those of them that are not told."""
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m INDEXED BY memories_with_attributes
        WHERE m.kind = 'fact' AND {STATES["pinned"]} AND m.valid_until IS NULL AND {scope.where}
        ORDER BY m.attributes ->> '$.pinned_at' DESC, m.rid DESC
        """,
        scope.bindings,
    )
    chosen: list[MemoryRecord] = []
    left_out = []
    for memory in memories.by_rid(connection, [rid for (rid,) in rows], now):
        reason = why_kept_back(memory)
        if not reason and len(chosen) == PINNED:
            reason = f"it is pinned, but the {PINNED} that were pinned last are told"
        if reason:
            left_out.append(LeftOut(reason=reason, memory=memory))
        else:
            chosen.append(memory)
    return chosen, left_out


def _latest_reflection(
    connection: apsw.Connection, filter: str, now: float, fade_threshold: float
) -> MemoryRecord | None:
    """The latest reflection, while it is fresh, if it passes the filter."""
    compiled_filter = compile_filter(f"kind:reflection {filter}".strip(), now, fade_threshold=fade_threshold)
    row = connection.execute(
        f"""
        SELECT m.rid FROM memories m WHERE m.event_time >= :since AND {compiled_filter.where}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT 1
        """,
        {**compiled_filter.bindings, "since": now - INSIGHT_DAYS * _DAY},
    ).fetchone()
    return memories.by_rid(connection, [int(row[0])], now)[0] if row else None


def _select_within_budget(
    related: Sequence[RelatedFact], excerpts: Sequence[Excerpt], tokens: int, notes: BlockNotes
) -> tuple[list[RelatedFact], list[Excerpt], list[RelatedFact | Excerpt]]:
    """What fits into so many tokens, by how probably it answers, and what does not; each list in the order it came.

    A shorter one may take the place of a longer.
    """
    lines: list[tuple[str, RelatedFact | Excerpt]] = [
        (f"- {fact_line(one.memory, notes)}", one) for one in related
    ]
    lines += [(f"- {excerpt_line(one, notes)}", one) for one in excerpts]
    title = estimate_tokens(SAID_TITLE) + 1
    kept: list[RelatedFact | Excerpt] = []
    for line, one in sorted(lines, key=lambda scored_line: -scored_line[1].score):
        needed = estimate_tokens(f"{line}\n")
        if isinstance(one, Excerpt) and not any(isinstance(other, Excerpt) for other in kept):
            needed += title
        if needed <= tokens:
            kept.append(one)
            tokens -= needed
    return (
        [one for one in related if one in kept],
        [one for one in excerpts if one in kept],
        [one for _, one in lines if one not in kept],
    )
