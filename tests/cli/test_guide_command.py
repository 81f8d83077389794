"""``memtui guide``: the pages on the command line."""

from __future__ import annotations

from cli_kit import Cli
from memtui.guide import ORDER, guide_page


def test_the_list_names_every_page(cli: Cli) -> None:
    result = cli("guide")
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[: len(ORDER)]] == list(ORDER)
    assert [one["topic"] for one in cli("guide", "--json").json["pages"]] == list(ORDER)


def test_a_page_is_markdown_in_a_pipe(cli: Cli) -> None:
    result = cli("guide", "filters")
    assert result.code == 0
    assert result.out == guide_page("filters").text
    assert cli("guide", "filters", "--json").json["text"] == guide_page("filters").text


def test_an_unknown_page_is_answered_with_those_there_are(cli: Cli) -> None:
    result = cli("guide", "nowhere")
    assert result.code == 2
    assert "There is no page 'nowhere'" in result.err
    assert all(topic in result.err for topic in ORDER)
    assert "Did you mean 'filters'?" in cli("guide", "filtres").err
    assert cli("guide", "Filters").code == 0


def test_formats_are_on_the_page_about_imports(cli: Cli) -> None:
    assert cli("guide", "formats").out == guide_page("import").text
