"""``memtui connect``: write memtui into an agent's configuration, after showing the changes."""

from __future__ import annotations

import difflib
import os
import re
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memtui.connect import clients
from memtui.connect.clients import CLIENTS, LABELS, ClientName, Edit, LaunchCommand, write
from memtui.engine.errors import ReadOnlyError, UsageError
from memtui.engine.installation import command_for_dependency
from memtui.engine.search import access_scope
from memtui.engine.search.filters import compiler

from .errors import CANCELLED, OK
from .output import out, paint, print_json, print_note, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from .invocation import Invocation


@click.command("connect", cls=Command)
@click.argument("client", type=click.Choice(CLIENTS))
@click.option("--hooks", is_flag=True, help="Claude Code: record every turn, and give it memories that fit.")
@click.option("--agent", metavar="NAME", help="The name that signs its changes.  [default: the client's]")
@click.option("--project", metavar="NAME", help="It sees and writes only this project.")
@click.option("--filter", metavar="EXPR", help="It sees only what passes: '-tag:private'.")
@click.option("--agent-readonly", is_flag=True, help="It may only read the memory.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@json_option
@pass_invocation
def connect_command(
    invocation: Invocation, client: ClientName, hooks: bool, agent: str | None, project: str | None, filter: str | None,
    agent_readonly: bool, dry_run: bool, yes: bool, json: bool,
) -> int:  # fmt: skip
    """Write memtui's MCP server into an agent's configuration: claude-code, claude-desktop or codex.

    Other entries are kept, and the old file is kept as a backup. With --hooks Claude Code also calls memtui at every
    prompt, to get memories that fit, and at every answer, to record it. Running it again adds nothing twice.
    """
    if hooks and client != "claude-code":
        raise UsageError(f"memtui has no hooks for {LABELS[client]}.", "Leave --hooks out.")
    if json and not (yes or dry_run):
        raise UsageError("--json cannot ask for your consent.", "Add --yes, or --dry-run.")
    if invocation.readonly and not dry_run:
        raise ReadOnlyError(
            "--readonly was given: nothing is written.",
            "For an agent that may only read: --agent-readonly. To look first: --dry-run.",
        )
    call = LaunchCommand(
        program=clients.program(),
        options=_options(invocation, client, agent, project, filter, agent_readonly),
        configuration=invocation.configuration.file.absolute(),
        hooked=hooks,
    )
    edits = _edits(client, call, hooks)
    changed = [edit for edit in edits if edit.changes]
    if not json:
        for edit in changed:
            _show(edit, call)
    _print_missing()
    if changed and not (dry_run or yes) and not _agreed():
        return CANCELLED
    backups = [None if dry_run else write(edit) for edit in changed]
    if json:
        files = [
            {
                "path": str(edit.path),
                "diff": _diff(edit, call),
                "backup": None if backup is None else str(backup),
            }
            for edit, backup in zip(changed, backups, strict=True)
        ]
        print_json({"client": client, "written": not dry_run and bool(changed), "files": files})
    elif not changed:
        out(f"{LABELS[client]} is connected already. Nothing was changed.")
    elif not dry_run:
        for edit, backup in zip(changed, backups, strict=True):
            kept = f"(before: {backup.name})" if backup else ""
            out(row(paint("wrote", "green"), str(edit.path), kept))
        out(f"Restart {LABELS[client]} to use it.")
    return OK


def _options(
    invocation: Invocation, client: ClientName, agent: str | None, project: str | None, filter: str | None,
    readonly: bool,
) -> tuple[str, ...]:  # fmt: skip
    """The server's arguments. Paths are absolute, because the agent starts it in any folder."""
    invocation.check()
    if invocation.demo:
        raise UsageError("The demo is thrown away when it ends.", "Leave --demo out.")
    if filter is not None or project is not None:
        # The server would refuse it later, where the person does not see why.
        compiler.compile(access_scope.scope_filter(filter, project), now=time.time())
    named = {
        "--db": str(invocation.path().absolute()),
        "--config": str(Path(invocation.config).expanduser().absolute()) if invocation.config else None,
        "--agent": agent or client,
        "--project": project,
        "--filter": filter,
    }
    flags = {"--readonly": readonly, "--allow-unsafe-fs": invocation.allow_unsafe_fs}
    return (
        *(f"{name}={value}" for name, value in named.items() if value),
        *(name for name, on in flags.items() if on),
    )


def _edits(client: ClientName, call: LaunchCommand, hooks: bool) -> list[Edit]:
    home = Path.home()
    edits = [clients.server_edit(client, clients.configuration(client, home, os.environ), call)]
    if hooks:
        edits.append(clients.hook_edit(clients.hook_settings(home, os.environ), call))
    return edits


_STRING = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*')(\s*[:=])?""")


def _diff(edit: Edit, call: LaunchCommand) -> list[str]:
    """The lines that change. Of quoted texts only names and what memtui writes are shown: others may be secrets."""
    from memtui.engine.guards import secrets

    command, arguments = call.server()
    ours = {command, *arguments, call.hook(), "stdio", "command"}

    def shown(match: re.Match[str]) -> str:
        text = match[1][1:-1].replace('\\"', '"').replace("\\\\", "\\")
        is_name = bool(match[2])
        return match[0] if is_name or text in ours or "memtui" in text else '"[hidden]"'

    before = (edit.before or "").splitlines()
    name = str(edit.path)
    lines = difflib.unified_diff(
        before, edit.after.splitlines(), name if edit.before else "(new)", name, lineterm="", n=0
    )
    return [secrets.redact(_STRING.sub(shown, line))[0] for line in lines]


def _show(edit: Edit, call: LaunchCommand) -> None:
    for line in _diff(edit, call):
        if line.startswith(("+++", "---")):
            out(paint(line, "bold"))
        elif line.startswith("@@"):
            out(paint(line, "cyan"))
        elif line.startswith("+"):
            out(paint(line, "green"))
        else:
            out(paint(line, "red") if line.startswith("-") else line)


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "This is not a terminal, so memtui cannot ask.",
            "Add --yes to write it, or --dry-run to only look.",
        )
    return click.confirm("Write this?", default=True)


def _print_missing() -> None:
    if find_spec("mcp") is None:
        print_note(f"The package mcp is not installed yet. To install it: {command_for_dependency('mcp')}")
