"""History of the past: the memory at a time, or the changes between two times. Read only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.present.format import count, local_time, plural
from memtui.present.past import coverage_notes, kind_counts, verb_label
from memtui.ui.action_dispatch import start
from memtui.ui.actions import Action
from memtui.ui.presenters.operation import history_columns
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column

from .past_rows import (
    ChangeRow,
    Looking,
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
    from memtui.ui.dialogs.line_input import Moments
    from memtui.ui.panes.list_pane import ListPane
    from memtui.ui.widgets.list_source import ListSource

_READ_ONLY = ("undo_this", "undo_agent", "recalls")
_PAST_PLACEHOLDER = "filter by words: ferry, -word, kind:episode, is:trash"
_DIFF_PLACEHOLDER = "filter by words: forgotten, ferry, -word"


def present_columns(clock: Callable[[], float]) -> Sequence[Column[Any]]:
    """The columns of the present. They are empty for a row of the past."""
    return fitting(history_columns(clock), lambda row: not is_past(row))


def past_memory(row: object) -> MemoryRecord | None:
    """The memory that a row of the past is about; None for a row of the present."""
    if isinstance(row, PastRow):
        return row.memory
    return row.change.memory if isinstance(row, ChangeRow) else None


class PastView:
    """Shows the past in a list. ``looking``: what is shown; None: the present. ``name_list`` updates the title."""

    def __init__(self, pane: ListPane[Any], name_list: Callable[[], None]) -> None:
        self._pane = pane
        self._name_list = name_list
        self.looking: Looking | None = None

    def why_not(self, action: Action) -> str:
        """Why an action cannot run while the past is shown."""
        if self.looking is None or action.id not in _READ_ONLY:
            return ""
        back = self._pane.shell.keymap_shown("back")
        return f"This is the past, and read only: {back} leads back to the present."

    # -- going there and coming back

    async def do_as_of(self) -> None:
        from memtui.ui.dialogs.line_input import Moments, PointInTimeDialog

        before = self.looking.moments if self.looking is not None else None
        text = "yesterday" if before is None else " .. ".join(part for part in before if part)
        asked = await self._pane.shell.ask_person(PointInTimeDialog(text))
        if asked:
            await self.look_at(Moments.parse(asked))

    async def look_at(self, moments: Moments) -> None:
        """Show the past. A text without a time gives an error message."""
        self.looking = looking = await self._pane.ask(lambda memory: look(memory, moments))
        self._pane.filter_bar.set_value("", quiet=True)
        columns: Sequence[Any]
        if looking.diff is None:
            columns = past_columns(self._pane.shell.glyphs, lambda: looking.past.at)
        else:
            columns = change_columns(self._pane.shell.glyphs, self._pane.shell.clock)
        self._pane.table.show_columns(columns)
        self._pane.filter_bar.show_placeholder(
            _PAST_PLACEHOLDER if looking.diff is None else _DIFF_PLACEHOLDER
        )
        self._name_list()
        self._pane.show_rows(top=True)
        for note in coverage_notes(looking.past.reach, self._pane.shell.clock()):
            self._pane.say(note, "warning")
        self.count_again()

    def leave(self) -> None:
        """Back to the present."""
        if self.looking is None:
            return
        self.looking = None
        self._pane.workers.cancel_group(self._pane, "counts")
        self._pane.filter_bar.set_value("", quiet=True)
        self._pane.table.show_columns(self._pane.columns())
        self._name_list()
        self._pane.show_rows(top=True)

    def reload(self, looking: Looking) -> None:
        """Read it again. A restore or an erase can change the past."""
        start(self._pane, partial(self._look_again, looking), "look")

    async def _look_again(self, looking: Looking) -> None:
        again = await self._pane.ask(lambda memory: look_again(memory, looking))
        if self.looking is looking:
            self.looking = again
            self._pane.show_rows(top=False)

    # -- what is shown

    def _times(self, looking: Looking) -> str:
        now, diff = self._pane.shell.clock(), looking.diff
        if diff is None:
            return f"as of {local_time(looking.past.at, now)}"
        return f"{local_time(diff.start, now)} to {local_time(diff.end, now)}"

    def frame_title(self, looking: Looking) -> Content:
        """The title of the list's frame."""
        key, dot = self._pane.shell.keymap_shown("back"), self._pane.shell.glyphs.dot
        times = self._times(looking)
        return assemble((f" {times} ", "bold $warning"), f"{dot} ", (key, "$accent"), " the present ")

    def source(self, looking: Looking, filter: str) -> PastSource | ListSource[ChangeRow]:
        return (
            PastSource(looking.past, filter) if looking.diff is None else change_source(looking.diff, filter)
        )

    async def _show_counts(self) -> None:
        looking = self.looking
        if looking is None:
            return
        if looking.diff is None:
            past = looking.past
            summary = kind_counts(await self._pane.ask(lambda memory: past.counts()))
        else:
            diff = looking.diff
            by_number = sorted(diff.counts.items(), key=lambda one: -one[1])
            parts = [f"{count(number)} {verb_label(verb)}" for verb, number in by_number]
            parts += [f"{plural(number, 'turn')} {verb_label(verb)}" for verb, number in diff.turns.items()]
            summary = ", ".join(parts) or "nothing changed"
        self._pane.show_status(f"{self._times(looking)} {self._pane.shell.glyphs.dot} {summary}")

    def count_again(self) -> None:
        """Show how much there was, or how many changes."""
        start(self._pane, self._show_counts, "counts")

    def glance(self, row: PastRow | ChangeRow) -> Content:
        looking = self.looking
        if looking is None:
            return assemble("")
        text = PastText(self._pane.preview.text_width, self._pane.shell.clock(), self._pane.shell.glyphs)
        coverage = looking.past.reach
        if isinstance(row, ChangeRow):
            return text.change(row.change, coverage)
        return text.memory(row.memory, looking.past.at, coverage, None)

    async def details(self, row: PastRow | ChangeRow) -> Content:
        looking = self.looking
        if looking is None or isinstance(row, ChangeRow):
            return self.glance(row)
        since = await self._pane.ask(lambda memory: gather_since(memory, row.memory))
        text = PastText(self._pane.preview.text_width, self._pane.shell.clock(), self._pane.shell.glyphs)
        return text.memory(row.memory, looking.past.at, looking.past.reach, since)

    def empty_text(self, filter: str) -> Content:
        key = self._pane.shell.keymap_shown("back")
        if filter:
            title, way = "No memory of that time has these words.\n\n", "clear the filter"
        else:
            what = (
                "Nothing was remembered yet."
                if self.looking and self.looking.diff is None
                else "Nothing changed."
            )
            title, way = f"{what}\n\n", "back to the present"
        return assemble((title, "bold"), (key, "bold $accent"), f"  {way}")
