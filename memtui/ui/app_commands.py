"""What the whole app does, whichever pane is shown: parts, undo and redo, help, dialogs, leaving."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from .actions import BY_ID
from .format import local_time, plural
from .messages import Said, Severity
from .navigation import AppWays

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtui.engine.memory import Memory
    from memtui.engine.records import Operation, Undone

    from .app import MemtuiApp

# Undoing more rows than that, or something of an earlier run, asks first.
ASK_ABOVE = 20


class AppActions(AppWays):
    """Mixin of the app: the actions that live everywhere."""

    @property
    def _me(self) -> MemtuiApp:
        return cast("MemtuiApp", self)

    def action_perform(self, action_id: str) -> None:
        """Hand an action to whoever carries it out now."""
        node = self._me.main.performer(BY_ID[action_id])
        if node is not None and node is not self:
            node.action_perform(action_id)
        elif node is not None:
            super().action_perform(action_id)

    # -- parts

    def do_next_part(self) -> None:
        self._me.main.step(1)

    def do_previous_part(self) -> None:
        self._me.main.step(-1)

    def do_jump(self) -> None:
        from .dialogs.jump import JumpScreen

        def go(number: int | None) -> None:
            if number is not None:
                targets[number].focus()

        targets = self._me.main.pane.parts()
        self._me.push_screen(JumpScreen([target.region for target in targets]), go)

    # -- undo

    async def do_undo(self) -> None:
        me = self._me
        operation = await me.operations.ask(lambda memory: memory.next_undo())
        if operation is None:
            self._say("There is nothing of yours to undo.")
            return
        from .dialogs.restore_flow import go_back
        from .presenters.operation_rows import is_restore

        if is_restore(operation):
            if told := await go_back(me, operation):
                self._say(told)
            return
        if not await self._sure(operation):
            self._say("Nothing was undone.")
            return
        op_id = operation.op_id
        await self._take_back(lambda memory: memory.undo(op_id), "undoing")

    async def do_redo(self) -> None:
        await self._take_back(lambda memory: memory.redo(), "redoing")

    async def _take_back(self, back: Callable[[Memory], Undone | None], doing: str) -> None:
        """What was undone is told as any change is; what was left alone is shown side by side."""
        from memtui.engine.errors import InputError
        from memtui.engine.store.undo import NothingUndoneError

        from .dialogs.conflicts import ConflictsDialog

        try:
            done = await self._me.operations.change(back, doing)
        except InputError as error:
            self._say(f"{error.message} {error.hint}", "warning")
            if isinstance(error, NothingUndoneError) and error.conflicts:
                self._me.push_screen(ConflictsDialog(error.operation, error.conflicts))
            return
        if done is None:
            self._say("There is nothing to redo.")
        elif done.conflicts:
            self._me.push_screen(ConflictsDialog(done.operation, done.conflicts, done.restored))

    async def _sure(self, operation: Operation) -> bool:
        """Ask before a large undo, or one of something from before this run."""
        large, earlier = operation.rows > ASK_ABOVE, operation.at < self._me.started
        elsewhere = operation.op_id not in self._me.made
        if not (large or earlier or elsewhere):
            return True
        from .dialogs.question import Question

        when = local_time(operation.at, time.time())
        other = ", not made in this window" if elsewhere else ""
        before = ", before memtui was started this time" if earlier else other
        told = f"{operation.label}\n{plural(operation.rows, 'row')}, {when}{before}."
        answer = await self._me.ask_person(Question("Undo this?", told, yes="undo"))
        return bool(answer)

    # -- the program

    async def welcome(self) -> None:
        """To a memory that holds nothing yet: what could fill it."""
        me = self._me
        if me.home is None or me.readonly:
            return
        stats = await me.operations.ask(lambda memory: memory.stats())
        if stats.active or stats.ended:
            return
        from .dialogs.welcome import WelcomeDialog

        chosen = await me.ask_person(WelcomeDialog(me.home))
        if chosen is None or chosen.what == "empty":
            return
        if chosen.what == "demo":
            me.demo_wanted = True
            me.exit()
            return
        from .dialogs.import_ import ImportDialog

        me.push_screen(ImportDialog(*chosen.paths))

    def do_import(self) -> None:
        self._me.push_named("import")

    def do_export(self) -> None:
        """Open the dialog, narrowed to what the list of memories shows."""
        from .dialogs.export import ExportDialog
        from .panes.memories.pane import MemoriesPane

        pane = self._me.main.pane
        self._me.push_screen(ExportDialog(pane.filter_text if isinstance(pane, MemoriesPane) else ""))

    def do_settings(self) -> None:
        self._me.push_named("settings")

    def choose_theme(self, name: str) -> None:
        """Change the colours, and keep them for the next start."""
        from memtui import config
        from memtui.engine.errors import InputError

        me = self._me
        me.theme = name
        if me.configuration is None:
            return
        file = me.configuration.file
        try:
            config.save(file, "general.theme", name)
            me.configuration = config.load(file)
        except InputError as error:
            self._say(f"The theme is not kept: {error.message} {error.hint}", "warning")

    def do_palette(self) -> None:
        from .palette import Commands, Palette

        if not isinstance(self._me.screen, Palette):
            self._me.push_screen(Palette([Commands], placeholder="Find a command"))

    def show_connecting(self) -> None:
        """The commands for a shell that let agents in."""
        from .dialogs.help import HelpDialog, HelpLine

        connect = "Connect your agent: in a shell"
        lines = [
            HelpLine(
                connect, "memtui connect claude-code", "Claude Code. With --hooks it records every turn."
            ),
            HelpLine(connect, "memtui connect claude-desktop", "Claude Desktop."),
            HelpLine(connect, "memtui connect codex", "Codex."),
        ]
        self._me.push_screen(HelpDialog("Agents", lines))

    def do_help(self) -> None:
        from .dialogs.dialog import Dialog
        from .dialogs.help import HelpDialog

        me = self._me
        if not isinstance(me.screen, Dialog):
            me.push_screen(HelpDialog(*me.main.help_lines()))

    async def do_quit(self) -> None:
        me = self._me
        if me.operations.running and me.operations.memory is not None:
            from .dialogs.question import Question

            question = Question(
                "Leave now?", f"This is still running: {me.operations.running[-1]}.", yes="leave"
            )
            if not await me.ask_person(question):
                return
        me.exit()

    def _say(self, text: str, severity: Severity = "information") -> None:
        self.post_message(Said(text, severity))
