"""How the app follows its memory: what changed here and elsewhere, counts, and settings that changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from memtui.engine.errors import MemtuiError

from . import garbage_collection
from .format import plural
from .messages import Changed, Progressed, Said
from .perform import start
from .widgets.bars import TitleBar

if TYPE_CHECKING:
    from textual.dom import DOMNode as _Base

    from memtui.engine.memory import Memory
    from memtui.engine.records import Changes, Stats

    from .app import MemtuiApp
else:
    _Base = object

PROGRESS_SECONDS = 1.0
# Changes in quick succession are counted once.
COUNT_DELAY = 0.1
# Work under way ends before the memory is opened with other settings; so often it is looked at.
LOOK_SECONDS = 0.2


class AppFollowing(_Base):
    """Mixin of the app: it follows what happens to the memory."""

    _applying: asyncio.Lock
    # The file's version when it was last looked at: another one means that somebody else has written.
    data_version = 0
    _progress: Changes | None = None

    @property
    def _this(self) -> MemtuiApp:
        return cast("MemtuiApp", self)

    def follow(self, memory: Memory) -> None:
        """Hear of everything that happens to it in this process."""
        memory.subscribe("changed", self._changed_in_thread)
        memory.subscribe("job_finished", self._changed_in_thread)
        memory.subscribe("progress", self._progressed_in_thread)

    def start_background(self) -> None:
        """Begin what nobody waits for, unless the app is being left."""
        if not self._this.is_leaving:
            start(self, self.start_jobs, "jobs")
            self.start_following()

    async def start_jobs(self) -> None:
        """Look for maintenance that is due, in a thread of its own, while the app is open."""
        if self._this.operations.require().options.background and not self._this.readonly:
            await self._this.operations.change(lambda memory: memory.scheduler.start(), "starting the jobs")

    def start_following(self) -> None:
        """Follow live sessions where the settings say so."""
        me = self._this
        memory, home, configuration = me.operations.require(), me.home, me.configuration
        if configuration is None or home is None or me.readonly:
            return
        if configuration.settings.feeds.watch:
            me.sessions_followed.start(memory, home)

    def following_began(self) -> None:
        """In a thread: the title says so."""
        self.call_later(self.count_again)

    def following_failed(self, error: Exception) -> None:
        """In a thread: it does not go on by itself."""
        from memtui.log import outline

        told = f"{error.message} {error.hint}" if isinstance(error, MemtuiError) else outline(error)
        self.post_message(Said(f"Sessions are no longer followed: {told}", "error", kind="following"))

    async def tell_unfinished(self) -> None:
        """An erase that was interrupted is finished by the person, in the dialog that would begin another one."""
        waiting = await self._this.operations.ask(lambda memory: memory.unfinished_erase())
        if waiting is not None:
            key = self._this.keymap_shown("erase")
            self.post_message(Said(f"An erase was interrupted: {key} on any memory finishes it.", "warning"))

    # -- changes

    def _changed_in_thread(self, changes: Changes) -> None:
        if changes.operation is not None:
            self._this.made.add(changes.operation.op_id)
        self.post_message(Changed(changes))

    def on_changed(self, event: Changed) -> None:
        operation = event.changes.operation
        if self._this.is_leaving:
            return
        if operation is not None and operation.actor == "person":
            then = {"undo": "redo", "erase": ""}.get(operation.kind, "undo")
            self.post_message(Said(operation.label, then=then))
        self._this.main.memory_changed(event.changes)
        self.count_again()

    def _progressed_in_thread(self, changes: Changes) -> None:
        self.post_message(Progressed(changes))

    def on_progressed(self, event: Progressed) -> None:
        """Links and vectors come in thousands of batches: the lists follow once a second."""
        if self._progress is None and not self._this.is_leaving:
            self.set_timer(PROGRESS_SECONDS, self._follow_progress)
        self._progress = event.changes

    def _follow_progress(self) -> None:
        changes, self._progress = self._progress, None
        if changes is not None and not self._this.is_leaving:
            self._this.main.memory_changed(changes)
            self.count_again()

    def poll(self) -> None:
        garbage_collection.collect_if_due(self._this.keystrokes.quiet)
        start(self, self._look_for_others, "poll")

    async def _look_for_others(self) -> None:
        """Another process may have written; a file that cannot be read just now is one line, not a panel."""
        try:
            version = await self._this.operations.ask(lambda memory: memory.data_version())
        except MemtuiError as error:
            self.post_message(Said(f"{error.message} {error.hint}", "error", kind="poll"))
            return
        if version != self.data_version:
            self.post_message(Changed(_everything()))
        self.data_version = version

    def count_again(self) -> None:
        """Ask for the counts of the tabs and the title."""
        start(self, self._count, "count")

    async def _count(self) -> None:
        await asyncio.sleep(COUNT_DELAY)
        self._this.stats = stats = await self._this.operations.ask(lambda memory: memory.stats(), slow=True)
        if self._this.is_leaving:
            return
        self._this.main.show_stats(stats)
        self._this.main.query_one(TitleBar).facts = tuple(self._facts(stats))
        self._this.inbox.soon()

    def _facts(self, stats: Stats) -> Iterator[str]:
        """What is worth knowing about the memory right now, for the title."""
        if stats.unlinked:
            yield f"{self._this.glyphs.marked} linking {stats.unlinked:,} left"
        if stats.vectors_wanted and (affected := stats.embedded + stats.unembedded):
            yield f"{self._this.glyphs.marked} {affected:,} to re-embed"
        elif stats.unembedded:
            yield f"{self._this.glyphs.marked} embedding {stats.unembedded:,} left"
        if places := self._this.sessions_followed.places:
            yield f"{self._this.glyphs.marked} following {plural(places, 'place')}"
        if self._this.readonly:
            yield "read only"

    # -- settings

    @property
    def applies_settings(self) -> bool:
        """Whether settings of the engine can count at once: the memory is a file that can be opened anew."""
        memory = self._this.operations.memory
        return self._this.reopen is not None and memory is not None and memory.path is not None

    async def apply_settings(self) -> None:
        """Open the memory anew, with the settings as they are now; work under way is waited for."""
        me = self._this
        reopen, configuration = me.reopen, me.configuration
        if reopen is None or configuration is None:
            return
        async with self._applying:
            while me.operations.works:
                await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(me.sessions_followed.stop)
            memory, self.data_version = await me.operations.reopen(lambda: reopen(configuration.settings))
            self.follow(memory)
            await self.start_jobs()
            self.start_following()
            self.on_changed(Changed(_everything()))
        start(self, me.operations.let_go, "letting go", exclusive=False)


def _everything() -> Changes:
    """Any table may be another one."""
    from memtui.engine.records import Changes

    return Changes(tables=frozenset({"*"}))
