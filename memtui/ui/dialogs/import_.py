"""Import: choose a file or a detected source, preview, import, stop, read the report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, Static

from memtui.engine.errors import MemtuiError
from memtui.present.format import plural
from memtui.present.reembedding import stronger_model_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble
from memtui.ui.widgets.path_input import PathInput
from memtui.ui.widgets.row_table import RowHighlighted, RowOpened, RowsCounted, RowTable

from .dialog import Dialog
from .import_text import (
    FoundSource,
    found_sources,
    progress_detail,
    progress_text,
    report_text,
    source_columns,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.engine.memory import Memory
    from memtui.engine.records import ImportProgress, ImportReport, Session
    from memtui.ui.progress import Work
    from memtui.ui.shell import Shell


NAME = "importing"
COUNTING = "counting"


def import_work(shell: Shell) -> Work | None:
    """The preview or import that is running."""
    return next((work for work in shell.operations.works if work.name in (NAME, COUNTING)), None)


async def run_import(
    shell: Shell,
    paths: Sequence[Path],
    finished: Callable[[ImportReport | None, MemtuiError | None], bool],
    *,
    dry: bool,
) -> None:
    """Count what is in ``paths``, or import it. ``finished`` gets the result. It returns False if the result was not shown."""

    def import_in_thread(memory: Memory, work: Work) -> ImportReport:
        def show_progress(progress: ImportProgress) -> None:
            work.progress(progress.bytes_done, progress.bytes_total, progress_detail(progress))

        return memory.files.import_paths(paths, dry_run=dry, progress=show_progress, cancelled=work.cancelled)

    report, failure = None, None
    try:
        report = await shell.operations.work(import_in_thread, COUNTING if dry else NAME)
    except MemtuiError as error:
        failure = error
    if finished(report, failure):
        return
    if failure is not None:
        shell.show_error(failure, NAME)
    elif report is not None and not dry and not report.brings:
        shell.show_message("The import brought nothing new.")


_LOOK_SECONDS = 0.1
# Formats of programs that keep adding to their files.
_LIVE = frozenset(("claude-code", "codex"))
# What can be imported, the most common first.
WHAT = (
    "sessions of Claude Code, Codex and the Agents SDK, exports of ChatGPT and Claude.ai, memories of mem0, MCP and "
    "memory.db, LangChain histories, Markdown notes, JSONL"
)

Stage = Literal["choose", "counting", "counted", "importing", "done", "drawing", "failed"]
_HINTS: dict[Stage, tuple[tuple[str, str], ...]] = {
    "choose": (("Enter", "preview"), ("Tab", "complete")),
    "counting": (("c", "stop"),),
    "counted": (("Enter", "import it"), ("b", "another path")),
    "importing": (("c", "stop"), ("Esc", "go on in the background")),
    "done": (("Enter", "close"), ("u", "undo")),
    "drawing": (("Enter", "show them first"), ("r", "save them at once"), ("u", "undo"), ("Esc", "not now")),
    "failed": (("Enter", "another path"),),
}


class ImportDialog(Dialog[None]):
    """One dialog for all stages. ``paths``: begin by counting what is in them."""

    BINDINGS = [
        Binding("enter", "go_on", show=False),
        Binding("c", "stop", show=False),
        Binding("b", "again", show=False),
        Binding("u", "undo", show=False),
        Binding("d", "draw(True)", show=False),
        Binding("r", "draw(False)", show=False),
    ]
    wide = True

    def __init__(self, *paths: Path) -> None:
        super().__init__()
        self._paths = paths
        self._stage: Stage = "choose"
        self._report: ImportReport | None = None
        # Conversations (by id) that waited before the import, with their turns; and those that it brought turns to.
        self._waited: dict[str, int] = {}
        self._brought: list[str] = []
        self._places: list[FoundSource] = []

    def title_text(self) -> str:
        return "Import conversations"

    def body(self) -> ComposeResult:
        yield Static(
            assemble(
                ("Which file or folder? A zip is fine as it is. ", ""),
                (
                    "You get a preview first. What is here already is not added again.\n",
                    "",
                ),
                (f"It can be: {WHAT}.", "$text-muted"),
            ),
            classes="dialog-text import-about",
        )
        yield PathInput(placeholder="for example ~/Downloads/export.zip")
        yield Static(classes="dialog-warning")
        yield RowTable(source_columns(self.shell.clock), id="import-sources", glyphs=self.shell.glyphs)
        yield Static(classes="dialog-text import-text")

    def on_mount(self) -> None:
        self.query_one(RowTable).show_header(False)
        running = self._import_work
        if running is not None:
            self._show_stage("importing" if running.name == NAME else "counting")
        elif self._paths:
            self.query_one(PathInput).propose_path(str(self._paths[0]))
            self._preview_import(self._paths)
        else:
            self._show_stage("choose")
            start_worker(self, self._detect_sources, "detect")
        self.set_interval(_LOOK_SECONDS, self._show_progress)

    @property
    def _import_work(self) -> Work | None:
        return import_work(self.shell)

    # -- what is shown

    def hint_line(self) -> Content:
        several = (("Down, Space", "mark more"),) if self._stage == "choose" and len(self._places) > 1 else ()
        hints = [hint for hint in _HINTS[self._stage] if hint[0] != "Esc"]
        out = next((what for key, what in _HINTS[self._stage] if key == "Esc"), "leave")
        return self.fitting_hints([*hints, *several], out)

    def _show_stage(self, stage: Stage, text: Content | None = None) -> None:
        self._stage = stage
        choosing = stage == "choose"
        table = self.query_one(RowTable)
        self.set_class(choosing, "-choosing")
        self.query_one(PathInput).display = choosing
        self.query_one(".dialog-warning").display = choosing
        table.display = choosing and table.row_count > 0
        self.query_one(".import-text", Static).display = not choosing
        if text is not None:
            self.query_one(".import-text", Static).update(text)
        self.query_one(".dialog-hints", Static).update(self.hint_line())
        if choosing:
            self.query_one(PathInput).focus()
        else:
            self.set_focus(None)

    def _show_progress(self) -> None:
        """Show the progress of counting or importing."""
        work = self._import_work
        if work is not None and self._stage in ("counting", "importing"):
            width = max(self.query_one(".import-text").size.width, 20)
            text = progress_text(work, width, self.shell.glyphs, counting=self._stage == "counting")
            self.query_one(".import-text", Static).update(text)

    # -- choosing

    async def _detect_sources(self) -> None:
        home = self.shell.home
        if home is None:
            return
        from memtui.engine.importers.known_places import known_sources

        sources = await asyncio.to_thread(known_sources, home, clock=self.shell.clock)
        if not sources:
            return
        self._show_places(found_sources(sources))
        box = self.query_one(PathInput)
        if not box.value and self._stage == "choose":
            box.propose_path(_shorten_home(sources[0].path, home))
        memory = self.shell.operations.require_memory()
        probed = await asyncio.to_thread(lambda: list(memory.files.probe(sources)))
        self._show_places(found_sources(sources, probed))

    def _show_places(self, places: list[FoundSource]) -> None:
        self._places = places
        self._source_table.show_source(
            ListSource(places, lambda place: place.number), self.shell.operations.readers
        )

    @on(RowsCounted)
    def _sources_counted(self, event: RowsCounted) -> None:
        self.query_one(RowTable).display = self._stage == "choose" and event.count > 0
        self.query_one(".dialog-hints", Static).update(self.hint_line())

    @on(RowHighlighted)
    def _source_highlighted(self) -> None:
        table = self._source_table
        if table.has_focus and table.selected is not None and self.shell.home is not None:
            self.query_one(PathInput).value = _shorten_home(table.selected.source.path, self.shell.home)

    @on(Input.Submitted)
    def _path_typed(self) -> None:
        text = self.query_one(PathInput).value.strip()
        if text:
            self._preview_import([Path(text).expanduser()])

    @on(RowOpened)
    def _chosen_sources(self) -> None:
        """The marked sources, or the one under the cursor."""
        table = self._source_table
        marked = [place for place in self._places if place.number in table.marks]
        places = marked or ([table.selected] if table.selected is not None else [])
        if places:
            self._preview_import([place.source.path for place in places])

    @property
    def _source_table(self) -> RowTable[FoundSource]:
        return self.query_one(RowTable)

    @on(PathInput.TypingEnded)
    def _focus_sources(self) -> None:
        table = self.query_one(RowTable)
        if table.display:
            table.focus()

    # -- counting and importing

    def _preview_import(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._show_stage("counting", assemble("Looking at its content"))
        start_worker(self.app, partial(self._run_import, self._paths, dry=True), "import")

    async def _run_import(self, paths: Sequence[Path], *, dry: bool) -> None:
        if not dry:
            self._waited = {one.session_id: one.turns for one in await self._due_sessions()}
        await run_import(self.shell, paths, self._import_ended, dry=dry)

    def _import_ended(self, report: ImportReport | None, error: MemtuiError | None) -> bool:
        if self.is_attached:
            self.show_result(report, error)
        return self.is_attached

    def show_result(self, report: ImportReport | None, error: MemtuiError | None) -> None:
        """Show the result of the preview or of the import."""
        if error is not None:
            text = assemble((f"! {error.message}", "$error"), "\n\n", error.hint)
            self._show_stage("failed", text)
        elif report is not None and report.dry_run and report.cancelled:
            self._show_stage("choose")
        elif report is not None:
            self._report = report
            follows = not report.dry_run and self._could_be_watched(report)
            text = report_text(report, follows=follows)
            self._show_stage("counted" if report.dry_run else "done", text)
            if not report.dry_run and report.imported:
                start_worker(self, partial(self._offer_facts, text), "facts")

    async def _offer_facts(self, report: Content) -> None:
        """Ask whether to draw facts from the sessions that wait and got turns by this import."""
        memory = self.shell.operations.require_memory()
        if (stronger := await asyncio.to_thread(memory.models.stronger)) and self._stage == "done":
            report = assemble(
                report, (f"\n\n{stronger_model_text(stronger)} memtui embed --late", "$text-muted")
            )
            self._show_stage("done", report)
        brought = [
            one.session_id
            for one in await self._due_sessions()
            if one.turns != self._waited.get(one.session_id)
        ]
        self._brought, waiting = brought, len(brought)
        if waiting and self._stage == "done" and not self.shell.readonly:
            sessions = plural(waiting, "conversation is", "conversations are")
            question = (f"\n\nLook for facts now? Of these, {sessions} not read yet.", "bold $accent")
            self._show_stage("drawing", assemble(report, question))

    def action_draw(self, preview: bool) -> None:
        if self._stage == "drawing":
            self.dismiss(None)
            draw = self.shell.navigation.draw_facts
            start_worker(self.app, partial(draw, self._brought, preview=preview), "facts")

    async def _due_sessions(self) -> list[Session]:
        memory = self.shell.operations.require_memory()
        return await asyncio.to_thread(memory.sessions.pending, due=True)

    def _could_be_watched(self, report: ImportReport) -> bool:
        """Whether these files could be watched for new conversations, and are not yet."""
        configuration = self.shell.configuration
        watched = configuration is None or configuration.settings.feeds.watch
        return not watched and not _LIVE.isdisjoint(report.formats)

    def action_go_on(self) -> None:
        if self._stage == "failed":
            self.action_again()
        elif self._stage == "drawing":
            self.action_draw(True)
        elif self._stage == "done":
            self.dismiss(None)
        elif self._stage == "counted" and self._paths:
            if self._report is not None and not self._report.brings:
                self.dismiss(None)
                return
            self._show_stage("importing", assemble("Beginning"))
            start_worker(self.app, partial(self._run_import, self._paths, dry=False), "import")

    def action_stop(self) -> None:
        work = self._import_work
        if work is not None and self._stage in ("counting", "importing"):
            work.cancel()

    def action_again(self) -> None:
        if self._stage in ("counted", "failed"):
            self._show_stage("choose")
            box = self.query_one(PathInput)
            box.propose_path(box.value)
            start_worker(self, self._detect_sources, "detect")

    def action_undo(self) -> None:
        if (
            self._stage in ("done", "drawing")
            and self._report is not None
            and self._report.operation is not None
        ):
            self.dismiss(None)
            self.shell.action_perform("undo")

    def action_leave(self) -> None:
        if self._stage == "counting":
            self.action_stop()
        self.dismiss(None)


def _shorten_home(path: Path, home: Path) -> str:
    """The path with ``~`` for the home folder."""
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and home == Path.home() else str(path)
