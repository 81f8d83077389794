"""Search hits as text: the score of each retriever, why a hit has its rank, why a memory was not found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .format import format_count, plural
from .text import LabelledLine, Line, Part, VisibleText

if TYPE_CHECKING:
    from memtui.engine.records import Explanation, Hit, RetrieverHit, RetrieverName, RetrieverReport

RETRIEVERS: tuple[RetrieverName, ...] = ("keyword", "vector", "word_vector", "entity", "context")
# Scores are shown with three digits. A smaller difference counts as none.
_LEAST = 0.0005


def score_text(value: float, *, most: float = 1.0, sign: bool = False) -> VisibleText:
    """A score or a share of it: ``.412``, ``1.127``. Small scores have four digits (``.0164``)."""
    digits = 3 if most >= 0.1 else 4
    text = f"{abs(value):.{digits}f}"
    text = text.removeprefix("0")
    prefix = ("+" if value >= 0 else "−") if sign else ("−" if value < 0 else "")
    return VisibleText(f"{prefix}{text}")


def share_text(hit: RetrieverHit, best: float) -> str:
    """What a retriever adds to the score. ``best``: the highest score of all hits."""
    return score_text(hit.term, most=best) if hit.term else "0"


def rank_text(hit: RetrieverHit, report: RetrieverReport | None, *, short: bool = False) -> str:
    """``#2 of 9``, or ``#2/9``."""
    between = "/" if short else " of "
    total = f"{between}{report.found:,}" if report is not None and report.found >= hit.rank else ""
    return f"#{hit.rank:,}{total}"


def raw_score(retriever: RetrieverName, hit: RetrieverHit, *, short: bool = False) -> str:
    """The retriever's own score: ``BM25 6.41``, ``cosine .71``, ``2 names``. ``short``: without the unit."""
    match retriever:
        case "keyword":
            return f"{hit.score:.2f}" if short else f"BM25 {hit.score:.2f}"
        case "vector" | "word_vector":
            cosine = score_text(hit.score)[:-1]
            return cosine if short else f"cosine {cosine}"
        case "entity":
            names = max(len(hit.matched), round(hit.score))
            return f"{names}" if short else f"{names} name" if names == 1 else f"{names} names"
        case _:
            return "" if short else "around it" if hit.matched else "by itself"


def matched_text(retriever: RetrieverName, hit: RetrieverHit) -> str:
    """What the retriever matched, for people."""
    if retriever == "context":
        return " · ".join(_turn_distance(one) for one in hit.matched)
    matched = " · ".join(hit.matched)
    return f"its words mean {matched}" if retriever == "word_vector" and matched else matched


def retriever_label(retriever: RetrieverName) -> str:
    """The name of a retriever on screen: ``word vector``."""
    return retriever.replace("_", " ")


def shares_by_retriever(retrievers: Mapping[RetrieverName, RetrieverHit]) -> dict[RetrieverName, float]:
    return {retriever: retrievers[retriever].term for retriever in RETRIEVERS if retriever in retrievers}


def reason_absent(report: RetrieverReport | None) -> str:
    """Why a retriever added nothing to a hit."""
    if report is None:
        return "was not asked"
    if report.state == "answered":
        return f"not among the {plural(report.found, 'memory')} it found"
    return retriever_outcome(report)


def retriever_outcome(report: RetrieverReport) -> str:
    """What a retriever did in a search."""
    match report.state:
        case "off":
            return f"off: {report.why or 'its weight is 0'}"
        case "unavailable":
            return f"unavailable: {report.why}"
        case "coming":
            return "waiting for the question's vector"
        case "empty":
            return f"found nothing{': ' + report.why if report.why else ''}"
        case _:
            why = f"; {report.why}" if report.why else ""
            return f"{format_count(report.found)} found in {report.milliseconds:.1f} ms{why}"


def reason_above(hit: Hit, below: Hit, best: float) -> Line:
    """Why a hit ranks above the next one. ``best``: the score of the first hit."""
    for one in below.cautions:
        if one.successor is not None and one.successor.id == hit.memory.id:
            does = "replaces" if one.replaced else "corrects"
            return ((f"above #{below.rank}: it {does} what that says", "text"),)
    ours, theirs = shares_by_retriever(hit.retrievers), shares_by_retriever(below.retrievers)
    gains = {retriever: ours.get(retriever, 0.0) - theirs.get(retriever, 0.0) for retriever in RETRIEVERS}
    least = _LEAST if best >= 0.1 else _LEAST / 10
    differing = sorted(
        (retriever for retriever in RETRIEVERS if abs(gains[retriever]) >= least),
        key=lambda retriever: -gains[retriever],
    )
    parts: list[Part] = [(f"above #{below.rank} by {score_text(hit.score - below.score, most=best)}", "text")]
    for index, retriever in enumerate(differing):
        parts += [(": " if index == 0 else ", ", "text"), (retriever_label(retriever), retriever)]
        parts.append((f" {score_text(gains[retriever], most=best, sign=True)}", "text"))
    if not differing:
        parts.append((": equal, and the newer one goes first", "text"))
    return tuple(parts)


def explanation_lines(explanation: Explanation, listed: int) -> Iterator[LabelledLine]:
    """Why a memory is or is not among the hits, and what would help. ``listed``: how many hits are listed."""
    if explanation.below:
        number = explanation.rank or 0
        if number <= listed:
            yield LabelledLine("here", ((f"It is in the list: number {number:,}.", "success"),))
        else:
            where = f"It is number {number:,}, and the list ends with {listed:,}."
            yield LabelledLine("not here", ((where, "warning"),))
        first = explanation.limit
        agents = f"An agent that searches gets the first {first} and not this one, unless it asks for more."
        yield LabelledLine("agents", ((agents, "warning"),))
        return
    if explanation.rank is not None and not explanation.excluded:
        yield LabelledLine("here", ((f"It is among the hits: number {explanation.rank}.", "success"),))
    for index, reason in enumerate(explanation.excluded):
        yield LabelledLine("" if index else "not here", ((reason, "warning"),))
    for index, remedy in enumerate(explanation.remedies):
        yield LabelledLine("" if index else "remedy", ((remedy, "accent"),))


def served_line(served: bool, left_out: str) -> LabelledLine:
    """Whether an agent would get a memory in the context block. ``left_out``: why it was left out, where that is known."""
    if served:
        return LabelledLine("told", (("Yes, an agent would get it.", "success"),))
    text = f"No, it is left out: {left_out}" if left_out else "No, an agent would not get it."
    return LabelledLine("not told", ((text, "warning"),))


def _turn_distance(matched: str) -> str:
    """``1 before: eat`` -> ``turn before: eat``."""
    where, colon, words = matched.partition(": ")
    away, _, side = where.partition(" ")
    if not colon or not away.isdigit():
        return matched
    turn = "the turn" if away == "1" else f"{away} turns"
    return f"{turn} {side}: {words}"
