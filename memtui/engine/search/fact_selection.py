"""The facts of a context block: of the hits and the other candidates, those that bear on the prompt or probably answer it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.records import Hit, SearchResult
from memtui.engine.store import memories
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import text_stems, text_words

from . import facts, lexicon
from .facts import RelatedFact
from .kept_back import LeftOut, why_kept_back
from .query import ParsedQuery
from .relevance import PromptFeatures
from .scope import Scope, rids_in_scope
from .scoring import Cosines

COMMON = 0.25
"""A word that a larger share of the facts has tells nothing."""
_FEW = 20
SAME_PLAN = 2
"""So many words a plan shares with the fact that calls it off."""
MOST_LISTED = 20
"""So many facts that were left out are listed."""

# From each of some memories to all that replaced it, step by step.
_CHAINS = """
    WITH RECURSIVE chain(start, id, steps) AS (
        SELECT value, value, 0 FROM json_each(:ids)
        UNION SELECT chain.start, l.from_id, steps + 1 FROM chain JOIN memory_links l ON l.to_id = chain.id
        WHERE l.rel = 'supersedes' AND steps < 50)
    SELECT chain.start, m.rid FROM chain JOIN memories m ON m.id = chain.id WHERE steps > 0 ORDER BY steps, m.rid
"""


class PromptWords(NamedTuple):
    """The words of a prompt, as stems or pairs: those by which a fact can bear on it, everyday ones of which it takes two,
    and those that nearly all facts have.
    """

    telling: frozenset[str]
    weak: frozenset[str]
    common: frozenset[str]


class FactSelection(NamedTuple):
    """The facts to tell: ``hits`` that bear on the prompt, ``related`` ones that probably answer. ``result``: of the search.

    ``by_meaning``: whether that compared by meaning; ``left_out``: the hits that are not told, and what there was no place for.
    """

    hits: list[Hit]
    related: list[RelatedFact]
    left_out: list[LeftOut]
    result: SearchResult
    by_meaning: bool


def choose_facts(
    connection: apsw.Connection,
    read: PromptFeatures,
    prompt_words: PromptWords,
    scope: Scope,
    now: float,
    search: Callable[[bool], SearchResult],
    *,
    limit: int,
    near: float,
    few: bool,
    small: bool,
    with_meanings: bool,
    without: Collection[int],
    turns: Scope,
    cosines: Cosines | None,
) -> FactSelection:
    """Choose at most ``limit`` facts.

    ``search`` finds them, by meaning too where it is given True. Where they are not ``few`` that is done only where too
    few hits bear on the prompt; where they are not ``small`` in number, others than hits are read only then.
    ``without``: facts that are in the block already. ``turns`` and ``cosines``: as ``facts.rank_facts`` reads them.
    """
    for by_meaning in (True,) if few else (False, True):
        # What was replaced is found by its old words too; what is told then is its successor.
        result = search(by_meaning)
        hits, successors = _with_successors(connection, result.hits, scope, now)
        far = {hit.memory.rid: why_irrelevant(hit, prompt_words, near) for hit in hits}
        enough = sum(not far[hit.memory.rid] for hit in hits if hit.memory.rid not in without) >= limit
        if enough:
            break
    candidates = facts.rank_facts(
        connection, read, hits, scope, now, few=small, beside=small or not enough, with_meanings=with_meanings,
        turns=turns, cosines=cosines,
    )  # fmt: skip
    least = facts.least_probability(read, candidates)
    chosen: list[Hit] = []
    related: list[RelatedFact] = []
    left_out: list[LeftOut] = []
    for one in candidates:
        if one.memory.rid in without:
            continue
        full = len(chosen) + len(related) == limit
        if full and len(left_out) >= MOST_LISTED:
            break  # nothing more would be told or listed
        why_far = far[one.memory.rid] if one.hit else "not found"
        # What took the place of a hit need not have the words by which that answered.
        improbable = one.judged.score < least and one.memory.rid not in successors
        answers = (
            facts.related_fact(one, read, candidates[0].judged.score) if why_far and not improbable else None
        )
        if improbable or (why_far and answers is None):
            if one.hit and not full:
                left_out.append(LeftOut(reason=why_far or facts.IMPROBABLE, memory=one.memory))
        elif reason := why_kept_back(one.memory) or (
            f"the {limit} facts in the block fit better" if full else ""
        ):
            left_out.append(LeftOut(reason=reason, memory=one.memory))
        elif answers is not None:
            related.append(answers)
        elif one.hit:
            chosen.append(one.hit)
    return FactSelection(
        _put_cancellations_first(chosen), related, left_out[:MOST_LISTED], result, by_meaning
    )


def _put_cancellations_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits with a plan that was called off behind the later fact that says so ("we decided not to go to Graz")."""
    arranged: list[Hit] = []
    for hit in hits:
        if lexicon.compiled_pattern("called off").search(hit.memory.content):
            words = frozenset(filter(lexicon.is_discriminative, text_words(hit.memory.content)))
            index = next(
                (
                    index
                    for index, other in enumerate(arranged)
                    if other.memory.event_time < hit.memory.event_time
                    and len(words.intersection(text_words(other.memory.content))) >= SAME_PLAN
                ),
                len(arranged),
            )
            arranged.insert(index, hit)
        else:
            arranged.append(hit)
    return arranged


def preferences_for_task(hits: Iterable[Hit], prompt: str) -> list[Hit]:
    """The preferences and rules about what a prompt that needs no memory asks for: how poems shall be, and not the sea."""
    stems = set(
        filter(
            lexicon.is_discriminative, text_words(lexicon.phrase_at_start("needs no memory", prompt) or "")
        )
    )
    wanted = {stem for word in stems for stem in text_stems(word)}
    return [
        hit for hit in hits
        if wanted.intersection(text_stems(hit.memory.content))
        and (hit.memory.topic in ("preference", "rule") or lexicon.states_preference(hit.memory.content))
    ]  # fmt: skip


def why_irrelevant(hit: Hit, prompt_words: PromptWords, near: float) -> str:
    """Why a hit does not bear on the prompt; empty when it does: a word, a name, or a meaning that is ``near`` enough."""
    keyword, vector, entity = (
        hit.retrievers.get("keyword"),
        hit.retrievers.get("vector"),
        hit.retrievers.get("entity"),
    )
    shared = [{word, *text_stems(word)} for word in keyword.matched] if keyword else []
    if (
        any(map(prompt_words.telling.intersection, shared))
        or sum(map(bool, map(prompt_words.weak.intersection, shared))) > 1
    ):
        return ""
    if entity and not all(prompt_words.common >= set(text_stems(name)) for name in entity.matched):
        return ""
    if vector is None:
        return "it shares no telling word with the prompt"
    if vector.score >= near:
        return ""
    return f"it shares no telling word with the prompt, and its meaning is too far ({vector.score:.2f} of {near:.2f})"


def prompt_words(question: ParsedQuery, kin: Collection[str]) -> PromptWords:
    """What every fourth fact has ("the user") says nothing, everyday words next to nothing, unless there are no others.

    ``kin``: words that facts have for those of whom it speaks.
    """
    terms = [term for term in question.terms if term.bigram or lexicon.is_content_word(term.word)]
    most = question.rows * COMMON if question.rows >= _FEW else question.rows
    common = {term.stem for term in terms if not term.bigram and term.count > most}
    short = lexicon.asks_for_one_thing(question.text)  # it has few words, and each of them matters
    weak = {
        term.stem
        for term in terms
        if not (term.bigram or lexicon.is_discriminative(term.word) or (short and not term.word.isdigit()))
    } - common
    telling = {term.stem for term in terms} - common - weak
    return PromptWords(
        frozenset((*(telling or weak or common), *question.characters)).union(*map(text_stems, kin)),
        frozenset(weak if telling else ()),
        frozenset(common if telling or weak else ()),
    )


def _with_successors(
    connection: apsw.Connection, hits: Sequence[Hit], scope: Scope, now: float
) -> tuple[list[Hit], set[int]]:
    """The hits with what was replaced changed for what replaced it, each memory once; and which of them replaced others."""
    ids = [hit.memory.id for hit in hits]
    rows: list[Any] = connection.execute(_CHAINS, {"ids": as_json(ids)}).fetchall()
    later: dict[str, int] = {}
    if rows:
        inside = rids_in_scope(connection, scope, [rid for _, rid in rows])
        later = {start: rid for start, rid in rows if rid in inside}  # the last of a chain stands last
    found = {one.rid: one for one in memories.by_rid(connection, list(later.values()), now)}
    chosen: dict[int, Hit] = {}
    # As they answer: what was replaced may be found by a word that what took its place does not have.
    for hit in sorted(hits, key=lambda hit: -hit.score):
        memory = found[later[hit.memory.id]] if hit.memory.id in later else hit.memory
        if memory.active and memory.rid not in chosen:
            chosen[memory.rid] = hit if memory is hit.memory else replace(hit, memory=memory)
    return list(chosen.values()), found.keys() & chosen.keys()
