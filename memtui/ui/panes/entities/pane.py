"""Entities: people, projects and places, and everything that is known about each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from memtui.present.entity import filter_mentioning_all, type_legend
from memtui.present.format import plural
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.memory_actions import MemoryActions, memory_legend
from memtui.ui.panes.pane import Command, use_styles
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.presenters.entity import (
    ORDERS,
    TYPES,
    EntityPortrait,
    EntitySource,
    entity_columns,
    gather_portrait,
)
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.stop_view import StopLayout

from .corrections import Corrections
from .neighbours import Neighbours
from .neighbours_view import NeighboursView
from .profile import EntityProfileText, EntityProfileView, ProfileStop

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord

_NAME = 60
_NO_FACT = "There is no memory under the cursor."


class EntitiesPane(ListPane["Entity"]):
    """The list and the profile. Enter gives the profile the whole window."""

    pane_id: ClassVar = "entities"
    BINDINGS = [*bindings_at("entities")]
    placeholder = "filter by words of the name, type:person, -word"
    noun, noun_one = "entities", "entity"
    orders = ORDERS
    markable = False
    tables = frozenset({"entities", "entity_aliases", "entity_decisions", "memory_entities", "memories", "*"})
    # What the profile shows now.
    _portrait: EntityPortrait | None = None

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._corrections = Corrections(self, lambda: self.stop)
        self._neighbours = Neighbours(self)
        memories = MemoryActions(
            self,
            lambda: self._corrections.picked_memory,
            table=None,
            go_to=self._select_memory,
            nothing=_NO_FACT,
        )
        self.delegates = (self._corrections, self._neighbours, memories)

    @property
    def action_context(self) -> ActionContext:
        """On a memory in a profile, the keys of memories mean it."""
        return "mentions" if self._corrections.picked_memory is not None else "entities"

    @property
    def entity_name(self) -> str:
        """In the drawing it is the one in the middle."""
        entity = self._neighbours.central_entity or self.table.selected
        return entity.canonical_name if entity is not None else ""

    def label(self, action: Action) -> str:
        return "in common" if action.id == "shared" and self._neighbours.shown else action.label

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, id="entities-filter")
            yield RowTable(
                self.columns(),
                id="entities-rows",
                orders=self.orders,
                glyphs=self.shell.glyphs,
                markable=self.markable,
            )
        with Vertical(classes="side"):
            yield EntityProfileView(self.shell.glyphs, id="entities-preview")

    def columns(self) -> Sequence[Column[Entity]]:
        return entity_columns(self.shell.glyphs, self.shell.clock)

    def source(self, filter: str, order: tuple[str, bool]) -> EntitySource:
        return EntitySource(self.shell.operations.require_memory(), filter, order)

    def total(self) -> int | None:
        return None if self.shell.stats is None else self.shell.stats.entities

    # -- the profile

    @property
    def profile(self) -> EntityProfileView:
        return self.query_one(EntityProfileView)

    @property
    def preview_part(self) -> Widget:
        return self._neighbours.view if self._neighbours.shown else self.profile

    @property
    def stop(self) -> ProfileStop | None:
        """The item under the cursor in the profile, while the profile has the focus."""
        return self.profile.stop_at_cursor if self.profile.has_focus else None

    def _profile_text(self) -> EntityProfileText:
        keys = {} if self.shell.readonly else {"summary": self.shell.keymap_shown("summary")}
        return EntityProfileText(self.profile.text_width, self.shell.clock(), self.shell.glyphs, keys)

    def legend(self) -> Sequence[tuple[str, str]]:
        return [*memory_legend(self.shell.glyphs), *type_legend(self.shell.glyphs)]

    def preview_border_title(self, row: Entity) -> Content:
        pin = f"{self.shell.glyphs.pinned} " if row.pinned else ""
        name = line(row.canonical_name, _NAME, "bold $text")
        return assemble(
            (f" {pin}", "$accent"), name, (f" {self.shell.glyphs.dot} {row.type} ", "$text-muted")
        )

    def quick_preview(self, row: Entity) -> Content:
        return self.preview_border_title(row)

    def show_preview(self, text: Content, key: int | None) -> None:
        """Show the frame and what is known from the row. ``_fill_preview`` adds the rest."""
        if self._neighbours.shown:
            if key is None:
                self._neighbours.view.show(None, 0)
            return
        self.query_one(".side").border_title = text
        row = self.table.selected
        if key is None:
            self._portrait = None
            self.profile.show_layout(StopLayout(), subject=None)
        elif row is not None and (self._portrait is None or self._portrait.entity.eid != key):
            self._show_profile(EntityPortrait(row))

    async def details(self, row: Entity) -> Content:
        if self._neighbours.shown:
            if row.eid == self.table.selected_key:
                await self._neighbours.follow_list(row)
            return self.preview_border_title(row)
        entity_id = row.id
        portrait = await self.ask(lambda memory: gather_portrait(memory, entity_id))
        if self.table.selected_key == row.eid:
            self._show_profile(portrait)
        return self.preview_border_title(portrait.entity)

    def _show_profile(self, portrait: EntityPortrait) -> None:
        self._portrait = portrait
        self.profile.show_layout(self._profile_text().lay_out(portrait), subject=portrait.entity.eid)
        self.shell.refresh_keys()

    @on(EntityProfileView.Rewidened)
    def _profile_rewidened(self) -> None:
        if self._portrait is not None:
            self._show_profile(self._portrait)

    @on(EntityProfileView.Moved)
    def on_descendant_focus(self) -> None:
        """The keys change: in the profile, a memory may be selected."""
        self.shell.refresh_keys()

    @on(NeighboursView.Chosen)
    def _neighbour_chosen(self) -> None:
        start_worker(self, self._neighbours.do_to_middle, "neighbours")

    @on(NeighboursView.Moved)
    def _neighbour_moved(self) -> None:
        self._neighbours.say_what_is_shown()

    @property
    def view_shown(self) -> Hashable:
        return super().view_shown, self._neighbours.shown

    def back(self) -> bool:
        return self._neighbours.back() or super().back()

    def on_resize(self) -> None:
        super().on_resize()
        self._neighbours.fit_to_width()

    @property
    def in_mode(self) -> bool:
        return self._neighbours.shown or super().in_mode

    @property
    def footer_needed(self) -> frozenset[str]:
        """In a profile the drawing is needed too, and in the drawing its time: nothing else there leads to it."""
        if self._neighbours.shown:
            return frozenset({"span_before"})
        return frozenset({"unlink", "neighbours"} if self.profile.has_focus else {"unlink"})

    def preferred_actions(self) -> Sequence[str]:
        if self._neighbours.shown:
            return ("to_middle", "shared", "back")
        return (
            ("go", "correct", "confirm", "forget", "back")
            if self._corrections.picked_memory is not None
            else ()
        )

    # -- going on from it

    @on(EntityProfileView.Opened)
    def _stop_opened(self) -> None:
        stop, entity = self.profile.stop_at_cursor, self.table.selected
        if stop is None:
            return
        if stop.entity is not None:
            start_worker(self, partial(self.shell.navigation.open_entity, stop.entity.eid), "go")
        elif stop.memory is not None:
            start_worker(self, partial(self._open_memory, stop.memory), "go")
        elif entity is not None:
            start_worker(
                self, partial(self.shell.navigation.list_memories, filter_mentioning_all(entity)), "go"
            )

    async def _open_memory(self, memory: MemoryRecord) -> None:
        if memory.kind == "episode" and memory.session_id is not None:
            await self.shell.navigation.open_session(memory.session_id, memory.rid)
        else:
            await self.shell.navigation.open_memory(memory.rid)

    @on(EntityProfileView.ListRequested)
    def _profile_left(self) -> None:
        self.do_focus_list()

    def _select_memory(self, rid: int) -> None:
        """Put the cursor on a memory of the profile, as soon as it is shown there."""
        self.profile.move_to_key(("memory", rid))

    def open_at(self, eid: int) -> None:
        """Show an entity in the whole window."""
        if self._neighbours.shown:
            self._neighbours.close()
        if self.filter_text:
            self.filter_bar.set_filter("", quiet=True)
        self.table.select_key(eid)
        self.show_rows(top=False)
        self.zoom_part("preview")
        self.profile.focus()

    def bookmark(self) -> Callable[[], None]:
        restore, stop = super().bookmark(), self.profile.stop_at_cursor

        def restore_all() -> None:
            restore()
            if stop is not None:
                self.profile.move_to_key(stop.key)

        return restore_all

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        stats = await self.ask(lambda memory: memory.stats())
        waiting = (
            f"{plural(stats.unlinked, 'text still waits', 'texts still wait')} to be read for names."
            " The list follows by itself."
            if stats.unlinked
            else ""
        )
        if filter and stats.entities:
            about = unknown_term_note(filter, ("entity",))
            return assemble(
                ("No entity passes this filter.\n\n", "bold"), (filter, "bold $warning"), "\n\n", about,
                (key("back"), "bold $accent"), "  clear the filter\n",
                (key("filter"), "bold $accent"), "  change it\n",
                *(((key("shared"), "bold $accent"), "  on an entity: list its memories, and filter those\n") if about else ()),
                (f"\n{waiting}" if waiting else "", "$text-muted"),
            )  # fmt: skip
        explanation = (
            "People, projects and places appear here automatically, from the names in your memories.\n\n"
        )
        if waiting:
            return assemble(("Names are being looked up.\n\n", "bold"), explanation, waiting)
        if not stats.active:
            return assemble(
                ("Nothing is remembered yet, so there are no entities.\n\n", "bold"), explanation,
                (key("import"), "bold $accent"), "  bring in conversations you had\n",
                (key("pane_memories"), "bold $accent"), "  write down a first memory",
            )  # fmt: skip
        memories = plural(stats.active, "memory was", "memories were")
        return assemble(
            ("There are no entities yet.\n\n", "bold"), explanation,
            f"{memories} read, and no names were found. A setting says how names are found.\n\n",
            (key("settings"), "bold $accent"), "  settings\n",
            (key("pane_memories"), "bold $accent"), "  look at what is remembered",
        )  # fmt: skip

    def commands(self) -> Iterator[Command]:
        for type in TYPES:
            run = partial(self.filter_bar.set_filter, f"type:{type}")
            yield Command(f"Entities: only {type}", "Narrow the list to this type.", run)
        for one in self.orders:
            for falling, label in ((True, one.falling_label), (False, one.rising_label)):
                yield Command(
                    f"Sort: {label}", "Put the list in this order.",
                    partial(self.table.sort_by, one.sort, falling),
                )  # fmt: skip
