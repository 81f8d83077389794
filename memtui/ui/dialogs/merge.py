"""Merge two facts, or two entities: choose which one stays, and see the result before it is saved."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static, TextArea

from memtui.engine.errors import InputError
from memtui.present.format import plural
from memtui.present.text import one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.presenters.diff import mark_changed_parts
from memtui.ui.presenters.entity import EntitySource, entity_columns
from memtui.ui.presenters.source_words import is_mostly_lost
from memtui.ui.safe import assemble, content, line
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import RowHighlighted, RowOpened, RowsCounted, RowsFailed, RowTable
from memtui.ui.widgets.text_view import DependsView

from .dialog import LINE_HINT, Dialog, EditingDialog

if TYPE_CHECKING:
    from memtui.engine.records import Dependents, Entity, EntityMerge, MemoryRecord


_SHOWN = 600
_SENTENCE_ENDS = ".!?…"


class FactMerge(NamedTuple):
    """``survivor``: the index (0 or 1) of the one that stays. ``text``: its text."""

    survivor: int
    text: str


class FactMergeDialog(EditingDialog[FactMerge]):
    """Shows both, the text that stays, and what the survivor takes over from each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "other", show=False, priority=True),
        Binding("ctrl+t", "both", show=False, priority=True),
    ]
    wide = True
    hints = (("Enter", "merge"), ("ctrl+o", "swap"), ("ctrl+t", "both"), LINE_HINT)

    def __init__(
        self, pair: tuple[MemoryRecord, MemoryRecord], survivor: int, depends: Dependents | None = None
    ) -> None:
        super().__init__()
        self._depends = depends
        self._pair = pair
        self._survivor = survivor

    def title_text(self) -> str:
        return "Merge two facts"

    def body(self) -> ComposeResult:
        yield Static(classes="dialog-text")
        yield Static(assemble(("the one that stays says", "$text-muted")), classes="dialog-label")
        yield self.make_text_area()
        yield Static(assemble(("what changes", "$text-muted")), classes="dialog-label")
        yield Static(classes="dialog-diff")
        if self._depends is not None:
            yield DependsView(self._depends.after(self._pair[self._survivor].content), self.shell.clock())
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self._edit_text_of(self._survivor)
        self.query_one(TextArea).focus()

    def _edit_text_of(self, survivor: int) -> None:
        self._survivor = survivor
        kept, gone = self._pair[survivor], self._pair[1 - survivor]
        tags = ", ".join(dict.fromkeys((*kept.tags, *gone.tags))) or "none"
        sources = len(dict.fromkeys((*kept.source_ids, *gone.source_ids)))
        has = f"tags {visible_text(tags, 200)}; {plural(sources, 'source')}"
        protected = "; confirmed" if kept.protected or gone.protected else ""
        self.query_one(".dialog-text", Static).update(
            assemble(
                ("stays  ", "bold $success"), one_line(kept.content, _SHOWN), "\n",
                ("goes   ", "bold $warning"), one_line(gone.content, _SHOWN), "\n",
                ("has    ", "bold $text-muted"), (f"{has}{protected}", "$text-muted"),
            )
        )  # fmt: skip
        self.replace_text(kept.content)

    @on(TextArea.Changed)
    def _show_difference(self) -> None:
        kept = self._pair[self._survivor].content
        text = self.query_one(TextArea).text
        same = content("its wording stays as it is", "$text-muted")
        self.query_one(".dialog-diff", Static).update(
            same if text.strip() == kept.strip() else mark_changed_parts(kept, text)
        )
        if self._depends is not None:
            self.query_one(DependsView).show_dependents(self._depends.after(text))
        lost = is_mostly_lost(self._pair[1 - self._survivor].content, text)
        self.show_warning("These do not say the same: what the second says is lost." if lost else "")

    def action_other(self) -> None:
        self._edit_text_of(1 - self._survivor)

    def action_both(self) -> None:
        """Put the text of the one that goes behind what is in the box."""
        gone, text = self._pair[1 - self._survivor].content.strip(), self.typed_text
        if gone in text:
            return
        area = self.query_one(TextArea)
        end = "" if not text or text[-1] in _SENTENCE_ENDS else "."
        area.text = f"{text}{end} {gone}".strip()
        area.move_cursor(area.document.end)

    def action_save(self) -> None:
        if self.typed_text:
            self.dismiss(FactMerge(self._survivor, self.typed_text))
        else:
            self.show_warning("There is no text to remember.")


# The cursor must rest this long before the result is computed.
_DELAY = 0.08
# Lines of the list, and of everything around it.
_LINES, _ROWS_AROUND = 9, 12
_NAME = 60


class MergePick(NamedTuple):
    """The id of the entity that stays, and of the one that is merged into it."""

    survivor: str
    absorbed: str


class EntityMergeDialog(Dialog[MergePick]):
    """A list with the other entity, and below it the result of the merge. ctrl+o: the other one stays."""

    wide = True
    hints = (("Enter", "merge"), ("j k", "choose"), ("/", "find"), ("ctrl+o", "swap"))
    BINDINGS = [
        Binding("slash", "find", show=False),
        Binding("ctrl+o", "turn", show=False, priority=True),
    ]

    def __init__(self, entity: Entity) -> None:
        super().__init__()
        self._entity = entity
        self._stays = True
        self._ready: MergePick | None = None
        # The cursor is at its start, and the filter is our guess: a word of its name, if that finds another entity.
        self._beginning = self._guessing = True

    def title_text(self) -> str:
        return f"Who is the same as {self._entity.canonical_name}?"

    def body(self) -> ComposeResult:
        yield FilterBar("words of its name, type:person")
        columns = [
            one
            for one in entity_columns(self.shell.glyphs, self.shell.clock)
            if one.id in ("name", "type", "mentions")
        ]
        table: RowTable[Entity] = RowTable(columns, id="join-rows", glyphs=self.shell.glyphs, markable=False)
        table.styles.height = max(min(_LINES, self.app.size.height - _ROWS_AROUND), 3)
        yield table
        yield Static(classes="dialog-label")

    def on_mount(self) -> None:
        self.table.show_header(False)
        first = self._entity.canonical_name.split()[:1]
        self.query_one(FilterBar).set_filter(
            " ".join(first) if first and first[0][:1].isalnum() else "", quiet=True
        )
        self._list_entities()
        self.table.focus()

    @property
    def table(self) -> RowTable[Entity]:
        return self.query_one(RowTable)

    # -- finding the other one

    def _list_entities(self) -> None:
        memory = self.shell.operations.require_memory()
        filter = self.query_one(FilterBar).value.strip()
        self.table.show_source(
            EntitySource(memory, filter, ("mentions", True)), self.shell.operations.readers
        )

    @on(FilterBar.Typed)
    def _filter_typed(self) -> None:
        self._list_entities()

    @on(FilterBar.TypingEnded)
    def _filter_left(self) -> None:
        self.table.focus()

    @on(RowsFailed)
    def _rows_failed(self, event: RowsFailed) -> None:
        if isinstance(event.error, InputError):
            self._show_text(assemble((event.error.message, "$warning")))
        else:
            self.shell.show_error(event.error, "finding the other one")

    @on(RowsCounted)
    def _rows_counted(self, event: RowsCounted) -> None:
        self.query_one(FilterBar).show_count(f"{event.count:,}" if event.exact else f"{event.count:,}+")
        if self._guessing and event.exact:
            self._guessing = False
            if event.count < 2:
                self.query_one(FilterBar).set_filter("")
                return
        if event.count == 0 and event.exact:
            self._show_text(assemble(("No entity has such a name. / looks for another one.", "$text-muted")))

    # -- what would come of it

    @on(RowHighlighted)
    def _preview_selected(self) -> None:
        self._ready = None
        other = self.table.selected
        if other is None:
            return
        if other.eid == self._entity.eid:
            if self._beginning and self.table.row_count > 1:
                self._beginning = False
                self.table.move_to(self.table.cursor + 1)
                return
            self._show_text(assemble(("This is the same entity: choose another one.", "$text-muted")))
            return
        start_worker(self, partial(self._preview_merge, other), "outcome")

    async def _preview_merge(self, other: Entity) -> None:
        await asyncio.sleep(_DELAY)
        pair = (self._entity, other) if self._stays else (other, self._entity)
        survivor, absorbed = (one.id for one in pair)
        try:
            merge = await self.shell.operations.ask(
                lambda memory: memory.entities.preview_merge(survivor, absorbed)
            )
        except InputError as error:
            self._show_text(assemble((f"{error.message} {error.hint}", "$warning")))
            return
        self._ready = MergePick(survivor, absorbed)
        self._show_text(self._outcome_text(merge))

    def _outcome_text(self, merge: EntityMerge) -> Content:
        gone = merge.absorbed
        names = ", ".join(one_line(name, _NAME) for name in merge.aliases) or "none"
        return assemble(
            ("stays  ", "bold $success"), line(merge.survivor.canonical_name, _NAME, "bold"),
            (f"  {merge.type}, then in {plural(merge.memories_after, 'memory')}\n", "$text-muted"),
            ("goes   ", "bold $warning"), line(gone.canonical_name, _NAME),
            (f"  {gone.type}, brings {plural(merge.moved, 'memory')}\n", "$text-muted"),
            ("also   ", "bold $text-muted"), line(names, 300, "$text-muted"),
        )  # fmt: skip

    def _show_text(self, text: Content) -> None:
        self.query_one(".dialog-label", Static).update(text)

    # -- keys

    def action_find(self) -> None:
        self.query_one(FilterBar).start_typing()

    def action_turn(self) -> None:
        self._stays = not self._stays
        self._preview_selected()

    @on(RowOpened)
    def _choose_entity(self, event: RowOpened) -> None:
        event.stop()
        if self._ready is not None:
            self.dismiss(self._ready)
