"""``memtui mcp``: the memory as an MCP server, on standard input and output or over HTTP."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtui import paths
from memtui.engine.errors import DegradedError, StoreError, UsageError
from memtui.engine.installation import command_for_dependency

from .errors import OK
from .listening import ListenAddress, checked_address, listening_options
from .output import out, print_note
from .root import Command, pass_invocation

if TYPE_CHECKING:
    from memtui.access.tokens import TokenFile
    from memtui.engine.memory import Memory
    from memtui.engine.tools.agent import Agent
    from memtui.engine.tools.base import Group
    from memtui.mcp.gate import HttpCaller

    from .invocation import Invocation

PORT = 6368
_ONLY_HTTP = ("host", "port", "cert", "key", "behind_proxy", "allow_host", "no_token")


@click.command("mcp", cls=Command)
@click.option("--agent", metavar="NAME", default="mcp", show_default=True, help="Who signs the changes.")
@click.option("--project", metavar="NAME", help="It sees and writes only this project.")
@click.option("--filter", metavar="EXPR", help="It sees only what passes: '-tag:private'.")
@click.option("--tools", "more", type=click.Choice(["consolidator"]), help="Offer these tools as well.")
@click.option(
    "--no-recording", is_flag=True, help="Without the tool record_turn, for agents whose hooks record."
)
@click.option("--no-jobs", is_flag=True, help="Run no maintenance jobs.")
@click.option("--http", is_flag=True, help="Serve over HTTP, to agents that have a token (memtui tokens).")
@listening_options(PORT)
@click.option(
    "--no-token",
    is_flag=True,
    help="On loopback: who shows no token is --agent. Every user of this machine can then read and write.",
)
@click.pass_context
@pass_invocation
def mcp_command(
    invocation: Invocation,
    context: click.Context,
    agent: str,
    project: str | None,
    filter: str | None,
    more: Group | None,
    no_recording: bool,
    no_jobs: bool,
    http: bool,
    host: str,
    port: int,
    cert: Path | None,
    key: Path | None,
    behind_proxy: bool,
    allow_host: tuple[str, ...],
    no_token: bool,
) -> int:
    """Serve the memory to an agent over the Model Context Protocol, until it disconnects.

    memtui connect writes this command into an agent's configuration. Several servers and the app can run at
    the same time.

    With --http it serves many agents, until Ctrl+C. Each needs a token, which also says its name and scope:
    memtui tokens add NAME. Beyond this machine it needs TLS (--cert and --key, or --behind-proxy).
    """
    if find_spec("mcp") is None:
        raise DegradedError("The package mcp is not installed.", command_for_dependency("mcp"))
    given = {name for name in context.params if _is_option_given(context, name)}
    if not http and (wrong := [name for name in _ONLY_HTTP if name in given]):
        raise UsageError(f"--{wrong[0].replace('_', '-')} needs --http.", "memtui mcp --http --help")
    if (
        http
        and not no_token
        and (wrong := [name for name in ("agent", "project", "filter") if name in given])
    ):
        raise UsageError(
            f"Over HTTP an agent's name and scope are those of its token: --{wrong[0]} does not fit.",
            "memtui tokens add NAME --project NAME --filter EXPR",
        )
    address = checked_address(host, port, cert, key, behind_proxy, allow_host) if http else None
    if address is not None and no_token and (not address.listening.on_loopback or behind_proxy):
        raise UsageError("--no-token is for this machine only.", "memtui tokens add NAME")
    if address is not None and invocation.demo and not no_token:
        raise UsageError("The demo is thrown away when it ends, so no token is for it.", "Add --no-token.")
    gc.disable()  # garbage collection would take a tenth of the start and find nothing
    from memtui.engine.tools.agent import Agent

    without = ("record_turn",) if no_recording else ()

    def make_agent_server(who: Agent) -> Any:
        from memtui.mcp.server import DEFAULT_GROUPS, make_server

        return make_server(who, (*DEFAULT_GROUPS, *([more] if more else [])), without=without)

    with ExitStack() as stack:
        memory = _open_for_agent(invocation, agent, stack)
        who = Agent(memory, filter=filter, project=project)
        # Importing the SDK takes most of a second. Wrong options are reported before.
        jobs = not (no_jobs or who.readonly or (who.is_scoped and not http)) and _may_run_jobs(invocation)
        if address is not None:
            from memtui.mcp.gate import HttpCaller

            anonymous = HttpCaller("", agent, project, filter) if no_token else None
            _serve_http(invocation, address, memory, make_agent_server, anonymous, jobs=jobs)
            return OK
        from memtui.mcp.process import serve_stdio

        server = make_agent_server(who)
        gc.freeze()
        gc.enable()
        if sys.stdin.isatty():
            print_note(
                "This command is for MCP clients, on standard input. To connect one: memtui connect. Ctrl+C ends it."
            )
        serve_stdio(server, memory, jobs=jobs, at_end=stack.close)
    return OK


def _is_option_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _serve_http(
    invocation: Invocation, address: ListenAddress, memory: Memory, make_agent_server: Callable[[Agent], Any],
    anonymous: HttpCaller | None, *, jobs: bool,
) -> None:  # fmt: skip
    """Serve over HTTP until a signal. Raises InputError for a port or a certificate that cannot be used."""
    from memtui.access.admission import Admission
    from memtui.access.counts import AdmissionCounts
    from memtui.access.ports import listening_socket
    from memtui.access.tokens import TokenFile
    from memtui.mcp.gate import PATH, RequestGate
    from memtui.mcp.http import AgentServers, serve_http

    assert memory.path is not None
    path, tokens, counts = memory.path, TokenFile(), AdmissionCounts(kept=not invocation.leaves_no_trace)
    listening = listening_socket(address.listening.host, address.port)

    def make_gate(servers: AgentServers) -> RequestGate:
        admission = Admission(
            address.listening, tokens, path, counts, kind="agent", behind_proxy=address.behind_proxy,
            per_minute=invocation.configuration.settings.mcp.requests,
        )  # fmt: skip
        return RequestGate(servers.answer_request, admission, anonymous=anonymous)

    def print_ready() -> None:
        gc.freeze()
        gc.enable()
        out(address.url(listening.getsockname()[1]) + PATH)
        _print_access(address, tokens, path, anonymous)
        sys.stdout.flush()

    with listening:
        serve_http(
            make_gate, AgentServers(memory, make_agent_server), listening, counts,
            jobs_of=memory if jobs else None, certificate=address.certificate, on_ready=print_ready,
        )  # fmt: skip


def _print_access(
    address: ListenAddress, tokens: TokenFile, path: Path, anonymous: HttpCaller | None
) -> None:
    import time

    if anonymous is not None:
        print_note(f"every program and user of this machine may ask without a token, as {anonymous.name}")
    elif not any(
        one.kind == "agent" and one.state_at(time.time()) == "active" for one in tokens.list_tokens(path)
    ):
        print_note("there is no token yet, so nobody is answered. To make one: memtui tokens add NAME")
    if not address.listening.on_loopback and not address.listening.names:
        print_note(
            "requests are answered to this address only; other names have to be given with --allow-host"
        )
    print_note("Ctrl+C ends the server")


def _open_for_agent(invocation: Invocation, agent: str, stack: ExitStack) -> Memory:
    """The memory for this agent; ``stack`` closes it."""
    from memtui import log
    from memtui.engine.memory import Memory

    from .invocation import demo_file

    invocation.check_options()
    if not invocation.leaves_no_trace:
        log.start()
    invocation.refuse_foreign()
    path = stack.enter_context(demo_file()) if invocation.demo else invocation.memory_path()
    if invocation.readonly and paths.is_surely_missing(path):
        raise StoreError(f"There is no memory at {path}.", "Open it once without --readonly to create it.")
    if paths.is_surely_missing(path):
        Memory.rescue(path).refuse_to_begin_anew()
    options = invocation.configuration.settings.options(
        allow_unsafe_fs=invocation.allow_unsafe_fs or invocation.demo
    )
    memory = Memory.open(path, actor=f"agent:{agent}", readonly=invocation.readonly, options=options)
    return stack.enter_context(memory)


def _may_run_jobs(invocation: Invocation) -> bool:
    """Whether the settings let a server run the jobs.

    If a model is configured and a server may not use it, the app runs the jobs. Here rules would read a conversation,
    and it would count as read.
    """
    settings = invocation.configuration.settings
    return settings.mcp.jobs and (settings.mcp.model or not (settings.llm.base_url and settings.llm.model))
