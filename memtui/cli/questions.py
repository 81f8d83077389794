"""``memtui questions``: what pinned questions should find, and whether they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.engine.errors import NotFoundError, UsageError
from memtui.engine.wording import quote_beginning
from memtui.present.question import (
    expectation_text,
    question_scope_rows,
    question_verdict,
    rank_of_expected,
    results_line,
)

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .output import err, out, paint, paint_role, print_json, print_note, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.saved import QuestionResult, SavedQuery

_LENGTH = 60


@click.command("questions", cls=Command)
@click.argument("what", type=click.Choice(["run", "list", "expect", "drop"]), default="run")
@click.argument("query", required=False)
@click.argument("id", required=False)
@click.option(
    "--top",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="The memory must be among the first N hits.",
)
@click.option(
    "--filter", "-f", "filter", default="", metavar="F", help="Search only what passes this filter."
)
@click.option("--profile", metavar="NAME", help="How to rank: default, rrf, or a saved profile.")
@json_option
@pass_invocation
def questions_command(
    invocation: Invocation, what: str, query: str | None, id: str | None, top: int, filter: str, profile: str | None, json: bool
) -> int:  # fmt: skip
    """Test questions: run them, list them, add one (expect) or remove one (drop).

    \b
    memtui questions expect "what does Ada eat?" fact_1a2b --top 3
    memtui questions drop "what does Ada eat?" [fact_1a2b]

    Exit code 1 when a question does not find its memory. The questions also run after each maintenance and each
    import; Maintenance in the app shows the results.
    """
    if what in ("run", "list") and query is not None:
        raise UsageError(
            f"memtui questions {what} takes no question.", 'To add one: memtui questions expect "..." ID'
        )
    if what == "expect" and (query is None or id is None):
        raise UsageError("A question and the id of a memory are needed.", 'memtui questions expect "..." ID')
    if what == "drop" and query is None:
        raise UsageError("Which question?", "memtui questions list shows them.")
    if what == "list":
        with invocation.open_readonly() as memory:
            return _print_questions(memory.questions.pinned(), memory.questions.results(), json)
    if what == "run":
        with invocation.open_existing() as memory:
            return _run_questions(memory, json)
    with invocation.open_existing(must_write=True) as memory:
        assert query is not None
        if what == "drop":
            _unpin_question(memory, query, filter, id)
        else:
            assert id is not None
            memory.questions.expect(query, id, filter=filter, profile=profile, top=top)
        return _print_questions(memory.questions.pinned(), memory.questions.results(), json)


def _run_questions(memory: Memory, json: bool) -> int:
    answers = memory.questions.run()
    failed = sum(not result.passed for result in answers)
    if json:
        print_json({"passed": len(answers) - failed, "failed": failed, "results": answers})
        return NEGATIVE if failed else OK
    for result in answers:
        _print_question(result.question, result)
    if answers:
        out(results_line(answers))
    else:
        print_note('No test questions yet. To add one: memtui questions expect "..." ID')
    return NEGATIVE if failed else OK


def _print_questions(pinned: list[SavedQuery], results: list[QuestionResult], json: bool) -> int:
    if json:
        print_json({"questions": pinned, "results": results})
        return OK
    latest = {result.question.query_id: result for result in results}
    for saved in pinned:
        _print_question(saved, latest.get(saved.query_id))
    if not pinned:
        err("No test questions yet.")
    return OK


def _print_question(saved: SavedQuery, result: QuestionResult | None) -> None:
    details = [f"{label} {value}" for label, value in question_scope_rows(saved)]
    out(
        row(
            paint_role(*question_verdict(saved, result)),
            quote_beginning(saved.query, _LENGTH),
            expectation_text(saved),
            *details,
        )
    )
    for expected in result.places if result is not None else ():
        text = quote_beginning(expected.content, _LENGTH) if expected.content else expected.memory_id
        out(row("   ", paint_role(*rank_of_expected(expected)), text))
        if not expected.passed and expected.why:
            out(row("   ", paint(expected.why, "dim")))


def _unpin_question(memory: Memory, query: str, filter: str, id: str | None) -> None:
    words = " ".join(query.split())
    for saved in memory.questions.pinned():
        if (saved.query, saved.filter) == (words, filter):
            if id is None:
                memory.questions.unpin(saved.query_id)
            else:
                memory.questions.expect_no_more(saved.query_id, id)
            return
    raise NotFoundError(
        f"There is no pinned question {quote_beginning(words, _LENGTH)}.", "memtui questions list shows them."
    )
