"""Corrects the text of a memory: of a turn that of a fact drawn from it, of a replaced fact the one that the person means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.present.dependents import review_note
from memtui.present.format import local_date
from memtui.present.memory import without_secrets
from memtui.present.text import one_line
from memtui.ui.safe import assemble, content_with_marks

if TYPE_CHECKING:
    from textual.content import Content

    from memtui.engine.memory import Memory
    from memtui.engine.records import Dependents, MemoryRecord

    from .pane import Pane

_QUOTE = 400
_FACT_OF_TURN = "Correct the fact that was drawn from this turn"


class Correction:
    """Corrections in a pane. ``go_to``: puts the cursor on a memory by its rid."""

    def __init__(self, pane: Pane, go_to: Callable[[int], None]) -> None:
        self._pane = pane
        self._go_to = go_to

    async def correct(self, current: MemoryRecord) -> None:
        from memtui.ui.dialogs.edit import CorrectDialog

        memory = await self._choose_text(current)
        if memory is None:
            return
        memory_id = memory.id
        sources, depends = await self._pane.ask(lambda engine: load_sources_and_dependents(engine, memory_id))
        title = _FACT_OF_TURN if current.kind == "episode" else ""
        written = await self._pane.shell.show_dialog(
            CorrectDialog(memory.content, source_quote(memory, sources), depends=depends, title=title)
        )
        if written is None:
            self._pane.show_message("Nothing was corrected.")
            return
        await self._save_correction(memory, written.text)

    async def _choose_text(self, memory: MemoryRecord) -> MemoryRecord | None:
        """The memory to correct: for a turn, a fact that was drawn from it. None: nothing is corrected, and a message says so."""
        if memory.kind == "episode":
            turn_id = memory.id
            drawn = await self._pane.ask(lambda engine: engine.view.drawn([turn_id]).get(turn_id, ()))
            facts = [fact for fact in drawn if fact.active]
            if not facts:
                self._say_why_turn_stays()
                return None
            chosen = facts[0] if len(facts) == 1 else await self._choose_fact(facts)
        else:
            chosen = memory
        version = None if chosen is None else await self._choose_version(chosen)
        if version is None:
            self._pane.show_message("Nothing was corrected.")
        return version

    def _say_why_turn_stays(self) -> None:
        keys = self._pane.shell.keymap_shown
        self._pane.show_message(
            f"A turn stays as it was said, and no fact in force is drawn from it: {keys('forget')} forgets it,"
            f" {keys('erase')} erases it; in Memories ({keys('pane_memories')}) {keys('add')} writes down a note.",
            "warning",
        )

    async def _choose_fact(self, facts: Sequence[MemoryRecord]) -> MemoryRecord | None:
        from memtui.ui.dialogs.choice import Choice, PickDialog

        choices = [Choice(one_line(without_secrets(fact), _QUOTE)) for fact in facts]
        text = "The turn stays as it was said. These facts were drawn from it."
        picked = await self._pane.shell.show_dialog(
            PickDialog("Correct which fact?", choices, yes="correct it", text=text)
        )
        return None if picked is None else facts[picked]

    async def _choose_version(self, memory: MemoryRecord) -> MemoryRecord | None:
        """The memory to correct: where a later statement took its place, the person chooses. None: neither."""
        memory_id = memory.id
        cautions = await self._pane.ask(lambda engine: engine.view.cautions([memory_id]).get(memory_id, ()))
        caution = next((one for one in cautions if one.replaced and one.old.id == memory_id), None)
        if caution is None or caution.successor is None or not caution.successor.active:
            return memory
        from memtui.ui.dialogs.choice import Choice, PickDialog

        later = caution.successor
        choices = [
            Choice(f"correct that one: {one_line(without_secrets(later), _QUOTE)}"),
            Choice(f"correct this one: {one_line(without_secrets(memory), _QUOTE)}"),
        ]
        text = (
            f"This one was replaced on {local_date(caution.at, self._pane.shell.clock())}."
            " If you correct it, it counts as true again, beside that one."
        )
        picked = await self._pane.shell.show_dialog(
            PickDialog("Correct what was replaced?", choices, yes="take it", text=text)
        )
        return None if picked is None else (later, memory)[picked]

    async def correct_in_editor(self, current: MemoryRecord) -> None:
        from memtui.ui.dialogs.choice import Question
        from memtui.ui.editor import edit_text

        memory = await self._choose_text(current)
        if memory is None:
            return
        text = edit_text(self._pane.shell, memory.content)
        if text.strip() == memory.content.strip():
            self._pane.show_message("The text is as it was: nothing was corrected.")
            return
        depends = await self._pane.ask(lambda engine: engine.view.dependents([memory.id]).after(text))
        question = Question(
            "Save the correction?", review_note(depends), yes="save it", enter=True, depends=depends
        )
        if depends.is_needed and await self._pane.shell.show_dialog(question) is not True:
            self._pane.show_message("Nothing was corrected.")
            return
        await self._save_correction(memory, text)

    async def _save_correction(self, memory: MemoryRecord, text: str) -> None:
        """Write the text. If the memory was changed in the meantime, show both texts and let the person decide."""
        memory_id = memory.id
        now = await self._pane.ask(lambda engine: _latest_version(engine, memory_id))
        if not now.active:
            self._pane.app.copy_to_clipboard(text)
            self._pane.show_message(
                "This memory was forgotten in the meantime. Your text is in the clipboard.", "warning"
            )
            self._pane.reload()
            return
        if now.content == text.strip():
            self._pane.show_message("It says so already: somebody else corrected it.")
            self._pane.reload()
            return
        if now.content != memory.content:
            await self._correct_changed(now, text)
            return
        new = await self._pane.change(lambda engine: engine.correct(memory_id, text), "correcting")
        self._go_to(new.rid)

    async def _correct_changed(self, now: MemoryRecord, text: str) -> None:
        from memtui.ui.dialogs.edit import CorrectDialog

        warning = "It was changed in the meantime. Saving replaces what it says now by your text."
        sources, depends = await self._pane.ask(lambda engine: load_sources_and_dependents(engine, now.id))
        written = await self._pane.shell.show_dialog(
            CorrectDialog(
                now.content,
                source_quote(now, sources),
                proposed=text,
                typed=True,
                depends=depends,
                warning=warning,
            )
        )
        if written is None:
            self._pane.show_message("Nothing was corrected.")
            self._pane.reload()
        else:
            await self._save_correction(now, written.text)


def _latest_version(engine: Memory, memory_id: str) -> MemoryRecord:
    """The memory as it is now, or what took its place."""
    now = engine.view.get(memory_id)
    return now if now.active else engine.view.successor(memory_id) or now


def load_sources_and_dependents(engine: Memory, memory_id: str) -> tuple[list[MemoryRecord], Dependents]:
    """What a memory was drawn from, and what depends on it. Blocks."""
    return engine.view.sources(memory_id), engine.view.dependents([memory_id])


def source_quote(memory: MemoryRecord, sources: list[MemoryRecord]) -> Content | None:
    """The words that a memory came from, for the dialog that corrects it."""
    from memtui.ui.presenters.source_words import excerpt_around, shared_words

    if not sources:
        return None
    quote = without_secrets(sources[0])
    part, ranges = excerpt_around(quote, shared_words(memory.content, quote), _QUOTE)
    return assemble("“", content_with_marks(part, ranges, "bold $accent", "$text"), "”")
