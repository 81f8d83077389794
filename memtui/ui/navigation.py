"""Ways between the panes: to a pane by its number, from a row to what it is about, and back again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from .actions import Place
from .messages import Said
from .perform import Performs, start

if TYPE_CHECKING:
    from .app import MemtuiApp
    from .panes.pane import Pane

# A longer way back is forgotten from its far end.
LONGEST = 50


class Step(NamedTuple):
    """One step of the way back: where it began, and what puts both panes back as they were."""

    begun: Place
    ended: Place
    restore: Callable[[], None]
    leave: Callable[[], None] | None


class AppWays(Performs):
    """Mixin of the app. ``visit`` remembers the way; Esc goes back along it, a pane's number forgets it."""

    _way: list[Step]

    @property
    def _here(self) -> MemtuiApp:
        return cast("MemtuiApp", self)

    # -- to a pane

    async def do_pane_review(self) -> None:
        await self.begin_at("review")

    async def do_pane_memories(self) -> None:
        await self.begin_at("memories")

    async def do_pane_search(self) -> None:
        await self.begin_at("search")

    async def do_pane_entities(self) -> None:
        await self.begin_at("entities")

    async def do_pane_sessions(self) -> None:
        await self.begin_at("sessions")

    async def do_pane_observations(self) -> None:
        await self.begin_at("observations")

    async def do_pane_maintenance(self) -> None:
        await self.begin_at("maintenance")

    async def do_pane_history(self) -> None:
        await self.begin_at("history")

    async def begin_at(self, place: str) -> None:
        """Show a pane because the person chose it; there is no way back from there."""
        self._way = []
        await self._here.main.go_to(place)

    # -- to what a row is about

    async def open_session(self, session_id: str, rid: int) -> None:
        """Show a conversation at the turn with this key."""
        from .panes.sessions.pane import SessionsPane

        async def show(pane: Pane) -> None:
            assert isinstance(pane, SessionsPane)
            await pane.open_at(session_id, rid)

        await self.visit("sessions", show)

    async def open_memory(self, rid: int) -> None:
        """Show a note in the whole window."""
        from .panes.memories.pane import MemoriesPane

        async def show(pane: Pane) -> None:
            assert isinstance(pane, MemoriesPane)
            pane.open_at(rid)

        await self.visit("memories", show)

    async def list_memories(self, filter: str) -> None:
        """Show the memories that pass a filter."""
        await self.list_rows("memories", filter)

    async def list_rows(self, place: Place, filter: str) -> None:
        """Show the rows of a list that pass a filter."""
        from .panes.list_pane import ListPane

        async def show(pane: Pane) -> None:
            assert isinstance(pane, ListPane)
            pane.list_only(filter)

        await self.visit(place, show)

    async def open_topic(self, key: int) -> None:
        """Show one topic of Maintenance."""
        from .panes.maintenance.pane import MaintenancePane

        async def show(pane: Pane) -> None:
            assert isinstance(pane, MaintenancePane)
            pane.open_at(key)

        await self.visit("maintenance", show)

    async def open_entity(self, eid: int) -> None:
        """Show everything about an entity in the whole window."""
        from .panes.entities.pane import EntitiesPane

        async def show(pane: Pane) -> None:
            assert isinstance(pane, EntitiesPane)
            pane.open_at(eid)

        await self.visit("entities", show)

    def action_show_entity(self, eid: int) -> None:
        """A name in a text was clicked."""
        start(self, partial(self.open_entity, eid), "go")

    async def visit(self, place: Place, show: Callable[[Pane], Awaitable[None]]) -> None:
        """Go to a pane to look at something there; Esc comes back to this one as it is now."""
        main = self._here.main
        left = main.pane
        restore, there = left.bookmark(), main.pane_at(place)
        leave = there.bookmark() if there is not None and there is not left else None
        self._way = [*self._way[-LONGEST:], Step(left.place, place, restore, leave)]
        await show(await main.go_to(place))

    # -- back

    async def do_back(self) -> None:
        pane = self._here.main.pane
        arrived = bool(self._way) and self._way[-1].ended == pane.place
        if arrived and pane.as_arrived():
            await self._go_back()
        elif pane.back():
            return
        elif arrived:
            await self._go_back()
        else:
            self.post_message(Said("Nothing to go back to. q quits."))

    async def _go_back(self) -> None:
        *self._way, step = self._way
        if step.leave is not None:
            step.leave()
        await self._here.main.go_to(step.begun)
        step.restore()
