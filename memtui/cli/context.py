"""``memtui context``: the context block that an agent would be given, and what is left out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.engine.errors import UsageError
from memtui.present.format import plural
from memtui.present.memory import RULE_FIRST

from .errors import NEGATIVE, OK
from .invocation import Invocation, text_of_words
from .output import cut_to_terminal, err, out, print_json, print_note
from .root import Command, json_option, pass_invocation
from .search import INDEXED_FIRST

if TYPE_CHECKING:
    from memtui.engine.search.briefing import ContextBlock

_LISTED = 5


@click.command("context", cls=Command)
@click.argument("prompt", nargs=-1)
@click.option(
    "--session", metavar="ID", help="The current conversation: leave out what it was already given."
)
@click.option("--filter", "-f", "filter", default="", metavar="F", help="Only memories that pass it.")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 100),
    default=12,
    show_default=True,
    help="At most this many facts.",
)
@json_option
@pass_invocation
def context_command(
    invocation: Invocation, prompt: tuple[str, ...], session: str | None, filter: str, limit: int, json: bool
) -> int:
    """Show the context block that an agent would be given for PROMPT.

    This is not logged as told to an agent. Exit code 1 when the block is empty.
    """
    words = text_of_words(prompt)
    if not words.strip():
        raise UsageError("The prompt is missing.", 'For example: memtui context "where shall we eat?"')
    with invocation.open_existing() as memory:
        if not memory.readonly:
            memory.models.index_pending(limit=None if invocation.demo else INDEXED_FIRST)
        block = memory.context(words, session_id=session, filter=filter, limit=limit)
    if json:
        print_json({
            "text": block.text, "tokens": block.tokens,
            "rules": [{"memory": rule, "reason": RULE_FIRST} for rule in block.rules],
            "pinned": block.pinned, "vital": block.vital, "hits": block.hits, "related": block.related,
            "excerpts": block.excerpts, "insight": block.insight, "left_out": block.left_out, "notes": block.result.notes,
        })  # fmt: skip
    else:
        _print_block(block)
    return OK if block.text else NEGATIVE


def _print_block(block: ContextBlock) -> None:
    if block.text:
        out(block.text)
        print_note(f"about {plural(block.tokens, 'token')}")
        for rule in block.rules:
            print_note(cut_to_terminal(f"told: {rule.content}", 6) + f"\n      {RULE_FIRST}")
        for warning in block.vital:
            print_note(cut_to_terminal(f"told: {warning.memory.content}", 6) + f"\n      {warning.reason}")
        for fact in block.related:
            print_note(
                cut_to_terminal(f"told: {fact.memory.content}", 6) + f"\n      {'; '.join(fact.reasons)}"
            )
        for excerpt in block.excerpts:
            print_note(cut_to_terminal(f"told: {excerpt.text}", 6) + f"\n      {'; '.join(excerpt.reasons)}")
    else:
        err("nothing in the memory fits this prompt")
    for one in block.left_out[:_LISTED]:
        shown = cut_to_terminal(
            f"left out: {one.reason}" if one.memory is None else f"left out: {one.shown}", 6
        )
        print_note(shown if one.memory is None else f"{shown}\n      {one.reason}")
    if len(block.left_out) > _LISTED:
        print_note(f"and {len(block.left_out) - _LISTED} more left out")
    for text in block.result.notes:
        print_note(text)
