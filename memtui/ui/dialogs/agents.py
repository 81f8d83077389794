"""The agents of this machine and the tokens of this memory: connect, disconnect, revoke, each after showing the change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from memtui.engine.errors import MemtuiError
from memtui.ui.safe import content
from memtui.ui.widgets.text_view import TextView

from .choice import Choice, PickDialog, Question

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.access.tokens import Token
    from memtui.connect.changes import PlannedEdits
    from memtui.connect.connection import Connection
    from memtui.ui.shell import Shell

_COLOURS = {"+": "$success", "-": "$error", "@": "$text-muted"}
NOTHING = "Nothing is to be changed."


class ChangesQuestion(Question):
    """The lines that would change in files of another program, and whether to write them."""

    wide = True

    def __init__(self, title: str, lines: list[str], *, yes: str) -> None:
        super().__init__(title, "", yes=yes)
        self._lines = lines

    def body(self) -> ComposeResult:
        yield TextView(id="changes")

    def on_mount(self) -> None:
        view = self.query_one(TextView)
        lines = [content(one, _COLOURS.get(one[:1], "$text"), limit=400) for one in self._lines]
        view.show_text(Content("\n").join(lines), subject="changes")
        view.focus()


async def manage_agents(shell: Shell) -> None:
    """Let the person choose an agent or a token, until they leave.

    Files of other programs are read and written only where settings may be: not in a browser.
    """
    shell.permissions.require("settings")
    at = 0
    while True:
        memory = await shell.operations.ask(lambda memory: memory.path)
        known, tokens, used = await asyncio.to_thread(_load_connections, memory)
        choices = [Choice(_agent_line(one)) for one in known]
        choices += [Choice(f"token {one.name}: {line}") for one, line in zip(tokens, used, strict=True)]
        picked = await shell.show_dialog(
            PickDialog(
                "Agents", choices, yes="connect, disconnect or revoke", text=_explanation_text(), at=at
            )
        )
        if picked is None:
            return
        at = picked
        try:
            if picked < len(known):
                await _change_connection(shell, known[picked], memory)
            else:
                await _revoke_token(shell, tokens[picked - len(known)], memory)
        except MemtuiError as error:
            shell.show_error(error, "changing an agent")


def _explanation_text() -> str:
    from memtui.engine.installation import runnable_text

    connect, tokens = runnable_text("memtui connect --help"), runnable_text("memtui tokens add NAME")
    return f"All at once, or with a scope: {connect}. A token: {tokens}"


def _load_connections(memory: Path | None) -> tuple[list[Connection], list[Token], list[str]]:
    """The agents, those that are here first; the tokens that hold, and what is known of each."""
    import time

    from memtui.access.counts import AdmissionCounts
    from memtui.access.tokens import TokenFile
    from memtui.connect.clients import CLIENTS, this_machine
    from memtui.connect.connection import connection_of
    from memtui.present.access import token_scope_line, token_use_text

    machine, now = this_machine(), time.time()
    known = sorted(
        (connection_of(client, machine) for client in CLIENTS.values()),
        key=lambda one: not (one.found or one.is_connected),
    )
    tokens = [] if memory is None else TokenFile().list_tokens(memory)
    active_tokens = [one for one in tokens if one.state_at(now) == "active"]
    uses = AdmissionCounts().read_counts().tokens if active_tokens else {}
    return (
        known,
        active_tokens,
        [f"{token_scope_line(one, now)}, {token_use_text(uses.get(one.id), now)}" for one in active_tokens],
    )


def _agent_line(one: Connection) -> str:
    from memtui.connect.wording import connection_hooks_text, connection_scope_text, connection_state_text

    state_text = one.problem or ", ".join(
        part
        for part in (connection_state_text(one), connection_scope_text(one), connection_hooks_text(one))
        if part
    )
    return f"{one.label}: {state_text}"


async def _change_connection(shell: Shell, one: Connection, memory: Path | None) -> None:
    """Connect the agent, or disconnect it; ask with the changes first."""
    from memtui.connect.changes import diff_lines
    from memtui.connect.clients import CLIENTS
    from memtui.connect.files import write_edit

    client, hooks = CLIENTS[one.client], False
    if not one.is_connected and client.hooks is not None:
        ways = [Choice("Connect"), Choice("Connect, and record every turn by its hooks")]
        way = await shell.show_dialog(PickDialog(f"Connect {one.label}", ways, yes="show the changes"))
        if way is None:
            return
        hooks = bool(way)
    planned = await asyncio.to_thread(_plan_change, one, memory, hooks, tuple(shell.shell_options))
    if not planned.changed_edits:
        shell.show_message(NOTHING)
        return
    verb = "Disconnect" if one.is_connected else "Connect"
    lines = [line for edit in planned.changed_edits for line in diff_lines(edit, planned)]
    if not await shell.show_dialog(ChangesQuestion(f"{verb} {one.label}", lines, yes="write it")):
        return
    for edit in planned.changed_edits:
        await asyncio.to_thread(write_edit, edit)
    after = client.hooks.afterwards if hooks and client.hooks else ""
    shell.show_message(f"{verb}ed {one.label}. Restart it. {after}".strip())


def _plan_change(one: Connection, memory: Path | None, hooks: bool, options: tuple[str, ...]) -> PlannedEdits:
    """Raises InputError for a file that cannot be changed, or a memory that is not in a file."""
    from memtui import paths
    from memtui.connect import connection
    from memtui.connect.changes import PlannedEdits
    from memtui.connect.clients import CLIENTS, this_machine
    from memtui.connect.launch import LaunchCommand, own_program
    from memtui.engine.errors import InputError

    client, machine = CLIENTS[one.client], this_machine()
    if one.is_connected:
        shown = connection.texts_we_wrote(client, machine)
        return PlannedEdits(
            client=client, edits=tuple(connection.edits_to_disconnect(client, machine)), shown=shown
        )
    if memory is None:
        raise InputError("This memory is in no file, so no agent can open it.", "Open one with --db.")
    flags = tuple(word for word in options if word == "--allow-unsafe-fs")
    call = LaunchCommand(
        program=own_program(),
        options=(f"--db={memory.absolute()}", f"--agent={client.name}", *flags),
        configuration=paths.config_file().absolute(),
        hooked=hooks,
    )
    command, arguments = call.server_command()
    shown = frozenset(
        [command, *arguments, call.hook_line(client.name), "command", *map(str, client.fixed.values())]
    )
    return PlannedEdits(
        client=client, edits=tuple(connection.edits_to_connect(client, machine, call)), shown=shown
    )


async def _revoke_token(shell: Shell, token: Token, memory: Path | None) -> None:
    from memtui.access.tokens import TokenFile

    question = Question(
        f"Revoke the token {token.name}",
        "Who has it gets no answer from now on, also from a server that runs. It cannot be given back; another can be made.",
        yes="revoke it",
    )
    if memory is not None and await shell.show_dialog(question):
        await asyncio.to_thread(TokenFile().revoke, token.name, memory)
        shell.show_message(f"Revoked the token {token.name}.")
