"""Export: choose a file or a folder and a filter, see the progress, stop it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, Static

from memtui.engine.errors import MemtuiError
from memtui.present.format import file_size, format_count, plural
from memtui.ui.action_dispatch import start_worker
from memtui.ui.safe import assemble
from memtui.ui.widgets.path_input import PathInput

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import ExportProgress, ExportReport
    from memtui.engine.records.exchange import ExportFormat
    from memtui.ui.progress import Work
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.reactive import reactive
from textual.widget import Widget


class ToggleOption(Widget, can_focus=True):
    """Space changes it. ``on``: its value."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "turn", show=False)]

    on: reactive[bool] = reactive(False)

    def __init__(self, label: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._label = label

    def render(self) -> Content:
        mark = ("[x] ", "bold $accent") if self.on else ("[ ] ", "$text-muted")
        return assemble(mark, (self._label, "bold $text" if self.has_focus else "$text"))

    def action_turn(self) -> None:
        self.on = not self.on

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_turn()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()


NAME = "exporting"
_LOOK_SECONDS = 0.1
_FILES = (".jsonl", ".json", ".ndjson")

Stage = Literal["choose", "writing", "done", "failed"]
_HINTS: dict[Stage, tuple[tuple[str, str], ...]] = {
    "choose": (("Enter", "export"), ("Tab", "complete, next"), ("Space", "on or off")),
    "writing": (("c", "stop"),),
    "done": (("Enter", "close"),),
    "failed": (("Enter", "another path"),),
}


class ExportDialog(Dialog[None]):
    """One dialog for all stages. ``filter``: the filter of the pane; the person may change it."""

    BINDINGS = [
        Binding("enter", "close", show=False),
        Binding("c", "stop", show=False),
        Binding("b", "again", show=False),
    ]
    wide = True

    def __init__(self, filter: str = "") -> None:
        super().__init__()
        self._filter = filter
        self._stage: Stage = "choose"

    def title_text(self) -> str:
        return "Export"

    def body(self) -> ComposeResult:
        yield Static(
            assemble(
                (
                    "A name with .jsonl makes one file, which can be imported again. Any other name makes a folder of notes.\n",
                    "$text-muted",
                ),
                (
                    "Without a filter: everything. The file also has the Trash. Notes that you changed stay as they are.",
                    "$text-muted",
                ),
            ),
            classes="dialog-text export-choose",
        )
        yield PathInput("~/memory.jsonl", placeholder="a file or a folder")
        yield Input(
            self._filter, placeholder="filter, for example kind:fact", classes="export-choose export-filter"
        )
        yield ToggleOption(
            "with history: who changed what, and when (a file only)",
            id="export-history",
            classes="export-choose",
        )
        yield ToggleOption("replace an existing file", id="export-force", classes="export-choose")
        yield ToggleOption("without secrets", id="export-secrets", classes="export-choose")
        yield Static(classes="dialog-text export-text")

    def on_mount(self) -> None:
        self._show_stage("choose")
        self.set_interval(_LOOK_SECONDS, self._show_progress)

    @property
    def _export_work(self) -> Work | None:
        return next((work for work in self.shell.operations.works if work.name == NAME), None)

    def hint_line(self) -> Content:
        return self.fitting_hints(_HINTS[self._stage])

    def _show_stage(self, stage: Stage, text: Content | None = None) -> None:
        self._stage = stage
        for part in self.query(".export-choose, PathInput"):
            part.display = stage == "choose"
        message = self.query_one(".export-text", Static)
        message.display = stage != "choose"
        if text is not None:
            message.update(text)
        self.query_one(".dialog-hints", Static).update(self.hint_line())
        if stage == "choose":
            self.query_one(PathInput).focus()
        else:
            self.set_focus(None)

    def _show_progress(self) -> None:
        """Show the progress of the export."""
        work = self._export_work
        if work is not None and work.total and self._stage == "writing":
            share = min(work.done / work.total, 1.0)
            width = max(self.query_one(".export-text").size.width - 7, 8)
            filled = round(share * width)
            glyphs = self.shell.glyphs
            self.query_one(".export-text", Static).update(
                assemble(
                    ("Exporting\n\n", "bold"), (glyphs.bar * filled, "$accent"),
                    (glyphs.empty * (width - filled), "$frame"), f" {share:4.0%}\n",
                    format_count(work.done), " of ", format_count(work.total),
                )
            )  # fmt: skip

    @on(Input.Submitted)
    def _path_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._start_export()

    def _start_export(self) -> None:
        text = self.query_one(PathInput).value.strip()
        if not text:
            message = self.query_one(".export-text", Static)
            message.display = True
            message.update(assemble(("! Name a file or a folder first.", "$warning")))
        else:
            self._show_stage("writing", assemble(("Exporting", "bold")))
            history, force, blackout = (
                self.query_one(f"#export-{name}", ToggleOption).on for name in ("history", "force", "secrets")
            )
            run = partial(
                self._run_export, Path(text).expanduser(), self._current_filter(), history=history, force=force,
                without_secrets=blackout,
            )  # fmt: skip
            start_worker(self.app, run, "export")

    @on(PathInput.TypingEnded)
    def _focus_filter(self) -> None:
        self.query_one(".export-filter", Input).focus()

    def _current_filter(self) -> str:
        return self.query_one(".export-filter", Input).value.strip()

    async def _run_export(
        self, path: Path, filter: str, *, history: bool, force: bool, without_secrets: bool
    ) -> None:
        permissions = self.shell.permissions
        format: ExportFormat = "jsonl" if path.suffix.lower() in _FILES else "markdown"

        def export_in_thread(memory: Memory, work: Work) -> ExportReport:
            permissions.require("export")

            def show_progress(progress: ExportProgress) -> None:
                work.progress(progress.done, progress.total)

            return memory.files.export(
                path, format=format, filter=filter, history=history, force=force,
                without_secrets=without_secrets, progress=show_progress, cancelled=work.cancelled,
            )  # fmt: skip

        try:
            report = await self.shell.operations.work(export_in_thread, NAME)
        except MemtuiError as error:
            if self.is_attached:
                self._show_stage("failed", assemble((f"! {error.message}", "$error"), "\n\n", error.hint))
            else:
                self.shell.show_error(error, NAME)
            return
        if not self.is_attached:
            self.shell.show_message(
                "The export was stopped." if report.cancelled else f"Exported to {report.path}."
            )
        elif report.cancelled:
            self._show_stage("choose")
        else:
            self._show_stage("done", _report_text(report))

    def action_close(self) -> None:
        if self._stage == "done":
            self.dismiss(None)
        elif self._stage == "failed":
            self.action_again()
        elif self._stage == "choose":  # from a toggle
            self._start_export()

    def action_stop(self) -> None:
        work = self._export_work
        if work is not None and self._stage == "writing":
            work.cancel()

    def action_again(self) -> None:
        if self._stage == "failed":
            self._show_stage("choose")

    def action_leave(self) -> None:
        if self._stage == "writing":
            self.action_stop()
        self.dismiss(None)


def _report_text(report: ExportReport) -> Content:
    if report.format == "markdown":
        what = plural(sum(report.counts.values()), "note")
    else:
        what = plural(report.counts.get("memory", 0), "memory")
    parts: list[Content | str | tuple[str, str]] = [
        (f"{what} exported.\n\n", "bold"), str(report.path), "\n",
        (f"{file_size(report.size)}, readable by you only", "$text-muted"),
    ]  # fmt: skip
    if report.kept:
        parts.append(
            (f"\n! {plural(len(report.kept), 'note')} that you changed were not replaced", "$warning")
        )
    if report.secrets:
        parts.append((f"\n! {plural(report.secrets, 'text')} with a secret in this export", "$warning"))
    return assemble(*parts)
