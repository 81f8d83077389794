"""``memtui search``: hits in order and, with --explain, how each arm came to its share of the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.engine.errors import UsageError

from .door import Door
from .errors import NEGATIVE, OK
from .lines import age, glyphs, memory_line
from .output import Painted, emit, err, note, out, paint, row, table
from .root import Command, json_option, pass_door
from .text_input import given_text

if TYPE_CHECKING:
    from memtui.engine.records import ArmHit, ArmName, Explanation, Hit, SearchResult

# So many texts get their vectors before the answer: a blink.
INDEXED_FIRST = 256
RAW_SCORE = {"keyword": "BM25", "vector": "cosine", "sense": "cosine", "entity": "names", "context": "beside"}


@click.command("search", cls=Command)
@click.argument("query", nargs=-1)
@click.option("--filter", "-f", "filter", default="", metavar="F", help="Search only in what passes it.")
@click.option("--limit", "-n", type=click.IntRange(min=1), help="At most so many hits.  [default: 10]")
@click.option("--profile", metavar="NAME", help="How to rank: default, rrf, or a saved profile.")
@click.option("--explain", is_flag=True, help="Show the parts of every score.")
@click.option("--why", metavar="ID", help="Tell why the memory ID is, or is not, among the hits.")
@json_option
@pass_door
def search_command(
    door: Door,
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
    words = given_text(query)
    wanted = limit or door.configuration.settings.search.limit
    if not words.strip():
        if query or why is not None:
            raise UsageError("What shall be searched for?", 'For example: memtui search "what does Ada eat"')
        return _list(door, filter, wanted, json)
    with door.existing() as memory:
        if not memory.readonly:
            # Vectors that a writing command left to the next reader; no change of what is remembered.
            memory.models.index_pending(None if door.demo else INDEXED_FIRST, wait_for_network=False)
        if why is not None:
            told = memory.explain(words, why, filter=filter, limit=wanted, profile=profile)
            return _tell_why(told, door, json)
        result = memory.search(words, filter=filter, limit=wanted, profile=profile)
    if json:
        emit(result)
    else:
        _tell_hits(result, door, explain)
    return OK if result.hits else NEGATIVE


def _list(door: Door, filter: str, limit: int, json: bool) -> int:
    """What passes ``filter``, without a question to rank it by."""
    with door.reading() as memory:
        found = memory.view.page(filter, limit=limit)
        culprit = None if found else memory.view.emptied_by(filter)
    if json:
        emit({"filter": filter, "memories": found})
    else:
        signs = glyphs(door)
        ages = [age(one.event_time) for one in found]
        for one, when in zip(found, ages, strict=True):
            out(memory_line(one, signs, when.rjust(max(map(len, ages)))))
        if not found:
            err("nothing found")
        if culprit is not None:
            note(f"The filter lets nothing through: {culprit.term}")
    return OK if found else NEGATIVE


def _tell_hits(result: SearchResult, door: Door, explain: bool) -> None:
    from memtui.engine.search.likely import likely

    signs = glyphs(door)
    ages = [age(hit.memory.event_time) for hit in result.hits]
    widest = max(map(len, ages), default=0)
    above = likely(result.hits)
    for hit, when in zip(result.hits, ages, strict=True):
        if hit.rank == above + 1:
            out(paint("less likely", "dim"))
        rank = str(hit.rank).rjust(len(str(len(result.hits))))
        out(memory_line(hit.memory, signs, rank, paint(f"{hit.score:.3f}", "bold"), when.rjust(widest)))
        if explain:
            for line in _breakdown(hit):
                out(row("   ", line))
    if not result.hits:
        err("nothing found")
    if explain:
        for arm in result.arms:
            answered = arm.state == "answered"
            found = f"{arm.found} found in {arm.milliseconds:.1f} ms" if answered else arm.state
            out(row(paint(arm.arm, "cyan"), found, *filter(None, (arm.why,))))
        terms = ", ".join(result.terms) or "none"
        out(f"profile {result.profile.name}, {result.candidates} candidates, words: {terms}")
    for text in result.notes:
        note(text)


def _breakdown(hit: Hit) -> list[Painted]:
    rows = arm_rows(hit.arms)
    return table([*rows, ("total", "", "", f"{hit.score:.4f}", "")], right=(3,))


def arm_rows(arms: dict[ArmName, ArmHit]) -> list[tuple[str, str, str, str, str]]:
    """Arm, rank, raw score, term and what matched, for every arm that found the memory."""
    rows: list[tuple[str, str, str, str, str]] = []
    for name, arm in arms.items():
        raw = f"{RAW_SCORE[name]} {arm.score:.3g}"
        matched = ", ".join(arm.matched)
        told = f"its words mean {matched}" if name == "sense" and matched else matched
        rows.append((name, f"#{arm.rank}", raw, f"{arm.term:.4f}", told))
    return rows


def _tell_why(told: Explanation, door: Door, json: bool) -> int:
    among = told.rank is not None and told.rank <= told.limit and not told.excluded
    if json:
        emit(told)
        return OK if among else NEGATIVE
    out(memory_line(told.memory, glyphs(door)))
    place = f"#{told.rank}" if told.rank is not None else "found by no arm"
    out(f"{'among' if among else 'not among'} the first {told.limit}: {place}, score {told.score:.4f}")
    for line in table(arm_rows(told.arms), right=(3,)):
        out(row("   ", line))
    for text in told.excluded:
        out(f"excluded: {text}")
    for text in told.remedies:
        out(f"remedy: {text}")
    return OK if among else NEGATIVE
