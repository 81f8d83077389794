"""Who with whom: the drawing beside the list, and the way that was walked in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.present.entity import companions_headline, filter_mentioning_all
from memtui.present.span import SPAN_UNITS, Span, SpanUnit, filled_spans, neighbouring_span, span_of
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.safe import assemble, line

from .neighbours_view import NeighboursView
from .profile import EntityProfileView
from .radial_layout import MOST

if TYPE_CHECKING:
    from memtui.engine.records import Entity, Neighbourhood
    from memtui.ui.panes.list_pane import ListPane

BESIDE_FROM = 100
"""In a window that is narrower, the drawing has the place of the list."""
_NAME, _WAY_SHOWN = 24, 3


class VisitedEntity(NamedTuple):
    """An entity that was in the middle, and the one (eid) that the cursor was on."""

    middle: Entity
    cursor: int | None


class Neighbours:
    """Actions on the drawing. ``shown``: it has the place of the profile. The list follows the middle."""

    def __init__(self, pane: ListPane[Entity]) -> None:
        self._pane = pane
        self._way: list[VisitedEntity] = []
        self.shown = False
        # What is drawn is of this time; None: of all time.
        self._span: Span | None = None
        self._unit: SpanUnit = "month"

    @property
    def view(self) -> NeighboursView:
        return self._pane.query_one(NeighboursView)

    @property
    def _profile_view(self) -> EntityProfileView:
        return self._pane.query_one(EntityProfileView)

    @property
    def central_entity(self) -> Entity | None:
        """The entity in the middle; None while nothing is drawn."""
        return self.view.found.entity if self.shown and self.view.found is not None else None

    def unavailable_reason(self, action: Action) -> str:
        match action.id:
            case "neighbours":
                return "" if self.shown or self._pane.table.selected is not None else "There is no row here."
            case "shared" if not self.shown:
                return "" if self._pane.table.selected is not None else "There is no row here."
            case "span_before" | "span_after" | "span_unit" | "all_time" if self.central_entity is None:
                key = self._pane.shell.keymap_shown("neighbours")
                return f"This is for the drawing of who is seen with whom: {key} shows it."
            case "all_time":
                return "" if self._span is not None else "This is of all time."
            case "walk_back":
                return "" if self._way else "This is where you began."
            case _:
                return "" if self.central_entity is not None else "Nothing is drawn yet."

    # -- showing it

    async def do_neighbours(self) -> None:
        if self.shown:
            self.close()
            return
        entity = self._pane.table.selected
        assert entity is not None  # unavailable_reason
        await self.draw_neighbours_of(entity)

    async def draw_neighbours_of(self, entity: Entity) -> None:
        """Draw an entity's neighbourhood in place of the profile."""
        pane = self._pane
        self._span = None
        # Read before anything is laid out, so that the window is painted once.
        neighbourhood = await self._load_neighbourhood(entity)
        if not pane.query(NeighboursView):
            view = NeighboursView(pane.shell.glyphs, pane.shell.clock(), id="entities-neighbours")
            view.display = False
            await pane.query_one(".side").mount(view)
        self.shown, self._way, self._span = True, [], None
        with pane.app.batch_update():
            pane.add_class("-drawn")
            self.view.display, self._profile_view.display = True, False
            self.fit_to_width()
            self.view.focus()
            self._show_neighbourhood(neighbourhood, None)

    def close(self) -> None:
        """Show the profile again."""
        focused = self.view.has_focus
        self.shown = False
        self.view.show(None, 0)
        self.view.display, self._profile_view.display = False, True
        self._pane.remove_class("-drawn")
        self._pane.zoom_part(None)
        if focused:
            self._pane.table.focus()
        self._pane.show_selected()
        self._pane.show_count(self._pane.table.row_count, self._pane.table.count_is_exact)

    def fit_to_width(self) -> None:
        """Give the drawing the whole pane where there is no room beside the list."""
        pane = self._pane
        if self.shown and pane.screen.size.width < BESIDE_FROM and not pane.has_class("-zoom-preview"):
            pane.zoom_part("preview")
            self.view.focus()

    async def read_neighbourhood(self, entity: Entity, cursor: int | None = None) -> None:
        """Draw the neighbourhood of an entity as it is now. ``cursor``: the one (eid) to put the cursor on."""
        neighbourhood = await self._load_neighbourhood(entity)
        if self.shown:
            self._show_neighbourhood(neighbourhood, cursor)

    async def _load_neighbourhood(self, entity: Entity) -> Neighbourhood:
        entity_id, type = entity.id, self._entity_type
        on = self._span.filter_term if self._span is not None else ""
        return await self._pane.ask(
            lambda memory: memory.view.neighbourhood(entity_id, type=type, limit=MOST, on=on)
        )

    def _show_neighbourhood(self, neighbourhood: Neighbourhood, cursor: int | None) -> None:
        before = self.central_entity
        if before is not None and before.eid == neighbourhood.entity.eid and cursor is None:
            chosen = self.view.companion_at_cursor
            cursor = chosen.entity.eid if chosen is not None else before.eid
        self.view.show(neighbourhood, self._pane.shell.clock(), cursor)
        self.say_what_is_shown()

    async def follow_list(self, row: Entity) -> None:
        """The cursor of the list is on this entity."""
        if self.central_entity is None or self.central_entity.eid != row.eid:
            self._way = []
        await self.read_neighbourhood(row)

    @property
    def _entity_type(self) -> str | None:
        """The type that the filter of the list asks for: then only these are drawn."""
        words = self._pane.filter_text.casefold().split()
        return next((word[5:] for word in words if word.startswith("type:") and len(word) > 5), None)

    def say_what_is_shown(self) -> None:
        pane, neighbourhood = self._pane, self.view.found
        if self.shown and neighbourhood is not None:
            pane.query_one(".side").border_title = self.path_title()
            when = self._span.name if self._span is not None else ""
            pane.show_status(companions_headline(neighbourhood, self.view.left_out, when))
        pane.shell.refresh_keys()

    def path_title(self) -> Content:
        """The way to the middle, and the middle."""
        arrow = (" > ", "$text-muted")
        parts: list[Content | tuple[str, str]] = []
        for one in self._way[-_WAY_SHOWN:]:
            parts += [line(one.middle.canonical_name, _NAME, "$text-muted"), arrow]
        middle = self.central_entity
        if middle is not None:
            parts.append(line(middle.canonical_name, _NAME * 2, "bold $text"))
        if self._span is not None:
            parts.append((f" {self._pane.shell.glyphs.dot} {self._span.name}", "$accent"))
        return assemble(" ", *parts, " ")

    # -- the time

    async def do_span_before(self) -> None:
        await self._show_next_period(-1)

    async def do_span_after(self) -> None:
        await self._show_next_period(1)

    async def _show_next_period(self, by: int) -> None:
        """To the next period in which the middle is mentioned."""
        middle = self.central_entity
        assert middle is not None  # unavailable_reason
        months = await self._pane.ask(lambda memory: memory.view.entity_months(middle.eid))
        span = neighbouring_span(filled_spans(self._unit, months), self._span, by)
        if span is None:
            self._pane.show_message(f"There is nothing {'earlier' if by < 0 else 'later'}.")
            return
        self._span = span
        await self.read_neighbourhood(middle)

    async def do_span_unit(self) -> None:
        self._unit = SPAN_UNITS[(SPAN_UNITS.index(self._unit) + 1) % len(SPAN_UNITS)]
        middle, span = self.central_entity, self._span
        if middle is not None and span is not None:
            self._span = span_of(self._unit, span.year, span.first + span.months - 1)
            await self.read_neighbourhood(middle)
        self._pane.show_message(f"By {self._unit}.")

    async def do_all_time(self) -> None:
        middle = self.central_entity
        assert middle is not None  # unavailable_reason
        self._span = None
        await self.read_neighbourhood(middle)

    # -- walking

    async def do_to_middle(self) -> None:
        chosen, middle = self.view.companion_at_cursor, self.central_entity
        assert middle is not None  # unavailable_reason
        if chosen is None:
            self.close()
            self._pane.open_preview()
            return
        self._way.append(VisitedEntity(middle, chosen.entity.eid))
        await self._move_to_middle(chosen.entity)

    async def do_walk_back(self) -> None:
        passed = self._way.pop()
        await self._move_to_middle(passed.middle, passed.cursor)

    async def _move_to_middle(self, entity: Entity, cursor: int | None = None) -> None:
        """Put an entity into the middle, and the list's cursor on it."""
        pane = self._pane
        await self.read_neighbourhood(entity, cursor)
        kept = " ".join(word for word in pane.filter_text.split() if word.casefold().startswith("type:"))
        pane.table.select_key(entity.eid)
        if kept != pane.filter_text:
            pane.filter_bar.set_filter(kept, quiet=True)
            pane.show_rows(top=False)

    def back(self) -> bool:
        """One step back: to the entity before, then from the drawing to the list."""
        if not self.shown:
            return False
        if self._way:
            start_worker(self._pane, self.do_walk_back, "neighbours")
        else:
            self.close()
        return True

    async def do_shared(self) -> None:
        """List what mentions the entity; in the drawing what mentions both."""
        middle = self.central_entity if self.shown else self._pane.table.selected
        chosen = self.view.companion_at_cursor if self.shown else None
        assert middle is not None  # unavailable_reason
        on = self._span.filter_term if self.shown and self._span is not None else ""
        both = [middle] if chosen is None else [middle, chosen.entity]
        await self._pane.shell.navigation.list_memories(filter_mentioning_all(*both, on=on))
