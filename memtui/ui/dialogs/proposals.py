"""The preview of a consolidation: each line with its turns, to accept, reject or edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from memtui.present.consolidation import ACTIONS, extractor_name
from memtui.present.consolidation import plan_line_text as line_text
from memtui.present.format import format_count, local_time, plural
from memtui.present.memory import confidence_text, without_secrets
from memtui.present.session import speaker_name
from memtui.present.text import one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.presenters.diff import mark_differences
from memtui.ui.presenters.source_words import excerpt_around, shared_words
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, content, content_with_marks
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowHighlighted, RowOpened, RowTable
from memtui.ui.widgets.text_view import TextView

from .choice import Question
from .dialog import CLEAR_HINT, LINE_HINT, Dialog
from .edit import CorrectDialog

if TYPE_CHECKING:
    from memtui.engine.consolidation.plan import Plan, PlanLine
    from memtui.engine.records import MemoryRecord
    from memtui.present.glyphs import Glyphs


_QUOTE = 400
_SHOWN = 4_000
_MOST_LINES = 100_000


class Proposal(NamedTuple):
    """A line of a plan, by the index of both."""

    plan: int
    line_index: int
    line: PlanLine

    @property
    def key(self) -> int:
        return self.plan * _MOST_LINES + self.line_index


def proposals_of(plans: Sequence[Plan]) -> list[Proposal]:
    return [
        Proposal(number, index, line)
        for number, plan in enumerate(plans)
        for index, line in enumerate(plan.lines)
    ]


def proposal_columns(glyphs: Glyphs, one_of: Callable[[int], str]) -> list[Column[Proposal]]:
    """Box, action, text; and the session if there are several (``one_of`` gives its title)."""

    def box_cell(row: Proposal, width: int) -> Iterable[StyledText]:
        if row.line.action == "unchanged":
            yield StyledText(visible_text("   "), "dim")
            return
        yield StyledText(
            visible_text("[x]" if row.line.accepted else "[ ]"), "accent" if row.line.accepted else "dim"
        )

    def action_cell(row: Proposal, width: int) -> Iterable[StyledText]:
        word, role, _ = ACTIONS[row.line.action]
        yield StyledText(one_line(word, width), role if row.line.accepted else "dim")

    def text_cell(row: Proposal, width: int) -> Iterable[StyledText]:
        edited_sign = "e " if row.line.edited else ""
        yield StyledText(visible_text(edited_sign), "accent")
        yield StyledText(
            one_line(line_text(row.line), width - len(edited_sign)), "text" if row.line.accepted else "dim"
        )

    def session_cell(row: Proposal, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(one_of(row.plan), width), "dim")

    return [
        Column("box", "", box_cell, width=3),
        Column("action", "what", action_cell, width=11, gap=1),
        Column("text", "", text_cell, least=16),
        Column("session", "session", session_cell, width=18, drop=1),
    ]


def proposal_text(
    row: Proposal, plan: Plan, turns: Mapping[str, MemoryRecord], now: float, glyphs: Glyphs
) -> Content:
    """All of a line: what it does and why, the new text and the old one, and the turns that say it."""
    line = row.line
    word, _, what = ACTIONS[line.action]
    parts: list[Content | str | tuple[str, str]] = [
        (word, "bold $accent"), ("  rejected: it is not written" if not line.accepted else "", "$warning"), "\n",
        (what, "$text-muted"), "\n",
    ]  # fmt: skip
    if line.reason and line.action != "summary":
        parts += [("because  ", "$text-muted"), (line.reason, "$warning"), "\n"]
    for suspicion in line.suspicions:
        parts += [(f"{glyphs.conflict} {suspicion.kind}  ", "$warning"), suspicion.detail, "\n"]
    parts.append("\n")
    if line.known is not None and line.action in ("supersede", "conflict", "reinforce", "reword"):
        parts.append(mark_differences(line.known[:_SHOWN], line_text(line)[:_SHOWN]))
        for one in line.also:
            parts += ["\n", ("also against  ", "$text-muted"), one.known[:_SHOWN]]
        for one in line.meant:
            parts += ["\n", ("or against  ", "$text-muted"), one.known[:_SHOWN]]
    else:
        parts.append(content(line_text(line)[:_SHOWN], "bold"))
    parts += ["\n\n", *_line_status(line, glyphs)]
    for source in line.sources:
        turn = turns.get(source)
        if turn is not None:
            text = without_secrets(turn)
            part, ranges = excerpt_around(text, shared_words(line_text(line), text), _QUOTE)
            parts += ["\n", (f"{speaker_name(turn)} {glyphs.dot} {local_time(turn.event_time, now)}\n", "$text-muted"),
                      "“", content_with_marks(part, ranges, "bold $accent", "$text"), "”\n"]  # fmt: skip
    return assemble(*parts)


def _line_status(line: PlanLine, glyphs: Glyphs) -> Iterable[tuple[str, str]]:
    if line.action == "summary":
        return
    whose = {
        "user": "in your words",
        "agent": "from an agent",
        "tool": "from a tool",
        "model": "a model's wording",
    }
    parts = (
        ["as you wrote it, confirmed"]
        if line.edited
        else [whose[line.trust], f"confidence {confidence_text(line.confidence)}"]
    )
    if line.category is not None:
        parts.append(line.category)
    yield f" {glyphs.dot} ".join([*parts, *line.tags]) + "\n", "$text-muted"


# A shorter list has no header.
_HEADER_FROM = 8


class EditProposal(CorrectDialog):
    """Edits the text of a line before it is remembered."""

    hints = (("Enter", "take it so"), LINE_HINT, CLEAR_HINT)

    def title_text(self) -> str:
        return "Edit before it is remembered"


class ProposalTable(RowTable[Proposal], inherit_bindings=False):
    """A list in which Space and * accept and reject."""

    BINDINGS = RowTable.BINDINGS

    @property
    def dialog(self) -> ProposalsDialog:
        assert isinstance(self.screen, ProposalsDialog)
        return self.screen

    def unavailable_reason(self, action: Action) -> str:
        return "" if self.row_count else "There is no line here."

    def do_mark(self) -> None:
        self.dialog.toggle_line()
        self.do_down()

    async def do_mark_all(self) -> None:
        self.dialog.toggle_all_lines()

    def do_focus_list(self) -> None:
        self.focus()

    def do_focus_preview(self) -> None:
        self.dialog.query_one(TextView).focus()


class ProposalView(TextView, inherit_bindings=False):
    BINDINGS = TextView.BINDINGS

    def do_focus_list(self) -> None:
        self.screen.query_one(ProposalTable).focus()

    def do_focus_preview(self) -> None:
        self.focus()


class ProposalsDialog(Dialog["Sequence[Plan]"]):
    """Returns the plans with the person's decisions, or None to discard them."""

    CSS_PATH = ["../styles/dialogs.tcss", "../styles/proposals.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-stacked"), (84, "-split")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", show=False),
        Binding("enter", "apply", show=False),
        Binding("tab", "other_part", show=False),
    ]

    def __init__(self, plans: Sequence[Plan], turns: Mapping[str, MemoryRecord]) -> None:
        super().__init__()
        self._plans = list(plans)
        self._turns = turns
        self._touched = False
        self._again = any(plan.again for plan in plans)

    def title_text(self) -> str:
        if self._again:
            named = (
                self._plans[0].session.name if len(self._plans) == 1 else f"{len(self._plans)} conversations"
            )
            return f"What reading again would change of {named}"
        if len(self._plans) == 1:
            return f"What would be remembered of {self._plans[0].session.name}"
        return f"What would be remembered of {plural(len(self._plans), 'conversation')}"

    def body(self) -> ComposeResult:
        with Container(classes="proposals"):
            columns = proposal_columns(self.shell.glyphs, lambda number: self._plans[number].session.name)
            yield ProposalTable(columns if len(self._plans) > 1 else columns[:-1], id="proposals-rows",
                                glyphs=self.shell.glyphs)  # fmt: skip
            yield ProposalView(id="proposals-text")
        yield Static(classes="proposals-count")

    def hint_line(self) -> Content:
        keys = (
            ("Space", "accept or reject"),
            ("*", "all"),
            ("e", "edit"),
            ("Enter", "apply"),
            ("Esc", "discard"),
        )
        return assemble(
            *(
                part
                for key, what in keys
                for part in ((key, "bold $accent"), " ", (what, "$text-muted"), "   ")
            )
        )

    def on_mount(self) -> None:
        self._show_rows(top=True)
        self.query_one(ProposalTable).focus()

    def on_resize(self) -> None:
        table = self.query_one(ProposalTable)
        table.show_header(table.size.height >= _HEADER_FROM)

    # -- what is shown

    def _show_rows(self, *, top: bool = False) -> None:
        source = ListSource(proposals_of(self._plans), lambda row: row.key)
        self.query_one(ProposalTable).show_source(source, self.shell.operations.readers, top=top)
        lines = [line for plan in self._plans for line in plan.lines if line.action != "unchanged"]
        accepted = sum(line.accepted for line in lines)
        summary = (
            f"{format_count(accepted)} of {plural(len(lines), 'line')} accepted"
            if lines
            else "nothing would change"
            if self._again
            else "nothing worth keeping found"
        )
        if self._again:
            summary += f", {format_count(sum(plan.count('unchanged') for plan in self._plans))} unchanged"
        calls, tokens = sum(plan.calls for plan in self._plans), sum(plan.tokens for plan in self._plans)
        spent = (
            f" {self.shell.glyphs.dot} {format_count(tokens)} tokens in {plural(calls, 'call')}"
            if calls
            else ""
        )
        turns = plural(sum(plan.turns for plan in self._plans), "turn")
        by = extractor_name(self._plans[0].extractor) if self._plans else ""
        dot = f" {self.shell.glyphs.dot} "
        self.query_one(".proposals-count", Static).update(
            assemble((summary, "bold"), (f"{dot}{turns} read{dot}{by}{spent}", "$text-muted"))
        )
        if not any(plan.lines for plan in self._plans):
            empty = assemble("Nothing in it needs to be remembered.\n\nEnter still counts it as done.")
            self.query_one(ProposalView).show_text(empty)

    @on(RowHighlighted)
    def _show_selected(self) -> None:
        row = self._selected_row
        if row is not None:
            text = proposal_text(
                row, self._plans[row.plan], self._turns, self.shell.clock(), self.shell.glyphs
            )
            self.query_one(ProposalView).show_text(text, subject=row.key)

    @property
    def _selected_row(self) -> Proposal | None:
        selected = self.query_one(ProposalTable).selected
        if selected is None:
            return None
        return selected._replace(line=self._plans[selected.plan].lines[selected.line_index])

    # -- what the person does

    def toggle_line(self) -> None:
        """Accept the line, or reject it."""
        row = self._selected_row
        if row is not None and row.line.action != "unchanged":
            self._change_proposal(row, accepted=not row.line.accepted)

    def toggle_all_lines(self) -> None:
        """Accept all lines; reject them when all are accepted."""
        lines = [line for plan in self._plans for line in plan.lines]
        accept = not all(line.accepted for line in lines if line.action != "unchanged")
        for number, plan in enumerate(self._plans):
            for index, line in enumerate(plan.lines):
                if line.action == "unchanged":
                    continue
                plan = plan.with_line(index, accepted=accept)
            self._plans[number] = plan
        self._touched = True
        self._show_rows()

    def _change_proposal(
        self, row: Proposal, *, accepted: bool | None = None, content: str | None = None
    ) -> None:
        plan = self._plans[row.plan]
        self._plans[row.plan] = plan.with_line(row.line_index, accepted=accepted, content=content)
        self._touched = True
        self._show_rows()

    def action_edit(self) -> None:
        start_worker(self, self._edit_proposal, "edit")

    async def _edit_proposal(self) -> None:
        row = self._selected_row
        if row is None or row.line.action in ("unchanged", "retire"):
            return
        turn = next((self._turns[source] for source in row.line.sources if source in self._turns), None)
        quote = None
        if turn is not None:
            text = without_secrets(turn)
            part, ranges = excerpt_around(text, shared_words(row.line.content, text), 400)
            quote = assemble("“", content_with_marks(part, ranges, "bold $accent", "$text"), "”")
        written = await self.shell.show_dialog(EditProposal(row.line.content, quote))
        if written is not None:
            self._change_proposal(row, content=written.text)

    def action_other_part(self) -> None:
        table, view = self.query_one(ProposalTable), self.query_one(ProposalView)
        (table if view.has_focus else view).focus()

    @on(RowOpened)
    def action_apply(self) -> None:
        self.dismiss(tuple(self._plans))

    def action_leave(self) -> None:
        """Discard the plans. Asks first if they cost work or money."""
        if not self._touched and not any(plan.calls for plan in self._plans):
            self.dismiss(None)
            return
        question = Question("Discard this?", "What was read and decided here is lost.", yes="discard")

        def discard_if_yes(yes: bool | None) -> None:
            if yes:
                self.dismiss(None)

        self.app.push_screen(question, discard_if_yes)
