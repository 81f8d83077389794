"""Keeps the app up to date with the memory: changes made here and elsewhere, counts, changed settings.

It also counts the cards of Review for the tab, and imports new turns of sessions on this machine.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from memtui.engine.errors import MemtuiError, ReplacedFileError
from memtui.engine.wording import until_when
from memtui.present.format import plural

from .action_dispatch import start_worker
from .messages import Changed, Notified, Progressed
from .widgets.bars import TitleBar

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.config import Settings
    from memtui.engine.memory import Memory
    from memtui.engine.records import Changes, Pause, Recording, Stats
    from memtui.engine.records.sync import SyncReport

    from .main_screen import MainScreen
    from .shell import Shell


# How long closing waits for a running check of the files.
END_SECONDS = 10.0


class SessionFollower:
    """The thread that follows. It calls ``began`` when it knows its files, and ``failed`` with the error that ends it."""

    def __init__(self, began: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        self._began = began
        self._failed = failed
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.places = 0
        # Never in a demo.
        self.allowed = True

    def start(self, memory: Memory, home: Path) -> None:
        """Import into this memory. Ends following for another memory first."""
        self.stop()
        if not self.allowed:
            return
        self._stopped = stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._follow_sessions, args=(memory, home, stopped), name="following", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        self._stopped.set()
        self.places = 0
        if thread is not None:
            thread.join(END_SECONDS)

    def _follow_sessions(self, memory: Memory, home: Path, stopped: threading.Event) -> None:
        from memtui.engine.importers.known_places import known_sources

        try:
            places = [source.path for source in known_sources(home) if source.live]
            if places and not stopped.is_set():
                self.places = len(places)
                self._began()
                memory.files.follow(places, stopped)
        except Exception as error:
            if not stopped.is_set():
                self.places = 0
                self._failed(error)


class SyncFollower:
    """The thread that syncs the memory with its other devices. ``quiet``: seconds since the last key.

    ``failed`` gets the error of a sync, once for each reason; ``problem`` what is wrong in the store, once too.
    """

    def __init__(
        self, quiet: Callable[[], float], failed: Callable[[MemtuiError], None], problem: Callable[[str], None]
    ) -> None:  # fmt: skip
        self._quiet = quiet
        self._failed = failed
        self._problem = problem
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, memory: Memory) -> None:
        """Sync this memory, if it is in a group. Ends syncing another one first."""
        self.stop()
        self._stopped = stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._sync_until_stopped, args=(memory, stopped), name="syncing", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        self._stopped.set()
        if thread is not None:
            thread.join(END_SECONDS)

    def _sync_until_stopped(self, memory: Memory, stopped: threading.Event) -> None:
        from memtui.present.sync import batch_problem_line

        told: set[str] = set()

        def report_sync(report: SyncReport) -> None:
            for problem in report.problems:
                if (line := batch_problem_line(problem)) not in told:
                    told.add(line)
                    self._problem(line)

        try:
            if memory.sync.is_set_up:
                memory.sync.follow(
                    stopped,
                    report_sync,
                    self._failed,
                    at_keyboard=lambda: self._quiet() < AT_KEYBOARD_SECONDS,
                )
        except MemtuiError as error:
            if not stopped.is_set():
                self._failed(error)
        except Exception:
            if not stopped.is_set():  # else the memory was closed meanwhile
                raise


AT_KEYBOARD_SECONDS = 60.0
FIRST_SECONDS = 1.0
# The share of time that counting may take.
_SHARE = 0.05


class InboxCount:
    """Counts soon after a change, once for several changes in a row. The pane counts itself while it is shown."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._waits = False
        self._cost = 0.0

    def count_soon(self) -> None:
        """Count again soon: the number may have changed."""
        if not self._waits:
            self._waits = True
            self._shell.app.set_timer(max(FIRST_SECONDS, self._cost / _SHARE), self._start_count)

    def _start_count(self) -> None:
        self._waits = False
        if not self._shell.is_leaving and self._shell.shown_pane_id != "review":
            start_worker(self._shell.app, self._count_cards, "inbox")

    async def _count_cards(self) -> None:
        began = monotonic()
        number = await self._shell.operations.ask(lambda memory: len(memory.review.inbox().items))
        self._cost = monotonic() - began
        if not self._shell.is_leaving:
            self._shell.show_count("review", number)


PROGRESS_SECONDS = 1.0
# Changes in quick succession are counted once.
COUNT_DELAY = 0.1
# The memory is opened with other settings only after running work has ended. How often that is checked.
LOOK_SECONDS = 0.2


class ChangeFollower:
    """Follows changes of the memory. ``window`` shows it. ``reopen`` opens it with other settings."""

    def __init__(
        self, shell: Shell, window: Callable[[], MainScreen], reopen: Callable[[Settings], Memory] | None,
        quiet: Callable[[], float],
    ) -> None:  # fmt: skip
        self.runs_jobs = True
        """Whether due maintenance runs automatically. Not in a demo, which stays as it is."""
        self._shell = shell
        self._window = window
        self._reopen = reopen
        self._applying = asyncio.Lock()
        # The last known version of the file. Another version means that another program has written.
        self._version = 0
        self.stats: Stats | None = None
        # Operations of this run of the app.
        self.own_operations: set[int] = set()
        self.sessions = SessionFollower(self._show_following, self._show_following_failed)
        self.syncing = SyncFollower(quiet, self._show_sync_failed, self._show_sync_problem)
        self._inbox = InboxCount(shell)
        self._progress: Changes | None = None
        self._pause_ends: Timer | None = None

    def follow_memory(self, memory: Memory, version: int) -> None:
        """Follow a memory that was opened. ``version``: the file's version at that time."""
        self._version = version
        self._subscribe_to_changes(memory)

    def _subscribe_to_changes(self, memory: Memory) -> None:
        """Subscribe to all changes in this process."""
        memory.subscribe("changed", self._post_changed)
        memory.subscribe("job_finished", self._post_changed)
        memory.subscribe("progress", self._post_progressed)

    def start_background(self) -> None:
        """Start background work, unless the app is closing."""
        if not self._shell.is_leaving:
            start_worker(self._shell.app, self.start_jobs, "jobs")
            self.start_following()

    async def start_jobs(self) -> None:
        """Run due maintenance in its own thread, while the app is open."""
        if (
            self.runs_jobs
            and self._shell.operations.require_memory().options.background
            and not self._shell.readonly
        ):
            await self._shell.operations.change(lambda memory: memory.jobs.start(), "starting the jobs")

    def start_following(self) -> None:
        """Follow live sessions if the settings say so, and sync with other devices."""
        shell = self._shell
        memory, home, configuration = shell.operations.require_memory(), shell.home, shell.configuration
        if configuration is None or home is None or shell.readonly:
            return
        if configuration.settings.feeds.watch:
            self.sessions.start(memory, home)
        if configuration.settings.sync.auto and self.runs_jobs and memory.path is not None:
            self.syncing.start(memory)

    async def follow_again(self) -> None:
        """Start again after the file was replaced."""
        await asyncio.to_thread(self.stop_following)
        self.start_following()

    def _show_following(self) -> None:
        """Called in a thread: show it in the title."""
        self._shell.app.call_later(self.count_again)

    def stop_following(self) -> None:
        self.sessions.stop()
        self.syncing.stop()

    def _show_sync_failed(self, error: MemtuiError) -> None:
        """Called in a thread."""
        self._shell.app.post_message(Notified(f"Sync: {error.message} {error.hint}", "warning", kind="sync"))

    def _show_sync_problem(self, line: str) -> None:
        """Called in a thread."""
        self._shell.app.post_message(Notified(f"Sync: {line}", "error", kind="sync"))

    def _show_following_failed(self, error: Exception) -> None:
        """Called in a thread: show that following has stopped."""
        from memtui.log import error_outline

        reason = f"{error.message} {error.hint}" if isinstance(error, MemtuiError) else error_outline(error)
        self._shell.app.post_message(
            Notified(f"Sessions are no longer followed: {reason}", "error", kind="following")
        )

    async def report_unfinished(self) -> None:
        """Report an interrupted erase. The person finishes it in the erase dialog."""
        waiting = await self._shell.operations.ask(lambda memory: memory.files.unfinished_erase())
        if waiting is not None:
            key = self._shell.keymap_shown("erase")
            self._shell.app.post_message(
                Notified(f"An erase was interrupted: {key} on any memory finishes it.", "warning")
            )

    # -- changes

    def _post_changed(self, changes: Changes) -> None:
        if changes.operation is not None:
            self.own_operations.add(changes.operation.op_id)
        self._shell.app.post_message(Changed(changes))

    def show_changes(self, changes: Changes) -> None:
        operation = changes.operation
        if self._shell.is_leaving:
            return
        if operation is not None and operation.actor == "person":
            then = {"undo": "redo", "erase": ""}.get(operation.kind, "undo")
            self._shell.app.post_message(Notified(operation.label, then=then))
        self._window().memory_changed(changes)
        self.count_again()

    def _post_progressed(self, changes: Changes) -> None:
        self._shell.app.post_message(Progressed(changes))

    def show_progress_soon(self, changes: Changes) -> None:
        """Reload the lists at most once a second: links and vectors come in thousands of batches."""
        if self._progress is None and not self._shell.is_leaving:
            self._shell.app.set_timer(PROGRESS_SECONDS, self._show_progress)
        self._progress = changes

    def _show_progress(self) -> None:
        changes, self._progress = self._progress, None
        if changes is not None and not self._shell.is_leaving:
            self._window().memory_changed(changes)
            self.count_again()

    def poll_file(self) -> None:
        """Check whether another program has written."""
        start_worker(self._shell.app, self._look_for_others, "poll")

    async def _look_for_others(self) -> None:
        """Read changes of other processes. If the file cannot be read now, show one line, no dialog."""
        try:
            version = await self._shell.operations.ask(lambda memory: memory.data_version())
        except ReplacedFileError as error:
            self._shell.show_error(error, "poll")
            return
        except MemtuiError as error:
            self._shell.app.post_message(Notified(f"{error.message} {error.hint}", "error", kind="poll"))
            return
        if version != self._version:
            self._shell.app.post_message(Changed(_all_changes()))
        self._version = version

    def count_again(self) -> None:
        """Read the counts of the tabs and the title."""
        start_worker(self._shell.app, self._read_counts, "count")

    async def _read_counts(self) -> None:
        await asyncio.sleep(COUNT_DELAY)
        stats, recording = await self._shell.operations.ask(
            lambda memory: (memory.stats(), memory.recording.state()), slow=True
        )
        self.stats = stats
        if self._shell.is_leaving:
            return
        self._window().show_stats(stats)
        title = self._window().query_one(TitleBar)
        title.facts = tuple(self._title_facts(stats, recording))
        title.set_class(recording.pause is not None, "-paused")  # a low window shows the title only then
        self._look_when_it_ends(recording.pause)
        self._inbox.count_soon()

    def _look_when_it_ends(self, pause: Pause | None) -> None:
        """Update the title when a pause ends."""
        if self._pause_ends is not None:
            self._pause_ends.stop()
            self._pause_ends = None
        if pause is not None and pause.until is not None:
            seconds = max(pause.until - self._shell.clock(), 0.0) + 1.0
            self._pause_ends = self._shell.app.set_timer(seconds, self.count_again)

    def _title_facts(self, stats: Stats, recording: Recording) -> Iterator[str]:
        """The facts about the memory for the title."""
        pause = recording.pause
        if pause is not None:
            end = "" if pause.until is None else f" {until_when(pause.until, self._shell.clock())}"
            yield f"{self._shell.glyphs.busy} not recording{end}"
        if recording.never:
            yield f"{len(recording.never)} never recorded"
        if stats.unlinked:
            yield f"{self._shell.glyphs.busy} linking {stats.unlinked:,} left"
        if stats.vectors_wanted and (affected := stats.embedded + stats.unembedded):
            yield f"{self._shell.glyphs.busy} {affected:,} to re-embed"
        elif stats.unembedded:
            yield f"{self._shell.glyphs.busy} embedding {stats.unembedded:,} left"
        if places := self.sessions.places:
            yield f"{self._shell.glyphs.busy} following {plural(places, 'place')}"
        if self._shell.readonly:
            yield "read only"

    # -- settings

    @property
    def applies_settings(self) -> bool:
        """Whether engine settings can take effect now: the memory is a file that can be opened again."""
        memory = self._shell.operations.memory
        return self._reopen is not None and memory is not None and memory.path is not None

    async def apply_settings(self) -> None:
        """Open the memory again with the present settings, after running work has ended."""
        shell = self._shell
        reopen, configuration = self._reopen, shell.configuration
        if reopen is None or configuration is None:
            return
        async with self._applying:
            while shell.operations.works:
                await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self.stop_following)
            memory, self._version = await shell.operations.reopen(lambda: reopen(configuration.settings))
            self._subscribe_to_changes(memory)
            await self.start_jobs()
            self.start_following()
            self.show_changes(_all_changes())
        start_worker(
            self._shell.app, shell.operations.close_previous, "closing the previous memory", exclusive=False
        )


def _all_changes() -> Changes:
    """Changes that concern every table."""
    from memtui.engine.records import Changes

    return Changes(tables=frozenset({"*"}))
