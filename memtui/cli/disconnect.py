"""``memtui disconnect``: take memtui out of agents' configurations, after showing the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.connect import connection
from memtui.connect.changes import PlannedEdits
from memtui.connect.clients import CLIENTS, Client, this_machine
from memtui.engine.errors import InputError, UsageError

from .client_edits import apply_edits, check_consent, print_nobody_found
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from .invocation import Invocation


@click.command("disconnect", cls=Command)
@click.argument("clients", nargs=-1, type=click.Choice(tuple(CLIENTS)), metavar="[CLIENT]...")
@click.option("--all", "everyone", is_flag=True, help="Every client that is connected.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@json_option
@pass_invocation
def disconnect_command(
    invocation: Invocation, clients: tuple[str, ...], everyone: bool, dry_run: bool, yes: bool, json: bool
) -> int:
    """Take memtui's MCP server and hooks out of the configuration of agents.

    A file in which nothing else was changed gets the text that it had before. The memory is not touched.
    """
    if bool(clients) == everyone:
        raise UsageError("Which client?", "Name clients, or give --all. memtui connect --list shows them.")
    check_consent(invocation, dry_run=dry_run, yes=yes, json=json, hint="To look first: --dry-run.")
    planned = [_plan_edits(CLIENTS[name], alone=not everyone) for name in (clients or CLIENTS)]
    if everyone:
        planned = [one for one in planned if one.problem or any(edit.changes_text for edit in one.edits)]
        if not planned:
            return print_nobody_found(json=json, message="No client is connected.")
    return apply_edits(
        planned, done="{label} is not connected. Nothing was changed.", restart="Restart {labels}.",
        dry_run=dry_run, yes=yes, json=json, several=everyone or len(clients) > 1,
    )  # fmt: skip


def _plan_edits(client: Client, *, alone: bool) -> PlannedEdits:
    machine = this_machine()
    try:
        shown = connection.texts_we_wrote(client, machine)
        return PlannedEdits(
            client=client, edits=tuple(connection.edits_to_disconnect(client, machine)), shown=shown
        )
    except InputError as error:
        if alone:
            raise
        return PlannedEdits(client=client, edits=(), shown=frozenset(), problem=error.message)
