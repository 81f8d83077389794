"""Excerpts of the person's own turns that bear on a prompt.

Turns are found by the search (words, meaning, names), and by the subjects of the prompt: for a dinner also who may not
eat what. They are also found by other words for what it asks: "it goes out on 3 May" for "when is the release". Each is cut
into pieces, and each piece gets a probability that it answers (``relevance``). A prompt gets pieces only where it probably
needs them (``prompt_need``), or where one of them warns of what may harm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.records import Caution, MemoryRecord, Profile, Record
from memtui.engine.store import memories
from memtui.engine.store.tokens import STOP_WORDS, fold_text, text_stems, text_words

from . import cautions, lexicon, prompt_need, query, ranking, relevance, scoring
from .access_scope import is_narrowing
from .clauses import looks_pasted, split_clauses
from .filters.compiler import compile_filter
from .parts_played import find_played
from .ranking import QueryEmbedder
from .relevance import ClauseFeatures, PromptFeatures
from .scope import Scope, make_scope
from .scoring import Cosines, ScoredPiece
from .term_statistics import MEMORIES

WITHHELD = "you keep it from agents"
"""Why a turn is not told: for the person only."""
PLAYED = "you said it in a part to play"
"""Why a turn is not told in which the person speaks as somebody else."""
PERSON = "kind:episode role:user trust:user"
"""The filter of what counts as the person's own words."""
MOST_FOUND, MOST_OF_SUBJECT = 25, 25
"""So many turns are looked at: that the search found; the newest that speak of its subjects, or answer it in other words."""
MOST_CUT = 30
"""So many of them are cut into pieces, those that promise most by their words."""
MOST_PIECES = 8
MOST_COMPARED = 10_000
"""Up to so many turns are compared with a prompt by meaning; it takes about 1 ms for 1,000."""
OPENS = 0.6
"""From these log odds on a prompt needs what the person said: one of ten that do not need it reaches them."""
KEEPS = 0.05
"""The least probability with which a piece is told."""
SURE = 0.3
"""From this probability on a piece is told whatever its words are."""
SAME, ALIKE = 0.6, 0.3
"""The share of common words from which on two pieces say the same; are about the same thing."""
COVERED = 0.6
"""The share of a piece's words from which on a fact in the block has said it."""
_SAYS = 1 / 3
"""The share of the words of a piece, or of what no longer holds, from which on the piece is taken to say it."""
_LISTED = 12
_HEALTH = frozenset({"food", "medicine", "outing", "contact"})


class Excerpt(Record):
    """A piece of one of the person's turns. ``memory`` is the turn, ``text`` the piece as it is told on one line.

    ``score``: how probably it answers, 0 to 1. ``reasons``: why it is told, each a few words.
    """

    memory: MemoryRecord
    text: str
    score: float
    reasons: tuple[str, ...]


class LeftOutTurn(NamedTuple):
    """A turn, or a piece of it, that would have been told, and why it is not."""

    memory: MemoryRecord
    text: str
    reason: str


class FoundExcerpts(NamedTuple):
    excerpts: list[Excerpt]
    passed: list[LeftOutTurn]


def find_excerpts(
    connection: apsw.Connection,
    prompt: str,
    facts: Sequence[MemoryRecord],
    *,
    called: Sequence[str] = (),
    filter: str,
    profile: Profile,
    embedder: QueryEmbedder | str,
    now: float,
    session_id: str | None,
    fade_threshold: float,
    alone: bool,
    nearest: bool,
    refused: Callable[[MemoryRecord], str],
    known: Scope | None = None,
    cosines: Cosines | None = None,
) -> FoundExcerpts:
    """The pieces that bear on a prompt, the best first; of two about the same thing the newer one first.

    ``facts`` are in the block already: what they say is not repeated. ``called``: the names of those whom the
    prompt speaks of without them. ``refused`` tells why an agent may not
    be told a memory, or ""; ``known``: all that there is for it. ``cosines``: of memories and the prompt, where a model
    that reads sentences made them. Raises FilterError.
    """
    scope = own_words(filter, now, session_id=session_id, fade_threshold=fade_threshold, alone=alone)
    if not (is_narrowing(filter) or alone):
        scope = replace(
            scope, broad=True
        )  # about every second turn is the person's: they need not be counted
    meant = " ".join([prompt, *called])
    parsed_query = query.parse_query(connection, meant, MEMORIES, scope if alone else None)
    if not parsed_query.rows or not (parsed_query.terms or parsed_query.characters):
        return FoundExcerpts([], [])
    read = relevance.read_prompt(meant, {term.stem: term.idf for term in parsed_query.terms})
    if not read.weights:
        return FoundExcerpts([], [])
    nearest = nearest and parsed_query.rows <= MOST_COMPARED
    rids = _candidate_turns(connection, meant, read, scope, profile, embedder, nearest)
    turns = memories.by_rid(connection, rids, now)
    ended = cautions.find_cautions(connection, [turn.id for turn in turns], now, known=known)
    here = fold_text(prompt)  # a program may have recorded it already
    pieces = [
        (turn, piece)
        for turn, piece in _statements_of_turns(read, turns, ended)
        if fold_text(piece.clause.text) not in here
    ]
    scored = scoring.score_pieces(
        read, pieces, "turns", with_meanings=not isinstance(embedder, str), cosines=cosines
    )
    if scored and prompt_need.answer_odds(read, "turns", [one.score for one in scored]) < OPENS:
        # A question for one thing asks for no warning.
        scored = [one for one in scored if not read.factual and _is_warning(one, read)]
    played = find_played(connection, list({one.memory.rid: one.memory for one in scored}.values()), scope)
    return _choose_pieces(scored, facts, read, ended, refused, played)


def own_words(
    filter: str, now: float, *, session_id: str | None, fade_threshold: float, alone: bool
) -> Scope:
    """The person's turns of other sessions that pass the filter. Raises FilterError."""
    return make_scope(
        compile_filter(f"{PERSON} {filter}".strip(), now, fade_threshold=fade_threshold),
        exclude_session=session_id, alone=alone,
    )  # fmt: skip


def _candidate_turns(
    connection: apsw.Connection,
    prompt: str,
    read: PromptFeatures,
    scope: Scope,
    profile: Profile,
    embedder: QueryEmbedder | str,
    nearest: bool,
) -> list[int]:
    """The turns to look at: as the search ranks them, those of the prompt's subjects, those that answer in other words."""
    alone = replace(profile, neighbours=0.0, session=0.0, facts=0.0, depth=MOST_FOUND)
    found = ranking.rank_memories(connection, prompt, scope, alone, embedder, nearest=nearest)
    rids = [one.rid for one in found.fused[:MOST_FOUND]]
    for match in filter(None, (subject_query(read), rewording_query(read))):
        rows = connection.execute(
            f"""
            SELECT f.rowid FROM memories_fts f CROSS JOIN memories m ON m.rid = f.rowid
            WHERE memories_fts MATCH :match AND {scope.where} ORDER BY f.rowid DESC LIMIT :limit
            """,
            {**scope.bindings, "match": match, "limit": MOST_OF_SUBJECT},
        )
        rids += [rid for (rid,) in rows]
    return list(dict.fromkeys(rids))


def subject_query(read: PromptFeatures) -> str:
    """The FTS5 query for what statements about the prompt's subjects say; empty where it has none."""
    wanted: dict[str, None] = {}
    if read.people or _HEALTH & set(read.topics):
        health = lexicon.vital_lists()["health"]
        wanted |= dict.fromkeys(
            [*(f'"{one}"*' for one in health.beginnings), *(f'"{one}"' for one in sorted(health.whole))]
        )
    for topic in lexicon.load_topics():
        if topic.name in read.topics:
            wanted |= dict.fromkeys(
                f'"{one}"' for one in sorted(topic.strong.whole) if one not in STOP_WORDS and len(one) > 1
            )
    return " OR ".join(wanted)


def rewording_query(read: PromptFeatures) -> str:
    """The FTS5 query for other words that answer those of the prompt; empty where there are none."""
    wanted: dict[str, None] = {}
    for _, answers in read.wordings:
        wanted |= dict.fromkeys(
            f'"{one}"' for one in sorted(answers.single.whole) if lexicon.is_content_word(one)
        )
        wanted |= dict.fromkeys(f'"{one}"*' for one in answers.single.beginnings)
        wanted |= dict.fromkeys(f'"{one.strip()}"' + "*" * (one[-1] != " ") for one in answers.rows)
    return " OR ".join(wanted)


def _reason_outdated(turn: MemoryRecord, piece: ClauseFeatures, ended: Collection[Caution]) -> str:
    """Why a piece is not told of a turn from which something was drawn that no longer holds; "" where it may be.

    Other pieces of the turn say other things.
    """
    if cautions.is_withheld(turn, ended):
        return WITHHELD
    for caution in ended:
        stems = _informative_stems(text_stems(caution.old.content))
        mine = _informative_stems(piece.stems)
        gone = (
            stems - _informative_stems(text_stems(caution.successor.content))
            if caution.successor
            else frozenset()
        )
        shared = stems & mine
        if gone & mine or (shared and len(shared) >= _SAYS * min(len(stems), len(mine))):
            begin = "it says what was" if caution.compared else "what was drawn from it was"
            return f"{begin} {caution.what} since"
    return ""


def _statements_of_turns(
    read: PromptFeatures, turns: Sequence[MemoryRecord], ended: Collection[str]
) -> list[tuple[MemoryRecord, ClauseFeatures]]:
    """The statements of the turns that promise most by their words.

    ``ended``: the turns that say something that no longer holds. What stands beside it is cut off, for it may be told.
    """
    newest_first = sorted(turns, key=lambda turn: (-turn.event_time, -turn.rid))
    promising = []
    for index, turn in enumerate(newest_first):
        words = text_words(turn.content[: relevance.MAX_CHARACTERS])
        whole = frozenset(relevance.stem_words(words))
        promising.append((relevance.score_turn(read, whole, words), index, turn, whole))
    promising.sort(key=lambda one: (-one[0], one[1]))
    return [
        (turn, relevance.read_piece(clause, whole, index / len(newest_first)))
        for _, index, turn, whole in promising[:MOST_CUT]
        for clause in split_clauses(turn.content, apart=turn.id in ended)
        if not clause.asks
    ]


def _choose_pieces(
    scored: Iterable[ScoredPiece],
    facts: Sequence[MemoryRecord],
    read: PromptFeatures,
    ended: Mapping[str, Collection[Caution]],
    refused: Callable[[MemoryRecord], str],
    played: Mapping[int, str],
) -> FoundExcerpts:
    """``played``: of the turns that are said in a part to play, what comes before that."""
    chosen: list[ScoredPiece] = []
    passed: list[LeftOutTurn] = []
    stems_of_facts = [_informative_stems(text_stems(fact.content)) for fact in facts]
    kept_back: dict[str, str] = {}  # a turn may have many pieces
    for one in scored:
        if one.score < KEEPS or len(chosen) == MOST_PIECES:
            break
        mine = _informative_stems(one.piece.stems)
        if not mine or not (read.factual or _bears_on_prompt(one, read)):
            continue
        if outdated := _reason_outdated(one.memory, one.piece, ended.get(one.memory.id, ())):
            reason = outdated
        elif _is_played(one, played):
            reason = PLAYED
        elif any(_overlap_share(mine, fact) >= COVERED for fact in stems_of_facts):
            reason = "a fact in the block says it"
        else:
            if one.memory.id not in kept_back:
                kept_back[one.memory.id] = refused(one.memory)
            reason = kept_back[one.memory.id] or _reason_instruction(one)
        if not reason:
            later = next(
                (
                    other
                    for other in chosen
                    if _are_alike(mine, _informative_stems(other.piece.stems)) >= SAME
                ),
                None,
            )
            if later is None:
                chosen.append(one)
                continue
            if one.memory.event_time > later.memory.event_time:
                chosen[chosen.index(later)], one = one, later
            reason = "it was said again later"
        passed.append(LeftOutTurn(one.memory, one.piece.clause.text, reason))
    for index, older in enumerate(chosen):  # an older statement may no longer hold
        for other in chosen[index + 1 :]:
            if other.memory.event_time > older.memory.event_time and _are_about_same(older, other):
                chosen.remove(other)
                chosen.insert(index, other)
                break
    return FoundExcerpts([_make_excerpt(one, read) for one in chosen], passed[:_LISTED])


def _is_played(one: ScoredPiece, played: Mapping[int, str]) -> bool:
    own = played.get(one.memory.rid)
    return own is not None and one.piece.clause.text not in " ".join(own.split())


def _is_warning(one: ScoredPiece, read: PromptFeatures) -> bool:
    """Whether a piece tells of health, or is a rule, where the prompt is about what that matters for."""
    rule = one.values["topic rule"] and not relevance.HEALTH_ASKED.isdisjoint(read.topics)
    return bool(one.values["health asked"] or rule)


def _bears_on_prompt(one: ScoredPiece, read: PromptFeatures) -> bool:
    """Whether a piece has more to do with a prompt for work than everyday words, the same people or a meaning that is near."""
    if one.score >= SURE or any(
        lexicon.is_discriminative(read.words[stem]) for stem in read.weights if stem in one.piece.stems
    ):
        return True
    prompt_words = read.words.values()
    if any(
        answers.find_in(one.piece.words, one.piece.plain).difference(prompt_words)
        for _, answers in read.wordings
    ):
        return True
    wanted = {lexicon.strong_mark(topic) for topic in read.topics}
    return any(
        lexicon.is_discriminative(word) and not wanted.isdisjoint(lexicon.lists_marking(word))
        for word in one.piece.words
    )


def _reason_instruction(one: ScoredPiece) -> str:
    """Why a piece is not told of a turn in which others' words may stand: it is checked like those; "" where it may be."""
    if one.memory.protected or not looks_pasted(one.memory.content):
        return ""
    from memtui.engine.guards.instructions import find_instructions

    reasons = find_instructions(one.piece.clause.text)
    return f"it reads like an order ({reasons[0]}) in a turn with pasted text" if reasons else ""


def _make_excerpt(one: ScoredPiece, read: PromptFeatures) -> Excerpt:
    why = scoring.describe_reasons(one, read) or ("the rest of what was said with it",)
    return Excerpt(memory=one.memory, text=one.piece.clause.text, score=one.score, reasons=why)


def _are_about_same(one: ScoredPiece, other: ScoredPiece) -> bool:
    return _are_alike(_informative_stems(one.piece.stems), _informative_stems(other.piece.stems)) >= ALIKE


def _informative_stems(stemmed: Iterable[str]) -> frozenset[str]:
    return frozenset(stemmed) - lexicon.words_without_content()


def _overlap_share(mine: frozenset[str], other: frozenset[str]) -> float:
    return len(mine & other) / len(mine) if mine else 0.0


def _are_alike(mine: frozenset[str], other: frozenset[str]) -> float:
    both = len(mine | other)
    return len(mine & other) / both if both else 0.0
