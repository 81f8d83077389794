"""Decisions about review cards: one verdict for a card, or for all marked ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtui.present.format import plural
from memtui.ui.actions import BY_ID, Action
from memtui.ui.dialogs.choice import Question
from memtui.ui.panes.correction import source_quote
from memtui.ui.panes.memory_actions import ASK_ABOVE

from .rows import Card, DayCards
from .verdicts import action_of_verdict, verdict_of_action

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord
    from memtui.engine.review.cards import Verdict
    from memtui.engine.review.groups import ReviewGroup
    from memtui.ui.panes.list_pane import ListPane

_OF_GROUPS: tuple[Verdict, ...] = ("keep", "forget")
VERDICTS = ("keep", "forget", "correct", "merge", "both", "later")


class Decisions:
    """Decides the cards of a list. A decided card disappears at once, while the decision is being saved."""

    def __init__(self, pane: ListPane[Card]) -> None:
        self._pane = pane
        self.deck: DayCards | None = None
        # What a verdict is about: a side of the card; None for all of several.
        self.pick: int | None = None
        # Cards (ids) whose decision is being saved, and those decided since the app was started.
        self._deciding: set[str] = set()
        self.decided: list[str] = []

    @property
    def cards(self) -> list[Card]:
        """The cards without a decision that is being saved."""
        cards = self.deck.cards if self.deck is not None else ()
        return [card for card in cards if card.item.id not in self._deciding]

    @property
    def current(self) -> Card | None:
        """The card under the cursor."""
        return self._pane.table.selected

    @property
    def picked_memory(self) -> MemoryRecord | None:
        """The memory that a verdict is about. None for a text that is held back, a summary, or all of several."""
        card = self.current
        if card is None or self.pick is None or not card.sides or self.picked_summary is not None:
            return None
        return card.sides[min(self.pick, len(card.sides) - 1)]

    @property
    def picked_summary(self) -> Entity | None:
        """The entity whose summary a verdict is about."""
        card = self.current
        if (
            card is None
            or not card.item.entities
            or self.pick is None
            or card.item.kind != "dependents"
            or self.pick < len(card.sides)
        ):
            return None
        return card.item.entities[min(self.pick - len(card.sides), len(card.item.entities) - 1)]

    # -- verdicts

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("copy", "group") or action.id in VERDICTS:
            card = self.current
            if card is None:
                return (
                    "There is nothing to decide."
                    if self.deck is not None
                    else "The cards are still being read."
                )
            if action.id in VERDICTS:
                return self._why_no_verdict(action.id, card)
        return ""

    def _why_no_verdict(self, verb: str, card: Card) -> str:
        verdict = verdict_of_action(None if self._pane.table.marks else card, verb)
        if self._pane.table.marks:
            bulk = verdict in ("keep", "forget", "snooze")
            return "" if bulk else "This works on one card at a time: unmark the others first (Esc)."
        if verdict not in card.item.offered:
            key = self._pane.shell.keymap_shown
            offered = [action_of_verdict(one) for one in card.item.offered]
            takes = ", ".join(f"{key(one)} {BY_ID[one].label}" for one in offered)
            alone = verdict in ("merge", "both")
            return f"{'There are no two texts on this card' if alone else 'Not for this card'}. It takes: {takes}."
        if verdict == "correct" and len(card.parts) > 1 and self.pick is None:
            return f"Pick one of them first ({self._pane.shell.keymap_shown('pick_right')})."
        return ""

    def _index_kept_by_merge(self, card: Card) -> int:
        """The index of the one that a merge keeps: the picked one, the confirmed duplicate, or the new one."""
        old, new = card.sides
        if self.pick is None and card.item.kind == "duplicate" and old.protected and not new.protected:
            return 0
        return 1 if self.pick is None else self.pick

    async def do_keep(self) -> None:
        choice = not self._pane.table.marks and self.current is not None and self.current.is_choice
        await self._settle_current_or_marked("replace" if choice else "keep")

    async def do_forget(self) -> None:
        await self._settle_current_or_marked("forget")

    async def do_both(self) -> None:
        await self._settle_current_or_marked("both")

    async def do_later(self) -> None:
        await self._settle_current_or_marked("snooze")

    async def do_group(self) -> None:
        """Keep or forget the whole group of the current card, after its count was shown."""
        from memtui.ui.dialogs.choice import Choice, PickDialog

        card = self.current
        if card is None:
            return
        item = card.item
        groups = await self._pane.ask(lambda memory: memory.review.groups(item))
        deeds: list[tuple[ReviewGroup, Verdict]] = [
            (group, verdict) for group in groups for verdict in _OF_GROUPS if group.count(verdict)
        ]
        if not deeds:
            self._pane.show_message("No other card belongs to the group of this one.")
            return
        choices = [
            Choice(
                f"{verdict} {plural(group.count(verdict), 'fact')} {group.describe_facts}",
                note=_cards_left_text(group.count_left(verdict)),
            )
            for group, verdict in deeds
        ]
        text = (
            "One undo takes it back. Cards with two sides and change requests are left for single decisions."
        )
        picked = await self._pane.shell.show_dialog(
            PickDialog("The whole group", choices, yes="do it", text=text)
        )
        if picked is None:
            self._pane.show_message("Nothing was decided.")
            return
        group, verdict = deeds[picked]
        try:
            await self._pane.change(lambda memory: memory.review.decide_group(group, verdict), "deciding")
        finally:
            self._pane.reload()

    async def do_correct(self) -> None:
        from memtui.ui.dialogs.edit import CorrectDialog

        card, memory = self.current, self.picked_memory
        if card is None:
            return
        if memory is not None:
            memory_id = memory.id
            sources, depends = await self._pane.ask(
                lambda engine: (
                    engine.view.sources(memory_id),
                    engine.view.dependents([memory_id]),
                )
            )
            quote = source_quote(memory, sources)
        else:
            quote = depends = None
        summary = self.picked_summary
        text = memory.content if memory is not None else (summary and summary.summary) or card.item.text
        proposed = card.item.text if card.item.change_request else ""
        written = await self._pane.shell.show_dialog(
            CorrectDialog(text, quote, proposed=proposed, depends=depends)
        )
        if written is None:
            self._pane.show_message("Nothing was corrected.")
            return
        await self._settle_current_or_marked("correct", text=written.text, card=card)

    async def do_merge(self) -> None:
        from memtui.ui.dialogs.merge import FactMergeDialog

        card = self.current
        if card is not None and card.item.kind in ("entities", "devices"):
            await self._settle_current_or_marked("merge", card=card)
            return
        if card is None or len(card.sides) < 2:
            return
        if card.is_choice:  # the new one stays, with what the chosen one has
            new, old, kept = card.sides[0], card.sides[max(self.pick or 1, 1)], 1
        else:
            (old, new), kept = card.sides, self._index_kept_by_merge(card)
        merged = await self._pane.shell.show_dialog(FactMergeDialog((old, new), kept))
        if merged is None:
            self._pane.show_message("Nothing was merged.")
            return
        if not card.is_choice:
            self.pick = merged.survivor
        await self._settle_current_or_marked("merge", text=merged.text, card=card)

    async def _settle_current_or_marked(
        self, verdict: Verdict, *, text: str = "", card: Card | None = None
    ) -> None:
        marks = self._pane.table.marks
        if marks:
            await self._settle_marked(verdict, [one for one in self.cards if one.key in marks])
            return
        card = card or self.current
        if card is None or card not in self.cards:
            return  # it was decided just now, and the next one is not on screen yet
        item, part = card.item, self.picked_memory or self.picked_summary
        keep = part.id if part is not None and (card.is_pair or card.is_choice) else None
        if item.several and part is not None and len(card.parts) > 1:
            keep = part.id
            self._hide_part(card, keep)
        else:
            self._hide_cards([card])
        try:
            await self._pane.change(
                lambda memory: memory.review.decide(item, verdict, text=text, keep=keep), "deciding"
            )
        finally:
            self._deciding.discard(card.item.id)
            self._pane.reload()

    async def _settle_marked(self, verdict: Verdict, cards: list[Card]) -> None:
        """One verdict for all marked cards. Cards with two sides are left out: each needs its own decision."""
        several = [card for card in cards if verdict == "snooze" or not (card.is_pair or card.is_choice)]
        if not several:
            self._pane.show_message("These have two sides: decide them one by one.", "warning")
            return
        if len(several) > ASK_ABOVE:
            verb = {"keep": "Keep", "forget": "Forget", "snooze": "Put off"}[verdict]
            number = plural(len(several), "card")
            question = Question(
                f"{verb} {number}?", "One undo takes it back.", yes=f"{verb.lower()} {number}"
            )
            if not await self._pane.shell.show_dialog(question):
                self._pane.show_message("Nothing was decided.")
                return
        if len(several) < len(cards):
            others = len(cards) - len(several)
            stays = plural(others, "card with two sides stays", "cards with two sides stay")
            self._pane.show_message(
                f"{stays}: decide {'it by itself' if others == 1 else 'them one by one'}."
            )
        await self._settle_cards(verdict, several)

    async def _settle_cards(self, verdict: Verdict, cards: list[Card]) -> None:
        self._pane.table.set_marks(set())
        self._hide_cards(cards)
        items = [card.item for card in cards]
        try:
            done = await self._pane.change(
                lambda memory: memory.review.decide_all(items, verdict), "deciding"
            )
            if done is None:
                self._pane.show_message("None of them offers that: nothing changed.", "warning")
        finally:
            self._deciding -= {item.id for item in items}
            self._pane.reload()

    def _hide_cards(self, cards: Sequence[Card]) -> None:
        """Show the list without these cards, while their decision is being saved."""
        ids = [card.item.id for card in cards]
        self._deciding.update(ids)
        self.decided += ids
        if self.deck is not None:
            remaining = tuple(card for card in self.deck.cards if card.item.id not in ids)
            self.deck = self.deck._replace(cards=remaining, settled=self.deck.settled + len(ids))
        self._pane.show_rows(top=False)

    def _hide_part(self, card: Card, id: str) -> None:
        """Show a card without one of its parts, while its decision is being saved. The next part is picked."""
        rest = replace(
            card.item,
            memories=tuple(one for one in card.item.memories if one.id != id),
            entities=tuple(one for one in card.item.entities if one.id != id),
        )
        if self.deck is not None:
            cards = tuple(one._replace(item=rest) if one.key == card.key else one for one in self.deck.cards)
            self.deck = self.deck._replace(cards=cards)
        self._pane.show_rows(top=False)

    def do_copy(self) -> None:
        card, memory = self.current, self.picked_memory
        if card is not None:
            summary = self.picked_summary
            text = memory.content if memory is not None else (summary and summary.summary) or card.item.text
            self._pane.app.copy_to_clipboard(text or "\n".join(one.content for one in card.sides))
            self._pane.show_message("Copied the text.")


def _cards_left_text(cards: int) -> str:
    return f"{cards} stay" if cards else ""
