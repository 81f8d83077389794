"""Facts from sentences that no rule reads: cut into clauses, judged by the classifier, stored without filler.

The word rules of ``exclusions`` come first, then the classifier; what begins with "he" or "she" is kept only where it is
certain who is meant. A sentence gives one fact for each unbroken run of clauses that are worth keeping.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.guards.quotes import mask_quotes
from memtui.engine.models.ner.gazetteer import is_given_name

from ..compare.change_words import says_change
from ..compare.life_changes import tells_life_change
from . import events, instructions
from .antecedents import begins_with_pronoun, find_antecedent, leaves_out_subject
from .clauses import clause_spans
from .durability import Judgement
from .exclusions import is_excluded_clause, is_request
from .filler import begins_with_retraction, filler_length, without_filler
from .sentences import Sentence
from .severity import (
    is_condition,
    is_impersonal,
    is_severe,
    only_sounds_severe,
    severe_clause,
    severe_parts,
    severe_words,
)
from .statement_shapes import CORRECTING
from .statements import (
    CONFIDENCE,
    HEDGED,
    HEDGES,
    RELATIVE,
    Statement,
    find_statement,
    has_dangling_pronoun,
    plain_text,
)
from .topic_model import likely_topic
from .unresolved import find_unresolved

_LEAST = 0.55
# A missed allergy, or a rule that is not kept, costs more than a line too many.
_LEAST_VITAL = 0.33
# Of what is kept as a fact of its own: few words are understood less often, and are more often of the moment.
_LEAST_RULE = 0.4
_LEAST_OF_FEW_WORDS, _FEW_WORDS = 0.8, 7
_LEAST_OF_SOME_WORDS, _SOME_WORDS = 0.65, 12
_LEAST_SEVERE = 0.05
_LEAST_BESIDE = 0.02
# What says that something changed is kept where it changes a fact that is known ("60 went to 75").
_LEAST_BARE = 0.03
_FEWEST_BARE = 2
_SHORT = 60
_SHORT_SENTENCE = 120
_VITAL = frozenset({"health", "rule"})
_SURE = 0.8
_LONGEST = 240
_LONGEST_RUN = 170
_SHORTEST = 8
_LOOKED_BACK = 600  # characters before a pronoun
_points = re.compile(
    r"(?:it|it's|its|that|that's|this|those|these|there|they|they're|them|the same|same|es|das|ça|c'est|eso)\b",
    re.IGNORECASE,
)
_order = re.compile(
    r"(?:please,? |pls )?(?:always|never|from now on|in (?:the )?future|toujours|henceforth)\b", re.IGNORECASE
)
_stranger = re.compile(r"(?!(?:I|We|My|Our|The|No|A|An)\b)(?P<name>[A-Z][^\W\d_]+)(?:['’]s| [a-z])")
_refuses = re.compile(
    r"(?:no|not|never|nothing|nobody|none|don'?t|do not|kein\w*|nie|niemals|nicht|pas|jamais|aucune?|nunca|sin|nada|nadie)\b",
    re.IGNORECASE,
)
# "I want a line on each, so Tobias understands it": what somebody wants, which is not so.
_wished = re.compile(
    r"(?:(?:and|but|ok|also),? )?(?:(?:i|we) (?:want|need|would like)|(?:i|we)'d like)\b", re.IGNORECASE
)
_in_order_that = re.compile(r"\bso(?: that)?\b", re.IGNORECASE)
# "So, the garden.": what the next sentences are about.
_heading = re.compile(r"(?:the|der|die|das|el|la|los|las|le|les) [^\W\d_]+", re.IGNORECASE)
_they = re.compile(r"(?:they|they're|they've|their|them)\b", re.IGNORECASE)
_us = re.compile(r"\b(?:me|us|my|our)\b", re.IGNORECASE)
_holds_value = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|lundis?|"
    r"mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)\b",
    re.IGNORECASE,
)


class CandidateClause(NamedTuple):
    """A clause that no word rules out. ``before``: what the message says before it; ``order``: of its sentence, of it."""

    text: str
    start: int
    end: int
    sentence: int


class ClauseContext(NamedTuple):
    """What helps to tell who "he" is: first names that are ``people``, the person's message ``before`` this one."""

    people: Collection[str] = ()
    before: str = ""


def candidate_clauses(sentences: Sequence[tuple[int, Sentence]], *, orders: bool) -> list[CandidateClause]:
    """The clauses to judge, of sentences with their place in the message.

    ``orders``: also "always ...", "never ..."; alone, only the rules of ``standing_orders`` tell a wish from a proverb.
    """
    found = []
    for index, sentence in sentences:
        if sentence.question:
            continue
        parts = clause_spans(sentence)
        for at, (start, end) in enumerate(parts):
            masked = sentence.masked[start:end]
            if at and _tells_purpose(sentence, parts[at - 1], parts[at]):
                continue
            if not orders and _order.match(masked, filler_length(masked)):
                continue
            if not _SHORTEST <= end - start <= _LONGEST * 2:
                continue
            if not is_excluded_clause(masked, lasts=tells_life_change(masked)):
                found.append(CandidateClause(masked.replace("\x00", " "), start, end, index))
    return found


def _tells_purpose(sentence: Sentence, before: tuple[int, int], clause: tuple[int, int]) -> bool:
    """Whether a clause tells what is hoped for from what the one before it asks."""
    asked = sentence.masked[before[0] : before[1]]
    joined = sentence.masked[before[1] : clause[0] + len("so that")]
    return _in_order_that.search(joined) is not None and (
        _wished.match(asked) is not None or is_request(asked)
    )


def standing_orders(sentence: Sentence, *, of_work: bool, of_play: bool) -> list[Statement]:
    """The standing orders among the clauses of a sentence that is no order as a whole.

    Beside a request only what says that it lasts: "write me a card, and never use X in anything you write".
    """
    found = []
    parts = clause_spans(sentence)
    if len(parts) < 2:
        return []
    requested = is_excluded_clause(sentence.masked[parts[0][0] : parts[0][1]])
    for start, end in parts:
        begins = start + filler_length(sentence.masked[start:end])
        text, masked = sentence.text[begins:end], sentence.masked[begins:end]
        if instructions.says_always_in_other_language(masked) and not is_excluded_clause(masked):
            found.append(
                Statement(text[:1].upper() + text[1:], ("rule",), CONFIDENCE, correcting=False, dated=False)
            )
        elif _order.match(masked) and (not requested or instructions.says_it_lasts(plain_text(masked))):
            order = find_statement(Sentence(text, masked, False), of_work=of_work, of_play=of_play)
            if order is not None and order.tags == ("rule",):
                found.append(order)
    return found


def judge_candidates(
    candidates: Sequence[CandidateClause], judgements: Sequence[Judgement]
) -> list[tuple[CandidateClause, Judgement]]:
    """Each clause with its judgement. A rule is kept though less sure, so that two models have to hold for one what does not
    begin with "no"."""
    return [
        (
            candidate,
            one._replace(topic=likely_topic(candidate.text, one.topics))
            if one.topic == "rule" and not _refuses.match(candidate.text, filler_length(candidate.text))
            else one,
        )
        for candidate, one in zip(candidates, judgements, strict=True)
    ]


def statements_of_message(
    message: Sequence[Sentence],
    judged: Sequence[tuple[CandidateClause, Judgement]],
    around: ClauseContext,
) -> dict[int, list[Statement]]:
    """What is worth keeping of a message, by the place of the sentence that tells it."""
    kept: dict[int, list[Statement]] = {}
    run: list[tuple[CandidateClause, Judgement]] = []
    chosen = [_worth_keeping(*one) for one in judged]
    for at, one in enumerate(judged):
        if not chosen[at] and not any(
            0 <= beside < len(judged) and chosen[beside] and _completes_severe_clause(one, judged[beside])
            for beside in (at - 1, at + 1)
        ):
            continue
        if run and not _continues_run(run, one[0]):
            _keep_if_sure(kept, message, run, around)
            run = []
        run.append(one)
    if run:
        _keep_if_sure(kept, message, run, around)
    return kept


def _keep_if_sure(
    kept: dict[int, list[Statement]], message: Sequence[Sentence], run: Sequence[tuple[CandidateClause, Judgement]],
    around: ClauseContext,
) -> None:  # fmt: skip
    if _sure_enough(run):
        _keep_statement(kept, message, run, around)


def _sure_enough(run: Sequence[tuple[CandidateClause, Judgement]]) -> bool:
    """Whether clauses that are kept as one fact are likely enough to be worth it: the fewer words, the likelier."""
    if any(is_severe(candidate.text) for candidate, _ in run):
        return True
    best = max((judgement for _, judgement in run), key=lambda one: one.probability)
    if best.topic in _VITAL:
        return best.probability >= (_LEAST_VITAL if best.topic == "health" else _LEAST_RULE)
    words = sum(len(candidate.text.split()) for candidate, _ in run)
    if words < _FEW_WORDS:
        return best.probability >= _LEAST_OF_FEW_WORDS
    return best.probability >= (_LEAST_OF_SOME_WORDS if words < _SOME_WORDS else _LEAST)


def _worth_keeping(candidate: CandidateClause, judgement: Judgement) -> bool:
    if only_sounds_severe(candidate.text) or (judgement.topic == "health" and is_impersonal(candidate.text)):
        return False
    return judgement.probability >= (_LEAST_VITAL if judgement.topic in _VITAL else _LEAST)


def _completes_severe_clause(
    one: tuple[CandidateClause, Judgement], beside: tuple[CandidateClause, Judgement]
) -> bool:
    """Whether a clause says for what, or for whom, another of its sentence tells something that may harm."""
    return (
        one[0].sentence == beside[0].sentence
        and is_severe(beside[0].text)
        and not is_impersonal(one[0].text)
        and (is_severe(one[0].text) or (one[1].probability >= _LEAST_BESIDE and len(one[0].text) <= _SHORT))
    )


def bare_updates(
    judged: Sequence[tuple[CandidateClause, Judgement]], message: Sequence[Sentence], around: ClauseContext,
    stated: Mapping[int, Sequence[Statement]],
) -> dict[int, list[Statement]]:  # fmt: skip
    """What is worth keeping only where it changes a known fact, by the place of its sentence: clauses that hold a value or say
    that something changed, and that no statement tells."""
    kept: dict[int, list[Statement]] = {}
    for candidate, judgement in judged:
        text = without_filler(candidate.text)
        if judgement.probability < _LEAST_BARE or not may_update(text):
            continue
        if any(text.casefold() in one.text.casefold() for one in stated.get(candidate.sentence, ())):
            continue
        _keep_statement(kept, message, [(candidate, judgement)], around, bare=True)
    return kept


def may_update(text: str) -> bool:
    """Whether it holds a value or says that something changed."""
    return (
        _holds_value.search(text) is not None
        or CORRECTING.search(plain_text(text)) is not None
        or says_change(text)
        or tells_life_change(text)
    )


def clear_parts(text: str, people: Collection[str]) -> list[str]:
    """Of a statement of which it is unclear who is meant, the clauses that can be understood alone and may update something."""
    sentence = Sentence(text, mask_quotes(text), False)
    parts = [without_filler(text[start:end]) for start, end in clause_spans(sentence)]
    return [
        part
        for part in parts
        if len(parts) > 1
        and len(part) >= _SHORTEST
        and begins_with_pronoun(part) is None
        and find_unresolved(part, people) is None
        and may_update(part)
    ]


def severe_candidates(
    message: Sequence[Sentence], stated: Mapping[int, Sequence[Statement]]
) -> list[CandidateClause]:
    """What may harm, and no statement tells yet: of each clause, be it inside a question or a request."""
    known = " ".join(statement.text for found in stated.values() for statement in found).casefold()
    found = []
    for index, sentence in enumerate(message):
        if not is_severe(sentence.masked):
            continue
        parts = clause_spans(sentence)
        if len(sentence.text) <= _SHORT_SENTENCE and not any(
            is_excluded_clause(sentence.masked[a:b]) for a, b in parts
        ):
            parts = [(0, len(sentence.text))]  # what belongs to it says for whom, or why
        spans = [
            (start + first, start + last)
            for start, end in parts
            for first, last in (
                severe_parts(sentence.masked[start:end]) if end - start > _LONGEST else [(0, end - start)]
            )
        ]
        for start, end in spans:
            clause = sentence.masked[start:end]
            if all(sign[0] in known for sign in severe_words(clause)):
                continue
            asking = sentence.question and (end == len(sentence.text) or is_condition(clause))
            text = severe_clause(clause, question=asking)
            if text is not None and len(text) <= _LONGEST:
                found.append(CandidateClause(text.replace("\x00", " "), start, end, index))
    return found


def severe_statements(
    message: Sequence[Sentence],
    judged: Sequence[tuple[CandidateClause, Judgement]],
    around: ClauseContext,
) -> dict[int, list[Statement]]:
    """What may harm, by the place of its sentence: unsure, so that the person is asked."""
    kept: dict[int, list[Statement]] = {}
    for candidate, judgement in judged:
        text = without_filler(candidate.text)
        if judgement.probability < _LEAST_SEVERE or len(text) < _SHORTEST:
            continue
        if begins_with_pronoun(text) or leaves_out_subject(text):
            who = _find_referent(message, candidate, candidate.text, text, around)
            if who is not None:
                text = f"{who}: {text[:1].lower()}{text[1:]}"
        plain = plain_text(text)
        kept.setdefault(candidate.sentence, []).append(
            Statement(
                text=text, tags=(), confidence=HEDGED, correcting=CORRECTING.search(plain) is not None,
                dated=RELATIVE.search(plain) is not None,
            )
        )  # fmt: skip
    return kept


def _fewest_words(run: Sequence[tuple[CandidateClause, Judgement]]) -> int:
    """Words that a fact must have: "I'm deaf" says something, "we're not" nothing."""
    return 2 if any(judgement.topic in ("health", "identity") for _, judgement in run) else 3


def _continues_run(run: list[tuple[CandidateClause, Judgement]], after: CandidateClause) -> bool:
    first, last = run[0][0], run[-1][0]
    return (
        last.sentence == after.sentence
        and after.start - last.end <= 8
        and after.end - first.start <= _LONGEST_RUN
    )


def _keep_statement(
    kept: dict[int, list[Statement]], message: Sequence[Sentence], run: Sequence[tuple[CandidateClause, Judgement]],
    around: ClauseContext, *, bare: bool = False,
) -> None:  # fmt: skip
    first, last = run[0][0], run[-1][0]
    sentence = message[first.sentence]
    said = sentence.text[first.start : last.end]
    text = without_filler(said)
    if (
        len(text) < _SHORTEST
        or len(text) > _LONGEST
        or len(text.split()) < (_FEWEST_BARE if bare else _fewest_words(run))
    ):
        return
    if _heading.fullmatch(text):
        return
    plain = plain_text(text)
    best = max((judgement for _, judgement in run), key=lambda one: one.probability)
    sure = best.probability >= _SURE and not HEDGES.search(plain)
    if begins_with_pronoun(text) or leaves_out_subject(text):
        who = _find_referent(message, first, said, text, around)
        if who is not None:
            text = f"{who}: {text[:1].lower()}{text[1:]}"
        elif not (bare and begins_with_pronoun(text) is None) and not _must_ask_who(
            text, best, around, follows=first.sentence > 0 or bool(around.before)
        ):
            return
    elif (
        len(message) == 1
        and (name := _stranger.match(text))
        and is_given_name(name["name"].casefold())
        and not around.people
        and best.topic != "health"
    ):
        return  # a message about a stranger, and about nothing else
    elif _points_elsewhere(text) and not (bare and may_update(text)):
        return
    correcting = begins_with_retraction(said) or CORRECTING.search(plain) is not None
    dated = RELATIVE.search(plain) is not None or events.MOMENT.search(plain) is not None
    kept.setdefault(first.sentence, []).append(
        Statement(
            text=text[:1].upper() + text[1:],
            tags=(),
            confidence=CONFIDENCE if sure else HEDGED,
            correcting=correcting,
            dated=dated,
        )
    )


def _must_ask_who(text: str, best: Judgement, around: ClauseContext, *, follows: bool) -> bool:
    """Whether the person is to be asked who is meant: it is likely worth keeping, and ``follows`` something that was said."""
    return follows and best.probability >= _SURE and find_unresolved(text, around.people) is not None


def _find_referent(
    message: Sequence[Sentence], candidate: CandidateClause, said: str, text: str, around: ClauseContext
) -> str | None:
    """Whom ``text`` is about, by what precedes it, or else by the message before it."""
    within = message[candidate.sentence].masked[: candidate.start + filler_length(said)]
    before = " ".join([*(one.masked for one in message[: candidate.sentence]), within]).replace("\x00", " ")
    found = find_antecedent(before[-_LOOKED_BACK:], text, around.people)
    if found is None and around.before:
        return find_antecedent(f"{mask_quotes(around.before)} {before}"[-_LOOKED_BACK:], text, around.people)
    return found


def _points_elsewhere(text: str) -> bool:
    """Whether it points at something that is elsewhere; a value ("it's the 12th now") says enough."""
    if _they.match(text):
        return _us.search(text) is None
    return (_points.match(text) is not None or has_dangling_pronoun(text)) and _holds_value.search(
        text
    ) is None
