"""memtui search: hits, their parts, why not, filters, lists; what is missing is said."""

from __future__ import annotations

import os

import pytest
from cli_kit import Cli
from memtui.engine.memory import Memory


@pytest.fixture
def ids(cli: Cli) -> list[str]:
    """Three facts; the first two are about food."""
    texts = ("Ada is allergic to walnuts", "Ada likes lentil soup", "The standup is at 10:30")
    tags = ("health", "food", "work")
    found = []
    for text, tag in zip(texts, tags, strict=True):
        found.append(cli("remember", text, "--tag", tag, "--json").json["memory"]["id"])
    return found


def test_the_best_hit_comes_first_with_an_id_for_the_next_command(cli: Cli, ids: list[str]) -> None:
    output = cli("search", "is", "Ada", "allergic?")
    assert output.code == 0
    first = output.out.splitlines()[0].split()
    assert first[0] == "1"
    assert first[3] == ids[0]
    assert cli("show", first[3]).code == 0


def test_the_parts_of_a_score_add_up_to_it(cli: Cli, ids: list[str]) -> None:
    result = cli("search", "Ada walnuts", "--json").json
    for hit in result["hits"]:
        assert sum(retriever["term"] for retriever in hit["retrievers"].values()) == pytest.approx(
            hit["score"], abs=1e-9
        )
    output = cli("search", "Ada walnuts", "--explain").out
    for words in ("keyword", "vector", "entity", "BM25", "cosine", "total", "candidates", "ms"):
        assert words in output


def test_a_filter_narrows_and_a_wrong_one_is_pointed_at(cli: Cli, ids: list[str]) -> None:
    assert [hit["memory"]["id"] for hit in cli("search", "Ada", "-f", "tag:food", "--json").json["hits"]] == [
        ids[1]
    ]
    output = cli("search", "Ada", "-f", "tag:food conf<<3", "--json")
    assert output.code == 3
    assert output.json["error"]["kind"] == "FilterError"
    lines = output.err.splitlines()
    assert lines[1] == "  tag:food conf<<3"
    assert set(lines[2].strip()) == {"^"}
    assert lines[-1].startswith("hint: ")


def test_without_a_question_what_passes_the_filter_is_listed(cli: Cli, ids: list[str]) -> None:
    cli("forget", ids[0])
    assert ids[0] in cli("search", "-f", "is:forgotten").out
    output = cli("search", "-f", "tag:work", "--json")
    assert [memory["id"] for memory in output.json["memories"]] == [ids[2]]
    output = cli("search", "-f", "kind:fact tag:nothing")
    assert output.code == 1
    assert "tag:nothing" in output.err
    assert cli("search", "-f", "conf<<3").code == 3
    assert cli("search", "  ").code == 2


def test_nothing_found_is_a_negative_answer(cli: Cli, ids: list[str]) -> None:
    output = cli("search", "zzzqqq", "-f", "tag:work")
    assert (output.code, output.out) == (1, "")
    assert output.err.startswith("nothing found")


def test_the_number_of_hits_is_limited_by_the_line_or_the_settings(
    cli: Cli, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(cli("search", "Ada", "-n", "1").out.splitlines()) == 1
    monkeypatch.setenv("MEMTUI_SEARCH_LIMIT", "1")
    assert len(cli("search", "Ada").out.splitlines()) == 1
    assert cli("search", "Ada", "-n", "0").code == 2
    assert cli("search", "Ada", "-n", "100000").code == 3


def test_profiles_are_chosen_by_name(cli: Cli, ids: list[str]) -> None:
    assert cli("search", "Ada", "--profile", "rrf", "--json").json["profile"]["fusion"] == "rrf"
    assert cli("search", "Ada", "--profile", "nonesuch").code == 3


def test_why_tells_for_any_memory_whether_it_is_among_the_hits(cli: Cli, ids: list[str]) -> None:
    output = cli("search", "Ada walnuts", "--why", ids[0])
    assert output.code == 0
    assert "It is among the hits: number 1." in output.out
    output = cli("search", "Ada walnuts", "--why", ids[0], "-f", "tag:work")
    assert output.code == 1
    assert "not here  " in output.out
    assert cli("search", "x", "--why", "fact_nonesuch").code == 3


def test_missing_vectors_are_said_and_not_fatal(
    cli: Cli, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "off")
    output = cli("search", "Ada")
    assert output.code == 0
    assert "note: Searched without vectors" in output.err
    assert "note" not in output.out


def test_searching_is_no_change(cli: Cli, ids: list[str]) -> None:
    before = cli("history", "--json").out
    cli("search", "Ada walnuts")
    assert cli("history", "--json").out == before
    with Memory.open(os.environ["MEMTUI_DB"], readonly=True) as memory:
        assert memory.stats().unembedded == 0
        assert memory.get(ids[0]).access_count == 0


@pytest.mark.parametrize(
    "query", ["C++ it's 50%", '"unclosed', "AND OR NOT", "*", "a:b(c)", "漢字", "'; --", "x" * 9999]
)
def test_no_question_breaks_the_search(query: str, cli: Cli, ids: list[str]) -> None:
    assert cli("search", "--", query).code in (0, 1)


def test_a_question_may_come_from_standard_input(cli: Cli, ids: list[str]) -> None:
    assert ids[0] in cli("search", "-", input=b"walnuts").out


def test_list_tells_what_passes_in_an_order_and_how_much_is_left(cli: Cli, ids: list[str]) -> None:
    output = cli("list", "--sort", "content", "--ascending")
    assert [line.split()[1 if line.split()[0] == "now" else 2] for line in output.out.splitlines()] == ids
    first = cli("list", "-n", "2", "--sort", "content", "--ascending")
    assert (len(first.out.splitlines()), "1 more: --offset 2" in first.err) == (2, True)
    rest = cli("list", "--offset", "2", "--sort", "content", "--ascending", "--json").json
    assert ([one["id"] for one in rest["memories"]], rest["total"]) == (ids[2:], 3)
    assert cli("list", "tag:food", "--json").json["memories"][0]["id"] == ids[1]
    nothing = cli("list", "tag:nothing")
    assert (nothing.code, "nothing found" in nothing.err) == (1, True)
    assert cli("list", "tag:").code == 3


def test_help_is_a_command_too(cli: Cli) -> None:
    assert cli("help").out == cli("--help").out
    assert "[FILTER]" in cli("help", "list").out
    assert cli("help", "nothing").code == 2


def test_a_filter_among_the_words_is_said(cli: Cli) -> None:
    cli("remember", "the pinned fact")
    output = cli("search", "is:pinned -kind:fact")
    assert "Looked for as words: is:pinned -kind:fact." in output.err and "--filter" in output.err
    assert "Looked for" not in cli("search", "meet", "at", "10:30").err
