"""The group of commands. Each is imported when it is called: help and completion need none of them."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, NamedTuple

import click

from memtui import __version__
from memtui.engine.errors import UsageError
from memtui.startup import without_typing_extensions

from .invocation import Invocation

# As click says it.
_EXTRA = re.compile(r"unexpected extra arguments? \((.+)\)")


class CommandEntry(NamedTuple):
    """Where a command is found (``module`` of this package) and what the help says of it."""

    module: str
    group: str
    help: str


COMMANDS: dict[str, CommandEntry] = {
    "import": CommandEntry("import_", "Add", "Bring in conversations: files, folders, exports."),
    "remember": CommandEntry("memories", "Add", "Write down a memory."),
    "consolidate": CommandEntry("consolidate", "Add", "Draw facts from conversations."),
    "about": CommandEntry("about", "Look", "Show what is known about you, by topic."),
    "timeline": CommandEntry("timeline", "Look", "Show over time how much was learned, changed or recalled."),
    "search": CommandEntry("search", "Look", "Find memories, and see why they rank as they do."),
    "list": CommandEntry("list_", "Look", "List the memories that pass a filter."),
    "context": CommandEntry("context", "Look", "Show what an agent would be given for a prompt."),
    "show": CommandEntry("show", "Look", "Show everything about one memory."),
    "history": CommandEntry("history", "Look", "Show what was changed, by whom, and when."),
    "sessions": CommandEntry("sessions", "Look", "List the conversations, or read one."),
    "entities": CommandEntry("entities", "Look", "List people, projects and places, see one, or correct it."),
    "picture": CommandEntry(
        "picture", "Look", "Draw you, a timeline, or who is seen with whom, into a file."
    ),
    "observations": CommandEntry(
        "observations", "Look", "List, search or add findings, insights and lessons."
    ),
    "scratchpad": CommandEntry("scratchpad", "Look", "Read and write short notes that agents share."),
    "stats": CommandEntry("stats", "Look", "Count what is remembered."),
    "questions": CommandEntry("questions", "Look", "Check that saved questions find the right memories."),
    "status": CommandEntry("status", "Look", "Show what waits for you, and what agents were told today."),
    "review": CommandEntry("review", "Look", "List what needs your decision."),
    "wrong": CommandEntry("wrong", "Change", "List what agents were told last, to correct it."),
    "correct": CommandEntry("memories", "Change", "Replace a memory's text; the old one is kept."),
    "merge": CommandEntry("memories", "Change", "Merge facts that say the same."),
    "confirm": CommandEntry("memories", "Change", "Confirm that memories are true. They no longer fade."),
    "pin": CommandEntry("memories", "Change", "Give facts to agents before every answer."),
    "unpin": CommandEntry("memories", "Change", "Give facts to agents only when they fit the prompt."),
    "forget": CommandEntry("memories", "Change", "Move memories to the Trash."),
    "withhold": CommandEntry("memories", "Change", "Keep memories from one agent."),
    "restore": CommandEntry(
        "restore", "Change", "Bring memories back from the Trash, or everything from a backup."
    ),
    "erase": CommandEntry("erase", "Change", "Delete memories for good, and prove it."),
    "tag": CommandEntry("memories", "Change", "Add and remove tags."),
    "topic": CommandEntry("memories", "Change", "Set the topic and the day of facts."),
    "undo": CommandEntry("undo", "Change", "Undo your latest change, or any operation."),
    "redo": CommandEntry("undo", "Change", "Redo what you just undid."),
    "mcp": CommandEntry("mcp", "Agents", "Serve the memory to an agent over MCP."),
    "connect": CommandEntry(
        "connect", "Agents", "Let Claude, Codex, Cursor and other agents use the memory."
    ),
    "disconnect": CommandEntry("disconnect", "Agents", "Take memtui out of an agent's configuration."),
    "tokens": CommandEntry("tokens", "Agents", "Let agents on other machines use the memory, or no longer."),
    "hook": CommandEntry("hook", "Agents", "Answer the hooks of Claude Code, Codex and Gemini CLI."),
    "pause": CommandEntry("pause", "Agents", "Stop recording, or never record a subject."),
    "maintain": CommandEntry(
        "maintain", "Maintain", "Run the maintenance jobs that are due, or one of them now."
    ),
    "embed": CommandEntry("embed", "Maintain", "Switch to another embedding model."),
    "export": CommandEntry("export", "Maintain", "Write the memory, or part of it, to a file."),
    "sync": CommandEntry("sync", "Maintain", "Keep the memory on several machines, encrypted."),
    "backup": CommandEntry("backup", "Maintain", "Make and list backups."),
    "check": CommandEntry("check", "Maintain", "Check that the memory file is sound."),
    "health": CommandEntry("health", "Maintain", "Find duplicate, unsafe, stale and unused memories."),
    "doctor": CommandEntry("doctor", "Maintain", "Check the setup, and say what to do."),
    "serve": CommandEntry("serve", "Maintain", "Show the app in a browser. Nothing can be changed there."),
    "guide": CommandEntry("guide", "Maintain", "Read the guide: a page for each subject."),
    "help": CommandEntry("help_", "Maintain", "Show help for a command."),
    "completion": CommandEntry("completion", "Maintain", "Print a shell's completion script."),
}


class Commands(click.Group):
    """A group whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        without_typing_extensions()
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


def _note_option(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Note an option of the invocation, wherever on the line it stood."""
    if value is not None and value is not False:
        setattr(context.ensure_object(Invocation), str(parameter.name), value)


def shared_options(*, hidden: bool) -> list[click.Option]:
    """The options that every command takes too, where people tend to type them."""
    texts = {
        "db": (
            "PATH",
            "The memory file (default: MEMTUI_DB, or the one in the settings). Of another program's store: a read-only copy.",
        ),
        "readonly": ("", "Change nothing: no memory, no settings, no log."),
        "demo": ("", "Use a throwaway copy of the demo memory."),
        "tour": ("", "With --demo: show the app in seven steps."),
        "ascii": ("", "Use plain letters in place of signs and frames."),
        "allow-unsafe-fs": ("", "Allow a network or cloud-synced folder (risky)."),
        "config": ("PATH", "The settings file (default: MEMTUI_CONFIG)."),
    }
    return [
        click.Option(
            [f"--{name}"],
            metavar=metavar or None,
            is_flag=not metavar,
            help=text,
            expose_value=False,
            callback=_note_option,
            hidden=hidden and name != "db",
        )
        for name, (metavar, text) in texts.items()
        if name != "tour" or not hidden
    ]


json_option = click.option("--json", is_flag=True, help="Print one JSON object.")
pass_invocation = click.make_pass_decorator(Invocation, ensure=True)


class Command(click.Command):
    """A command that takes the options of every command as well.

    ``option_of_words``: the option that a word without one probably means.
    """

    def __init__(self, *args: Any, option_of_words: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.option_of_words = option_of_words
        self.params += shared_options(hidden=True)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            word = error.option_name.lstrip("-")
            choices = [one.type.choices for one in self.params if isinstance(one.type, click.Choice)]
            if not any(word in some for some in choices):
                raise
            meant = f"{ctx.command_path} {word}"
            message = f"There is no option {error.option_name}. Did you mean “{meant}”?"
        except click.UsageError as error:
            extra = _EXTRA.search(error.message)
            if extra is None:
                raise
            word = extra[1].split()[0]
            message = f"“{word}” is not expected here."
            if self.option_of_words:
                message += f" Did you mean {self.option_of_words} {word}?"
        raise click.UsageError(message, ctx)


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
def memtui_group(context: click.Context) -> int | None:
    """See, understand and correct what your AI assistants remember about you.

    Without a command the app opens.

    \b
    Exit codes: 0 done, 1 nothing found or the answer is no, 2 wrong usage,
    3 input that cannot be read, 4 the memory file cannot be used,
    5 works only in part, 130 cancelled.
    """
    invocation = context.ensure_object(Invocation)
    if context.invoked_subcommand is not None:
        if invocation.tour:
            raise UsageError(
                "--tour opens the app: it takes no command.", "For example: memtui --demo --tour"
            )
        return None
    from .open_app import open_app

    return open_app(invocation)
