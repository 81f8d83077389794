"""The group of commands. Each is imported when it is called: help and completion need none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import click

from memtui import __version__
from memtui.engine.errors import UsageError

from .invocation import Invocation


class Entry(NamedTuple):
    """Where a command is found (``module`` of this package) and what the help says of it."""

    module: str
    group: str
    help: str


COMMANDS: dict[str, Entry] = {
    "import": Entry("import_", "Feed", "Bring in conversations: files, folders, exports."),
    "remember": Entry("memories", "Feed", "Write down a memory."),
    "consolidate": Entry("consolidate", "Feed", "Turn conversations into facts."),
    "search": Entry("search", "Look", "Find memories, and see why they rank as they do."),
    "list": Entry("list_", "Look", "List the memories that pass a filter."),
    "context": Entry("context", "Look", "Show what an agent would be told before it answers."),
    "show": Entry("show", "Look", "Show everything about one memory."),
    "history": Entry("history", "Look", "Show what was changed, by whom, and when."),
    "sessions": Entry("sessions", "Look", "List the conversations, or read one."),
    "entities": Entry("entities", "Look", "List who is who; all about one of them; correct it."),
    "observations": Entry("observations", "Look", "List findings, insights, lessons; recall them; add one."),
    "scratchpad": Entry("scratchpad", "Look", "Read and write keys with a text each, shared with agents."),
    "stats": Entry("stats", "Look", "Count what is remembered."),
    "questions": Entry("questions", "Look", "Ask the questions that should find a memory."),
    "status": Entry("status", "Look", "Tell what waits, and what agents were told today."),
    "review": Entry("review", "Look", "List what needs a decision of yours."),
    "wrong": Entry("wrong", "Change", "List what agents were told last, to put it right."),
    "correct": Entry("memories", "Change", "Replace a memory's text; the old one is kept."),
    "merge": Entry("memories", "Change", "Make one fact of several that say the same."),
    "confirm": Entry("memories", "Change", "Say that memories are true: they no longer fade."),
    "pin": Entry("memories", "Change", "Tell facts to agents before every answer."),
    "unpin": Entry("memories", "Change", "Tell facts to agents only where they bear on what is asked."),
    "forget": Entry("memories", "Change", "Put memories into the Trash."),
    "withhold": Entry("memories", "Change", "Keep memories from one agent, or tell it them again."),
    "restore": Entry("restore", "Change", "Bring memories back from the Trash, or all of it from a backup."),
    "erase": Entry("erase", "Change", "Erase memories for good, with proof."),
    "tag": Entry("memories", "Change", "Add and remove tags."),
    "topic": Entry("memories", "Change", "Set what facts are about, and the day that they name."),
    "undo": Entry("undo", "Change", "Take back your latest change, or any operation."),
    "redo": Entry("undo", "Change", "Do again what was just undone."),
    "mcp": Entry("mcp", "Agents", "Serve the memory to an agent over MCP."),
    "connect": Entry("connect", "Agents", "Let Claude or Codex use the memory."),
    "hook": Entry("hook", "Agents", "Give Claude Code what it should know, and record the turns."),
    "pause": Entry("pause", "Agents", "Record nothing for a while."),
    "maintain": Entry("maintain", "Care", "Run the night shift: what is due, or one job now."),
    "embed": Entry("embed", "Care", "Go over to another embedding model."),
    "export": Entry("export", "Care", "Write everything, or some of it, to a file of yours."),
    "backup": Entry("backup", "Care", "Make and list backups."),
    "check": Entry("check", "Care", "Check that the memory file is sound."),
    "health": Entry("health", "Care", "Find duplicates, echoes, secrets, what is stale."),
    "doctor": Entry("doctor", "Care", "Tell what is configured, what works, what to do."),
    "serve": Entry("serve", "Care", "Show the app in a browser, for reading only."),
    "guide": Entry("guide", "Care", "Read the guide: a page for each subject."),
    "help": Entry("help_", "Care", "Tell how memtui, or a command of it, is called."),
    "completion": Entry("completion", "Care", "Print a shell's completion script."),
}


class Commands(click.Group):
    """A group whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"{__package__}.{entry.module}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
            with formatter.section(group):
                formatter.write_dl([(name, e.help) for name, e in COMMANDS.items() if e.group == group])


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Note an option of the invocation, wherever on the line it stood."""
    if value is not None and value is not False:
        setattr(context.ensure_object(Invocation), str(parameter.name), value)


def shared_options(*, hidden: bool) -> list[click.Option]:
    """The options that every command takes too, where people tend to type them."""
    texts = {
        "db": ("PATH", "The memory file (else MEMTUI_DB, the configuration, the data folder)."),
        "readonly": ("", "Change nothing: no memory, no settings, no log."),
        "demo": ("", "Use a throwaway copy of the demo memory."),
        "tour": ("", "With --demo: show the app in seven steps."),
        "allow-unsafe-fs": ("", "Insist on a network or cloud-sync folder."),
        "config": ("PATH", "The configuration file (else MEMTUI_CONFIG)."),
    }
    return [
        click.Option(
            [f"--{name}"],
            metavar=metavar or None,
            is_flag=not metavar,
            help=text,
            expose_value=False,
            callback=_keep,
            hidden=hidden and name != "db",
        )
        for name, (metavar, text) in texts.items()
        if name != "tour" or not hidden
    ]


json_option = click.option("--json", is_flag=True, help="Answer with one JSON object.")
pass_invocation = click.make_pass_decorator(Invocation, ensure=True)


class Command(click.Command):
    """A command that takes the invocation's options as well."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options(hidden=True)


class OperationNumber(click.IntRange):
    """The number of an operation, as ``memtui history`` lists them."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) < 1 << 63):
            raise UsageError(f"{text!r} is not the number of an operation.", "memtui history lists them.")
        return int(text)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    params=shared_options(hidden=False),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="memtui", message="%(prog)s %(version)s")
@click.pass_context
def group(context: click.Context) -> int | None:
    """See, understand and correct what your AI assistants remember about you.

    Without a command the app opens. Exit codes: 0 ok, 1 a negative answer, 2 usage, 3 bad input,
    4 the memory file, 5 degraded, 130 cancelled.
    """
    invocation = context.ensure_object(Invocation)
    if context.invoked_subcommand is not None:
        if invocation.tour:
            raise UsageError("--tour goes with no command.", "memtui --demo --tour begins it.")
        return None
    from .open_app import open_app

    return open_app(invocation)
