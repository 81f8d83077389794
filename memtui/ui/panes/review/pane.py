"""Review: one decision after the other, the most urgent first, each with its evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from memtui.present.format import plural
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import BY_ID, Action
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.clock_banner import ClockBanner
from memtui.ui.panes.entity_links import AboutAction
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.memory_actions import memory_legend
from memtui.ui.panes.pane import Command, use_styles
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.filter_bar import FilterBar

from .decisions import VERDICTS, Decisions
from .detail import CardLayout, CardTable, CardText, CardView, VerdictKey
from .rows import (
    Card,
    DayCards,
    Evidence,
    card_columns,
    cards_matching,
    evidence_of_row,
    gather_evidence,
    read_day_cards,
)
from .verdicts import verdict_consequences

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord

# After a change the cards are read again, once for several changes in a row.
READ_AFTER = 0.3
# The verdicts take at most this share of the height. The evidence above them scrolls.
_VERDICTS_SHARE = 3
# What the footer calls verdicts on two names.
_OF_NAMES = {"both": "they are two", "merge": "they are one"}
_OF_CHOICE = {"keep": "replace it", "both": "none of these", "forget": "new is wrong"}


class ReviewPane(ListPane[Card]):
    """The cards at the left, the current one at the right. A decided card disappears, and the next one is shown."""

    pane_id: ClassVar = "review"
    BINDINGS = [*bindings_at("review")]
    placeholder = "filter by words: conflict, fading, a title, -not"
    noun, noun_one = "left", "left"
    waiting = "counting cards…"
    list_share = 0.3
    tables = frozenset({"memories", "memory_links", "proposals", "*"})

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._evidence: tuple[int, Evidence] | None = None
        self._picked_on: int | None = None
        self._everything = False
        self.decisions = Decisions(self)
        self._banner = ClockBanner(self)
        self.delegates = (
            self.decisions,
            self._banner,
            AboutAction(self, self._shown_memories, self._card_entities_first),
        )

    def compose(self) -> ComposeResult:
        use_styles(self.app, "review.tcss")
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, id="review-filter")
            yield CardTable(self.columns(), id="review-rows", glyphs=self.shell.glyphs)
        yield CardView(id="review-preview")

    @property
    def card_view(self) -> CardView:
        return self.query_one(CardView)

    # -- cards

    def columns(self) -> Sequence[Column[Card]]:
        return card_columns(self.shell.glyphs, self.shell.clock)

    def source(self, filter: str, order: tuple[str, bool]) -> ListSource[Card]:
        return ListSource(cards_matching(self.decisions.cards, filter), lambda card: card.key)

    def load(self) -> None:
        start_worker(self, self._read_cards, "cards")

    def reload(self) -> None:
        start_worker(self, partial(self._read_cards, READ_AFTER), "cards")

    async def _read_cards(self, delay: float = 0.0) -> None:
        await asyncio.sleep(delay)
        if self.shell.operations.memory is None:
            return
        everything, first = self._everything, self.decisions.deck is None
        before = {card.item.id for card in self.decisions.cards}
        deck = await self.ask(lambda memory: read_day_cards(memory, all=everything))
        self.decisions.deck = deck
        self._banner.show(deck.clock)
        self._evidence = None
        self.show_rows(top=first)
        undone = [
            card
            for card in self.decisions.cards
            if card.item.id in self.decisions.decided and card.item.id not in before
        ]
        if undone and not first:
            self.decisions.decided.remove(undone[-1].item.id)
            self.table.select_key(undone[-1].key)
        self.shell.show_count("review", len(self.decisions.cards))

    def total(self) -> int | None:
        return len(self.decisions.cards)

    def show_count(self, rows: int, exact: bool) -> None:
        if self.decisions.deck is None:
            return
        super().show_count(rows, exact)
        parts = [f"{len(self.decisions.cards)} left"]
        if self.table.marks:
            parts.insert(0, f"{len(self.table.marks)} marked")
        if self.decisions.deck.settled:
            parts.append(f"{self.decisions.deck.settled} decided today")
        if self.decisions.deck.later:
            parts.append(f"{self.decisions.deck.later} more tomorrow")
        self.show_status(f" {self.shell.glyphs.dot} ".join(parts))
        self.set_class(not self.decisions.cards, "-clear")

    # -- the card

    def _card_text(self) -> CardText:
        return CardText(self.card_view.text_width, self.shell.clock(), self.shell.glyphs)

    def preview_border_title(self, row: Card) -> Content:
        return self._card_text().title(row, f"{len(self.decisions.cards)} left")

    def quick_preview(self, row: Card) -> Content:
        return line("", 0)

    def show_preview(self, text: Content, key: int | None) -> None:
        """Show the card as far as it is known. ``details`` adds the rest of its evidence."""
        card = self.decisions.current
        if card is None:
            self.card_view.show_card(CardLayout(text, 0), text, subject=None)
            return
        if key != self._picked_on:
            self._picked_on, self.decisions.pick = key, card.first_pick
            self.shell.refresh_keys()
        elif self.decisions.pick is not None:  # a part was decided: the next one is picked, never all
            self.decisions.pick = min(self.decisions.pick, max(len(card.parts) - 1, 0))
        self._show_card(card)

    async def details(self, row: Card) -> Content:
        evidence = await self.ask(lambda memory: gather_evidence(memory, row))
        self._evidence = row.key, evidence
        return line("", 0)

    def _show_card(self, card: Card) -> None:
        known = self._evidence
        evidence = known[1] if known is not None and known[0] == card.key else evidence_of_row(card)
        offered = [
            VerdictKey(self.shell.keymap_shown(action), text, self.label(BY_ID[action]))
            for action, text in verdict_consequences(card, self.decisions.pick)
        ]
        if len(card.parts) > 1:
            keys = f"{self.shell.keymap_shown('pick_left')}{self.shell.keymap_shown('pick_right')}"
            way = "pick a side" if card.is_pair else "pick what changed" if card.is_choice else "one by one"
            offered.insert(0, VerdictKey(keys, way, way))
        text = self._card_text()
        verdicts = text.verdicts_text(offered, max(self.card_view.outer_size.height // _VERDICTS_SHARE, 1))
        self.card_view.show_card(
            text.card_layout(card, evidence, self.decisions.pick), verdicts, subject=card.key
        )

    def do_pick_left(self) -> None:
        self._pick_side(-1)

    def do_pick_right(self) -> None:
        self._pick_side(1)

    def _pick_side(self, by: int) -> None:
        card = self.decisions.current
        if card is None or len(card.parts) < 2:
            self.show_message("There is only one side here.")
            return
        first = 0 if card.is_pair else 1 if card.is_choice else -1
        at = max(
            first, min((-1 if self.decisions.pick is None else self.decisions.pick) + by, len(card.parts) - 1)
        )
        self.decisions.pick = None if at < 0 else at
        self._show_card(card)
        self.shell.refresh_keys()

    def preferred_actions(self) -> Sequence[str]:
        card = self.decisions.current
        return (
            [action for action, _ in verdict_consequences(card, self.decisions.pick)]
            if card is not None
            else ()
        )

    def legend(self) -> Sequence[tuple[str, str]]:
        return memory_legend(self.shell.glyphs)

    def label(self, action: Action) -> str:
        card = self.decisions.current
        if card is None:
            return action.label
        if card.item.kind == "entities":
            return _OF_NAMES.get(action.id, action.label)
        if card.is_choice:
            return _OF_CHOICE.get(action.id, action.label)
        if action.id == "keep" and card.item.kind in ("conflict", "duplicate"):
            # The card says "use the new one" or "use the old wording": the side is its third word.
            return f"use {dict(verdict_consequences(card, self.decisions.pick))['keep'].split()[2]}"
        return action.label

    def offers(self, action: Action) -> bool:
        """Without a card there are no verdicts."""
        return not (
            action.id in VERDICTS and self.decisions.deck is not None and self.decisions.current is None
        )

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("pick_left", "pick_right") and self.decisions.current is None:
            return "There is nothing to decide."
        return super().unavailable_reason(action)

    # -- nothing left

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        if filter and self.decisions.cards:
            return assemble(
                ("No card has these words.\n\n", "bold"),
                unknown_term_note(filter),
                (key("back"), "bold $accent"),
                "  clear the filter",
            )
        stats = self.shell.stats
        if stats is not None and not stats.active and not stats.ended:
            return assemble(
                ("Nothing is remembered yet.\n\n", "bold"),
                "What needs your decision will be listed here: contradictions, duplicates, new facts.\n\n",
                (key("import"), "bold $accent"), "  bring in conversations you had",
            )  # fmt: skip
        deck = self.decisions.deck or DayCards((), 0, 0, "")
        decided = f"{plural(deck.settled, 'card')} decided today.\n" if deck.settled else ""
        done = "done for today" if deck.later else "all clear"
        parts: list[Content | str | tuple[str, str]] = [
            (f"{self.shell.glyphs.done} {done}", "bold $success"), "\n\n", decided,
        ]  # fmt: skip
        if deck.later:
            parts += [f"{plural(deck.later, 'more card')} can wait until tomorrow.\n\n",
                      (key("everything"), "bold $accent"), f"  decide {'it' if deck.later == 1 else 'them'} now\n"]  # fmt: skip
        else:
            parts.append("Nothing else needs a decision.\n\n")
        if stats is not None and stats.pending_sessions:
            sessions = plural(stats.pending_sessions, "conversation is", "conversations are")
            parts += [(key("pane_sessions"), "bold $accent"), f"  {sessions} waiting to become facts\n"]
        parts += [(key("pane_memories"), "bold $accent"), "  look at what is remembered"]
        return assemble(*parts)

    def do_everything(self) -> None:
        self._everything = not self._everything
        key = self.shell.keymap_shown("everything")
        self.show_message(
            f"Showing all cards. {key} shows those of today again."
            if self._everything
            else f"Showing the cards of today. {key} shows all."
        )
        self.load()

    def _shown_memories(self) -> Sequence[MemoryRecord]:
        card, picked = self.decisions.current, self.decisions.picked_memory
        if card is None:
            return ()
        # A text that is held back is not a memory yet, but its evidence is.
        return (card.sides or card.item.sources) if picked is None else (picked,)

    def _card_entities_first(self, entities: Sequence[Entity]) -> Sequence[Entity]:
        """The entities that the card is about come first."""
        own = () if self.decisions.current is None else self.decisions.current.item.entities
        known = {one.eid for one in own}
        return [*own, *(one for one in entities if one.eid not in known)]

    def commands(self) -> Iterator[Command]:
        yield Command(
            "Review: look at what is fading", "List in Memories what fades soon.", self._look_at_fading
        )

    async def _look_at_fading(self) -> None:
        await self.shell.navigation.list_memories("is:fading")
