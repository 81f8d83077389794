"""Review cards as rows: read together, filtered by words, listed in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.format import plural, relative_time
from memtui.present.review import KIND_CELLS, card_kind
from memtui.present.text import Role, VisibleText, max_cells, one_line, visible_text
from memtui.ui.widgets.columns import Column, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Entity, MemoryRecord
    from memtui.engine.review.cards import ReviewItem
    from memtui.present.glyphs import Glyphs

# How many facts of a card get evidence. More are only listed.
EVIDENCED = 40


class Card(NamedTuple):
    """One review item. ``title``: the title of its conversation, or empty."""

    item: ReviewItem
    title: str

    @property
    def key(self) -> int:
        return int(self.item.id.rpartition("_")[2], 16)

    @property
    def sides(self) -> tuple[MemoryRecord, ...]:
        """The memories in the order of the card. Of a pair, the older one is at the left."""
        memories = self.item.memories
        if not self.is_pair:
            return memories
        return tuple(sorted(memories, key=lambda one: (one.event_time, one is memories[0])))

    @property
    def parts(self) -> tuple[MemoryRecord | Entity, ...]:
        """The parts that can be decided separately: its memories, and entities with a summary to decide."""
        return (*self.sides, *self.item.entities) if self.item.kind == "dependents" else self.sides

    @property
    def is_pair(self) -> bool:
        return self.item.kind in ("agent_change", "conflict", "duplicate") or (
            self.item.kind == "devices" and len(self.item.memories) > 1
        )

    @property
    def is_choice(self) -> bool:
        """It asks which of its memories the first one replaces."""
        return self.item.kind == "choice"

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two sides of a pair."""
        if self.item.kind != "devices":
            return "old", "new"
        return ("there", "here") if self.sides[0] is self.item.memories[0] else ("here", "there")

    @property
    def first_pick(self) -> int | None:
        """The first selection: the newer one of a pair, the likeliest of a choice, or all of several."""
        return 1 if self.is_pair or self.is_choice else None if len(self.parts) > 1 else 0

    @property
    def words(self) -> str:
        """The kind of the card, in one or two words."""
        return card_kind(self.item)[0]

    @property
    def role(self) -> Role:
        return card_kind(self.item)[1]

    @property
    def headline(self) -> str:
        item = self.item
        if item.kind == "dependents" and not (item.only_named and len(item.parts) == 1):
            return item.reason
        if (request := item.change_request) is not None:
            return (
                f"{request.verb} to: {request.text}"
                if request.text
                else f"{request.verb}: {item.memories[0].content}"
            )
        if not item.several or len(item.memories) == 1:
            return item.text or item.memories[0].content
        facts = plural(len(item.memories), "fact")
        return (
            f"{facts}: {self.title}"
            if item.kind == "new" and self.title
            else f"{facts}: {item.memories[0].content}"
        )

    def sign(self, glyphs: Glyphs) -> str:
        signs = {
            "agent_change": glyphs.conflict,
            "conflict": glyphs.conflict,
            "choice": glyphs.conflict,
            "quarantined": glyphs.conflict,
            "duplicate": "=",
            "entities": "=",
        }
        signs |= {"suspicious": "?", "change_request": "?", "dependents": "?", "devices": glyphs.conflict}
        return signs.get(self.item.kind) or (glyphs.fading if self.item.kind == "fading" else "+")


class DayCards(NamedTuple):
    """The cards of a day.

    ``later``: how many more wait. ``settled``: how many were decided today. ``clock``: what is wrong with the clock.
    """

    cards: tuple[Card, ...]
    later: int
    settled: int
    clock: str


def read_day_cards(memory: Memory, *, all: bool) -> DayCards:
    """The cards of today, or all. Blocks."""
    inbox = memory.review.inbox(all=all)
    titles = session_titles(memory, (item.session_id for item in inbox.items))
    cards = tuple(Card(item, titles.get(item.session_id or "", "")) for item in inbox.items)
    return DayCards(cards, inbox.later, inbox.settled, memory.jobs.status().clock)


def session_titles(memory: Memory, session_ids: Iterable[str | None]) -> dict[str, str]:
    """The titles of conversations, without those that are not in the memory. Blocks."""
    from memtui.engine.errors import NotFoundError

    titles = {}
    for session_id in {one for one in session_ids if one}:
        try:
            titles[session_id] = memory.view.session(session_id).name
        except NotFoundError:
            continue
    return titles


class Evidence(NamedTuple):
    """The sources of memories by id, and the titles of their conversations."""

    sources: Mapping[str, Sequence[MemoryRecord]]
    titles: Mapping[str, str]


def evidence_of_row(card: Card) -> Evidence:
    """The evidence that came with the card."""
    turns = {turn.id: turn for turn in card.item.sources}
    sources = {one.id: [turns[id] for id in one.source_ids if id in turns] for one in card.item.memories}
    return Evidence(
        sources, {card.item.session_id: card.title} if card.item.session_id and card.title else {}
    )


def gather_evidence(memory: Memory, card: Card) -> Evidence:
    """Read all evidence of a card. Blocks."""
    sources_of = {one.id: memory.view.sources(one.id) for one in card.item.memories[:EVIDENCED]}
    turns = [turn for sources in sources_of.values() for turn in sources]
    sessions = {turn.session_id for turn in (*turns, *card.item.sources)}
    return Evidence(sources_of, session_titles(memory, sessions))


def cards_matching(cards: Sequence[Card], words: str) -> list[Card]:
    """The cards that have all of these words, and none of those with a minus."""
    terms = [word.casefold() for word in words.replace('"', " ").split() if word != "-"]

    def has_words(card: Card) -> bool:
        item = card.item
        text = " ".join(
            (card.words, item.reason, card.title, item.text, *(one.content for one in item.memories))
        )
        text = text.casefold()
        return all((word[1:] not in text) if word[0] == "-" else word in text for word in terms)

    return [card for card in cards if has_words(card)]


# A narrower list shows of the kind only the sign; the card beside it has the word.
_WORDS_FROM = 38


def card_columns(glyphs: Glyphs, now: Callable[[], float]) -> list[Column[Card]]:
    """Sign, kind and text, age."""

    def sign_cell(card: Card, width: int) -> Iterable[StyledText]:
        yield StyledText(visible_text(card.sign(glyphs)), card.role)

    def text_cell(card: Card, width: int) -> Iterable[StyledText]:
        words = visible_text(f"{card.words:<{KIND_CELLS}}  " if width >= _WORDS_FROM else "")
        yield StyledText(words, card.role)
        yield StyledText(one_line(card.headline, width - max_cells(words)))

    def age_cell(card: Card, width: int) -> Iterable[StyledText]:
        item = card.item
        times = [one.event_time for one in (*item.memories, *item.sources)]
        yield StyledText(relative_time(max(times), now()) if times else VisibleText(""), "dim")

    return [
        Column("sign", "", sign_cell, width=1),
        Column("text", "card", text_cell, least=_WORDS_FROM, gap=1),
        Column("age", "age", age_cell, width=4, right=True, drop=1),
    ]
