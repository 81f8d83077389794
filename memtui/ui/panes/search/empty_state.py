"""The empty states of Search: no question, no memories, or no hits with the result of each retriever."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.present.hit import retriever_label
from memtui.ui.presenters.hit import NAME
from memtui.ui.safe import assemble

if TYPE_CHECKING:
    from memtui.engine.records import RetrieverReport, SearchResult, Stats
    from memtui.present.glyphs import Glyphs

KeyOf = Callable[[str], str]

_EXAMPLES = (
    "what did we decide about the flat?",
    "when is the dentist appointment",
    "who is allergic to something?",
)


def empty_question_text(key: KeyOf, stats: Stats, *, short: bool = False) -> Content:
    """How to begin. ``short``: without the examples."""
    if not stats.active:
        return _nothing_remembered(key)
    parts: list[Content | str | tuple[str, str]] = [
        ("Ask in your own words.\n\n", "bold"),
        (key("query"), "bold $accent"), "  type a question\n",
        (key("pin"), "bold $accent"), "  among the hits: pin the question, and it is listed here\n\n",
    ]  # fmt: skip
    return assemble(*parts) if short else assemble(*parts, example_questions())


def example_questions() -> Content:
    """Example questions, and what a search uses."""
    return assemble(
        *((f"   {example}\n", "$text-muted") for example in _EXAMPLES),
        (
            "\nA search uses words, meaning and names together. Every hit shows the share of each.",
            "$text-muted",
        ),
    )


def no_hits_text(key: KeyOf, stats: Stats, result: SearchResult, glyphs: Glyphs) -> Content:
    """The result of each retriever, and what to do next."""
    if not stats.active:
        return _nothing_remembered(key)
    parts: list[Content | str | tuple[str, str]] = [("No memory answers this.\n\n", "bold")]
    for report in result.retrievers:
        parts += [
            (retriever_label(report.retriever).ljust(NAME), f"${report.retriever}"),
            f" {_describe_report(report, result)}\n",
        ]
    waiting = stats.unembedded + stats.unlinked
    if waiting:
        parts += [
            "\n",
            (
                f"{glyphs.busy} {waiting:,} texts are still being indexed; more may be found soon.\n",
                "$accent",
            ),
        ]
    if result.filter:
        parts += ["\nSearched only in ", (result.filter, "bold $warning"), "\n"]
    parts += ["\n", (key("query"), "bold $accent"), "  other words"]
    if result.filter:
        parts += ["\n", (key("filter_hits"), "bold $accent"), "  another filter"]
    parts += ["\n", (key("why_not"), "bold $accent"), "  why is a certain memory not here?"]
    return assemble(*parts)


def _nothing_remembered(key: KeyOf) -> Content:
    return assemble(
        ("Nothing is remembered yet.\n\n", "bold"),
        (key("import"), "bold $accent"), "  bring in conversations you had\n",
        (key("pane_memories"), "bold $accent"), "  write down a first memory there\n\n",
        ("memtui --demo shows a memory full of things to try.", "$text-muted"),
    )  # fmt: skip


def _describe_report(report: RetrieverReport, result: SearchResult) -> str:
    match report.state:
        case "unavailable":
            return f"unavailable: {report.why}"
        case "coming":
            return "waiting for the question's vector"
        case "off":
            return f"off: {report.why or 'its weight is 0'}"
        case "answered":
            return f"{report.found:,} found{', ' + report.why if report.why else ''}"
        case _ if report.retriever == "keyword":
            words = ", ".join(result.terms)
            return f"no memory has {words}" if words else "no word of the question can be looked for"
        case _:
            return report.why or {
                "vector": "nothing is near in meaning", "entity": "no known name is in the question",
            }.get(report.retriever, "nothing")  # fmt: skip
