"""memtui context: the block as an agent gets it, what is left out and why, and that looking is no recall."""

from __future__ import annotations

from cli_kit import Cli


def test_the_block_stands_alone_on_stdout_and_what_is_kept_back_beside_it(cli: Cli) -> None:
    cli("remember", "Ada is allergic to walnuts")
    cli("remember", "The standup is at 10:30")
    result = cli("context", "does", "Ada", "eat", "walnuts?")
    assert result.code == 0
    assert result.out == "## Relevant memory\n- Ada is allergic to walnuts\n"
    assert "tokens" in result.err


def test_nothing_to_tell_is_exit_code_1_and_an_empty_prompt_is_refused(cli: Cli) -> None:
    cli("remember", "Ada is allergic to walnuts")
    result = cli("context", "xyzzy")
    assert result.code == 1 and result.out == "" and "nothing" in result.err
    assert cli("context").code == 2


def test_scripts_get_the_hits_and_the_reasons_and_nobody_was_told_anything(cli: Cli) -> None:
    id = cli("remember", "Ada is allergic to walnuts", "--json").json["memory"]["id"]
    result = cli("context", "walnuts", "--json").json
    assert result["text"].startswith("## Relevant memory") and result["tokens"] > 0
    assert [hit["memory"]["id"] for hit in result["hits"]] == [id]
    assert cli("context", "walnuts", "--filter", "-walnuts", "--json").json["hits"] == []
    assert cli("show", id, "--json").json["memory"]["access_count"] == 0


def test_the_conversation_that_is_going_on_is_left_out(cli: Cli) -> None:
    assert cli("context", "walnuts", "--session", "now").code in (1, 4)
    cli("remember", "Ada is allergic to walnuts")
    assert cli("context", "walnuts", "--session", "now").code == 0


def test_a_pinned_fact_is_told_for_every_prompt_until_it_is_unpinned(cli: Cli) -> None:
    id = cli("remember", "Never call before noon", "--json").json["memory"]["id"]
    assert cli("pin", id).code == 0
    assert cli("context", "xyzzy", "--json").json["pinned"][0]["id"] == id
    assert cli("unpin", id).code == 0
    assert cli("context", "xyzzy").code == 1
