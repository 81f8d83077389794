"""``memtui about``: what is known, by topic."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import click
from msgspec.structs import asdict, replace

from memtui.engine.records import FadingFact, MemoryRecord, Portrait, Replacement, Topic
from memtui.present import replacement
from memtui.present.format import format_count, local_month, whole_month
from memtui.present.memory import without_secrets
from memtui.present.portrait import (
    OTHER_PLANS,
    PLANS_AHEAD,
    THIS_WEEK,
    TITLES,
    WHEN,
    WHO,
    Since,
    fact_day,
    fact_sign,
    is_new,
    month_of_most_changes,
    persons_of,
    portrait_headline,
    portrait_notices,
    topics_in_order,
    what_did_not_happen,
)
from memtui.present.status import agent_lines

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import print_replacements, print_what_changed, shown_glyphs
from .output import cut_to_terminal, err, out, paint, paint_role, print_json, print_note, printed_cells, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.present.glyphs import Glyphs

_EACH = 5
# So many persons and changes of a month are printed; and how wide a month is.
_IN_MONTH, _MONTH = 3, 8


@click.command("about", cls=Command, option_of_words="--topic")
@click.option("--topic", "-t", type=click.Choice(get_args(Topic)), help="Only facts about this.")
@click.option("--filter", "-f", "filter", default="", metavar="F", help="Only facts that pass this filter.")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 100),
    default=_EACH,
    show_default=True,
    help="At most this many of each topic.",
)
@click.option(
    "--since",
    "-s",
    default=THIS_WEEK.date,
    metavar="DATE",
    help="Count as new what came since: yesterday, 3d, 2026-03-03.",
)
@json_option
@pass_invocation
def about_command(
    invocation: Invocation, topic: Topic | None, filter: str, limit: int, since: str, json: bool
) -> int:
    """Show what is known about you, by topic: the strongest facts of each.

    Pinned facts come first, then confirmed ones, then the surest. Plans ahead are
    what has a day to come, of any topic; the other plans have no day, or are over. Exit code 1 when nothing is known.

    \b
    memtui about --topic plan
    memtui about --filter project:boat
    memtui about --since yesterday
    """
    named = THIS_WEEK if since == THIS_WEEK.date else Since(since, f"since {since}")
    about = "is:planned" if topic == "plan" else f"topic:{topic}"
    narrowed = f"{filter} {about}".strip() if topic else filter
    with invocation.open_readonly() as memory:
        portrait = _without_secrets(memory.view.portrait(narrowed, each=limit, since=since))
        review = len(memory.review.inbox().items)
    if json:
        counted = {
            "total": portrait.total,
            "confirmed": portrait.confirmed,
            "new": portrait.new,
            "review": review,
        }
        print_json({**counted, **asdict(replace(portrait, topics=tuple(topics_in_order(portrait.topics))))})
        return OK if portrait.topics else NEGATIVE
    if not portrait.topics:
        err("nothing is known yet" if not narrowed else "no fact passes this filter")
    else:
        out(row(paint(portrait_headline(portrait), "bold")))
    if not narrowed:
        for one in portrait_notices(portrait, review, named):
            out(paint_role(one.text, "accent" if one.calls else "text"))
            if one.about == "served":
                for line in agent_lines(portrait.status):
                    out(row(" ", paint(line, "dim")))
        for sentence in what_did_not_happen(portrait, named) if portrait.topics else ():
            out(paint(sentence, "dim"))
        if portrait.people:
            names = ", ".join(
                f"{one.canonical_name} ({format_count(one.mention_count)})" for one in portrait.people
            )
            out(row(paint("mentioned most", "dim"), cut_to_terminal(names, 16)))
    _print_changes(portrait, named)
    _print_topics(invocation, portrait, (topic,) if topic else tuple(TITLES))
    _print_months(portrait)
    return OK if portrait.topics else NEGATIVE


def _print_changes(portrait: Portrait, since: Since) -> None:
    """What took the place of another fact since."""
    if portrait.changes:
        out()
        out(row(paint(f"Changed {since.text}", "bold"), format_count(portrait.changed)))
    print_replacements(portrait.changes, time.time(), indent=1)


def _print_months(portrait: Portrait) -> None:
    """Of the latest months: who was talked about and with whom, and what changed."""
    now = time.time()
    talked = [one for one in portrait.months if one.persons]
    if talked:
        out()
        out(paint(WHO, "bold"))
    for one in talked:
        lines = [
            f"{person.person.canonical_name} ({format_count(person.memories)}) {others}".rstrip()
            for person, others in persons_of(one, _IN_MONTH)
        ]
        month = local_month(one.start, now).rjust(_MONTH)
        out(row(" ", paint(month, "dim"), cut_to_terminal("; ".join(lines), _MONTH + 6)))
    changed = [one for one in portrait.months if one.changed]
    if changed:
        out()
        most = month_of_most_changes(changed)
        note = (paint(f"most in {whole_month(most.start, now)}", "dim"),) if most is not None else ()
        out(row(paint(WHEN, "bold"), *note))
    for one in changed:
        out(row(paint(whole_month(one.start, now), "dim"), f"{format_count(one.changed)} changed"))
        print_replacements(replacement.latest_of_each(one.changes)[:_IN_MONTH], now, indent=1)
        if one.changed > _IN_MONTH:
            print_note(f"all of them: memtui list kind:fact changed:{one.term}")


def _print_topics(invocation: Invocation, portrait: Portrait, topics: Sequence[Topic | None]) -> None:
    signs, by_topic = shown_glyphs(invocation), {one.topic: one for one in portrait.topics}
    hidden = False
    for topic in topics:
        if topic == "plan":
            _print_plans(portrait, signs)
            plans = portrait.plans
            hidden |= len(plans.next) < plans.ahead or len(plans.undated) < plans.others - plans.over
        elif one := by_topic.get(topic):
            _print_heading(TITLES[topic], one.total, one.new)
            _print_facts(one.facts, portrait, signs)
            hidden |= len(one.facts) < one.total
    if hidden:
        print_note("there is more: --limit 20, or memtui list topic:health")


def _print_plans(portrait: Portrait, signs: Glyphs) -> None:
    """What lies ahead, by its day; and the plans without a day, with how many are over."""
    plans, now = portrait.plans, time.time()
    if plans.ahead:
        _print_heading(PLANS_AHEAD, plans.ahead, plans.ahead_new)
        months = (f"{whole_month(due.start, now)} {format_count(due.facts)}" for due in portrait.due)
        out(row(" ", paint("due in", "dim"), cut_to_terminal(", ".join(months), 10)))
        term = portrait.due[0].term
        print_note(f"those of a month: memtui list kind:fact happens:{term} --sort day --ascending")
        _print_facts(plans.next, portrait, signs)
    if plans.others:
        over = f"{format_count(plans.over)} over" if plans.over else ""
        _print_heading(OTHER_PLANS, plans.others, plans.others_new, over)
        _print_facts(plans.undated, portrait, signs)
        if plans.over:
            print_note("those that are over: memtui list is:past")


def _print_heading(title: str, total: int, new: int, note: str = "") -> None:
    notes = (f"{format_count(new)} new" if new else "", note)
    out()
    out(row(paint(title, "bold"), format_count(total), *(paint(one, "dim") for one in notes if one)))


def _print_facts(facts: Sequence[MemoryRecord], portrait: Portrait, signs: Glyphs) -> None:
    now = time.time()
    for fact in facts:
        cautions = portrait.cautions.get(fact.id, ())
        mark = (
            paint_role(*fact_sign(fact, cautions, signs)),
            paint_role(signs.pinned if fact.pinned else " ", "accent"),
        )
        when = (paint(fact_day(fact, now), "cyan"),) if fact.happens_at is not None else ()
        new = (paint("new", "green"),) if is_new(fact, portrait) else ()
        line_start = row(" ", row(*mark, gap=""), paint(fact.id, "dim"), *when, *new)
        out(row(line_start, cut_to_terminal(fact.content, printed_cells(line_start) + 2)))
        print_what_changed(fact, cautions, portrait.replaced.get(fact.id, ()))


def _without_secrets(portrait: Portrait) -> Portrait:
    """The same with secrets blacked out, because others may look at the screen too."""
    return replace(
        portrait,
        topics=tuple(
            replace(one, facts=tuple(map(_fact_without_secrets, one.facts))) for one in portrait.topics
        ),
        plans=replace(
            portrait.plans,
            next=tuple(map(_fact_without_secrets, portrait.plans.next)),
            undated=tuple(map(_fact_without_secrets, portrait.plans.undated)),
        ),
        from_agents=tuple(map(_fact_without_secrets, portrait.from_agents)),
        changes=tuple(map(_sides_without_secrets, portrait.changes)),
        replaced={id: tuple(map(_sides_without_secrets, those)) for id, those in portrait.replaced.items()},
        months=tuple(
            replace(one, changes=tuple(map(_sides_without_secrets, one.changes))) for one in portrait.months
        ),
        newest=tuple(map(_fact_without_secrets, portrait.newest)),
        fading=tuple(
            FadingFact(memory=_fact_without_secrets(one.memory), fades_at=one.fades_at)
            for one in portrait.fading
        ),
    )


def _sides_without_secrets(one: Replacement) -> Replacement:
    old = None if one.old is None else _fact_without_secrets(one.old)
    return replace(one, old=old, new=_fact_without_secrets(one.new))


def _fact_without_secrets(fact: MemoryRecord) -> MemoryRecord:
    return replace(fact, content=without_secrets(fact))
