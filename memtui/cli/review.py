"""``memtui review``: list the cards that need a decision, worst first, as the Review pane does; and decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.engine.errors import InputError, NotFoundError, UsageError
from memtui.present.format import plural
from memtui.present.memory import without_secrets
from memtui.present.review import card_kind, quarantine_note

from .errors import NEGATIVE, OK
from .memory_lines import memory_line, shown_glyphs, time_ago
from .output import cut_to_terminal, err, next_step, out, paint, paint_role, print_json, printed_cells, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.review.cards import ReviewItem, Verdict
    from memtui.present.glyphs import Glyphs

    from .invocation import Invocation

_EVIDENCE = 3
_VERDICTS: tuple[Verdict, ...] = ("keep", "forget", "correct", "both", "merge", "replace", "snooze")


@click.command("review", cls=Command)
@click.argument("verdict", type=click.Choice(_VERDICTS), required=False)
@click.argument("cards", nargs=-1, metavar="[CARD]...")
@click.option(
    "--memory",
    "memory_id",
    metavar="ID",
    help="The memory on the card that the verdict is about. [default: of two the new one, of a choice the likeliest, else all]",
)
@click.option("--session", metavar="ID", help="All cards of this conversation: keep, forget or snooze.")
@click.option("--about", metavar="NAME", help="All cards about this person, project or place.")
@click.option("--text", default="", help="The new wording, with correct and merge.")
@click.option("--all", "every", is_flag=True, help="Show all cards, not only today's twenty.")
@json_option
@pass_invocation
def review_command(
    invocation: Invocation, verdict: Verdict | None, cards: tuple[str, ...], memory_id: str | None, session: str | None,
    about: str | None, text: str, every: bool, json: bool,
) -> int:  # fmt: skip
    """List what needs your decision: conflicts, requests, duplicates, names that may be one, and so on.

    With a verdict and the ids of cards, decide them. A verdict is about the memory: forget agrees to an agent's
    request to forget it. Not every card takes every verdict. snooze asks again in 7 days.

    \b
    memtui review keep prop_1a2b                       keep the new fact, and forget the old one
    memtui review keep prop_1a2b --memory fact_3c4d    keep this one instead
    memtui review both prop_1a2b prop_5e6f             both are true, or two different people
    memtui review replace prop_1a2b --memory fact_3c4d the new one replaces this one of a choice
    memtui review forget prop_1a2b --memory ref_3c4d   only this one of a card with several
    memtui review keep --session ID                    keep all new facts of a conversation
    memtui review keep --about NAME                    keep all about a person, project or place
    """
    if session is not None or about is not None:
        return _decide_group(invocation, verdict, cards, memory_id or text, session, about, json)
    if verdict is not None:
        return _decide_cards(invocation, verdict, cards, memory_id, text, json)
    with invocation.open_readonly() as memory:
        inbox = memory.review.inbox(all=every)
    if json:
        print_json(inbox)
        return OK
    signs = shown_glyphs(invocation)
    for item in inbox.items:
        _print_card(item, signs)
    if not inbox.items:
        out(paint("all clear", "green"))
    later = f"; {plural(inbox.later, 'more card')} tomorrow, or now with --all" if inbox.later else ""
    decided = f"; {inbox.settled} decided today" if inbox.settled else ""
    out(f"{len(inbox.items)} left{decided}{later}")
    return OK


def _decide_cards(
    invocation: Invocation,
    verdict: Verdict,
    cards: tuple[str, ...],
    memory_id: str | None,
    text: str,
    json: bool,
) -> int:
    if not cards:
        raise UsageError("Which card?", "memtui review lists them with their ids.")
    if len(cards) > 1 and (memory_id or text):
        raise UsageError("--memory and --text need exactly one card.", "Decide the others by themselves.")
    with invocation.open_existing(must_write=True) as memory:
        waiting = {item.id: item for item in memory.review.items()}
        if unknown := [card for card in cards if card not in waiting]:
            raise NotFoundError(f"No card {unknown[0]!r} waits.", "memtui review lists them with their ids.")
        items = [waiting[card] for card in cards]
        if unfit := [item for item in items if verdict not in item.offered]:
            offered = ", ".join(unfit[0].offered)
            raise InputError(
                f"{verdict!r} does not settle this card ({card_kind(unfit[0])[0]}).",
                f"{unfit[0].id} takes {offered}.",
            )
        if len(items) == 1:
            done = memory.review.decide(items[0], verdict, text=text, keep=memory_id)
        else:
            done = memory.review.decide_all(items, verdict)
    if json:
        print_json({"operation": done})
    elif done is None:
        err("nothing was left to decide")
    else:
        out(done.label)
        out(row("  ", next_step(f"To undo it: memtui undo {done.op_id}")))
    return NEGATIVE if done is None else OK


def _decide_group(
    invocation: Invocation, verdict: Verdict | None, cards: tuple[str, ...], single: str | None, session: str | None,
    about: str | None, json: bool,
) -> int:  # fmt: skip
    if verdict is None or cards or single or (session is not None and about is not None):
        raise UsageError(
            "--session or --about goes with one verdict, and nothing else.", "memtui review keep --session ID"
        )
    with invocation.open_existing(must_write=True) as memory:
        group = memory.review.group(session=session, about=about)
        done = memory.review.decide_group(group, verdict)
    left = group.count_left(verdict)
    if json:
        print_json({"operation": done, "cards_left": left})
    elif done is None:
        err(f"nothing {group.describe_facts} was left to decide so")
    else:
        out(done.label)
        out(row("  ", next_step(f"To undo it: memtui undo {done.op_id}")))
    if left and not json:
        err(
            f"{plural(left, 'card')} {group.describe_facts} to be decided by themselves: memtui review lists them"
        )
    return NEGATIVE if done is None else OK


def _print_card(item: ReviewItem, signs: Glyphs) -> None:
    out(row(paint_role(*card_kind(item)), paint(item.id, "dim"), item.reason))
    if item.kind == "quarantined":
        out(row("   ", paint(quarantine_note(item), "dim")))
    if item.text and item.change_request is None:
        out(row("   ", cut_to_terminal(item.text, 6)))
    for name, memory in zip(_memory_names(item), item.memories, strict=True):
        out(memory_line(memory, signs, f"   {name}", time_ago(memory.event_time).rjust(3)))
        for known in item.replaced:
            if known.id == memory.supersedes:
                out(
                    row(
                        "       ",
                        paint(cut_to_terminal(f"instead of: {without_secrets(known)}", 10), "yellow"),
                    )
                )
    if item.text and item.change_request is not None:
        out(row("   to:", cut_to_terminal(item.text, 8)))
    if item.kind == "dependents":
        for entity in item.entities:
            line_start = row("   ", paint(entity.id, "dim"), paint_role(entity.canonical_name, "entity"))
            out(row(line_start, cut_to_terminal(entity.summary or "", printed_cells(line_start) + 2)))
        return
    for turn in item.sources[:_EVIDENCE]:
        out(row("       ", paint(cut_to_terminal(f"from {turn.id}: {without_secrets(turn)}", 10), "dim")))


def _memory_names(item: ReviewItem) -> list[str]:
    if item.kind == "choice":
        return ["new", *["old?"] * (len(item.memories) - 1)]
    pair = item.kind in ("agent_change", "conflict", "duplicate") or (
        item.kind == "devices" and len(item.memories) > 1
    )
    if item.kind == "devices" and pair:
        return ["there", "here"]
    return ["new", "old"] if pair else [""] * len(item.memories)
