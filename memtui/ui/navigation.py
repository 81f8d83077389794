"""Navigation between panes: to a pane by its number, from a row to its subject, and back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from .actions import ActionContext

if TYPE_CHECKING:
    from memtui.engine.records import Layer, RowsBy

# If more steps are kept, the oldest are dropped.
LONGEST = 50


class NavigablePane(Protocol):
    """What navigation needs from a pane."""

    @property
    def pane_id(self) -> ActionContext: ...
    def bookmark(self) -> Callable[[], None]:
        """A function that restores the present state of the pane."""

    @property
    def view_shown(self) -> Hashable:
        """What the pane shows, whatever the cursor is on: a filter, a mode, the part that has the whole pane."""

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is marked, and the focus is where a visit puts it."""

    def begin(self) -> None:
        """The person chose the pane: show its first view."""

    def back(self) -> bool:
        """Go one step back within the pane. False if there is none."""


class OpensRow(Protocol):
    """A pane that shows one of its rows in the whole window."""

    def open_at(self, key: int) -> None: ...


class OpensSession(Protocol):
    """A pane that shows a conversation at one of its turns."""

    async def open_at(self, session_id: str, rid: int | None) -> None: ...


class DrawsFacts(Protocol):
    """A pane that draws facts from the conversations that wait."""

    def draw_facts(self, sessions: Sequence[str], *, preview: bool) -> None: ...


class TakesQuestion(Protocol):
    """A pane that takes a question."""

    def do_query(self) -> None: ...


class ListsRecalls(Protocol):
    """A pane that lists what agents were told."""

    def list_recalls(self, words: str) -> None: ...


class TakesFilter(Protocol):
    """A pane that shows the rows that pass a filter."""

    def list_only(self, filter: str, order: tuple[str, bool] | None = None) -> None: ...


class TimelineTarget(NamedTuple):
    """Where the timeline is to be shown, by months. ``at``: a time (Unix seconds), None for the latest. ``name``: of the row."""

    by: RowsBy
    layer: Layer
    at: float | None = None
    name: str = ""
    filter: str = ""


class ShowsTimeline(Protocol):
    """A pane that shows what was learned and changed over time."""

    def show_timeline(self, target: TimelineTarget) -> None: ...


class PaneWindow(Protocol):
    """Where the panes are."""

    @property
    def pane(self) -> NavigablePane: ...
    def pane_at(self, pane_id: str) -> NavigablePane | None: ...
    async def go_to(self, pane_id: str) -> NavigablePane: ...


class NavigationStep(NamedTuple):
    """One step back: the pane where it began, and functions that restore both panes. ``view``: what the visit showed."""

    begun: ActionContext
    ended: ActionContext
    restore: Callable[[], None]
    leave: Callable[[], None] | None
    view: Hashable


class Navigation:
    """``visit_pane`` remembers the way, and Esc goes back. The number of a pane ends all visits: each pane is as before."""

    def __init__(self, window: Callable[[], PaneWindow], say: Callable[[str], None]) -> None:
        self._window = window
        self._say = say
        self._way: list[NavigationStep] = []

    # -- to a pane

    async def do_pane_you(self) -> None:
        await self.begin_at("you")

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

    async def begin_at(self, pane_id: str) -> None:
        """Show a pane that the person chose. Esc does not go back from there.

        The filter and the order that a visit set end with it, so that no list is narrowed by what was looked at before.
        """
        way, self._way = self._way, []
        for step in reversed(way):
            if step.leave is not None:
                step.leave()
            elif step.begun == step.ended:
                step.restore()
        (await self._window().go_to(pane_id)).begin()

    # -- to what a row is about

    async def open_session(self, session_id: str, rid: int) -> None:
        """Show a conversation at the turn with this key."""
        pane = await self.visit_pane("sessions")
        await cast("OpensSession", pane).open_at(session_id, rid)
        self._note_view()

    async def open_memory(self, rid: int) -> None:
        """Show a memory in the whole window."""
        cast("OpensRow", await self.visit_pane("memories")).open_at(rid)
        self._note_view()

    async def open_entity(self, eid: int) -> None:
        """Show everything about an entity in the whole window."""
        cast("OpensRow", await self.visit_pane("entities")).open_at(eid)
        self._note_view()

    async def open_topic(self, key: int) -> None:
        """Show one topic of Maintenance."""
        cast("OpensRow", await self.visit_pane("maintenance")).open_at(key)
        self._note_view()

    async def draw_facts(self, sessions: Sequence[str], *, preview: bool) -> None:
        """Draw facts from these conversations, or preview that."""
        cast("DrawsFacts", await self.visit_pane("sessions")).draw_facts(sessions, preview=preview)

    async def ask_question(self) -> None:
        """Show Search, to type a question."""
        cast("TakesQuestion", await self.visit_pane("search")).do_query()

    async def list_recalls(self, words: str) -> None:
        """Show what agents were told, as far as it has these words: ``coach on:today``."""
        cast("ListsRecalls", await self.visit_pane("history")).list_recalls(words)
        self._note_view()

    async def list_memories(self, filter: str, order: tuple[str, bool] | None = None) -> None:
        """Show the memories that pass a filter. ``order``: its sort key and whether it falls; None for the usual one."""
        await self.list_rows("memories", filter, order)

    async def show_timeline(self, target: TimelineTarget) -> None:
        """Show a place in the timeline."""
        cast("ShowsTimeline", await self.visit_pane("memories")).show_timeline(target)
        self._note_view()

    async def list_rows(
        self, pane_id: ActionContext, filter: str, order: tuple[str, bool] | None = None
    ) -> None:
        """Show the rows of a list that pass a filter."""
        cast("TakesFilter", await self.visit_pane(pane_id)).list_only(filter, order)
        self._note_view()

    async def visit_pane(self, pane_id: ActionContext) -> NavigablePane:
        """Go to another pane. Esc comes back to this one as it is now."""
        window = self._window()
        previous = window.pane
        restore, pane = previous.bookmark(), window.pane_at(pane_id)
        # A pane that was not there before leaves no trace of the visit either: it is bookmarked as it begins.
        leave = pane.bookmark() if pane is not None and pane is not previous else None
        arrived = await window.go_to(pane_id)
        if pane is None:
            leave = arrived.bookmark()
        step = NavigationStep(previous.pane_id, pane_id, restore, leave, arrived.view_shown)
        self._way = [*self._way[-LONGEST:], step]
        return arrived

    def _note_view(self) -> None:
        """Note what the visit shows. While it still does, one step back leaves the pane.

        Nothing is noted if the person chose another pane while the visited one was still reading.
        """
        pane = self._window().pane
        if self._way and self._way[-1].ended == pane.pane_id:
            self._way[-1] = self._way[-1]._replace(view=pane.view_shown)

    # -- back

    async def do_back(self) -> None:
        if not await self.go_back():
            self._say("There is nothing to go back to. q quits.")

    async def go_back(self) -> bool:
        """Go one step back. False if there is none."""
        pane = self._window().pane
        arrived = bool(self._way) and self._way[-1].ended == pane.pane_id
        unchanged = arrived and self._way[-1].view == pane.view_shown and pane.is_at_rest
        if not unchanged and pane.back():
            return True
        if arrived:
            await self._restore_step()
        return arrived

    async def _restore_step(self) -> None:
        *self._way, step = self._way
        if step.leave is not None:
            step.leave()
        await self._window().go_to(step.begun)
        step.restore()
