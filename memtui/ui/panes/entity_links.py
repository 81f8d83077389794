"""Goes from a memory to the profile of an entity that it mentions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.present.format import format_count

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord
    from memtui.ui.actions import Action

    from .pane import Pane

NO_ROW = "There is no row here."
NOBODY = "No person or thing is known in this one."


async def mentioned_in(pane: Pane, memories: Sequence[MemoryRecord]) -> Sequence[Entity]:
    """The entities that these memories mention, the most mentioned first."""
    # Imported late: not needed for the first paint.
    from memtui.ui.presenters.entity import entities_in

    ids = [one.id for one in memories]
    return await pane.ask(lambda memory: entities_in(memory, ids))


async def show_about(pane: Pane, entities: Sequence[Entity]) -> None:
    """Show everything about one of them; the person picks which."""
    shell = pane.shell
    if not entities:
        unread = shell.stats.unlinked if shell.stats is not None else 0
        wait = f" {format_count(unread)} texts still wait to be read for names." if unread else ""
        pane.show_message(f"{NOBODY}{wait}", "warning")
        return
    entity = entities[0]
    if len(entities) > 1:
        from memtui.ui.dialogs.choice import Choice, PickDialog

        choices = [Choice(one.canonical_name, one.type, format_count(one.mention_count)) for one in entities]
        picked = await shell.show_dialog(PickDialog("Everything about…", choices, yes="show"))
        if picked is None:
            return
        entity = entities[picked]
    await shell.navigation.open_entity(entity.eid)


class AboutAction:
    """The action of a pane whose rows stand for memories. ``among``: what becomes of those that are found."""

    def __init__(
        self,
        pane: Pane,
        memories: Callable[[], Sequence[MemoryRecord]],
        among: Callable[[Sequence[Entity]], Sequence[Entity]] = list,
    ) -> None:
        self._pane = pane
        self._memories = memories
        self._among = among

    def unavailable_reason(self, action: Action) -> str:
        return "" if self._memories() else NO_ROW

    async def do_about(self) -> None:
        await show_about(self._pane, self._among(await mentioned_in(self._pane, self._memories())))
