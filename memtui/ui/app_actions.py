"""Actions that work in every pane: parts, undo and redo, help, dialogs, quit."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from memtui.present.format import local_time, plural

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, LastServed, Operation, Undone

    from .main_screen import MainScreen
    from .shell import Shell

# An undo of more rows than this, or of a change of an earlier run, asks first.
ASK_ABOVE = 20


class AppActions:
    """The actions that work everywhere. ``window``: the screen with the panes."""

    def __init__(self, shell: Shell, window: Callable[[], MainScreen]) -> None:
        self._shell = shell
        self._window = window

    # -- parts

    def do_next_part(self) -> None:
        self._window().move_focus(1)

    def do_previous_part(self) -> None:
        self._window().move_focus(-1)

    def do_jump(self) -> None:
        from .dialogs.jump import JumpScreen

        def jump_to(number: int | None) -> None:
            if number is not None:
                targets[number].focus()

        targets = self._window().pane.focus_parts()
        self._shell.app.push_screen(JumpScreen([target.region for target in targets]), jump_to)

    # -- undo

    async def do_undo(self) -> None:
        shell = self._shell
        from memtui.present.operation import is_restore

        from .dialogs.restore import go_back

        while operation := await shell.operations.ask(lambda memory: memory.history.next_undo()):
            if is_restore(operation):
                if message := await go_back(shell, operation):
                    shell.show_message(message)
                return
            if not await self._ask_if_sure(operation):
                shell.show_message("Nothing was undone.")
                return
            if await self._undo_or_redo(partial(_undo_if_latest, op_id=operation.op_id), "undoing"):
                return
            # What was still being written when the key was pressed is the latest change now.
        shell.show_message("There is nothing of yours to undo.")

    async def do_redo(self) -> None:
        if not await self._undo_or_redo(lambda memory: memory.redo(), "redoing"):
            self._shell.show_message("There is nothing to redo.")

    async def _undo_or_redo(self, step: Callable[[Memory], Undone | None], doing: str) -> bool:
        """Undo or redo. Rows that were left alone are shown with both versions. False where ``back`` found nothing to do."""
        from memtui.engine.errors import InputError
        from memtui.engine.store.undo import NothingUndoneError

        from .dialogs.undo import ConflictsDialog

        try:
            done = await self._shell.operations.change(step, doing)
        except InputError as error:
            self._shell.show_message(f"{error.message} {error.hint}", "warning")
            if isinstance(error, NothingUndoneError) and error.conflicts:
                self._shell.app.push_screen(ConflictsDialog(error.operation, error.conflicts))
            return True
        if done is not None and done.conflicts:
            self._shell.app.push_screen(ConflictsDialog(done.operation, done.conflicts, done.restored))
        return done is not None

    async def _ask_if_sure(self, operation: Operation) -> bool:
        """Ask before a large undo, or before the undo of a change from an earlier run."""
        large, earlier = operation.rows > ASK_ABOVE, operation.at < self._shell.started
        elsewhere = operation.op_id not in self._shell.own_operations
        erase = await self._shell.operations.ask(lambda memory: memory.history.erase_before_undo())
        if not (large or earlier or elsewhere or erase):
            return True
        from .dialogs.choice import Question

        when = local_time(operation.at, time.time())
        other = ", not made in this window" if elsewhere else ""
        before = ", before this run of memtui" if earlier else other
        text = f"{operation.label}\n{plural(operation.rows, 'row')}, {when}{before}."
        if erase is not None:
            text = f"{erase.label}: nothing brings that back. The change before it:\n{text}"
        answer = await self._shell.show_dialog(Question("Undo this?", text, yes="undo", enter=True))
        return bool(answer)

    # -- the program

    async def do_wrong(self) -> None:
        """List the last answers of agents, to go to a memory or to withhold it from that agent."""
        from .dialogs.wrong_answers import WrongAnswersDialog

        shell = self._shell
        if shell.operations.memory is None:
            shell.show_message("Opening the memory …: press the key again in a moment.")
            return
        served, cautions = await shell.operations.ask(_load_last_served)
        if not served:
            shell.show_message("No agent was told anything yet, or nothing of it is remembered any more.")
            return
        picked = await shell.show_dialog(WrongAnswersDialog(served, cautions))
        if picked is None:
            return
        memory, agent = picked.memory, picked.agent
        if not picked.withhold:
            await shell.navigation.open_memory(memory.rid)
        elif shell.readonly:
            shell.show_message(shell.permissions.unchangeable, "warning")
        else:
            await shell.operations.change(
                lambda engine: engine.withhold(memory.id, agent), f"keeping it from {agent}"
            )

    def do_import(self) -> None:
        from .dialogs.import_ import ImportDialog

        self._shell.app.push_screen(ImportDialog())

    def do_export(self) -> None:
        """Open the export dialog with the filter of the list."""
        from .dialogs.export import ExportDialog

        self._shell.app.push_screen(ExportDialog(self._window().pane.memory_filter))

    async def do_pause(self) -> None:
        """Pause recording, after asking for how long; or end the pause."""
        from memtui.present.status import never_recorded_lines, pause_ended_line, paused_line

        from .dialogs.line_input import PauseDialog

        shell = self._shell
        before = await shell.operations.ask(lambda memory: memory.recording.state())
        if before.pause is not None:
            from .dialogs.choice import Question

            question = Question(
                "Record again?", _as_sentence(paused_line(before, shell.clock())), yes="record again"
            )
            if await shell.show_dialog(question) is not True:
                shell.show_message("Recording stays paused.")
                return
            await shell.operations.change(lambda memory: memory.recording.resume(), "ending the pause")
            shell.show_message(_as_sentence(pause_ended_line(before)))
            return
        end = await shell.show_dialog(PauseDialog(never_recorded_lines(before)))
        if end is None:
            shell.show_message("Recording goes on.")
            return
        state = await shell.operations.change(
            lambda memory: memory.recording.pause(end or None), "pausing recording"
        )
        shell.show_message(_as_sentence(paused_line(state, shell.clock())))

    async def do_never_record(self) -> None:
        """Ask for a subject that is never to be recorded."""
        from memtui.present.status import never_recorded_lines

        from .dialogs.line_input import NeverDialog

        shell = self._shell
        before = await shell.operations.ask(lambda memory: memory.recording.state())
        subject = await shell.show_dialog(NeverDialog(never_recorded_lines(before)))
        if subject is None:
            return
        await shell.operations.change(
            lambda memory: memory.recording.never("subject", subject), "excluding a subject"
        )
        shell.show_message(f"“{subject}” is never recorded. What is there already stays: / finds it.")

    def do_settings(self) -> None:
        from .dialogs.settings import SettingsDialog

        self._shell.app.push_screen(SettingsDialog())

    def do_palette(self) -> None:
        from .palette import MemtuiPalette, PaletteCommands

        if not isinstance(self._shell.app.screen, MemtuiPalette):
            self._shell.app.push_screen(MemtuiPalette([PaletteCommands], placeholder="Find a command"))

    def do_help(self) -> None:
        from .dialogs.dialog import Dialog
        from .dialogs.help import HelpDialog

        shell = self._shell
        if not isinstance(shell.app.screen, Dialog):
            shell.app.push_screen(HelpDialog(*self._window().help_lines()))

    async def do_quit(self) -> None:
        shell = self._shell
        if shell.operations.running and shell.operations.memory is not None:
            from .dialogs.choice import Question

            question = Question(
                "Leave now?", f"This is still running: {shell.operations.running[-1]}.", yes="leave"
            )
            if not await shell.show_dialog(question):
                return
        shell.app.exit()


async def show_welcome(shell: Shell, *, start_import: bool = False) -> None:
    """Show the welcome dialog for an empty memory. ``start_import``: offer an import for another one."""
    if shell.home is None or shell.readonly:
        return
    stats = await shell.operations.ask(lambda memory: memory.stats())
    if stats.active or stats.ended:
        if start_import:
            from .dialogs.import_ import ImportDialog

            shell.app.push_screen(ImportDialog())
        return
    from .dialogs.welcome import WelcomeDialog

    chosen = await shell.show_dialog(WelcomeDialog(shell.home))
    if chosen is None or chosen.what == "empty":
        return
    if chosen.what == "demo":
        shell.demo_wanted = True
        shell.app.exit()
        return
    from .dialogs.import_ import ImportDialog

    shell.app.push_screen(ImportDialog(*chosen.paths))


def _load_last_served(memory: Memory) -> tuple[list[LastServed], dict[str, tuple[Caution, ...]]]:
    """The last answers of agents, and what of them was corrected or forgotten since. Blocks."""
    served = memory.view.last_served()
    return served, memory.view.cautions([one.id for last in served for one in last.memories])


def _as_sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


def _undo_if_latest(memory: Memory, op_id: int) -> Undone | None:
    """Undo a change that is still the latest one that can be undone. None if there is a later one."""
    latest = memory.history.next_undo()
    return memory.undo(op_id) if latest is not None and latest.op_id == op_id else None
