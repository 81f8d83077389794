"""``memtui about``: what is known by topic, for people and as JSON."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import memories

OPTIONS = Options(background=False, embedder="off")
DAY = 86_400
SECRET = "my key is sk-proj-" + "Ab3" * 16


@pytest.fixture
def known(home: Path) -> Path:
    """Facts of four topics, a plan that is over, a card that waits, and something told today."""
    now = [time.time() - 30 * DAY]
    path = home / "memory.db"
    with Memory.open(path, clock=lambda: now[0], options=OPTIONS) as memory:
        for text, topic in (
            ("Is allergic to walnuts", "health"),
            ("Has a key", "work"),
            ("Had a party", "plan"),
        ):
            memory.remember(text, topic=topic)
        now[0] = time.time()
        party = memory.view.page("topic:plan")[0]
        memory.classify(party.id, happens="2020-01-01")
        for text in ("The ferry leaves", "The dentist \x1b[31mcalls"):
            memory.classify(
                memory.remember(text, topic="plan").id,
                happens="in 3 weeks" if "ferry" in text else "tomorrow",
            )
        memory.classify(memory.remember("Whatever this is", tags=["odd"]).id, topic="none")
        key = memory.view.page("topic:work")[0]
        with memory._core.change("import", "As another program may have written it") as op:
            memories.update(op.connection, key.rid, content=SECRET, attributes={"secrets": ["api_key"]})
        memory.models.index_pending()
        memory.actor = "agent:codex"
        memory.search("walnuts")
        memory.review.request_change("forget", key.id, why="it is old")
    return path


def test_facts_stand_under_their_topic_with_their_day(cli: Cli, known: Path) -> None:
    result = cli("about")
    lines = result.out.splitlines()
    assert result.code == 0
    assert lines[0] == "6 facts, 6 of them confirmed"
    assert "1 to review" in lines and "3 new this week" in lines and "1 told to agents today" in lines
    assert lines[lines.index("1 told to agents today") + 1].strip() == "codex: 1 memory, 1 time"
    headings = [
        line.split("  ")[0]
        for line in lines
        if line[:1].isalpha() and line.endswith(("1", "2", "new", "over"))
    ]
    assert headings == ["Health", "Plans ahead", "Other plans", "Work", "Other facts"]
    due, *plans = lines[lines.index("Plans ahead  2  2 new") + 1 :][:3]
    assert due.startswith("   due in  ")
    assert "tomorrow" in plans[0] and "dentist" in plans[0] and "ferry" in plans[1]
    assert "Other plans  1  1 over" in lines and "memtui list is:past" in result.err
    assert "party" not in result.out and "\x1b" not in result.out and "sk-proj" not in result.out


def test_one_topic_a_filter_and_a_limit(cli: Cli, known: Path) -> None:
    assert "walnuts" not in cli("about", "--topic", "plan").out
    one = cli("about", "-t", "plan", "-n", "1")
    assert "dentist" in one.out and "ferry" not in one.out and "there is more" in one.err
    assert [one["topic"] for one in cli("about", "-f", "tag:odd", "--json").json["topics"]] == [None]
    nothing = cli("about", "--filter", "tag:none")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "no fact passes this filter\n")
    assert cli("about", "--filter", "tags:odd").code == 3
    assert "--topic health" in cli("about", "health").err


def test_the_same_for_a_script(cli: Cli, known: Path) -> None:
    found = cli("about", "--json").json
    assert (found["total"], found["confirmed"], found["new"], found["review"]) == (6, 6, 3, 1)
    assert [(one["topic"], one["total"]) for one in found["topics"]] == [
        ("health", 1), ("plan", 3), ("work", 1), (None, 1),
    ]  # fmt: skip
    assert found["status"]["served"] == [{"agent": "codex", "times": 1, "memories": 1}]
    assert "sk-proj" not in cli("about", "--json").out


def test_plans_ahead_are_of_any_topic_and_the_numbers_are_those_of_lists(cli: Cli, known: Path) -> None:
    with Memory.open(known, options=OPTIONS) as memory:
        memory.classify(memory.remember("The allergist tests", topic="health").id, happens="in 2 days")
        memory.remember("There is a sourdough to start", topic="plan")
    for told in (cli("about", "--json").json, cli("about", "-t", "plan", "--json").json):
        plans = told["plans"]
        assert (plans["ahead"], plans["others"], plans["over"]) == (3, 2, 1)
        assert [one["content"] for one in plans["next"]][1] == "The allergist tests"
        assert sum(one["facts"] for one in told["due"]) == 3
    assert cli("list", "kind:fact", "happens:today..", "--json").json["total"] == 3
    assert cli("list", "--json", "topic:plan -happens:today..").json["total"] == 2
    lines = cli("about").out.splitlines()
    assert "Plans ahead  3  3 new" in lines and "Other plans  2  1 new  1 over" in lines
    assert "Health  2  1 new" in lines  # it stands under its own topic, too


def test_an_empty_memory_says_so(cli: Cli, home: Path) -> None:
    Memory.open(home / "memory.db", options=OPTIONS).close()
    result = cli("about")
    assert (result.code, result.out, result.err) == (1, "", "nothing is known yet\n")
    assert cli("about", "--json").json["topics"] == []


def test_what_changed_is_told_with_what_it_was_and_since_says_from_when(cli: Cli, known: Path) -> None:
    with Memory.open(known, options=OPTIONS) as memory:
        dentist = memory.view.page("dentist")[0]
        memory.classify(dentist.id, happens="2026-01-12")
        moved = memory.correct(dentist.id, "The dentist calls later")
        memory.classify(moved.id, happens="2026-01-19")
    result = cli("about")
    lines = result.out.splitlines()
    assert "1 changed this week" in lines
    at = next(number for number, line in enumerate(lines) if line.startswith("Changed this week"))
    assert (
        "was 12 Jan" in lines[at + 1] and "now 19 Jan" in lines[at + 1] and "corrected on " in lines[at + 1]
    )
    assert "was 12 Jan" in cli("list", "dentist").out and moved.id in cli("list", "is:changed").out
    shown = cli("show", dentist.id).out
    assert "was 12 Jan" in shown and moved.id in shown
    assert "3 new since today" in cli("about", "--since", "today").out
    assert "6 new since 2020" in cli("about", "--since", "2020").out
    wrong = cli("about", "--since", "whenever")
    assert wrong.code == 3 and "whenever" in wrong.err


def test_the_months_tell_who_was_talked_about_and_what_changed(cli: Cli, known: Path) -> None:
    with Memory.open(known, options=OPTIONS) as memory:
        memory.remember("Nadia Haddad and Samir Haddad met in Porto")
        memory.remember("Nadia Haddad has a dog")
        memory.correct(memory.view.page("dog")[0].id, "Nadia Haddad has a cat")
        memory.models.index_pending()
    lines = cli("about").out.splitlines()
    at = lines.index("Who was talked about, by month")
    assert "Nadia Haddad (2) with Samir Haddad; Samir Haddad (1)" in lines[at + 1]
    at = lines.index("What changed, by month")
    assert lines[at + 1].endswith(" 1 changed")
    assert "was: Nadia Haddad has a dog; now: Nadia Haddad has a cat" in lines[at + 2]
    [month] = cli("about", "--json").json["months"]
    assert month["persons"][0]["memories"] == 2 and month["changed"] == 1
    assert "Who was talked about" not in cli("about", "-t", "plan").out


def test_plans_are_counted_by_the_month_that_they_name(cli: Cli, known: Path) -> None:
    year = datetime.now().year + 1
    with Memory.open(known, options=OPTIONS) as memory:
        for text, day in (("race", f"{year}-02-03"), ("party", f"{year}-02-09"), ("exam", f"{year}-11-02")):
            memory.classify(memory.remember(f"There is a {text}", topic="plan").id, happens=day)
    told = cli("about", "--topic", "plan", "--filter", f"happens:{year}-02..{year}-11 -ferry -dentist")
    assert f"February {year} 2, November {year} 1" in told.out
    assert f"kind:fact happens:{year}-02 --sort day --ascending" in told.err
    listed = cli("list", "topic:plan", f"happens:{year}-02", "--sort", "day", "--ascending").out
    assert listed.index("race") < listed.index("party") and "exam" not in listed
