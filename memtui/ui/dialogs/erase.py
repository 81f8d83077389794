"""Erase for good: the list of everything with the text, the number to type, the progress, the proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, Static

from memtui.engine.errors import MemtuiError
from memtui.present.dependents import OUTCOMES, dependents_lines, similar_note
from memtui.present.format import file_size, plural
from memtui.present.text import LabelledLine, Role, VisibleText, one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, content, content_of_line
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowHighlighted, RowTable
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Dependents
    from memtui.engine.records.erase import (
        BackupState,
        Carrier,
        CarrierOutcome,
        ErasePlan,
        EraseProgress,
        EraseProof,
        UnfinishedErase,
    )
    from memtui.present.glyphs import Glyphs
    from memtui.ui.progress import Work


_ROLES: Mapping[CarrierOutcome, Role] = {"erased": "error", "cleared": "warning", "kept": "success"}
_PLACES = {
    "card": "review card", "question": "question", "recall": "recall log", "run": "job report",
    "entity": "name", "history": "history only",
}  # fmt: skip
_MOST_FILES = 40
_BESIDE = {
    "told": "an agent that got it", "same turns": "drawn from the same turns", "summary": "its summary says it",
    "question": "should find it", "same name": "has a name of it",
}  # fmt: skip


class CarrierRow(NamedTuple):
    """A row or a backup, by its index in the list. ``doomed``: a damaged backup that will be deleted.

    ``dependent``: for rows that are only for information, their relation to the erased ones (``told``, ``same turns``).
    """

    place: int
    carrier: Carrier | None
    backup: BackupState | None
    doomed: bool = False
    dependent: LabelledLine | None = None

    @property
    def is_damaged(self) -> bool:
        return self.backup is not None and self.backup.problem != ""


def carrier_rows(
    plan: ErasePlan, depends: Dependents, now: float, *, delete_damaged: bool
) -> list[CarrierRow]:
    """Everything that has the text; below it what may say it in other words and what depends on it: agents that
    got it, facts of the same turns."""
    both: list[tuple[Carrier | None, BackupState | None]] = [
        *((carrier, None) for carrier in plan.carriers),
        *((None, one) for one in plan.backups),
        *((carrier, None) for carrier in plan.similar),
    ]
    listed = [
        CarrierRow(number, carrier, backup, delete_damaged and backup is not None and bool(backup.problem))
        for number, (carrier, backup) in enumerate(both)
    ]
    label = ""
    for number, one in enumerate(
        dependents_lines(depends, now, without={one.key for one in (*plan.carriers, *plan.similar)}),
        len(listed),
    ):
        label = one.label or label
        listed.append(CarrierRow(number, None, None, dependent=one._replace(label=label)))
    return listed


def carrier_columns(glyphs: Glyphs) -> Sequence[Column[CarrierRow]]:
    """What happens to it, its kind, its text, and why it is listed."""

    def outcome_cell(row: CarrierRow, width: int) -> Iterator[StyledText]:
        if row.carrier is not None:
            yield StyledText(one_line(OUTCOMES[row.carrier.outcome], width), _ROLES[row.carrier.outcome])
        elif row.dependent is not None:
            yield StyledText(visible_text("knows it" if row.dependent.label == "told" else "keep"), "dim")
        elif row.is_damaged:
            yield StyledText(visible_text("deleted" if row.doomed else "damaged"), "error")
        else:
            yield StyledText(visible_text("rewritten"), "warning")

    def place_cell(row: CarrierRow, width: int) -> Iterator[StyledText]:
        carrier = row.carrier
        if row.dependent is not None:
            label = "agent" if row.dependent.label == "told" else row.dependent.label
        else:
            label = "backup" if carrier is None else carrier.kind or _PLACES.get(carrier.place, carrier.place)
        yield StyledText(one_line(label, width), "dim")

    def text_cell(row: CarrierRow, width: int) -> Iterator[StyledText]:
        if row.carrier is not None:
            strong: Role = "strong" if row.carrier.chosen else "text"
            yield StyledText(one_line(row.carrier.title, width), strong)
        elif row.backup is not None:
            yield StyledText(one_line(row.backup.path.name, width))
        elif row.dependent is not None:
            yield StyledText(one_line("".join(text for text, _ in row.dependent.line), width))

    def reason_cell(row: CarrierRow, width: int) -> Iterator[StyledText]:
        yield StyledText(one_line(_reason_text(row), width), "dim")

    def choice_cell(row: CarrierRow, width: int) -> Iterator[StyledText]:
        free = row.is_damaged or (row.carrier is not None and row.carrier.choice)
        yield StyledText(visible_text(glyphs.marked) if free else VisibleText(" "), "accent")

    return (
        Column("choice", "", choice_cell, width=1, gap=1),
        Column("outcome", "", outcome_cell, width=9),
        Column("what", "what", place_cell, width=12, drop=1),
        Column("text", "text", text_cell, least=30),
        # The line below the list says it as well.
        Column("why", "why", reason_cell, width=28, drop=2),
    )


def _reason_text(row: CarrierRow) -> str:
    if row.carrier is not None:
        return row.carrier.why
    if row.dependent is not None:
        return _BESIDE.get(row.dependent.label, "it depends on it")
    if row.backup is None:
        return ""
    return row.backup.problem or f"holds {plural(row.backup.holds, 'memory')} of it"


def row_hint(row: CarrierRow, key: str) -> Content:
    """One line about the selected row: why it is listed, and whether the person can decide otherwise."""
    carrier = row.carrier
    if row.is_damaged:
        choice = "keep it" if row.doomed else "delete it, as it may hold the text"
        return assemble(
            (f"{_reason_text(row)}; ", "$text-muted"), (key, "bold $accent"), (f" {choice}", "$text")
        )
    if row.dependent is not None:
        return assemble(content_of_line(row.dependent.line), (f"; {_reason_text(row)}", "$text-muted"))
    if carrier is None or not carrier.choice:
        return content(_reason_text(row), "$text-muted", limit=200)
    otherwise = "erase it as well" if carrier.outcome == "kept" else "keep it"
    return assemble((f"{carrier.why}; ", "$text-muted"), (key, "bold $accent"), (f" {otherwise}", "$text"))


def plan_summary(plan: ErasePlan, glyphs: Glyphs) -> Content:
    """How much will be erased, in one or two lines."""
    others = sum(plan.counts.values())
    parts = [plural(plan.memories, "memory")]
    parts += [plural(others, "other place")] if others else []
    parts += [plural(len(plan.backups), "backup")] if plan.backups else []
    staying = sum(carrier.outcome == "kept" for carrier in plan.carriers)
    counts = f" {glyphs.dot} ".join(parts)
    beside = f" {glyphs.dot} {plural(staying, 'more', 'more')} that could go" if staying else ""
    damaged = f"\n! {plural(len(plan.damaged), 'backup')} cannot be opened" if plan.damaged else ""
    return assemble(
        (counts, "bold"),
        (beside, "$text-muted"),
        ("\nThere is no undo.", "$error"),
        *(((f" {similar_note(plan)}.", "$warning"),) if plan.similar else ()),
        (damaged, "$warning"),
        *((f"\n{note}", "$text-muted") for note in plan.notes),
    )


def proof_text(proof: EraseProof, glyphs: Glyphs) -> Content:
    """Which files were searched, and what was found."""
    gone = plural(proof.memories, "memory")
    parts: list[Content | str | tuple[str, str]] = (
        [(f"{glyphs.done} {gone} erased for good\n\n", "bold $success")]
        if proof.complete
        else [(f"! {gone}: the erase is not finished\n\n", "bold $error")]
    )
    for problem in proof.problems:
        parts.append((f"{problem}\n", "$error"))
    if proof.problems:
        parts.append("\n")
    if proof.files:
        parts += [
            "Another process looked for ", (plural(proof.pieces, "piece"), "bold"), " of it in every byte of ",
            (f"{plural(len(proof.files), 'file')} ({file_size(proof.bytes)})", "bold"), " and asked ",
            (plural(proof.questions, "question"), "bold"), ": ", (f"{proof.found:,} found", "bold"), ".\n\n",
        ]  # fmt: skip
    for file in proof.files[:_MOST_FILES]:
        style = "$error" if file.found else "$text-muted"
        parts += [
            (f"{file.found:>7,} found  ", style),
            file.path.name,
            (f"  {file.bytes:,} bytes\n", "$text-muted"),
        ]
    if len(proof.files) > _MOST_FILES:
        parts.append((f"        and {len(proof.files) - _MOST_FILES} files more\n", "$text-muted"))
    for still in proof.kept:
        parts.append((f"\n{still.where} says the same words, and stays ({still.file.name})", "$warning"))
    for note in proof.notes:
        parts.append((f"\n{note}", "$text-muted"))
    return assemble(*parts)


NAME = "erasing"
_LOOK_SECONDS = 0.1
_LINES_OF_THE_REST = 19
_MOST_ROWS = 14

Stage = Literal["looking", "choose", "unfinished", "erasing", "done", "failed"]
_HINTS: dict[Stage, tuple[tuple[str, str], ...]] = {
    "looking": (),
    "choose": (("Enter", "erase"), ("Tab", "list"), ("Space", "take or leave")),
    "unfinished": (("Enter", "finish it"),),
    "erasing": (),
    "done": (("Enter", "close"),),
    "failed": (("b", "look again"),),
}


class CarrierTable(RowTable[CarrierRow], inherit_bindings=False):
    """A list in which Space decides whether a row is erased or kept."""

    BINDINGS = RowTable.BINDINGS

    @property
    def dialog(self) -> EraseDialog:
        assert isinstance(self.screen, EraseDialog)
        return self.screen

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "mark_all":
            return "Decide for each row separately."
        return super().unavailable_reason(action)

    def do_mark(self) -> None:
        self.dialog.toggle_row()

    def do_open(self) -> None:
        self.dialog.query_one(Input).focus()

    def do_focus_list(self) -> None:
        self.focus()

    def do_focus_preview(self) -> None:
        self.dialog.query_one(Input).focus()


class EraseDialog(Dialog["EraseProof"]):
    """One dialog for all stages. ``ids``: memories. ``session_id``: a whole session."""

    BINDINGS = [
        Binding("enter", "go_on", show=False),
        Binding("tab,shift+tab", "other_part", show=False),
        Binding("down", "row(1)", show=False),
        Binding("up", "row(-1)", show=False),
        Binding("b", "again", show=False),
    ]
    wide = True

    def __init__(self, ids: Sequence[str] = (), *, session_id: str | None = None) -> None:
        super().__init__()
        self._ids = tuple(ids)
        self._session_id = session_id
        self._also: set[str] = set()
        self._keep: set[str] = set()
        self._toggled = ""
        """Key of the row that was decided last: it may stand elsewhere in the list that is made then."""
        self._delete_damaged = False
        self._plan: ErasePlan | None = None
        self._proof: EraseProof | None = None
        self._unfinished: UnfinishedErase | None = None
        self._stage: Stage = "looking"

    def title_text(self) -> str:
        return "Erase for good"

    def body(self) -> ComposeResult:
        yield Static(classes="dialog-text erase-notice")
        yield CarrierTable(carrier_columns(self.shell.glyphs), id="erase-rows", glyphs=self.shell.glyphs)
        yield Static(classes="erase-row")
        yield Static(classes="dialog-label erase-ask")
        yield Input(classes="erase-count", restrict="[0-9]*", max_length=9, compact=True)
        yield Static(classes="dialog-warning")
        yield TextView(id="erase-proof")

    def on_mount(self) -> None:
        self._show_stage("looking", assemble(("Looking for everything that has this text…", "$text-muted")))
        self.set_interval(_LOOK_SECONDS, self._show_progress)
        start_worker(self.app, self._make_plan, "erase plan")

    def on_resize(self) -> None:
        """The list gets the rest of the height, so that the number can be typed in any window."""
        lines_left = self.size.height - _LINES_OF_THE_REST
        self.query_one(CarrierTable).styles.max_height = min(max(lines_left, 2), _MOST_ROWS)

    def hint_line(self) -> Content:
        return self.fitting_hints(_HINTS[self._stage], "" if self._stage == "erasing" else "leave")

    def _show_stage(self, stage: Stage, text: Content) -> None:
        self._stage = stage
        self.set_class(stage == "choose", "-choosing")
        for part in self.query("CarrierTable, .erase-row, .erase-ask, .erase-count, .dialog-warning"):
            part.display = stage == "choose"
        proof = self.query_one(TextView)
        proof.display = stage == "done"
        self.query_one(".erase-notice").display = stage != "done"
        if stage == "done":
            proof.show_text(text)
            proof.focus()
        else:
            self.query_one(".erase-notice", Static).update(text)
        if stage not in ("choose", "done"):
            self.set_focus(None)
        self.query_one(".dialog-hints", Static).update(self.hint_line())

    # -- the list

    async def _make_plan(self) -> None:
        also, keep = tuple(sorted(self._also)), tuple(sorted(self._keep))

        def load_plan(memory: Memory) -> tuple[UnfinishedErase | None, ErasePlan | None, Dependents | None]:
            unfinished = memory.files.unfinished_erase()
            if unfinished is not None:
                return unfinished, None, None
            plan = memory.files.plan_erase(self._ids, session_id=self._session_id, also=also, keep=keep)
            chosen = [one.key for one in plan.carriers if one.chosen and one.place == "memory"]
            return None, plan, memory.view.dependents(chosen)

        try:
            self._unfinished, self._plan, depends = await self.shell.operations.ask(load_plan, slow=True)
        except MemtuiError as error:
            self._show_error(error)
            return
        if not self.is_attached:
            return
        if self._plan is None or depends is None:
            self._show_unfinished()
            return
        first = self._stage != "choose"
        self._show_stage("choose", plan_summary(self._plan, self.shell.glyphs))
        table = self.query_one(CarrierTable)
        rows = carrier_rows(self._plan, depends, self.shell.clock(), delete_damaged=self._delete_damaged)
        source = ListSource(rows, lambda row: row.place)
        table.show_source(source, self.shell.operations.readers, top=first)
        for row in rows:
            if row.carrier is not None and row.carrier.key == self._toggled:
                table.select_key(row.place)
        table.show_header(False)
        number = f"{self._plan.memories}"
        them, their = ("it", "its") if self._plan.memories == 1 else ("them", "their")
        kept = sum(one.outcome == "kept" for one in self._plan.carriers)
        rest = (
            f" for good; the text stays in {plural(kept, 'kept place')}"
            if kept
            else f", and everything with {their} text, for good"
        )
        self.query_one(".erase-ask", Static).update(
            assemble(
                "Type ",
                (number, "bold $error"),
                f" to erase {them}{rest}:",
            )
        )
        if first:
            self.query_one(Input).focus()

    def _show_unfinished(self) -> None:
        waiting = self._unfinished
        if waiting is not None:
            number = plural(waiting.memories, "memory")
            state = (
                "is not proven yet" if waiting.begun else "was interrupted before anything was erased here"
            )
            self._show_stage(
                "unfinished",
                assemble(
                    (f"An earlier erase of {number} {state}.\n\n", "bold"),
                    "It must be finished before another one can begin.",
                ),
            )

    @property
    def _selected_row(self) -> CarrierRow | None:
        return self.query_one(CarrierTable).selected

    @on(RowHighlighted)
    def _show_selected(self) -> None:
        row = self._selected_row
        hint = assemble("") if row is None else row_hint(row, "Space")
        self.query_one(".erase-row", Static).update(hint)

    def toggle_row(self) -> None:
        """Erase or keep the row. The list is made again, because other rows may depend on it."""
        row = self._selected_row
        carrier = None if row is None else row.carrier
        self._toggled = "" if carrier is None else carrier.key
        if row is not None and row.is_damaged:
            self._delete_damaged = not self._delete_damaged
        elif row is not None and row.dependent is not None:
            self._show_warning("This row is only for information.")
            return
        elif carrier is None or not carrier.choice:
            self._show_warning("You cannot keep this one: it belongs to what you chose.")
            return
        elif carrier.outcome == "kept":
            self._keep.discard(carrier.key)
            if carrier.place == "memory":
                self._also.add(carrier.key)
        else:
            self._also.discard(carrier.key)
            self._keep.add(carrier.key)
        self._show_warning("")
        start_worker(self.app, self._make_plan, "erase plan")

    def _show_warning(self, text: str) -> None:
        self.query_one(".dialog-warning", Static).update(assemble((text, "$warning")))

    # -- the erase

    @on(Input.Submitted)
    def _confirm_typed(self, event: Input.Submitted) -> None:
        event.stop()
        plan = self._plan
        if plan is None or self._stage != "choose":
            return
        if event.value.strip() != str(plan.memories):
            self._show_warning(f"! Type {plan.memories} to erase; Esc leaves everything as it is.")
            return
        self._start_erase()

    def _start_erase(self) -> None:
        self._show_stage("erasing", assemble(("Erasing...", "bold")))
        start_worker(self.app, partial(self._run_erase, self._plan), "erase")

    async def _run_erase(self, plan: ErasePlan | None) -> None:
        delete = self._delete_damaged

        def erase_in_thread(memory: Memory, work: Work) -> EraseProof | None:
            def show_progress(now: EraseProgress) -> None:
                work.progress(now.done, now.total, now.doing)

            if plan is None:
                return memory.files.resume_erase(progress=show_progress)
            return memory.files.erase(plan, delete_damaged=delete, progress=show_progress)

        try:
            proof = await self.shell.operations.work(erase_in_thread, NAME)
        except MemtuiError as error:
            self._show_error(error)
            return
        self._proof = proof
        if proof is None:
            await self._make_plan()
        elif self.is_attached:
            self._show_stage("done", proof_text(proof, self.shell.glyphs))

    def _show_error(self, error: MemtuiError) -> None:
        if self.is_attached:
            self._show_stage("failed", assemble((f"! {error.message}", "$error"), "\n\n", error.hint))
        else:
            self.shell.show_error(error, NAME)

    def _show_progress(self) -> None:
        """Show the progress of the erase."""
        work = next((work for work in self.shell.operations.works if work.name == NAME), None)
        if work is not None and work.detail and self._stage == "erasing":
            step = f" ({work.done + 1} of {work.total})" if work.total > 1 else ""
            self.query_one(".erase-notice", Static).update(
                assemble(("Erasing\n\n", "bold"), work.detail, (step, "$text-muted"),
                         ("\n\nThis cannot be stopped.", "$text-muted"))
            )  # fmt: skip

    # -- keys

    def action_go_on(self) -> None:
        if self._stage == "done":
            self.dismiss(self._proof)
        elif self._stage == "unfinished":
            self._plan = None
            self._start_erase()

    def action_again(self) -> None:
        if self._stage == "failed":
            self._show_stage("looking", assemble(("Looking again...", "$text-muted")))
            start_worker(self.app, self._make_plan, "erase plan")

    def action_other_part(self) -> None:
        if self._stage == "choose":
            table, count = self.query_one(CarrierTable), self.query_one(Input)
            (table if count.has_focus else count).focus()

    def action_row(self, step: int) -> None:
        if self._stage == "choose":
            table = self.query_one(CarrierTable)
            table.move_to(table.cursor + step)

    def action_leave(self) -> None:
        if self._stage != "erasing":
            self.dismiss(self._proof)
