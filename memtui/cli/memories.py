"""The commands that change memories, in one file because they share ``_change_memories``: each is one operation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from memtui.engine.errors import UsageError
from memtui.present.format import plural
from memtui.present.memory import topic_and_date

from .invocation import Invocation, text_of_words
from .memory_lines import dry_run_option, memory_line, print_dry_run, shown_glyphs
from .output import out, paint, print_json, print_note
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord

# Messages for memories that needed no change.
_ALREADY = {
    "pin": "was pinned already", "unpin": "was not pinned", "confirm": "was confirmed already",
    "forget": "was in the Trash already", "restore": "was not in the Trash", "tag": "was tagged so already",
    "withhold": "was withheld already", "allow": "was not withheld",
}  # fmt: skip


@click.command("remember", cls=Command)
@click.argument("text", nargs=-1, required=True)
@click.option("--tag", "-t", "tags", multiple=True, metavar="TAG", help="Tag it; may be repeated.")
@click.option("--topic", metavar="TOPIC", help="Its topic: health, plan, rule...")
@click.option("--confidence", type=float, default=1.0, show_default=True, help="How sure it is, 0 to 1.")
@click.option("--source", metavar="NAME", help="Where it comes from.  [default: explicit]")
@json_option
@pass_invocation
def remember_command(
    invocation: Invocation,
    text: tuple[str, ...],
    tags: tuple[str, ...],
    topic: str | None,
    confidence: float,
    source: str | None,
    json: bool,
) -> None:
    """Write down TEXT as a fact. With "-" the text is read from standard input.

    It is protected: it does not fade, and no job or model changes it.
    """
    content = text_of_words(text)
    with invocation.open_or_create() as memory:
        record = memory.remember(content, confidence=confidence, tags=tags, source=source, topic=topic)
    if json:
        print_json({"memory": record})
    else:
        known = record.content != content.strip() and "redacted" not in record.attributes
        out(
            memory_line(
                record, shown_glyphs(invocation), paint("known already" if known else "remembered", "green")
            )
        )
        if topic is not None and record.topic != topic.strip().casefold():
            print_note(
                f"Its topic stays {record.topic or 'none'}. Change it: memtui topic {record.id} {topic}"
            )
    _print_secret(record)


@click.command("correct", cls=Command)
@click.argument("id")
@click.argument("text", nargs=-1)
@dry_run_option
@json_option
@pass_invocation
def correct_command(
    invocation: Invocation, id: str, text: tuple[str, ...], dry_run: bool, json: bool
) -> None:
    """Replace the text of the memory ID by TEXT ("-": from standard input).

    The old memory goes to the Trash, linked to the new one. The new one counts as confirmed. What was drawn from the
    old one waits in Review, and so do facts with a name that TEXT takes away. --dry-run shows both, and which agents
    were told it. It needs no TEXT for the rest.
    """
    if dry_run:
        print_dry_run(invocation, [id], json, "corrected", text=text_of_words(text) if text else "")
        return
    if not text:
        raise UsageError("The new text is missing.", "--dry-run shows what depends on the memory.")
    content = text_of_words(text)
    with invocation.open_existing(must_write=True) as memory:
        old = memory.get(id)
        record = memory.correct(old.id, content)
        old = memory.get(old.id)
    if json:
        print_json({"memory": record, "replaced": old})
    else:
        signs = shown_glyphs(invocation)
        out(memory_line(record, signs, paint("corrected", "green")))
        out(memory_line(old, signs, paint("replaced ", "dim")))
    _print_secret(record)


@click.command("merge", cls=Command)
@click.argument("id")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@click.option("--text", default="", help="A new text for the fact that stays.")
@dry_run_option
@json_option
@pass_invocation
def merge_command(
    invocation: Invocation, id: str, others: tuple[str, ...], text: str, dry_run: bool, json: bool
) -> None:
    """Merge the facts OTHER... into ID, which keeps the tags, sources and protection of all.

    The others go to the Trash, linked to it. To undo it: memtui undo.
    """
    if dry_run:
        print_dry_run(invocation, [id, *others], json, "merged", text=text)
        return
    with invocation.open_existing(must_write=True) as memory:
        known = [memory.get(one).id for one in (id, *others)]
        record = memory.review.merge(known[0], known[1:], text=text)
        gone = [memory.get(one) for one in known[1:]]
    if json:
        print_json({"memory": record, "merged": gone})
    else:
        signs = shown_glyphs(invocation)
        out(memory_line(record, signs, paint("merged", "green")))
        for one in gone:
            out(memory_line(one, signs, paint("into it", "dim")))
    _print_secret(record)


@click.command("confirm", cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@pass_invocation
def confirm_command(invocation: Invocation, ids: tuple[str, ...], json: bool) -> None:
    """Confirm that the memories ID... are true. They no longer fade, and no job or model changes them."""
    _change_memories(
        invocation, "confirm", ids, json, refuses=lambda memory: memory.kind == "episode" or not memory.active
    )


@click.command("forget", cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--withhold", is_flag=True, help="Also keep from agents the turns that they were drawn from.")
@dry_run_option
@json_option
@pass_invocation
def forget_command(
    invocation: Invocation, ids: tuple[str, ...], withhold: bool, dry_run: bool, json: bool
) -> None:
    """Move the memories ID... to the Trash. "memtui restore" brings them back.

    What an agent corrected, or a conversation replaced, stands again. What you corrected is forgotten with it.
    The turns that they were drawn from stay, with a note that the fact was forgotten. --withhold keeps those turns from
    agents too.
    """
    if dry_run:
        print_dry_run(invocation, ids, json, "forgotten")
        return
    _change_memories(
        invocation,
        "forget",
        ids,
        json,
        refuses=lambda memory: (
            withhold and (memory.kind == "episode" or memory.ended_by not in (None, "forgotten"))
        ),
        withhold=withhold,
    )


@click.command("withhold", cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--agent", metavar="NAME", required=True, help="The agent: claude-code, codex.")
@click.option("--off", is_flag=True, help="Give them to it again.")
@json_option
@pass_invocation
def withhold_command(invocation: Invocation, ids: tuple[str, ...], agent: str, off: bool, json: bool) -> None:
    """Keep the memories ID... from one agent. Other agents still get them.

    \b
    memtui withhold ID --agent codex
    memtui withhold ID --agent codex --off     give it again
    memtui list withheld:codex                 what it does not get

    This includes their corrections, the turns that they were drawn from, and reflections and observations drawn from
    them.
    """
    _change_memories(invocation, "allow" if off else "withhold", ids, json, agent=agent)


@click.command("pin", cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@pass_invocation
def pin_command(invocation: Invocation, ids: tuple[str, ...], json: bool) -> None:
    """Give the facts ID... to agents before every answer. Only the 5 that you pinned last are given."""
    _change_memories(
        invocation, "pin", ids, json, refuses=lambda memory: memory.kind != "fact" or not memory.active
    )


@click.command("unpin", cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@pass_invocation
def unpin_command(invocation: Invocation, ids: tuple[str, ...], json: bool) -> None:
    """Give the facts ID... to agents only when they fit the prompt."""
    _change_memories(invocation, "unpin", ids, json)


def restore_memories(invocation: Invocation, ids: Sequence[str], json: bool) -> None:
    """Bring memories back from the Trash; ``memtui restore`` with ids."""
    _change_memories(invocation, "restore", ids, json)


@click.command("tag", cls=Command, context_settings={"ignore_unknown_options": True})
@click.argument("id")
@click.argument("changes", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[+TAG|-TAG]...")
@json_option
@pass_invocation
def tag_command(invocation: Invocation, id: str, changes: tuple[str, ...], json: bool) -> None:
    """Add tags to the memory ID, and remove some: memtui tag ID +work -draft"""
    add = [change.lstrip("+") for change in changes if not change.startswith("-")]
    remove = [change[1:] for change in changes if change.startswith("-")]
    if any(not tag or tag.startswith("-") for tag in (*add, *remove)):
        raise UsageError("A tag is missing its name.", "For example: memtui tag ID +work -draft")
    _change_memories(invocation, "tag", (id,), json, add=add, remove=remove)


@click.command("topic", cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID... [TOPIC]")
@click.option(
    "--on",
    "day",
    metavar="DATE",
    help='Its day: 2026-06-12, "12 june", "next friday", or none.',
)
@json_option
@pass_invocation
def topic_command(invocation: Invocation, ids: tuple[str, ...], day: str | None, json: bool) -> None:
    """Set the topic and the day of facts: memtui topic ID health

    \b
    TOPIC is one of health, people, home, work, project, rule, preference,
    routine, plan, possession, decision, identity, or none.

    Facts about health and rules do not fade (decay.lasting). A plan does not fade before its day.
    """
    from memtui.engine.records import TOPICS

    *others, last = ids
    topic = last.casefold() if last.casefold() in (*TOPICS, "none") else None
    named = others if topic else ids
    if not named or (topic is None and day is None):
        raise UsageError(
            f"There is no topic {last!r}." if others else "Name a fact and its topic.",
            f"For example: memtui topic ID health. Topics are {', '.join(TOPICS)}, or none.",
        )
    _change_memories(
        invocation, "classify", named, json, refuses=lambda one: one.kind != "fact", topic=topic, happens=day
    )


def _change_memories(
    invocation: Invocation,
    verb: Literal["confirm", "forget", "restore", "tag", "pin", "unpin", "classify", "withhold", "allow"],
    ids: Sequence[str],
    json: bool,
    *,
    refuses: Callable[[MemoryRecord], bool] = lambda memory: False,
    **changes: Any,
) -> None:
    """Do ``verb`` to all ``ids`` as one operation; nothing is done when one of them is wrong.

    ``refuses``: of a single memory the engine is asked anyway, because its error names the reason.
    """
    with invocation.open_existing(must_write=True) as memory:
        before = list({memory_before.id: memory_before for memory_before in map(memory.get, ids)}.values())
        for one in before:
            if refuses(one):
                getattr(memory, verb)(one.id, **changes)
        rejects = verb == "forget" and not changes.get("withhold")
        standing = memory.view.standing_again([one.id for one in before]) if rejects else ()
        if len(before) == 1:
            getattr(memory, verb)(before[0].id, **changes)
        else:
            memory.change_all(verb, [one.rid for one in before], **changes)
        after = [memory.get(one.id) for one in before]
        standing = tuple(memory.get(one.id) for one in standing)
    if json:
        print_json({"memories": after, **({"standing": standing} if standing else {})})
        return
    done = {
        "confirm": "confirmed", "forget": "forgot", "restore": "restored", "tag": "tagged", "pin": "pinned",
        "unpin": "unpinned", "classify": "changed", "withhold": "withheld", "allow": "allowed",
    }[verb]  # fmt: skip
    signs = shown_glyphs(invocation)
    for old, new in zip(before, after, strict=True):
        word = paint(done, "green") if old != new else paint(_ALREADY.get(verb, "unchanged"), "yellow")
        out(memory_line(new, signs, word))
        if verb == "tag":
            out("  " + (", ".join(new.tags) or "no tags"))
        if verb == "withhold" and new.source_ids:
            print_note(f"This includes its sources: {plural(len(new.source_ids), 'memory')}")
        if verb == "classify":
            out(f"  {topic_and_date(new, time.time())}")
    for one in standing:
        out(memory_line(one, signs, paint("stands again", "green")))


def _print_secret(memory: MemoryRecord) -> None:
    kinds = ", ".join(memory.attributes.get("secrets", ()))
    if kinds and memory.attributes.get("redacted"):
        print_note(f"it looked like a secret ({kinds}) and was blacked out")
    elif kinds:
        print_note(f"it looks like a secret ({kinds}): no model gets to see it")
