"""A filter that works in Memories works in every list, or the list says that it does not know it."""

from __future__ import annotations

import pytest
from memtui.ui.panes.history.pane import HistoryPane
from memtui.ui.panes.unknown_terms import unknown_term, unknown_term_note
from ui_story import NOW, Story, running, screen_text, still, until


def test_terms_are_named_as_typed() -> None:
    assert unknown_term("coach kind:fact") == "kind:" and unknown_term("-tag:work") == "tag:"
    assert unknown_term("conf<0.5") == "conf"
    assert unknown_term("10:30 std::vector https://a.example on:today", ("on",)) == ""
    assert unknown_term("entity:Ada", ("entity",)) == ""
    assert unknown_term_note("after:7d before:2026-03 on:today coach", now=NOW) == ""
    assert unknown_term_note("after:soon", now=NOW).startswith("after:soon names no time.")
    assert unknown_term_note("after:7d") == "after: is about memories, not for this list.\n\n"


@pytest.mark.parametrize(
    ("pane", "keys", "term"),
    [
        ("4", (), "after:7d"),
        ("5", (), "kind:fact"),
        ("6", (), "tag:none"),
        ("6", ("P",), "after:7d"),
        ("7", (), "after:7d"),
        ("8", (), "kind:fact"),
        ("8", ("L",), "conf<0.5"),
        ("8", ("L",), "after:soon"),
    ],
)
async def test_a_list_names_a_term_that_it_does_not_know(
    story: Story, pane: str, keys: tuple[str, ...], term: str
) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press(pane, *keys)
        await still(app)
        await pilot.press("slash", *term)
        name = (
            "conf"
            if term.startswith("conf")
            else term
            if term == "after:soon"
            else f"{term.partition(':')[0]}:"
        )
        says = "names no time" if term == "after:soon" else "is about memories"
        await until(lambda: f"{name} {says}" in screen_text(app))


@pytest.mark.parametrize("pane", ["5", "8"])
async def test_times_work_in_lists_whose_rows_have_one(story: Story, pane: str) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press(pane)
        await still(app)
        rows = app.main.pane.table.row_count  # type: ignore[attr-defined]
        await pilot.press("slash", *"after:90d")
        await still(app)
        assert app.main.pane.table.row_count == rows > 0  # type: ignore[attr-defined]


async def test_the_recall_log_has_a_filter_of_its_own(story: Story) -> None:
    with story.open(actor="agent:assistant") as agent:
        agent.context("what may Ada eat?")
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("8", "slash", *"forgot", "enter", "L")
        await still(app)
        pane = app.main.pane
        assert isinstance(pane, HistoryPane) and pane.recalls
        assert pane.filter_text == "" and "what may Ada eat?" in screen_text(app)
        await pilot.press("slash", *"after:7d", "enter")
        await still(app)
        assert "what may Ada eat?" in screen_text(app)
        await pilot.press("L")
        await still(app)
        assert pane.filter_text == "forgot" and pane.table.row_count > 0
