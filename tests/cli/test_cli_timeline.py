"""``memtui timeline``: a sentence for each row, the drawing, and JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options

DAY = 86_400


@pytest.fixture
def known(home: Path) -> Path:
    """Facts of two topics from forty days, one of them replaced, one in a project with a hostile name; and a turn."""
    now = [time.time() - 40 * DAY]
    path = home / "memory.db"
    with Memory.open(path, clock=lambda: now[0], options=Options(background=False, embedder="off")) as memory:
        memory.remember("Is allergic to walnuts", topic="health")
        lived = memory.remember("Lives in Porto", topic="home")
        now[0] = time.time()
        memory.correct(lived.id, "Lives in Lisbon")
        memory.remember("Runs on Sundays", topic="health", project="ru\u202eaway")
        memory.record_turn("s", "user", "Hello there")
    return path


def test_a_sentence_for_each_row(cli: Cli, known: Path) -> None:
    result = cli("timeline")
    lines = result.out.splitlines()
    assert result.code == 0 and lines[0].startswith("Memories by topic and day, ")
    assert lines[1].startswith("Everything: 3 learned, ") and "; 1 changed, on " in lines[1]
    assert [line.split(":")[0] for line in lines[2:]] == ["Health", "Home"]
    assert ": 2 learned, the last on " in lines[2]
    assert cli("timeline", "--layer", "faded").code == 1
    assert cli("timeline", "--filter", "nothing-has-this").err.startswith(
        "nothing passes this filter; memories begin on "
    )
    assert cli("timeline", "--filter", "kind:episode").out.splitlines()[-1].startswith("No topic: 1 learned")


def test_the_drawing(cli: Cli, known: Path) -> None:
    lines = cli("timeline", "--draw", "--unit", "month", "--by", "project").out.splitlines()
    assert lines[1].startswith("█ learned 3") and lines[2].startswith(" by project")
    assert any("▇" in line or "█" in line for line in lines) and "\u202e" not in "".join(lines)
    assert any(line.lstrip().startswith("ru‹U+202E›away") for line in lines)
    plain = cli("--ascii", "timeline", "--draw").out
    assert plain.isascii() and "#" in plain


def test_as_json(cli: Cli, known: Path) -> None:
    found = cli("timeline", "--json", "--unit", "year").json
    assert (found["by"], found["unit"], len(found["bounds"])) == ("topic", "year", len(found["terms"]) + 1)
    assert sum(found["all"]["counts"]["learned"]) == 3
    assert {row["name"]: sum(row["counts"]["learned"]) for row in found["rows"]} == {"health": 2, "home": 1}
    assert cli("list", f"{found['rows'][0]['term']} on:{found['terms'][0]}").code in (0, 1)


def test_the_layer_of_changes_tells_what_it_was_and_what_it_is(cli: Cli, known: Path) -> None:
    assert "--layer changed" in cli("timeline").err
    lines = cli("timeline", "--layer", "changed").out.splitlines()
    assert lines[-1].lstrip().startswith("changed  was: Lives in Porto; now: Lives in Lisbon (corrected on ")
    [change] = json.loads(cli("timeline", "--layer", "changed", "--json").out)["changes"]
    assert change["old"]["content"] == "Lives in Porto" and change["how"] == "corrected"
