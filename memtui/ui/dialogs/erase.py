"""Erase for good: the list of everything with the text, the number to type, the progress, the proof."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, Static

from memtui.engine.errors import MemtuiError
from memtui.present.format import plural
from memtui.ui.action_dispatch import start
from memtui.ui.actions import Action
from memtui.ui.safe import assemble
from memtui.ui.widgets.list_source import ListSource
from memtui.ui.widgets.row_events import RowHighlighted
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog
from .erase_rows import CarrierRow, carrier_columns, carrier_rows, plan_summary, proof_text, row_hint

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Dependents
    from memtui.engine.records.erase import ErasePlan, EraseProgress, EraseProof, UnfinishedErase
    from memtui.ui.progress import Work

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

    def why_not(self, action: Action) -> str:
        if action.id == "mark_all":
            return "Decide for each row separately."
        return super().why_not(action)

    def do_mark(self) -> None:
        self.dialog.toggle()

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
        self._delete_damaged = False
        self._plan: ErasePlan | None = None
        self._proof: EraseProof | None = None
        self._unfinished: UnfinishedErase | None = None
        self._stage: Stage = "looking"

    def title_text(self) -> str:
        return "Erase for good"

    def body(self) -> ComposeResult:
        yield Static(classes="dialog-text erase-told")
        yield CarrierTable(carrier_columns(self.shell.glyphs), id="erase-rows", glyphs=self.shell.glyphs)
        yield Static(classes="erase-row")
        yield Static(classes="dialog-label erase-ask")
        yield Input(classes="erase-count", restrict="[0-9]*", max_length=9, compact=True)
        yield Static(classes="dialog-warning")
        yield TextView(id="erase-proof")

    def on_mount(self) -> None:
        self._show_stage("looking", assemble(("Looking for everything that has this text…", "$text-muted")))
        self.set_interval(_LOOK_SECONDS, self._look)
        start(self.app, self._make_plan, "erase plan")

    def on_resize(self) -> None:
        """The list gets the rest of the height, so that the number can be typed in any window."""
        room = self.size.height - _LINES_OF_THE_REST
        self.query_one(CarrierTable).styles.max_height = min(max(room, 2), _MOST_ROWS)

    def hint_line(self) -> Content:
        leave = () if self._stage == "erasing" else (("Esc", "leave"),)
        parts: list[Content | str] = []
        for key, what in (*_HINTS[self._stage], *leave):
            parts += [assemble((key, "bold $accent"), " ", (what, "$text-muted")), "   "]
        return assemble(*parts)

    def _show_stage(self, stage: Stage, text: Content) -> None:
        self._stage = stage
        for part in self.query("CarrierTable, .erase-row, .erase-ask, .erase-count, .dialog-warning"):
            part.display = stage == "choose"
        proof = self.query_one(TextView)
        proof.display = stage == "done"
        self.query_one(".erase-told").display = stage != "done"
        if stage == "done":
            proof.show(text)
            proof.focus()
        else:
            self.query_one(".erase-told", Static).update(text)
        if stage not in ("choose", "done"):
            self.set_focus(None)
        self.query_one(".dialog-hints", Static).update(self.hint_line())

    # -- the list

    async def _make_plan(self) -> None:
        also, keep = tuple(sorted(self._also)), tuple(sorted(self._keep))

        def look(memory: Memory) -> tuple[UnfinishedErase | None, ErasePlan | None, Dependents | None]:
            unfinished = memory.files.unfinished_erase()
            if unfinished is not None:
                return unfinished, None, None
            plan = memory.files.plan_erase(self._ids, session_id=self._session_id, also=also, keep=keep)
            chosen = [one.key for one in plan.carriers if one.chosen and one.place == "memory"]
            return None, plan, memory.view.dependents(chosen)

        try:
            self._unfinished, self._plan, depends = await self.shell.operations.ask(look, slow=True)
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
        table.show(source, self.shell.operations.readers, top=first)
        table.show_header(False)
        number = f"{self._plan.memories}"
        self.query_one(".erase-ask", Static).update(
            assemble(
                "Type ", (number, "bold $error"), " to erase them, and everything with their text, for good:"
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
    def _row(self) -> CarrierRow | None:
        return self.query_one(CarrierTable).selected

    @on(RowHighlighted)
    def _highlighted(self) -> None:
        row = self._row
        hint = assemble("") if row is None else row_hint(row, "Space")
        self.query_one(".erase-row", Static).update(hint)

    def toggle(self) -> None:
        """Erase or keep the row. The list is made again, because other rows may depend on it."""
        row = self._row
        carrier = None if row is None else row.carrier
        if row is not None and row.damaged:
            self._delete_damaged = not self._delete_damaged
        elif row is not None and row.beside is not None:
            self._warn("This row is only for information.")
            return
        elif carrier is None or not carrier.choice:
            self._warn("You cannot keep this one: it belongs to what you chose.")
            return
        elif carrier.fate == "kept":
            self._keep.discard(carrier.key)
            if carrier.place == "memory":
                self._also.add(carrier.key)
        else:
            self._also.discard(carrier.key)
            self._keep.add(carrier.key)
        self._warn("")
        start(self.app, self._make_plan, "erase plan")

    def _warn(self, text: str) -> None:
        self.query_one(".dialog-warning", Static).update(assemble((text, "$warning")))

    # -- the erase

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        plan = self._plan
        if plan is None or self._stage != "choose":
            return
        if event.value.strip() != str(plan.memories):
            self._warn(f"! Type {plan.memories} to erase; Esc leaves everything as it is.")
            return
        self._erase()

    def _erase(self) -> None:
        self._show_stage("erasing", assemble(("Erasing...", "bold")))
        start(self.app, partial(self._run, self._plan), "erase")

    async def _run(self, plan: ErasePlan | None) -> None:
        delete = self._delete_damaged

        def run(memory: Memory, work: Work) -> EraseProof | None:
            def follow(now: EraseProgress) -> None:
                work.progress(now.done, now.total, now.doing)

            if plan is None:
                return memory.files.resume_erase(progress=follow)
            return memory.files.erase(plan, delete_damaged=delete, progress=follow)

        try:
            proof = await self.shell.operations.work(run, NAME)
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

    def _look(self) -> None:
        """Show the progress of the erase."""
        work = next((work for work in self.shell.operations.works if work.name == NAME), None)
        if work is not None and work.detail and self._stage == "erasing":
            step = f" ({work.done + 1} of {work.total})" if work.total > 1 else ""
            self.query_one(".erase-told", Static).update(
                assemble(("Erasing\n\n", "bold"), work.detail, (step, "$text-muted"),
                         ("\n\nThis cannot be stopped.", "$text-muted"))
            )  # fmt: skip

    # -- keys

    def action_go_on(self) -> None:
        if self._stage == "done":
            self.dismiss(self._proof)
        elif self._stage == "unfinished":
            self._plan = None
            self._erase()

    def action_again(self) -> None:
        if self._stage == "failed":
            self._show_stage("looking", assemble(("Looking again...", "$text-muted")))
            start(self.app, self._make_plan, "erase plan")

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
