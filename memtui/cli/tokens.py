"""``memtui tokens``: who may reach the memory over HTTP, under which name, and how far."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, get_args

import click

from memtui import paths
from memtui.engine.errors import ReadOnlyError, UsageError
from memtui.present.access import refusals_line, token_scope_line, token_use_text

from .errors import NEGATIVE, OK
from .output import out, paint, print_json, print_note, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.access.tokens import Token, TokenState

    from .invocation import Invocation
    from .output import Style

Action = Literal["list", "add", "revoke"]
_SHOWN_DAYS = 7
_COLOURS: dict[TokenState, Style] = {"active": "green", "expired": "yellow", "revoked": "dim"}


@click.command("tokens", cls=Command)
@click.argument("action", type=click.Choice(get_args(Action)), default="list")
@click.argument("name", required=False)
@click.option("--project", metavar="NAME", help="The agent sees and writes only this project.")
@click.option("--filter", metavar="EXPR", help="The agent sees only what passes: '-tag:private'.")
@click.option("--agent-readonly", is_flag=True, help="The agent may only read.")
@click.option("--browser", is_flag=True, help="For memtui serve: it shows the whole app, for reading.")
@click.option(
    "--expires", metavar="TIME", help="When it ends: 30d, 12h, 2027-01-31. Without it: when revoked."
)
@json_option
@pass_invocation
def tokens_command(
    invocation: Invocation, action: Action, name: str | None, project: str | None, filter: str | None,
    agent_readonly: bool, browser: bool, expires: str | None, json: bool,
) -> int:  # fmt: skip
    """Make, list and revoke tokens for agents that reach the memory over HTTP (memtui mcp --http).

    \b
    memtui tokens list
    memtui tokens add NAME [--project NAME] [--filter EXPR] [--agent-readonly] [--expires TIME]
    memtui tokens revoke NAME       at once, also for a server that runs

    The token is printed once and kept nowhere: only its hash is, beside the settings. What the agent writes is signed
    with NAME. A token is for one memory, that of --db. list also shows what was refused in the last days.
    """
    scoped = project is not None or filter is not None or agent_readonly or browser or expires is not None
    if (action == "list") == (name is not None) or (action != "add" and scoped):
        raise UsageError(f"These arguments do not fit tokens {action}.", "memtui tokens --help")
    invocation.check_options()
    if invocation.demo:
        raise UsageError("The demo is thrown away when it ends.", "Leave --demo out.")
    if invocation.readonly and action != "list":
        raise ReadOnlyError("--readonly was given: nothing can be changed.", "Leave --readonly out.")
    invocation.refuse_foreign()
    if action == "list":
        return _print_tokens(invocation, json)
    from memtui.access.tokens import TokenFile

    assert name is not None
    tokens = TokenFile()
    if action == "revoke":
        revoked = tokens.revoke(name, invocation.memory_path())
        if json:
            print_json({"revoked": [_token_json(one) for one in revoked]})
        for one in () if json else revoked:
            out(row(paint("revoked", "green"), paint(one.name, "bold"), one.id))
        return OK
    made = tokens.add_token(
        name, invocation.memory_path(), kind="browser" if browser else "agent", project=project, filter=filter,
        readonly=agent_readonly, expires_at=None if expires is None else _parse_expiry(expires),
    )  # fmt: skip
    if json:
        print_json({"token": made.text, **_token_json(made.token)})
        return OK
    out(made.text)
    print_note("this is shown once: put it into the agent's configuration now, as it is kept nowhere")
    print_note(f"{name}: {token_scope_line(made.token, time.time())}")
    if paths.is_surely_missing(invocation.memory_path()):
        print_note(f"there is no memory at {invocation.memory_path()} yet")
    return OK


def _parse_expiry(text: str) -> int:
    from memtui.engine.search.time_expressions import parse_future_time

    return int(parse_future_time(text, time.time()))


def _print_tokens(invocation: Invocation, json: bool) -> int:
    from memtui.access.counts import AdmissionCounts
    from memtui.access.tokens import TokenFile

    now, tokens = time.time(), TokenFile()
    token_list, counted = tokens.list_tokens(invocation.memory_path()), AdmissionCounts().read_counts()
    refused = counted.refused_since(now - _SHOWN_DAYS * 86_400)
    if json:
        rows = [{**_token_json(one), "use": counted.tokens.get(one.id)} for one in token_list]
        print_json({"tokens": rows, "refused": refused})
        return OK if token_list else NEGATIVE
    lines = [
        (
            paint(one.state_at(now), _COLOURS[one.state_at(now)]), paint(one.name, "bold"), one.id, token_scope_line(one, now),
            token_use_text(counted.tokens.get(one.id), now),
        )
        for one in token_list
    ]  # fmt: skip
    for line in table(lines) if lines else ():
        out(line)
    if not token_list:
        print_note("no token for this memory. To make one: memtui tokens add NAME")
    others = len(tokens.list_tokens()) - len(token_list)
    if others:
        print_note(f"{others} more for other memories (--db PATH)")
    for one in refused:
        print_note(refusals_line(one, now))
    return OK if token_list else NEGATIVE


def _token_json(token: Token) -> dict[str, object]:
    """A token as JSON; its hash helps nobody."""
    return {
        "id": token.id, "name": token.name, "kind": token.kind, "state": token.state_at(time.time()), "memory": token.memory,
        "project": token.project, "filter": token.filter, "readonly": token.readonly, "created_at": token.created_at,
        "expires_at": token.expires_at, "revoked_at": token.revoked_at,
    }  # fmt: skip
