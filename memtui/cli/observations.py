"""``memtui observations``: findings, insights and lessons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.engine.errors import UsageError
from memtui.present.format import format_count

from .errors import NEGATIVE, OK
from .invocation import Invocation, text_of_words
from .memory_lines import memory_line, shown_glyphs, time_ago
from .output import err, out, paint, print_json
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records import Category, MemoryRecord

CATEGORIES = ("finding", "insight", "lesson")
_LISTED = 10
_ADD = "add"


@click.command("observations", cls=Command)
@click.argument("query", nargs=-1, metavar="[QUERY | add TEXT]")
@click.option(
    "--category", "-c", type=click.Choice(CATEGORIES), help="Only this category; with add: the category."
)
@click.option(
    "--source", "-s", metavar="NAME", help="Only from there: GOAL:deploy, session:ID, explicit, GOAL:*"
)
@click.option("--tag", "-t", "tags", multiple=True, metavar="TAG", help="With add: tag it; may be repeated.")
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.0, help="The lowest score, 0 to 1.")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 1_000),
    default=_LISTED,
    show_default=True,
    help="At most this many.",
)
@json_option
@pass_invocation
def observations_command(
    invocation: Invocation,
    query: tuple[str, ...],
    category: Category | None,
    source: str | None,
    tags: tuple[str, ...],
    min_score: float,
    limit: int,
    json: bool,
) -> int:
    """List observations, newest first. With QUERY, search them, best first.

    "add TEXT" writes one ("-" reads standard input). It is a finding unless --category says otherwise.
    Exit code 1 when there is none.
    """
    if query[:1] == (_ADD,):
        return _add_observation(invocation, query[1:], category or "finding", source, tags, json)
    if tags:
        raise UsageError("--tag needs add.", "To narrow the list by a tag: memtui search --filter tag:NAME")
    words = text_of_words(query)
    if query and not words.strip():
        raise UsageError("The query is empty.", 'For example: memtui observations "rate limit"')
    if words:
        return _print_recall(invocation, words, category, _source_term(source), min_score, limit, json)
    terms = ["kind:observation", f"category:{category}" if category else "", _source_term(source)]
    narrowed = " ".join(term for term in terms if term)
    with invocation.open_readonly() as memory:
        observations = memory.view.page(narrowed, limit=limit)
        more = memory.view.count(narrowed) - len(observations)
    if json:
        print_json({"observations": observations})
    else:
        ages = [time_ago(one.event_time) for one in observations]
        for one, when in zip(observations, ages, strict=True):
            _print_observation(invocation, one, when.rjust(max(map(len, ages))))
        if not observations:
            err("no observations")
        elif more > 0:
            err(f"and {format_count(more)} more: --limit shows them")
    return OK if observations else NEGATIVE


def _source_term(source: str | None) -> str:
    """A source as a term of a filter. A ``*`` at its end matches anything."""
    if source is None:
        return ""
    from memtui.engine.search.filters.terms import Value

    prefix = source.endswith("*")
    return f"source:{Value(text=source[:-1] if prefix else source, quoted=True, prefix=prefix)}"


def _print_recall(
    invocation: Invocation,
    words: str,
    category: Category | None,
    filter: str,
    min_score: float,
    limit: int,
    json: bool,
) -> int:
    with invocation.open_readonly() as memory:
        hits = memory.observations.recall(
            words, category=category, limit=limit, min_score=min_score, filter=filter
        )
    if json:
        print_json({"query": words, "hits": hits})
    else:
        for hit in hits:
            _print_observation(invocation, hit.memory, paint(f"{hit.score:.3f}", "bold"))
        if not hits:
            err("nothing found")
    return OK if hits else NEGATIVE


def _print_observation(invocation: Invocation, memory: MemoryRecord, before: str) -> None:
    out(memory_line(memory, shown_glyphs(invocation), before, (memory.category or "").ljust(len("finding"))))


def _add_observation(
    invocation: Invocation,
    text: tuple[str, ...],
    category: Category,
    source: str | None,
    tags: tuple[str, ...],
    json: bool,
) -> int:
    if not text:
        raise UsageError(
            "There is no text to add.", 'memtui observations add -c lesson "Check rate limits first"'
        )
    from memtui.engine.records import EXPLICIT

    content = text_of_words(text)
    with invocation.open_or_create() as memory:
        record = memory.observations.remember_one(content, category, source=source or EXPLICIT, tags=tags)
    if json:
        print_json({"memory": record})
    else:
        out(memory_line(record, shown_glyphs(invocation), paint(f"noted the {category}", "green")))
    return OK
