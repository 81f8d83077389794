"""``memtui questions``: expectations of search, kept and checked from the command line."""

from __future__ import annotations

from cli_kit import Cli


def test_a_question_is_added_asked_and_dropped(cli: Cli) -> None:
    fact = cli("remember", "Ada eats no meat.", "--json").json["memory"]["id"]
    added = cli("questions", "expect", "what does Ada eat?", fact, "--top", "1")
    assert added.code == 0
    assert "not asked yet" in added.out
    asked = cli("questions")
    assert (asked.code, asked.out.splitlines()[-1]) == (0, "all 1 pass")
    assert "#1" in asked.out

    cli("forget", fact)
    failed = cli("questions", "run", "--json")
    assert failed.code == 1
    assert failed.json["failed"] == 1
    assert "Trash" in failed.json["results"][0]["places"][0]["why"]
    assert "fails" in cli("questions", "list").out

    assert cli("questions", "drop", "what does Ada eat?").code == 0
    gone = cli("questions", "drop", "what does Ada eat?")
    assert (gone.code, "no pinned question" in gone.err) == (3, True)
    assert cli("questions").code == 0


def test_what_is_missing_is_said(cli: Cli) -> None:
    cli("remember", "Ada eats no meat.")
    for arguments in (["expect", "what does Ada eat?"], ["drop"], ["run", "what?"]):
        answer = cli("questions", *arguments)
        assert answer.code == 2, answer
        assert "memtui questions" in answer.err
