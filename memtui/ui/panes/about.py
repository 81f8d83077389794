"""From a memory to everything about the people and things it mentions, wherever it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.ui.actions import Action
from memtui.ui.format import count

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord

    from .pane import Pane as _Base
else:
    # Not a widget: styles are found through the first base that is one.
    from memtui.ui.perform import Performs as _Base

NOBODY = "No person or thing is known in this one."


class AboutRow(_Base):
    """Mixin of a pane whose rows are memories, or stand for some. A subclass says which (``about_memories``)."""

    def about_memories(self) -> Sequence[MemoryRecord]:
        """The memories that the selected row shows; none when there is no row."""
        raise NotImplementedError

    async def about_entities(self) -> Sequence[Entity]:
        """Whom and what the selected row mentions, the most mentioned there first."""
        # Imported late, like all that no first paint needs.
        from memtui.ui.presenters.entity_detail import entities_in

        shown = self.about_memories()
        return await self.ask(lambda memory: entities_in(memory, [one.id for one in shown]))

    def why_not(self, action: Action) -> str:
        if action.id == "about" and not self.about_memories():
            return "There is no row here."
        return super().why_not(action)

    async def do_about(self) -> None:
        found = await self.about_entities()
        if not found:
            unread = self.shell.stats.unlinked if self.shell.stats is not None else 0
            wait = f" {count(unread)} texts still wait to be read for names." if unread else ""
            self.say(f"{NOBODY}{wait}", "warning")
            return
        entity = found[0]
        if len(found) > 1:
            from memtui.ui.dialogs.choice import Choice, PickDialog

            choices = [Choice(one.canonical_name, one.type, count(one.mention_count)) for one in found]
            picked = await self.shell.ask_person(PickDialog("Everything about…", choices, yes="show"))
            if picked is None:
                return
            entity = found[picked]
        await self.shell.open_entity(entity.eid)
