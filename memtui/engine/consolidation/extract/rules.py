"""The extractor that needs no language model: word rules, a classifier of our own, trigger phrases."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from memtui.engine.guards import role_play
from memtui.engine.guards.quotes import mask_quotes
from memtui.engine.memories import validation
from memtui.engine.records import MemoryRecord
from memtui.engine.store.tokens import fold_text

from . import clause_facts, joined_statements
from .clause_facts import ClauseContext
from .clauses import clause_spans, without_chat
from .durability import DurabilityModel
from .exclusions import in_known_language, is_request
from .figurative import is_made_for_others, speaks_of_own
from .fragments import complete_fragments
from .health_results import results_in_message
from .instructions import (
    asks_for_work,
    is_fiction,
    is_role_play,
    outlasts_work,
)
from .protocol import SAID, Context, Draft, Extraction
from .question_updates import updates_in_questions
from .sentences import Sentence, split_sentences
from .severity import is_severe, only_sounds_severe
from .statement_shapes import CORRECTING
from .statements import RELATIVE, Statement, find_statement, introduced_names, plain_text
from .summary import summarise_session
from .topics import assign_topics
from .triggers import find_trigger, worth_reading
from .unresolved import resolve_statement

_OBSERVED = 0.7
_NEAR = 8  # sentences before one, in which a name may stand
_FEW = 2  # sentences; what is ordered in more of them is ordered by this person


class _StatedFacts(NamedTuple):
    """By the place of the sentence: what is worth keeping, and what is so only where it changes something."""

    lasting: dict[int, list[Statement]]
    updates: dict[int, list[Statement]]


class KeywordExtractor:
    """Reads what the person says about themself as facts, sentences that matter as observations."""

    name = "keyword"
    limit = None

    def __init__(self) -> None:
        self._model = DurabilityModel()

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        return await asyncio.to_thread(self.extract_now, turns, context)

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        return 0

    def extract_now(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        """The same, at once; about 2 ms a turn."""
        drafts: list[Draft] = []
        updates: list[Draft] = []
        seen: set[str] = set()
        people = set(context.people)
        before, playing = "", False
        own = [validation.open_text(turn) for turn in turns if _is_of_person(turn)]
        for turn in turns:
            if _is_of_person(turn):
                playing = role_play.is_in_part(turn.content, playing)
            if playing:
                continue
            if _is_of_person(turn):
                people |= introduced_names(turn.content)
            around = ClauseContext(people, before)
            content = role_play.before_part(turn.content) if _is_of_person(turn) else turn.content
            message = split_sentences(content)
            stated = (
                self._find_statements(content, message, around)
                if _is_of_person(turn)
                else _StatedFacts({}, {})
            )
            lasting, fragments = complete_fragments(message, stated.lasting)
            updates_found = {
                index: [*stated.updates.get(index, ()), *fragments.get(index, ())]
                for index in {*stated.updates, *fragments}
            }
            stated = _StatedFacts(
                *(self._split_statements(message, some, around) for some in (lasting, updates_found))
            )
            for draft in self._drafts_of_turn(turn, message, stated.lasting):
                key = fold_text(draft.content)
                if key not in seen:
                    seen.add(key)
                    drafts.append(draft)
            for some in (*stated.updates.values(), *_clear_clauses(stated.lasting, people)):
                updates += [
                    _fact_draft(turn, statement)
                    for statement in some
                    if fold_text(statement.text) not in seen
                ]
            if _is_of_person(turn):
                before = turn.content
        model = self._model if self._model.available() else None
        return Extraction(
            drafts=tuple(assign_topics(drafts, model)), summary=summarise_session(own),
            updates=tuple(assign_topics(updates, model)),
        )  # fmt: skip

    def _drafts_of_turn(
        self, turn: MemoryRecord, message: Sequence[Sentence], stated: Mapping[int, Sequence[Statement]]
    ) -> Iterator[Draft]:
        """What a sentence states is a fact, by the rules or else by the classifier; else a trigger makes it an observation."""
        if turn.trust not in ("user", "agent"):
            return
        own = _is_of_person(turn)
        observes = worth_reading(turn.content)
        for index, sentence in enumerate(message):
            yield from (_fact_draft(turn, statement) for statement in stated.get(index, ()))
            if index in stated:
                continue
            if observes and (trigger := find_trigger(sentence, by_assistant=not own)):
                yield Draft(
                    kind="observation", content=sentence.text, sources=(turn.id,), category=trigger.category,
                    confidence=_OBSERVED, verbatim=True,
                )  # fmt: skip

    def _find_statements(
        self, content: str, message: Sequence[Sentence], around: ClauseContext
    ) -> _StatedFacts:
        """What the person states: the rules first, the classifier where they find nothing."""
        if is_fiction(content):
            return _StatedFacts({}, {})
        of_work, of_play = asks_for_work(content), is_role_play(content)
        stated: dict[int, list[Statement]] = {}
        for index, sentence in enumerate(message):
            if any(is_request(sentence.masked[start:end]) for start, end in clause_spans(sentence)):
                continue  # in part a request: its clauses are judged one by one
            read = sentence if sentence.question else without_chat(sentence)
            statement = find_statement(
                read,
                around.people,
                of_work=of_work and not outlasts_work(sentence.masked, content),
                of_play=of_play,
            )
            if statement is not None and not only_sounds_severe(statement.text):
                stated[index] = [statement]
        if of_play or not in_known_language(content) or not self._model.available():
            return _StatedFacts(stated, {})
        unstated = [(index, sentence) for index, sentence in enumerate(message) if index not in stated]
        found = clause_facts.candidate_clauses(unstated, orders=len(message) > _FEW and not of_work)
        clauses_judged = clause_facts.judge_candidates(
            found, self._model.judge_texts([one.text for one in found])
        )
        by_clauses = clause_facts.statements_of_message(message, clauses_judged, around)
        for index, sentence in unstated:
            known = " ".join(one.text for one in by_clauses.get(index, ())).casefold()
            orders = clause_facts.standing_orders(sentence, of_work=of_work, of_play=of_play)
            if fresh := [order for order in orders if order.text.casefold() not in known]:
                by_clauses[index] = [*by_clauses.get(index, ()), *fresh]
        stated |= by_clauses
        severe = clause_facts.severe_candidates(message, stated)
        judged = self._model.judge_texts([candidate.text for candidate in severe])
        for index, more in clause_facts.severe_statements(
            message, list(zip(severe, judged, strict=True)), around
        ).items():
            stated[index] = [*stated.get(index, ()), *more]
        if is_made_for_others(content):
            stated = {index: own for index, some in stated.items() if (own := _only_own(some))}
        updates = clause_facts.bare_updates(clauses_judged, message, around, stated)
        for index, more in updates_in_questions(message, stated).items():
            updates[index] = [*updates.get(index, ()), *more]
        for index, more in results_in_message(message, stated).items():
            parts = [one for one in updates.get(index, ()) if one.text not in more[0].text]
            updates[index] = [*parts, *more]
        return _StatedFacts(stated, updates)

    def _split_statements(
        self, message: Sequence[Sentence], stated: Mapping[int, Sequence[Statement]], around: ClauseContext
    ) -> dict[int, list[Statement]]:
        """The statements, each about one subject, which it names or asks for."""
        return {
            index: [
                resolve_statement(
                    part, _preceding_text(message, index, part.text), around.before, around.people
                )
                for statement in some
                for part in _split_subjects(statement)
            ]
            for index, some in stated.items()
        }


def _only_own(statements: Sequence[Statement]) -> list[Statement]:
    """Without what may harm, but nobody of the person's."""
    return [one for one in statements if not is_severe(one.text) or speaks_of_own(one.text)]


def _preceding_text(message: Sequence[Sentence], index: int, text: str) -> list[Sentence]:
    """The sentences before a statement, and what its own sentence says before it."""
    found, own = list(message[max(index - _NEAR, 0) : index]), message[index]
    at = own.text.casefold().find(text.casefold())
    start = re.sub(r"[\s,;]*(?:\b(?:and|but|so|und|et|y))?[\s,;]*$", "", own.text[:at]) if at > 0 else ""
    return [*found, Sentence(start, own.masked[: len(start)], False)] if start else found


def _is_of_person(turn: MemoryRecord) -> bool:
    """The person's words, be it that an agent only says so: their trust stays what it is."""
    return turn.trust == "user" or validation.is_claim(turn.source_role, turn.trust)


def _split_subjects(statement: Statement) -> list[Statement]:
    """A statement of two subjects as two."""
    texts = joined_statements.split_joined(statement.text)
    if len(texts) == 1:
        return [statement]
    return [
        statement._replace(
            text=text,
            tags=own.tags
            if (own := find_statement(Sentence(text, mask_quotes(text), False)))
            else statement.tags,
            dated=statement.dated and RELATIVE.search(plain_text(text)) is not None,
        )
        for text in texts
    ]


def _clear_clauses(
    stated: Mapping[int, Sequence[Statement]], people: Collection[str]
) -> Iterator[list[Statement]]:
    """Beside statements that ask who is meant: their clauses that need no answer."""
    for some in stated.values():
        for statement in some:
            if statement.question:
                yield [
                    statement._replace(
                        text=part, question="", correcting=CORRECTING.search(plain_text(part)) is not None
                    )
                    for part in clause_facts.clear_parts(statement.text, people)
                ]


def _fact_draft(turn: MemoryRecord, statement: Statement) -> Draft:
    content = statement.text
    if statement.dated:
        content = SAID.format(content=content, date=_date_text(turn.event_time))
    return Draft(
        kind="fact", content=content, sources=(turn.id,), tags=statement.tags, confidence=statement.confidence,
        correcting=statement.correcting, verbatim=True, question=statement.question,
    )  # fmt: skip


def _date_text(seconds: int) -> str:
    day = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{day.day} {day:%B %Y}"
