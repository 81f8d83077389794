"""Corrections of an entity by the person. Each is one operation with an undo, and no job reverts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.wording import quote_beginning
from memtui.present.format import plural
from memtui.present.text import one_line
from memtui.ui.actions import Action
from memtui.ui.panes.entity_links import mentioned_in, show_about
from memtui.ui.panes.memory_actions import ASK_ABOVE
from memtui.ui.presenters.entity import TYPES

from .profile import ProfileStop

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Entity, MemoryRecord
    from memtui.ui.panes.list_pane import ListPane

_VERBS = (
    "rename",
    "retype",
    "merge",
    "split",
    "add_name",
    "drop_name",
    "not_entity",
    "summary",
    "pin",
    "copy",
)
_LONGEST_NAME, _LONGEST_SUMMARY = 200, 600
_SHOWN = 40


class Corrections:
    """Actions on the entity under the cursor. ``stop``: the item under the cursor in its profile."""

    def __init__(self, pane: ListPane[Entity], stop: Callable[[], ProfileStop | None]) -> None:
        self._pane = pane
        self._stop = stop

    @property
    def picked_memory(self) -> MemoryRecord | None:
        """The memory that the cursor of the profile is on."""
        stop = self._stop()
        return None if stop is None else stop.memory

    def unavailable_reason(self, action: Action) -> str:
        entity = self._pane.table.selected
        if action.id in _VERBS and entity is None:
            return "There is no row here."
        if action.id in ("split", "drop_name") and entity is not None and not entity.aliases:
            other = self._pane.shell.keymap_shown("add_name")
            return f"This one goes by one name only; {other} adds another one."
        if action.id in ("unlink", "about") and self.picked_memory is None:
            key = self._pane.shell.keymap_shown("focus_preview")
            return f"This is about a memory: {key} goes to the profile, to pick one there."
        return ""

    async def do_rename(self) -> None:
        from memtui.ui.dialogs.line_input import LineDialog

        entity = self._current_entity()
        hint = "The old name is kept as another name, so that texts with it are still found."
        title = f"Rename {one_line(entity.canonical_name, _SHOWN)}"
        dialog = LineDialog(title, entity.canonical_name, hint=hint, longest=_LONGEST_NAME)
        name = await self._pane.shell.show_dialog(dialog)
        if name is None or name == entity.canonical_name:
            self._pane.show_message("The name stays as it is.")
            return
        await self._run_correction(lambda memory: memory.entities.rename(entity.id, name), "renaming")

    async def do_retype(self) -> None:
        from memtui.ui.dialogs.choice import Choice, PickDialog

        entity = self._current_entity()
        types = TYPES if entity.type in TYPES else (*TYPES, entity.type)
        dialog = PickDialog(
            f"What is {entity.canonical_name}?",
            [Choice(type, note="now" if type == entity.type else "") for type in types],
            yes="take it",
            at=types.index(entity.type),
        )
        picked = await self._pane.shell.show_dialog(dialog)
        if picked is None or types[picked] == entity.type:
            self._pane.show_message("The type stays as it is.")
            return
        await self._run_correction(
            lambda memory: memory.entities.retype(entity.id, types[picked]), "retyping"
        )

    async def do_add_name(self) -> None:
        from memtui.ui.dialogs.line_input import LineDialog

        entity = self._current_entity()
        dialog = LineDialog(
            f"Another name of {entity.canonical_name}",
            hint="Texts with this name are about it too, also later ones.",
            placeholder="as it is written: Addie, A. Ferreira, @ada",
            longest=_LONGEST_NAME,
        )
        alias = await self._pane.shell.show_dialog(dialog)
        if alias is None:
            self._pane.show_message("No name was added.")
            return
        await self._run_correction(
            lambda memory: memory.entities.add_alias(entity.id, alias), "adding the name"
        )

    async def do_drop_name(self) -> None:
        entity = self._current_entity()
        alias = await self._pick_name(entity, "Which of these is not a name of it?", "drop it")
        if alias is None:
            self._pane.show_message("No name was dropped.")
            return
        await self._run_correction(
            lambda memory: memory.entities.remove_alias(entity.id, alias), "dropping the name"
        )

    async def do_split(self) -> None:
        entity = self._current_entity()
        hint = "The memories with this name move to a new entity."
        alias = await self._pick_name(entity, "Which of these is somebody else?", "split it out", hint)
        if alias is None:
            self._pane.show_message("Nothing was split.")
            return
        await self._run_correction(lambda memory: memory.entities.split(entity.id, alias), "splitting")

    async def do_merge(self) -> None:
        from memtui.ui.dialogs.merge import EntityMergeDialog

        joined = await self._pane.shell.show_dialog(EntityMergeDialog(self._current_entity()))
        if joined is None:
            self._pane.show_message("Nothing was merged.")
            return
        await self._run_correction(
            lambda memory: memory.entities.merge(joined.survivor, joined.absorbed), "merging"
        )

    async def do_not_entity(self) -> None:
        """Ask first where many memories are about it, and in its profile, whose place another one takes."""
        from memtui.ui.dialogs.choice import Question

        entity, inside = self._current_entity(), not self._pane.table.has_focus
        if inside or entity.mention_count > ASK_ABOVE:
            name = one_line(entity.canonical_name, _SHOWN)
            about = plural(entity.mention_count, "memory mentions it", "memories mention it")
            text = f"{name} leaves the list, and is not detected again. {about}; all of them stay."
            if not await self._pane.shell.show_dialog(
                Question(f"{name} is no entity?", text, yes="take it out")
            ):
                self._pane.show_message("Nothing was changed.")
                return
        await self._pane.change(lambda memory: memory.entities.not_an_entity(entity.id), "taking it out")
        if inside:
            self._pane.do_focus_list()

    async def do_summary(self) -> None:
        from memtui.ui.dialogs.line_input import LineDialog

        entity = self._current_entity()
        dialog = LineDialog(
            f"Who or what is {entity.canonical_name}?",
            entity.summary or "",
            placeholder="one line, for you and for agents",
            longest=_LONGEST_SUMMARY,
            empty="It will have no summary.",
        )
        text = await self._pane.shell.show_dialog(dialog)
        if text is None or text == (entity.summary or ""):
            self._pane.show_message("The summary stays as it is.")
            return
        await self._run_correction(
            lambda memory: memory.entities.describe(entity.id, text or None), "writing it down"
        )

    async def do_pin(self) -> None:
        entity = self._current_entity()
        await self._run_correction(
            lambda memory: memory.entities.pin(entity.id, not entity.pinned), "pinning"
        )

    async def do_unlink(self) -> None:
        entity, one = self._current_entity(), self.picked_memory
        if one is not None:
            memory_id = one.id
            await self._pane.change(
                lambda memory: memory.entities.unlink(memory_id, entity.id), "taking it out"
            )

    async def do_about(self) -> None:
        """Show another entity of the selected memory."""
        one, here = self.picked_memory, self._pane.table.selected_key
        if one is not None:
            entities = await mentioned_in(self._pane, [one])
            await show_about(self._pane, [entity for entity in entities if entity.eid != here])

    def do_copy(self) -> None:
        one = self.picked_memory
        self._pane.app.copy_to_clipboard(
            self._current_entity().canonical_name if one is None else one.content
        )
        self._pane.show_message("Copied the name." if one is None else "Copied the text.")

    def _current_entity(self) -> Entity:
        entity = self._pane.table.selected
        assert entity is not None  # unavailable_reason
        return entity

    async def _run_correction(self, change: Callable[[Memory], Entity], doing: str) -> None:
        """Make the change. The cursor goes to the resulting entity."""
        after = await self._pane.change(change, doing)
        self._pane.table.select_key(after.eid)

    async def _pick_name(self, entity: Entity, title: str, yes: str, hint: str = "") -> str | None:
        """Ask for one of its other names, also if there is only one."""
        from memtui.ui.dialogs.choice import Choice, PickDialog

        name = quote_beginning(entity.canonical_name, _SHOWN)
        hint = f"{hint} {name} itself stays." if hint else f"{name} itself stays."
        choices = [Choice(alias) for alias in entity.aliases]
        picked = await self._pane.shell.show_dialog(PickDialog(title, choices, yes=yes, text=hint))
        return None if picked is None else entity.aliases[picked]
