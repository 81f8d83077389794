"""History of the past: the memory at a time, or the changes between two times, as rows and as text. Read only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.content import Content

from memtui.present.format import format_count, local_time, plural
from memtui.present.memory import confidence_text, ended_reason, kind_label, speaker_note, version_differences
from memtui.present.past import coverage_notes, kind_counts, time_ago, verb_label, verb_role
from memtui.present.text import VisibleText, one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.presenters.diff import mark_differences
from memtui.ui.presenters.memory_rows import ended_sign, memory_columns
from memtui.ui.presenters.memory_text import LONGEST
from memtui.ui.presenters.operation import history_columns, short_time
from memtui.ui.presenters.text_layout import TextLayout, stack_lines
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, content
from memtui.ui.widgets.columns import Column, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, MemoryRecord, Replacement
    from memtui.engine.records.history import HistoryCoverage, PastChange, PastDiff
    from memtui.engine.store.past import Past
    from memtui.present.glyphs import Glyphs
    from memtui.ui.dialogs.line_input import PointsInTime
    from memtui.ui.panes.list_pane import ListPane


class PresentVersion(NamedTuple):
    """A memory as it is now, and its last version. Both are None if it was erased."""

    now: MemoryRecord | None
    latest: MemoryRecord | None


def gather_present_version(memory: Memory, one: MemoryRecord) -> PresentVersion:
    """Blocks."""
    from memtui.engine.errors import NotFoundError

    try:
        versions = memory.view.versions(one.id)
    except NotFoundError:
        return PresentVersion(None, None)
    here = next((version for version in versions if version.id == one.id), None)
    return PresentVersion(here, versions[-1])


class PastText(TextLayout):
    """Texts of the past."""

    def past_memory_text(
        self, one: MemoryRecord, at: int, coverage: HistoryCoverage, since: PresentVersion | None
    ) -> Content:
        """A memory as it was ``at`` a time. ``since`` None: what happened since was not read yet."""
        lines = [
            *self._label_line(f"as it was on {local_time(at, self.now)}"),
            content(one.content[:LONGEST]),
            assemble(""),
        ]
        lines += self._state_lines(one)
        if since is not None:
            lines += [assemble(""), *self._present_version_lines(one, since)]
        return stack_lines([*lines, *self._coverage_note(coverage)])

    def change_text(self, change: PastChange, coverage: HistoryCoverage) -> Content:
        """What happened to a memory."""
        when = "" if change.at is None else f", {local_time(change.at, self.now)}"
        lines = [*self._label_line(f"{verb_label(change.verb)}{when}")]
        old, new = change.before, change.after
        if old is not None and new is not None and old.content != new.content:
            lines.append(mark_differences(old.content[:LONGEST], new.content[:LONGEST]))
        else:
            lines.append(content(change.memory.content[:LONGEST]))
        lines.append(assemble(""))
        if old is not None and new is not None:
            lines += self._difference_lines(old, new)
        else:
            lines += self._state_lines(change.memory)
        return stack_lines([*lines, *self._coverage_note(coverage)])

    def _label_line(self, text: str) -> Iterable[Content]:
        yield from assemble(
            (text, "bold $warning"), (f"  {self.glyphs.dot} the past, read only", "$text-muted")
        ).wrap(self.width)
        yield assemble("")

    def _state_lines(self, one: MemoryRecord) -> Iterable[Content]:
        yield from self.labelled("kind", assemble(kind_label(one), (f" {speaker_note(one)}", "$text-muted")))
        if one.kind != "episode":
            kept = (f"  {self.glyphs.protected} confirmed", "$success") if one.protected else ("", "")
            yield from self.labelled(
                "confidence",
                assemble(
                    (self.level_bar(one.effective), "$accent"), f" {confidence_text(one.effective)}", kept
                ),
            )
        if one.tags:
            yield from self.labelled("tags", assemble("  ".join(one.tags)))
        yield from self.labelled("recorded", assemble(local_time(one.created_at, self.now)))
        if one.valid_until is not None:
            text = (
                f"{ended_sign(one, self.glyphs)} {ended_reason(one)} {local_time(one.valid_until, self.now)}"
            )
            yield from self.labelled("trash", assemble((text, "$warning")))

    def _present_version_lines(self, one: MemoryRecord, since: PresentVersion) -> Iterable[Content]:
        yield assemble(("now", "bold $accent"))
        here, latest = since.now, since.latest
        if here is None or latest is None:
            yield from assemble(("It is no longer there.", "$warning")).wrap(self.width)
            return
        if latest.id != here.id and latest.content != one.content:
            yield from self.labelled(
                "corrected", assemble((time_ago(latest.created_at, self.now), "$text-muted"))
            )
            yield mark_differences(one.content[:LONGEST], latest.content[:LONGEST])
            return
        differences = list(self._difference_lines(one, here))
        if one.content != here.content:
            yield mark_differences(one.content[:LONGEST], here.content[:LONGEST])
        elif not differences:
            yield assemble(("The same.", "$text-muted"))
        yield from differences

    def _difference_lines(self, old: MemoryRecord, new: MemoryRecord) -> Iterable[Content]:
        for label, was, is_now, _ in version_differences(old, new):
            change = assemble((was, "$removed"), (" → ", "$text-muted"), (is_now, "$added"))
            yield from self.labelled(label, change)

    def _coverage_note(self, coverage: HistoryCoverage) -> Iterable[Content]:
        for note in coverage_notes(coverage, self.now):
            yield assemble("")
            yield from content(f"{self.glyphs.conflict} {note}", "$warning").wrap(self.width)


# A diff lists this many; all are counted.
MOST = 5_000


class PastRow(NamedTuple):
    """A memory as it was, without what happened to it since."""

    memory: MemoryRecord
    cautions: tuple[Caution, ...] = ()
    replacements: tuple[Replacement, ...] = ()


class ChangeRow(NamedTuple):
    """What happened to a memory."""

    change: PastChange


class PastReading(NamedTuple):
    """What was read: the memory at a time, or a difference."""

    moments: PointsInTime
    past: Past
    diff: PastDiff | None = None


def read_past(memory: Memory, moments: PointsInTime) -> PastReading:
    """Blocks. Raises InputError for a text that names no time."""
    past = memory.history.as_of(moments.start)
    diff = memory.history.diff(moments.start, moments.end, limit=MOST) if moments.end else None
    return PastReading(moments, past, diff)


def reread_past(memory: Memory, looking: PastReading) -> PastReading:
    """The same times read again, because memories may have been erased since. Blocks."""
    diff = looking.diff
    return PastReading(
        looking.moments,
        memory.history.as_of(looking.past.at),
        None if diff is None else memory.history.diff(diff.start, diff.end, limit=MOST),
    )


class PastSource:
    """The memories at a time, filtered by words (see ``Past``)."""

    def __init__(self, past: Past, words: str) -> None:
        self._past = past
        self._words = words

    def count(self) -> int:
        return self._past.count(self._words)

    def page_rows(self, offset: int, limit: int) -> Sequence[PastRow]:
        return [PastRow(one) for one in self._past.page(self._words, offset=offset, limit=limit)]

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield self._past.keys(self._words)

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[PastRow]:
        return [PastRow(one) for one in self._past.rows(keys)]

    def row_key(self, row: PastRow) -> int:
        return row.memory.rid


def change_source(diff: PastDiff, words: str) -> ListSource[ChangeRow]:
    """The changes with these words in their verb or texts, and without the words with a minus."""
    terms = [word.casefold() for word in words.split() if word != "-"]

    def has_words(change: PastChange) -> bool:
        texts = [one.content for one in (change.before, change.after) if one is not None]
        text = " ".join((verb_label(change.verb), change.memory.kind, *texts)).casefold()
        return all((word[1:] not in text) if word[0] == "-" else word in text for word in terms)

    rows = [ChangeRow(one) for one in diff.changes if has_words(one)]
    return ListSource(rows, lambda row: row.change.memory.rid)


def columns_for_row_type(columns: Sequence[Column[Any]], fits: Callable[[object], bool]) -> list[Column[Any]]:
    """Columns that are empty for rows of another kind: old rows are still shown while new ones are read."""

    def empty_unless_fitting(
        cell: Callable[[Any, int], Iterable[StyledText]],
    ) -> Callable[[Any, int], Iterable[StyledText]]:
        return lambda row, width: cell(row, width) if fits(row) else (StyledText(VisibleText("")),)

    return [column._replace(cell=empty_unless_fitting(column.cell)) for column in columns]


def is_past(row: object) -> bool:
    return isinstance(row, PastRow | ChangeRow)


def past_columns(glyphs: Glyphs, at: Callable[[], float]) -> list[Column[Any]]:
    """The columns of Memories, with the values and the age of that time."""
    columns = [
        column._replace(sort="")
        for column in memory_columns(glyphs, at)
        if column.id not in ("entities", "tags")
    ]
    return columns_for_row_type(columns, lambda row: isinstance(row, PastRow))


def change_columns(glyphs: Glyphs, now: Callable[[], float]) -> list[Column[Any]]:
    """What happened, sign, text, when."""

    def verb_cell(row: ChangeRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(verb_label(row.change.verb), width), verb_role(row.change.verb))

    def sign_cell(row: ChangeRow, width: int) -> Iterable[StyledText]:
        yield StyledText(visible_text(glyphs.kinds[row.change.memory.kind]), "accent")

    def text_cell(row: ChangeRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.change.memory.content, width))

    def time_cell(row: ChangeRow, width: int) -> Iterable[StyledText]:
        yield StyledText(
            short_time(row.change.at, now()) if row.change.at is not None else VisibleText(""), "dim"
        )

    columns = [
        Column("verb", "became", verb_cell, width=13),
        Column("sign", "", sign_cell, width=1),
        Column("text", "memory", text_cell, least=24, gap=1),
        Column("when", "when", time_cell, width=12, drop=1),
    ]
    return columns_for_row_type(columns, lambda row: isinstance(row, ChangeRow))


_READ_ONLY = ("undo_this", "undo_agent", "recalls")
_PAST_PLACEHOLDER = "filter by words: ferry, -word, kind:episode, is:trash"
_DIFF_PLACEHOLDER = "filter by words: forgotten, ferry, -word"


def present_columns(clock: Callable[[], float], *, recalls: bool) -> Sequence[Column[Any]]:
    """The columns of the present. They are empty for a row of the past."""
    return columns_for_row_type(history_columns(clock, recalls=recalls), lambda row: not is_past(row))


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
        self.looking: PastReading | None = None

    def unavailable_reason(self, action: Action) -> str:
        """Why an action cannot run while the past is shown."""
        if self.looking is None or action.id not in _READ_ONLY:
            return ""
        back = self._pane.shell.keymap_shown("back")
        return f"This is the past, and read only: {back} leads back to the present."

    # -- going there and coming back

    async def do_as_of(self) -> None:
        from memtui.ui.dialogs.line_input import PointInTimeDialog, PointsInTime

        before = self.looking.moments if self.looking is not None else None
        text = "yesterday" if before is None else " .. ".join(part for part in before if part)
        point = await self._pane.shell.show_dialog(PointInTimeDialog(text))
        if point:
            await self.open_past(PointsInTime.parse(point))

    async def open_past(self, moments: PointsInTime) -> None:
        """Show the past. A text without a time gives an error message."""
        self.looking = looking = await self._pane.ask(lambda memory: read_past(memory, moments))
        self._pane.filter_bar.set_filter("", quiet=True)
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
        for note in coverage_notes(looking.past.coverage, self._pane.shell.clock()):
            self._pane.show_message(note, "warning")
        self.count_again()

    def leave_past(self) -> None:
        """Back to the present."""
        if self.looking is None:
            return
        self.looking = None
        self._pane.workers.cancel_group(self._pane, "counts")
        self._pane.filter_bar.set_filter("", quiet=True)
        self._pane.table.show_columns(self._pane.columns())
        self._name_list()
        self._pane.show_rows(top=True)

    def read_again(self, looking: PastReading) -> None:
        """Read it again. A restore or an erase can change the past."""
        start_worker(self._pane, partial(self._open_again, looking), "look")

    async def _open_again(self, looking: PastReading) -> None:
        again = await self._pane.ask(lambda memory: reread_past(memory, looking))
        if self.looking is looking:
            self.looking = again
            self._pane.show_rows(top=False)

    # -- what is shown

    def _moments_text(self, looking: PastReading) -> str:
        now, diff = self._pane.shell.clock(), looking.diff
        if diff is None:
            return f"as of {local_time(looking.past.at, now)}"
        return f"{local_time(diff.start, now)} to {local_time(diff.end, now)}"

    def frame_title(self, looking: PastReading) -> Content:
        """The title of the list's frame."""
        key, dot = self._pane.shell.keymap_shown("back"), self._pane.shell.glyphs.dot
        times = self._moments_text(looking)
        return assemble((f" {times} ", "bold $warning"), f"{dot} ", (key, "$accent"), " the present ")

    def source(self, looking: PastReading, filter: str) -> PastSource | ListSource[ChangeRow]:
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
            parts = [f"{format_count(number)} {verb_label(verb)}" for verb, number in by_number]
            parts += [f"{plural(number, 'turn')} {verb_label(verb)}" for verb, number in diff.turns.items()]
            summary = ", ".join(parts) or "nothing changed"
        self._pane.show_status(f"{self._moments_text(looking)} {self._pane.shell.glyphs.dot} {summary}")

    def count_again(self) -> None:
        """Show how much there was, or how many changes."""
        start_worker(self._pane, self._show_counts, "counts")

    def quick_preview(self, row: PastRow | ChangeRow) -> Content:
        looking = self.looking
        if looking is None:
            return assemble("")
        text = PastText(self._pane.preview.text_width, self._pane.shell.clock(), self._pane.shell.glyphs)
        coverage = looking.past.coverage
        if isinstance(row, ChangeRow):
            return text.change_text(row.change, coverage)
        return text.past_memory_text(row.memory, looking.past.at, coverage, None)

    async def details(self, row: PastRow | ChangeRow) -> Content:
        looking = self.looking
        if looking is None or isinstance(row, ChangeRow):
            return self.quick_preview(row)
        since = await self._pane.ask(lambda memory: gather_present_version(memory, row.memory))
        text = PastText(self._pane.preview.text_width, self._pane.shell.clock(), self._pane.shell.glyphs)
        return text.past_memory_text(row.memory, looking.past.at, looking.past.coverage, since)

    def empty_text(self, filter: str) -> Content:
        key = self._pane.shell.keymap_shown("back")
        if filter:
            title, way = "No memory of that time has these words.\n\n", "clear the filter"
            of_memories = self.looking is not None and self.looking.diff is None
            note = unknown_term_note(filter, ("kind", "is") if of_memories else ())
        else:
            note = ""
            what = (
                "Nothing was remembered yet."
                if self.looking and self.looking.diff is None
                else "Nothing changed."
            )
            title, way = f"{what}\n\n", "back to the present"
        return assemble((title, "bold"), note, (key, "bold $accent"), f"  {way}")
