"""The verbs on memories, for every pane whose rows are memories: one, or all that are marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from memtui.ui.actions import Action
from memtui.ui.format import plural
from memtui.ui.presenters.memory_rows import is_followed
from memtui.ui.safe import assemble, marked

from .about import AboutRow
from .list_pane import ListPane

if TYPE_CHECKING:
    from textual.content import Content

    from memtui.engine.memory import Memory
    from memtui.engine.records import Kind, MemoryRecord, Operation

Row = TypeVar("Row")

# A verb on more rows than that asks first.
ASK_ABOVE = 20
_QUOTE = 400
_KINDS: dict[Kind, str] = {
    "fact": "A fact.",
    "episode": "A turn of a conversation, word for word.",
    "reflection": "A reflection: what was seen in several facts.",
    "observation": "An observation: a finding, an insight or a lesson.",
}


class MemoryVerbs(AboutRow, ListPane[Row]):
    """A list of memories that can be corrected, confirmed, forgotten, restored and tagged.

    A subclass says which memory a row shows (``memory_of``); its rows' keys are rids.
    """

    def memory_of(self, row: Row) -> MemoryRecord:
        raise NotImplementedError

    @property
    def current(self) -> MemoryRecord | None:
        row = self.table.selected
        return None if row is None else self.memory_of(row)

    def legend(self) -> Sequence[tuple[str, str]]:
        signs = self.shell.glyphs
        return [
            *((sign, _KINDS[kind]) for kind, sign in signs.kinds.items()),
            (signs.protected, "Confirmed: it does not fade, and no job touches it."),
            (signs.fading, "Fading: in a while it goes to the Trash, unless it is recalled or confirmed."),
            (signs.replaced, "Replaced or merged: another one stands in its place."),
            (signs.ended, "In the Trash."),
        ]

    def about_memories(self) -> Sequence[MemoryRecord]:
        return () if self.current is None else (self.current,)

    def why_not(self, action: Action) -> str:
        if action.id in ("correct", "editor", "about", "copy") and self.current is None:
            return "There is no row here."
        if action.id == "erase":
            return "" if self.table.marks or self.current is not None else "There is no row here."
        if action.id == "successor":
            followed = self.current is not None and is_followed(self.current)
            return "" if followed else "This one was not replaced: nothing stands in its place."
        if action.id == "in_session":
            return _no_session(self.current)
        if action.id not in ("confirm", "forget", "restore", "tag", "correct", "editor"):
            return super().why_not(action)
        if self.table.marks:
            one_only = action.id in ("correct", "editor")
            return "This works on one at a time: unmark the others first (Esc)." if one_only else ""
        memory = self.current
        if memory is None:
            return "There is no row here."
        if action.id == "restore":
            return "This one is not in the Trash." if memory.active else ""
        if not memory.active:
            return "This one is in the Trash: restore it first."
        if action.id == "confirm" and memory.protected:
            return "This one is confirmed already."
        if action.id == "confirm" and memory.kind == "episode":
            return "This is what was said, word for word: there is nothing to confirm."
        return ""

    async def do_confirm(self) -> None:
        await self._verb("confirm", "confirm", "confirming")

    async def do_forget(self) -> None:
        await self._verb("forget", "forget", "forgetting")

    async def do_restore(self) -> None:
        await self._verb("restore", "restore", "restoring")

    async def do_erase(self) -> None:
        from memtui.ui.dialogs.erase import EraseDialog

        rids = sorted(self.table.marks)
        if rids:
            ids = [one.id for one in await self.ask(lambda engine: engine.view.rows(rids))]
        else:
            ids = [] if self.current is None else [self.current.id]
        if await self.shell.ask_person(EraseDialog(ids)) is not None:
            self.table.mark(set())

    async def do_successor(self) -> None:
        """To what stands in the place of one that was replaced or merged; Esc comes back."""
        from memtui.ui.presenters.memory_detail import successor

        if self.current is None:
            return
        identity = self.current.id
        one = await self.ask(lambda engine: successor(engine, identity))
        if one is None:
            self.say("What took its place is not there any more.")
        elif one.active:
            await self.shell.navigation.open_memory(one.rid)
        else:
            await self.shell.navigation.list_memories(f"is:trash id:{one.id}")

    async def do_tag(self) -> None:
        from memtui.ui.dialogs.edit import TagDialog

        memory = self.current
        marks = len(self.table.marks)
        tags = memory.tags if memory is not None and not marks else ()
        change = await self.shell.ask_person(TagDialog(tags, marks or 1))
        if change is None:
            self.say("No tag was changed.")
            return
        await self._verb("tag", "tag", "tagging", add=change.add, remove=change.remove)

    async def do_correct(self) -> None:
        from memtui.ui.dialogs.edit import CorrectDialog

        memory = self.current
        if memory is None:
            return
        identity = memory.id
        sources = await self.ask(lambda engine: engine.view.sources(identity))
        written = await self.shell.ask_person(CorrectDialog(memory.content, source_quote(memory, sources)))
        if written is None:
            self.say("Nothing was corrected.")
            return
        await self._correct(memory, written.text)

    async def do_editor(self) -> None:
        from memtui.ui.editor import edit

        memory = self.current
        if memory is None:
            return
        text = edit(self.shell, memory.content)
        if text.strip() == memory.content.strip():
            self.say("The text is as it was: nothing was corrected.")
            return
        await self._correct(memory, text)

    async def _correct(self, memory: MemoryRecord, text: str) -> None:
        identity = memory.id
        now = await self.ask(lambda engine: engine.view.get(identity))
        if now.content != memory.content or not now.active:
            self.say("Somebody changed this memory meanwhile: look at it again, then correct it.", "warning")
            self.reload()
            return
        new = await self.change(lambda engine: engine.correct(identity, text), "correcting")
        self.table.select(new.rid)

    async def _verb(
        self,
        verb: Literal["confirm", "forget", "restore", "tag"],
        name: str,
        doing: str,
        *,
        add: tuple[str, ...] = (),
        remove: tuple[str, ...] = (),
    ) -> None:
        rids = sorted(self.table.marks)
        if len(rids) > ASK_ABOVE and not await self._sure(name, len(rids)):
            self.say("Nothing was changed.")
            return
        if rids:
            change: Callable[[Memory], Operation | None] = lambda engine: engine.change_all(  # noqa: E731
                verb, rids, add=add, remove=remove
            )
            if await self.change(change, doing) is None:
                self.say("Nothing changed: they were so already.")
            self.table.mark(set())
            return
        memory = self.current
        if memory is not None:
            await self._verb_on_one(verb, memory.id, doing, add, remove)

    async def _verb_on_one(
        self, verb: str, identity: str, doing: str, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        def change(engine: Memory) -> MemoryRecord:
            match verb:
                case "confirm":
                    return engine.confirm(identity)
                case "forget":
                    return engine.forget(identity)
                case "restore":
                    return engine.restore(identity)
                case _:
                    return engine.tag(identity, add=add, remove=remove)

        before = self.current
        after = await self.change(change, doing)
        if before is not None and before.tags == after.tags and verb == "tag":
            self.say("No tag changed: it was so already.")

    async def _sure(self, name: str, rows: int) -> bool:
        from memtui.ui.dialogs.question import Question

        title = f"{name.capitalize()} {plural(rows, 'memory')}?"
        question = Question(title, "One undo takes it back.", yes=f"{name} {rows:,}")
        answer = await self.shell.ask_person(question)
        return answer is True

    async def do_in_session(self) -> None:
        memory = self.current
        if memory is None:
            return
        identity = memory.id
        sources = (
            [memory]
            if memory.kind == "episode"
            else await self.ask(lambda engine: engine.view.sources(identity))
        )
        said = next((source for source in sources if source.session_id is not None), None)
        if said is None or said.session_id is None:
            self.say("The conversation that this came from is not in the memory.", "warning")
        else:
            await self.shell.navigation.open_session(said.session_id, said.rid)

    def do_copy(self) -> None:
        memory = self.current
        if memory is not None:
            self.app.copy_to_clipboard(memory.content)
            self.say("Copied the text.")


def _no_session(memory: MemoryRecord | None) -> str:
    if memory is None:
        return "There is no row here."
    somewhere = memory.session_id is not None if memory.kind == "episode" else bool(memory.source_ids)
    return "" if somewhere else "This one was not said in a conversation."


def source_quote(memory: MemoryRecord, sources: list[MemoryRecord]) -> Content | None:
    """The words that a memory came from, for the dialog that corrects it."""
    from memtui.ui.presenters.source_words import excerpt, shared

    if not sources:
        return None
    part, ranges = excerpt(sources[0].content, shared(memory.content, sources[0].content), _QUOTE)
    return assemble("“", marked(part, ranges, "bold $accent", "$text"), "”")
