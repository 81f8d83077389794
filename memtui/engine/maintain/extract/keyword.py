"""The extractor that needs no model: trigger phrases, first-person statements, the last long answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from memtui.engine.curate import intake
from memtui.engine.records import MemoryRecord
from memtui.engine.store.words import fold
from memtui.engine.wording import cut

from .drafts import SAID, SUMMARY_CHARACTERS, Context, Draft, Extraction
from .sentences import sentences
from .standing import asks_for_work, plays_a_part, tells_a_tale
from .statements import find_statement, introduced
from .triggers import find_trigger, worth_reading

_LONG_ANSWER = 100
_OBSERVED = 0.7


class KeywordExtractor:
    """Reads what the person says about themself as facts, sentences that matter as observations."""

    name = "keyword"
    limit = None

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        return await asyncio.to_thread(self.read, turns, context)

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        return 0

    def read(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        """The same, at once; about 0.2 ms a turn."""
        drafts: list[Draft] = []
        seen: set[str] = set()
        people = set(context.people)
        for turn in turns:
            if _of_person(turn):
                people |= introduced(turn.content)
            for draft in _drafts(turn, people):
                key = fold(draft.content)
                if key not in seen:
                    seen.add(key)
                    drafts.append(draft)
        return Extraction(drafts=tuple(drafts), summary=_summary(turns))


def _drafts(turn: MemoryRecord, people: set[str]) -> Iterator[Draft]:
    """No sentence gives two drafts: what the person states is a fact, else a trigger makes it an observation."""
    if turn.trust not in ("user", "agent"):
        return
    observes = worth_reading(turn.content)
    own = _of_person(turn)
    of_work = own and asks_for_work(turn.content)
    of_play = own and plays_a_part(turn.content)
    states = own and not tells_a_tale(turn.content)
    for sentence in sentences(turn.content):
        statement = None
        if states:
            statement = find_statement(sentence, people, of_work=of_work, of_play=of_play)
        if statement is not None:
            content = statement.text
            if statement.dated:
                content = SAID.format(content=content, date=_date(turn.event_time))
            yield Draft(
                kind="fact", content=content, sources=(turn.id,), tags=statement.tags,
                confidence=statement.confidence, correcting=statement.correcting, verbatim=True,
            )  # fmt: skip
        elif observes and (trigger := find_trigger(sentence, by_assistant=not own)):
            yield Draft(
                kind="observation", content=sentence.text, sources=(turn.id,), category=trigger.category,
                confidence=_OBSERVED, verbatim=True,
            )  # fmt: skip


def _of_person(turn: MemoryRecord) -> bool:
    """The person's words, be it that an agent only says so: their trust stays what it is."""
    return turn.trust == "user" or intake.is_claim(turn.source_role, turn.trust)


def _summary(turns: Sequence[MemoryRecord]) -> str | None:
    """The last long answer, cut at whole characters."""
    for turn in reversed(turns):
        text = turn.content.strip()
        if turn.trust == "agent" and not _of_person(turn) and len(text) > _LONG_ANSWER:
            return cut(text, SUMMARY_CHARACTERS)
    return None


def _date(seconds: int) -> str:
    day = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{day.day} {day:%B %Y}"
