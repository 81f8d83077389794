"""``memtui connect``: write memtui into agents' configurations, after showing the changes."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import urlsplit

import click

from memtui.access.headers import is_loopback
from memtui.access.tokens import PREFIX
from memtui.connect import connection
from memtui.connect.changes import PlannedEdits
from memtui.connect.clients import CLIENTS, Client, this_machine
from memtui.connect.launch import LaunchCommand, RemoteServer, own_program
from memtui.connect.wording import connection_hooks_text, connection_scope_text, connection_state_text
from memtui.engine.errors import InputError, UsageError
from memtui.engine.installation import is_temporary
from memtui.engine.search import access_scope
from memtui.engine.search.filters import compiler

from .client_edits import apply_edits, check_consent, print_nobody_found
from .errors import OK
from .output import Style, next_step, out, paint, print_json, print_note, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from .invocation import Invocation


@click.command("connect", cls=Command)
@click.argument("clients", nargs=-1, type=click.Choice(tuple(CLIENTS)), metavar="[CLIENT]...")
@click.option("--all", "everyone", is_flag=True, help="Every client that is found on this machine.")
@click.option(
    "--list", "listed", is_flag=True, help="Show which clients are here, and how each is connected."
)
@click.option(
    "--hooks",
    is_flag=True,
    help="Record every turn, and give memories that fit: Claude Code, Codex, Gemini CLI.",
)
@click.option("--agent", metavar="NAME", help="The name that signs its changes.  [default: the client's]")
@click.option("--project", metavar="NAME", help="It sees and writes only this project.")
@click.option("--filter", metavar="EXPR", help="It sees only what passes: '-tag:private'.")
@click.option("--agent-readonly", is_flag=True, help="It may only read the memory.")
@click.option(
    "--tools", type=click.Choice(["consolidator"]), help="Offer it the tools to consolidate sessions itself."
)
@click.option("--url", metavar="URL", help="Connect to a memtui over HTTP somewhere else, by a token of it.")
@click.option(
    "--token-file",
    type=click.File("r"),
    metavar="FILE",
    help="With --url: where its token is; - for standard input.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@json_option
@pass_invocation
def connect_command(
    invocation: Invocation, clients: tuple[str, ...], everyone: bool, listed: bool, hooks: bool, agent: str | None,
    project: str | None, filter: str | None, agent_readonly: bool, tools: str | None, url: str | None,
    token_file: TextIO | None, dry_run: bool, yes: bool, json: bool,
) -> int:  # fmt: skip
    """Write memtui's MCP server into the configuration of agents.

    \b
    CLIENT: claude-code, claude-desktop, codex, cursor, vscode, windsurf,
    gemini-cli, opencode, zed, goose. Without one the clients are listed.

    Other entries and comments are kept, and the old file is kept as a backup. With --hooks the client also calls
    memtui at every prompt, to get memories that fit, and at every answer, to record it. Running it again adds
    nothing twice. "memtui disconnect" takes it out again. With --url the entry has the address of a memtui that runs
    elsewhere (memtui mcp --http); the token, from memtui tokens add, says there who the agent is.
    """
    here = (hooks, agent, project, filter, agent_readonly, tools)
    server = _remote_server(url, token_file, alone=not any(here)) if url or token_file else None
    if listed or not (clients or everyone):
        return _print_clients(json=json)
    chosen, machine = _chosen_clients(clients, everyone, hooks=hooks), this_machine()
    check_consent(
        invocation, dry_run=dry_run, yes=yes, json=json,
        hint="For an agent that may only read: --agent-readonly. To look first: --dry-run.",
    )  # fmt: skip
    if not chosen:
        return print_nobody_found(json=json)
    planned = []
    for client in chosen:
        if server is not None:
            planned.append(_planned_remote(client, server, alone=not everyone))
            continue
        call = LaunchCommand(
            program=own_program(),
            options=_server_arguments(invocation, agent or client.name, project, filter, agent_readonly),
            server_options=(f"--tools={tools}",) if tools else (),
            configuration=invocation.configuration.file.absolute(),
            # Hooks that are there stay: without them the server would have to record.
            hooked=client.hooks is not None
            and (hooks or connection.connection_of(client, machine).hooks in ("on", "outdated")),
        )
        planned.append(_plan_edits(client, call, alone=not everyone))
    if server is None and is_temporary():
        print_note(
            "memtui runs from a temporary environment. When that is removed, the agents do not find it any more. "
            "uv tool install or pipx install keeps it."
        )
    notes = [client.hooks.afterwards for client in chosen if hooks and client.hooks]
    return apply_edits(
        planned, done="{label} is connected already. Nothing was changed.", restart="Restart {labels} to use it.",
        notes=[note for note in notes if note],
        dry_run=dry_run, yes=yes, json=json, several=everyone or len(chosen) > 1,
    )  # fmt: skip


def _chosen_clients(names: tuple[str, ...], everyone: bool, *, hooks: bool) -> list[Client]:
    """Raises UsageError if it is not clear who is meant, or if one that is named has no hooks."""
    if names and everyone:
        raise UsageError("--all means every client that is found.", "Name clients, or give --all.")
    if everyone:
        machine = this_machine()
        return [client for client in CLIENTS.values() if client.is_installed(machine)]
    chosen = [CLIENTS[name] for name in dict.fromkeys(names)]
    for client in chosen:
        if hooks and client.hooks is None:
            raise UsageError(f"memtui has no hooks for {client.label}: {client.lacks}.", "Leave --hooks out.")
    return chosen


def _remote_server(url: str | None, token_file: TextIO | None, *, alone: bool) -> RemoteServer:
    """The server at ``url``. Raises UsageError, InputError for an address or a token that cannot be used."""
    if url is None:
        raise UsageError("--token-file is the token for an address.", "Add --url.")
    if not alone:
        raise UsageError(
            "What an agent at an address is and sees is said by its token.",
            "Leave --hooks, --agent, --project, --filter, --agent-readonly and --tools out: memtui tokens add has them.",
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise InputError(f"{url!r} is no address of a server.", "For example https://memory.example.net/mcp")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InputError(
            f"{url} would send the token and memories unencrypted.", "Use https, or a tunnel to this machine."
        )
    if token_file is None and not sys.stdin.isatty():
        raise UsageError(
            "This is not a terminal, so memtui cannot ask for the token.", "Name a file: --token-file"
        )
    given = token_file.read() if token_file else click.prompt("Token", hide_input=True, err=True)
    token = given.strip()
    if not token.startswith(PREFIX) or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            "That is no token of memtui.", f"It begins with {PREFIX}; memtui tokens add prints one, once."
        )
    return RemoteServer(url=url if parts.path.strip("/") else f"{url.rstrip('/')}/mcp", token=token)


def _planned_remote(client: Client, server: RemoteServer, *, alone: bool) -> PlannedEdits:
    """As ``_plan_edits``. The token is not shown."""
    fixed = client.remote.fixed if client.remote else {}
    shown = frozenset([server.url, *map(str, fixed.values())])
    try:
        edits = connection.edits_to_connect_remote(client, this_machine(), server)
    except InputError as error:
        if alone:
            raise
        return PlannedEdits(client=client, edits=(), shown=shown, problem=error.message)
    return PlannedEdits(client=client, edits=tuple(edits), shown=shown)


def _plan_edits(client: Client, call: LaunchCommand, *, alone: bool) -> PlannedEdits:
    """The edits. With ``alone`` a file that cannot be changed is an error; else it does not stop the others."""
    command, arguments = call.server_command()
    shown = frozenset(
        [command, *arguments, call.hook_line(client.name), "command", *map(str, client.fixed.values())]
    )
    try:
        edits = connection.edits_to_connect(client, this_machine(), call)
    except InputError as error:
        if alone:
            raise
        return PlannedEdits(client=client, edits=(), shown=shown, problem=error.message)
    return PlannedEdits(client=client, edits=tuple(edits), shown=shown)


def _server_arguments(
    invocation: Invocation, agent: str, project: str | None, filter: str | None, readonly: bool
) -> tuple[str, ...]:
    """The server's arguments. Paths are absolute, because the agent starts it in any folder."""
    invocation.check_options()
    if invocation.demo:
        raise UsageError("The demo is thrown away when it ends.", "Leave --demo out.")
    invocation.refuse_foreign()
    if filter is not None or project is not None:
        # The server would refuse it later, where the person does not see why.
        compiler.compile_filter(access_scope.scope_filter(filter, project), now=time.time())
    named = {
        "--db": str(invocation.memory_path().absolute()),
        "--config": str(Path(invocation.config).expanduser().absolute()) if invocation.config else None,
        "--agent": agent,
        "--project": project,
        "--filter": filter,
    }
    flags = {"--readonly": readonly, "--allow-unsafe-fs": invocation.allow_unsafe_fs}
    return (
        *(f"{name}={value}" for name, value in named.items() if value),
        *(name for name, on in flags.items() if on),
    )


def _print_clients(*, json: bool) -> int:
    machine = this_machine()
    known = [connection.connection_of(client, machine) for client in CLIENTS.values()]
    if json:
        print_json({"clients": [connection.connection_json(one) for one in known]})
        return OK
    for line in table([_client_row(one) for one in known]):
        out(line)
    for one in known:
        if one.problem:
            print_note(f"{one.label}: {one.problem}")
    waiting = [one.client for one in known if one.found and not one.is_connected and not one.problem]
    if len(waiting) > 1:
        out(next_step("memtui connect --all connects all that were found."))
    elif waiting:
        out(next_step(f"memtui connect {waiting[0]} connects it."))
    return OK


def _client_row(one: connection.Connection) -> tuple[str, ...]:
    colour: Style = "green" if one.is_connected and not one.program_gone else "yellow" if one.found else "dim"
    return (
        one.client, paint(connection_state_text(one), "red" if one.problem else colour),
        connection_scope_text(one), connection_hooks_text(one),
    )  # fmt: skip
