"""Which memory was wrong: the last recalls of agents, each with its question and its memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Key
from textual.widgets import Static

from memtui.present.caution import caution_line
from memtui.present.format import relative_time
from memtui.present.memory import without_secrets
from memtui.present.operation import actor_name, quoted_query
from memtui.present.past import time_ago
from memtui.present.text import max_cells, one_line, visible_text
from memtui.ui.presenters.memory_rows import ended_word
from memtui.ui.row_source import ListSource
from memtui.ui.safe import Styled, assemble, content
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowHighlighted, RowOpened, RowTable

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import Caution, LastServed, MemoryRecord, Recall

_WITHHOLD = "V"
# How many memories are listed.
_MOST = 200
_LONGEST = 2_000


class ServedRow(NamedTuple):
    """A memory in an answer; or the question of the answer, if ``memory`` is None."""

    number: int
    answer: Recall
    memory: MemoryRecord | None = None


class PickedMemory(NamedTuple):
    """``withhold``: keep it from that agent. Otherwise go to it."""

    memory: MemoryRecord
    agent: str
    withhold: bool


def served_rows(served: Sequence[LastServed]) -> list[ServedRow]:
    """The latest answer first: its question, then its memories."""
    rows: list[ServedRow] = []
    memories = {one.id: one for last in served for one in last.memories}
    answers = sorted((one for last in served for one in last.answers), key=lambda one: -one.at)
    rows_left = _MOST
    for answer in answers:
        known = [memories[id] for id in answer.memory_ids if id in memories][:rows_left]
        rows_left -= len(known)
        if known:
            rows.append(ServedRow(len(rows), answer))
        for memory in known:
            rows.append(ServedRow(len(rows), answer, memory))
    return rows


class WrongAnswersDialog(Dialog[PickedMemory]):
    """Returns the picked memory. Its full text is below the list."""

    wide = True
    hints = (("Enter", "go to it"), (_WITHHOLD, "not for this agent"), ("j k", "choose"))

    def __init__(
        self, served: Sequence[LastServed], cautions: Mapping[str, Sequence[Caution]] | None = None
    ) -> None:
        """``cautions``: what of a memory (by id) was corrected or forgotten since."""
        super().__init__()
        self._rows = served_rows(served)
        self._cautions = cautions or {}

    def title_text(self) -> str:
        return "What agents were told last. Which of it was wrong?"

    def body(self) -> ComposeResult:
        table: RowTable[ServedRow] = RowTable(
            list(self._served_columns()), id="wrong-rows", glyphs=self.shell.glyphs, markable=False
        )
        yield table
        yield Static(classes="wrong-text")

    def _served_columns(self) -> Iterator[Column[ServedRow]]:
        def text_cell(row: ServedRow, width: int) -> Iterable[StyledText]:
            if row.memory is None:
                yield StyledText(one_line(quoted_query(row.answer), width), "accent")
                return
            yield StyledText(visible_text("  "))
            ending = ended_word(row.memory, width, tuple(self._cautions.get(row.memory.id, ())))
            yield StyledText(ending, "warning")
            yield StyledText(one_line(without_secrets(row.memory), max(width - 2 - max_cells(ending), 1)))

        def agent_cell(row: ServedRow, width: int) -> Iterable[StyledText]:
            if row.memory is None:
                yield StyledText(one_line(actor_name(row.answer.agent), width), "dim")

        def time_cell(row: ServedRow, width: int) -> Iterable[StyledText]:
            if row.memory is None:
                yield StyledText(one_line(relative_time(row.answer.at, self.shell.clock()), width), "dim")

        yield Column("text", "", text_cell, least=16, spills=True)
        yield Column("agent", "", agent_cell, width=12, drop=2)
        yield Column("time", "", time_cell, width=8, right=True, drop=1)

    def on_mount(self) -> None:
        table = self.query_one(RowTable)
        table.show_header(False)
        table.select_key(1)
        source = ListSource(self._rows, lambda row: row.number)
        table.show_source(source, self.shell.operations.readers, top=False)
        table.focus()

    @on(RowHighlighted)
    def _show_text(self, event: RowHighlighted) -> None:
        event.stop()
        row = self.query_one(RowTable).selected
        if row is None:
            return
        agent = f"{actor_name(row.answer.agent)}, {time_ago(row.answer.at, self.shell.clock())}: "
        parts: list[Content | Styled] = [
            (agent, "$text-muted"),
            content(quoted_query(row.answer), "$accent", limit=_LONGEST),
        ]
        if row.memory is not None:
            glyph = self.shell.glyphs.kinds[row.memory.kind]
            parts += [(f"\n{glyph} ", "$accent"), content(without_secrets(row.memory), limit=_LONGEST)]
            for caution in self._cautions.get(row.memory.id, ()):
                text = "".join(part for part, _ in caution_line(caution, self.shell.clock()))
                parts += [
                    (f"\n{self.shell.glyphs.conflict} ", "$warning"),
                    content(text, "$warning", limit=_LONGEST),
                ]
        self.query_one(".wrong-text", Static).update(assemble(*parts))

    def on_key(self, event: Key) -> None:
        if event.character == _WITHHOLD:
            event.stop()
            self._pick_memory(withhold=True)

    @on(RowOpened)
    def _open_row(self, event: RowOpened) -> None:
        event.stop()
        self._pick_memory(withhold=False)

    def _pick_memory(self, *, withhold: bool) -> None:
        """On a question, the cursor goes to its first memory, and nothing is picked yet."""
        table = self.query_one(RowTable)
        row = table.selected
        if row is None:
            return
        if row.memory is None:
            table.do_down()
        else:
            self.dismiss(PickedMemory(row.memory, row.answer.agent, withhold))
