"""``memtui scratchpad``: keys with a text each, which all agents share with the person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import click

from memtui.engine.errors import UsageError

from .errors import NEGATIVE, OK
from .invocation import Invocation, text_of_words
from .memory_lines import time_ago
from .output import cut_to_terminal, err, out, paint, print_json, printed_cells, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records.saved import ScratchpadNote

Action = Literal["list", "read", "write", "search", "delete"]
# What each needs after it.
_WANTED: dict[Action, str] = {
    "list": "memtui scratchpad list [PREFIX]", "read": "memtui scratchpad read KEY",
    "write": "memtui scratchpad write KEY TEXT", "search": "memtui scratchpad search TEXT",
    "delete": "memtui scratchpad delete KEY",
}  # fmt: skip


@click.command("scratchpad", cls=Command)
@click.argument("action", type=click.Choice(get_args(Action)), default="list")
@click.argument("words", nargs=-1, metavar="[KEY] [TEXT]")
@json_option
@pass_invocation
def scratchpad_command(invocation: Invocation, action: Action, words: tuple[str, ...], json: bool) -> int:
    """Read and write the scratchpad: short notes under keys, shared with all agents.

    \b
    memtui scratchpad list [PREFIX]
    memtui scratchpad read KEY
    memtui scratchpad write KEY TEXT     "-" reads standard input
    memtui scratchpad search TEXT
    memtui scratchpad delete KEY         memtui undo brings it back

    Exit code 1 when nothing is found.
    """
    if (
        (action in ("read", "delete") and len(words) != 1)
        or (action == "write" and len(words) < 2)
        or (action == "search" and not "".join(words).strip())
        or (action == "list" and len(words) > 1)
    ):
        raise UsageError(f"These arguments do not fit scratchpad {action}.", _WANTED[action])
    if action in ("write", "delete"):
        return _change_entry(invocation, action, words, json)
    with invocation.open_readonly() as memory:
        if action == "read":
            note = memory.scratchpad.get(text_of_words(words))
        elif action == "search":
            notes = memory.scratchpad.search(text_of_words(words))
        else:
            notes = [memory.scratchpad.get(key) for key in memory.scratchpad.keys("".join(words))]
    if action == "read":
        print_json({"entry": note}) if json else out(note.value)
        return OK
    if json:
        print_json({"entries": notes})
    else:
        _print_entries(notes)
    return OK if notes else NEGATIVE


def _change_entry(invocation: Invocation, action: Action, words: tuple[str, ...], json: bool) -> int:
    if action == "write":
        key, value = words[0], text_of_words(words[1:])
        with invocation.open_or_create() as memory:
            note = memory.scratchpad.set(key, value)
    else:
        with invocation.open_existing(must_write=True) as memory:
            note = memory.scratchpad.delete(words[0])
    if json:
        print_json({"entry": note})
    else:
        done = "wrote" if action == "write" else "deleted"
        out(row(paint(done, "green"), paint(note.key, "bold")))
    return OK


def _print_entries(notes: list[ScratchpadNote]) -> None:
    ages = [time_ago(note.updated_at) for note in notes]
    widest = max((printed_cells(paint(note.key)) for note in notes), default=0)
    for note, when in zip(notes, ages, strict=True):
        key = paint(note.key, "bold")
        space = " " * (min(widest, 40) - printed_cells(key))
        left = row(when.rjust(max(map(len, ages))), type(key)(key + space))
        out(row(left, cut_to_terminal(note.value, printed_cells(left) + 2)))
    if not notes:
        err("nothing on the scratchpad")
