"""History as it looks back: the memory at a moment, or what became of it between two. Nothing here can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.ui.actions import Action
from memtui.ui.format import count, local_time, plural
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.past_words import kinds_told, reach_told, verb_told
from memtui.ui.perform import start
from memtui.ui.presenters.operation_rows import history_columns
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column

from .past_rows import (
    ChangeRow,
    Looking,
    Moments,
    PastRow,
    PastSource,
    change_columns,
    change_source,
    fitting,
    is_past,
    look,
    look_again,
    past_columns,
)
from .past_text import PastText, gather_since

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord
    from memtui.ui.widgets.list_source import ListSource

_READ_ONLY = ("undo_this", "recalls")
_PAST_PLACEHOLDER = "filter by words: ferry, -lisbon, kind:episode, is:trash"
_DIFF_PLACEHOLDER = "filter by words: forgotten, ferry, -lisbon"


class LooksBack(ListPane[Any]):
    """A list that can show the past instead. ``looking``: what is shown of it; None: the present."""

    looking: Looking | None = None

    def columns(self) -> Sequence[Column[Any]]:
        return fitting(history_columns(self.shell.clock), lambda row: not is_past(row))

    # -- going there and coming back

    async def do_as_of(self) -> None:
        from memtui.ui.dialogs.moment import MomentDialog

        before = self.looking.moments if self.looking is not None else None
        text = "yesterday" if before is None else " .. ".join(part for part in before if part)
        asked = await self.shell.ask_person(MomentDialog(text))
        if asked:
            await self.look_at(Moments.parse(asked))

    async def look_at(self, moments: Moments) -> None:
        """Show the past; a text that names no time is said to be one."""
        self.looking = looking = await self.ask(lambda memory: look(memory, moments))
        self.filter_bar.set_value("", quiet=True)
        columns: Sequence[Any]
        if looking.diff is None:
            columns = past_columns(self.shell.glyphs, lambda: looking.past.at)
        else:
            columns = change_columns(self.shell.glyphs, self.shell.clock)
        self.table.show_columns(columns)
        self.filter_bar.show_placeholder(_PAST_PLACEHOLDER if looking.diff is None else _DIFF_PLACEHOLDER)
        self.name_list()
        self.show_rows(top=True)
        for told in reach_told(looking.past.reach, self.shell.clock()):
            self.say(told, "warning")
        start(self, self._tell_counts, "counts")

    def leave_past(self) -> None:
        """Back to the present."""
        if self.looking is None:
            return
        self.looking = None
        self.workers.cancel_group(self, "counts")
        self.filter_bar.set_value("", quiet=True)
        self.table.show_columns(self.columns())
        self.filter_bar.show_placeholder(self.placeholder)
        self.name_list()
        self.show_rows(top=True)

    def back(self) -> bool:
        if super().back():
            return True
        if self.looking is None:
            return False
        self.leave_past()
        return True

    def reload(self) -> None:
        """The past does not move; but a restore puts another one in its place, and an erase takes out of it."""
        if self.looking is not None:
            start(self, partial(self._look_again, self.looking), "look")
        else:
            super().reload()

    async def _look_again(self, looking: Looking) -> None:
        again = await self.ask(lambda memory: look_again(memory, looking))
        if self.looking is looking:
            self.looking = again
            self.show_rows(top=False)

    # -- what is shown

    def name_list(self) -> None:
        raise NotImplementedError

    def _moments_told(self, looking: Looking) -> str:
        now, diff = self.shell.clock(), looking.diff
        if diff is None:
            return f"as of {local_time(looking.past.at, now)}"
        return f"{local_time(diff.start, now)} to {local_time(diff.end, now)}"

    def past_title(self, looking: Looking) -> Content:
        """The title of the list's frame."""
        key, dot = self.shell.keymap_shown("back"), self.shell.glyphs.dot
        told = self._moments_told(looking)
        return assemble((f" {told} ", "bold $warning"), f"{dot} ", (key, "$accent"), " the present ")

    def past_source(self, looking: Looking, filter: str) -> PastSource | ListSource[ChangeRow]:
        return (
            PastSource(looking.past, filter) if looking.diff is None else change_source(looking.diff, filter)
        )

    async def _tell_counts(self) -> None:
        looking = self.looking
        if looking is None:
            return
        if looking.diff is None:
            past = looking.past
            told = kinds_told(await self.ask(lambda memory: past.counts()))
        else:
            diff = looking.diff
            by_number = sorted(diff.counts.items(), key=lambda one: -one[1])
            parts = [f"{count(number)} {verb_told(verb)}" for verb, number in by_number]
            parts += [f"{plural(number, 'turn')} {verb_told(verb)}" for verb, number in diff.turns.items()]
            told = ", ".join(parts) or "nothing changed"
        self.tell(f"{self._moments_told(looking)} {self.shell.glyphs.dot} {told}")

    def show_count(self, rows: int, exact: bool) -> None:
        super().show_count(rows, exact)
        if self.looking is not None:
            start(self, self._tell_counts, "counts")

    def past_glance(self, row: PastRow | ChangeRow) -> Content:
        looking = self.looking
        if looking is None:
            return assemble("")
        text = PastText(self.preview.text_width, self.shell.clock(), self.shell.glyphs)
        reach = looking.past.reach
        if isinstance(row, ChangeRow):
            return text.change(row.change, reach)
        return text.memory(row.memory, looking.past.at, reach, None)

    async def past_details(self, row: PastRow | ChangeRow) -> Content:
        looking = self.looking
        if looking is None or isinstance(row, ChangeRow):
            return self.past_glance(row)
        since = await self.ask(lambda memory: gather_since(memory, row.memory))
        text = PastText(self.preview.text_width, self.shell.clock(), self.shell.glyphs)
        return text.memory(row.memory, looking.past.at, looking.past.reach, since)

    def past_empty(self, filter: str) -> Content:
        key = self.shell.keymap_shown("back")
        if filter:
            told, way = "Nothing of then has these words.\n\n", "clear the filter"
        else:
            what = (
                "Nothing was remembered yet."
                if self.looking and self.looking.diff is None
                else "Nothing changed."
            )
            told, way = f"{what}\n\n", "back to the present"
        return assemble((told, "bold"), (key, "bold $accent"), f"  {way}")

    def past_memory(self, row: object) -> MemoryRecord | None:
        """The memory that a row of the past is about; None for a row of the present."""
        if isinstance(row, PastRow):
            return row.memory
        return row.change.memory if isinstance(row, ChangeRow) else None

    def why_not(self, action: Action) -> str:
        if self.looking is not None and action.id in _READ_ONLY:
            return f"This is the past, and read only: {self.shell.keymap_shown('back')} leads back to the present."
        return super().why_not(action)
