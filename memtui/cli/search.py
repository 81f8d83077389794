"""``memtui search``: hits in order and, with --explain, each retriever's share of the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from memtui.engine.errors import UsageError
from memtui.present.hit import (
    explanation_lines,
    matched_text,
    rank_text,
    raw_score,
    reason_above,
    retriever_label,
    retriever_outcome,
    score_text,
    share_text,
)

from .errors import NEGATIVE, OK
from .invocation import Invocation, text_of_words
from .memory_lines import memory_line, print_what_changed, shown_glyphs, time_ago
from .output import err, out, paint, paint_line, paint_role, print_json, print_note, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memtui.engine.records import (
        Caution,
        Explanation,
        Hit,
        Replacement,
        RetrieverHit,
        RetrieverName,
        RetrieverReport,
        SearchResult,
    )

# So many texts get vectors before the search: it takes a fraction of a second.
INDEXED_FIRST = 256


@click.command("search", cls=Command)
@click.argument("query", nargs=-1)
@click.option("--filter", "-f", "filter", default="", metavar="F", help="Search only in what passes it.")
@click.option("--limit", "-n", type=click.IntRange(min=1), help="At most this many hits.  [default: 10]")
@click.option("--profile", metavar="NAME", help="How to rank: default, rrf, or a saved profile.")
@click.option("--explain", is_flag=True, help="Show the parts of every score.")
@click.option("--why", metavar="ID", help="Tell why the memory ID is, or is not, among the hits.")
@json_option
@pass_invocation
def search_command(
    invocation: Invocation,
    query: tuple[str, ...],
    filter: str,
    limit: int | None,
    profile: str | None,
    explain: bool,
    why: str | None,
    json: bool,
) -> int:
    """Find memories for QUERY, in any words; without one, list what passes the filter, newest first.

    Exit code 1 when nothing is found.

    \b
    A filter: kind:fact tag:work entity:"Ada" session:... conf<0.5 is:protected
              after:2026-01 before:7d -lisbon "exact words"
    """
    words = text_of_words(query)
    number = limit or invocation.configuration.settings.search.limit
    if not words.strip():
        if query or why is not None:
            raise UsageError("The query is missing.", 'For example: memtui search "what does Ada eat"')
        from .list_ import print_list

        return print_list(invocation, filter, number, json)
    with invocation.open_existing() as memory:
        if not memory.readonly:
            # Makes vectors that an earlier command left to be made. No memory is changed.
            memory.models.index_pending(None if invocation.demo else INDEXED_FIRST, wait_for_network=False)
        if why is not None:
            explanation = memory.explain(words, why, filter=filter, limit=number, profile=profile)
            id = explanation.memory.id
            cautions, replaced = memory.view.cautions([id]), memory.view.replacements([id])
            return _print_why(explanation, cautions, replaced, invocation, json)
        result = memory.search(words, filter=filter, limit=number, profile=profile)
        replaced = memory.view.replacements([hit.memory.id for hit in result.hits])
    if json:
        print_json(asdict(result) | {"replacements": replaced})
    else:
        _print_hits(result, replaced, invocation, explain)
    return OK if result.hits else NEGATIVE


def _print_hits(
    result: SearchResult,
    replaced: Mapping[str, Sequence[Replacement]],
    invocation: Invocation,
    explain: bool,
) -> None:
    from memtui.engine.search.relevance_cutoff import count_likely

    signs = shown_glyphs(invocation)
    ages = [time_ago(hit.memory.event_time) for hit in result.hits]
    widest = max(map(len, ages), default=0)
    above = count_likely(result.hits)
    for hit, when in zip(result.hits, ages, strict=True):
        if hit.rank == above + 1:
            out(paint("less likely", "dim"))
        rank = str(hit.rank).rjust(len(str(len(result.hits))))
        out(memory_line(hit.memory, signs, rank, paint(f"{hit.score:.3f}", "bold"), when.rjust(widest)))
        print_what_changed(hit.memory, hit.cautions, replaced.get(hit.memory.id, ()), undecided_only=True)
        if explain:
            _print_breakdown(hit, result)
    if not result.hits:
        err("nothing found")
    if explain:
        for report in result.retrievers:
            out(
                row(
                    paint_role(retriever_label(report.retriever), report.retriever), retriever_outcome(report)
                )
            )
        terms = ", ".join(result.terms) or "none"
        out(f"profile {result.profile.name}, {result.candidates} candidates, words: {terms}")
    for text in result.notes:
        print_note(text)


def _print_breakdown(hit: Hit, result: SearchResult) -> None:
    best = result.best
    rows = retriever_rows(hit.retrievers, best, {report.retriever: report for report in result.retrievers})
    for line in table([*rows, ("total", "", "", score_text(hit.score, most=best), "")], right=(3,)):
        out(row("   ", line))
    if hit.rank < len(result.hits):
        out(row("   ", paint_line(reason_above(hit, result.hits[hit.rank], best))))


def retriever_rows(
    retrievers: Mapping[RetrieverName, RetrieverHit],
    best: float,
    reports: Mapping[RetrieverName, RetrieverReport],
) -> list[tuple[str, str, str, str, str]]:
    """Retriever, rank, raw score, term and what matched, for each retriever that found the memory."""
    return [
        (
            paint_role(retriever_label(retriever), retriever),
            rank_text(hit, reports.get(retriever)),
            raw_score(retriever, hit),
            share_text(hit, best),
            matched_text(retriever, hit),
        )
        for retriever, hit in retrievers.items()
    ]


def _print_why(
    explanation: Explanation,
    cautions: Mapping[str, Sequence[Caution]],
    replaced: Mapping[str, Sequence[Replacement]],
    invocation: Invocation,
    json: bool,
) -> int:
    among = (
        explanation.rank is not None and explanation.rank <= explanation.limit and not explanation.excluded
    )
    if json:
        print_json(asdict(explanation) | {"cautions": cautions, "replacements": replaced})
        return OK if among else NEGATIVE
    memory = explanation.memory
    out(memory_line(memory, shown_glyphs(invocation)))
    print_what_changed(memory, cautions.get(memory.id, ()), replaced.get(memory.id, ()))
    for label, reason in explanation_lines(explanation, explanation.limit):
        out(row(paint(label.rjust(8), "dim"), paint_line(reason)))
    for line in (
        table(retriever_rows(explanation.retrievers, explanation.score, {}), right=(3,))
        if explanation.retrievers
        else ()
    ):
        out(row("   ", line))
    if explanation.retrievers:
        rank = f"number {explanation.rank:,}" if explanation.rank is not None else ""
        out(row("   ", "total", score_text(explanation.score, most=explanation.score), paint(rank, "dim")))
    return OK if among else NEGATIVE
