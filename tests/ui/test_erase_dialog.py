"""E: the list of what carries a memory, the number to type, the erase, its proof."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from memtui.engine.erase import proof as proofs
from memtui.engine.errors import NotFoundError
from memtui.present.glyphs import UNICODE
from memtui.ui.dialogs.erase import CarrierTable, EraseDialog, carrier_columns
from memtui.ui.panes.memories.pane import MemoriesPane
from memtui.ui.panes.sessions.pane import SessionsPane
from memtui.ui.widgets.columns import fit_columns
from textual.widgets import Input
from ui_story import Story, running, screen_text, settle, there, until

DOG = "Fenna's dog answers to Zwervelaar and nobody else"


def test_the_text_that_goes_has_most_of_a_narrow_list() -> None:
    """The reason stands below the list too."""
    narrow = {column.id: width for column, width in fit_columns(carrier_columns(UNICODE), 68)}
    assert narrow["text"] >= 40
    assert "why" not in narrow
    assert "why" in [column.id for column, _ in fit_columns(carrier_columns(UNICODE), 108)]


async def test_memories_are_erased_once_their_number_is_typed(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    proving, go_on = threading.Event(), threading.Event()
    prove = proofs.prove_erased

    def prove_later(*given: Any) -> Any:
        proving.set()
        go_on.wait(60)
        return prove(*given)

    monkeypatch.setattr(proofs, "prove_erased", prove_later)
    with story.open() as memory:
        dog = memory.remember(DOG)
        again = memory.remember(f"As I said: {DOG}")
        bad = memory.backups.make("manual").path
        memory.backups.make("import")
    bad.write_bytes(b"SQLite format 3\0" + b"x" * 5_000 + DOG.encode())
    app = story.app()
    async with running(app) as pilot:
        pane = app.main.pane
        assert isinstance(pane, MemoriesPane)
        pane.table.select_key(dog.rid)
        await pilot.press("E")
        await until(
            lambda: (
                there(app, EraseDialog)
                and "Type 1 to erase it for good; the text stays in 1 kept place" in screen_text(app)
            )
        )
        shown = screen_text(app)
        assert "1 more that could go" in shown
        assert "1 backup cannot be opened" in shown
        assert "no undo" in shown
        await pilot.press("2", "enter")
        await until(lambda: "Type 1 to erase; Esc leaves" in screen_text(app))
        await pilot.press("tab", "down", "space")  # the other one as well
        await until(lambda: "Type 2 to erase them" in screen_text(app))
        await pilot.press("space")  # after all not, and yes again
        await until(lambda: "Type 1 to erase" in screen_text(app))
        await pilot.press("space")
        await until(lambda: "Type 2 to erase" in screen_text(app))
        await pilot.press("G", "k", "space")  # and the backup that cannot be opened
        await until(lambda: "deleted" in screen_text(app))
        await pilot.press("tab", "backspace", "2", "enter")
        await until(proving.is_set)
        await pilot.press("escape")  # it is not stopped half-way
        assert isinstance(app.screen, EraseDialog)
        go_on.set()
        await until(lambda: "2 memories erased for good" in screen_text(app))
        assert "Another process looked for" in screen_text(app)
        assert not bad.exists()
        await pilot.press("enter")
        await until(lambda: not isinstance(app.screen, EraseDialog))
        await settle(app)
        assert "u undo" not in screen_text(app)
        with story.open(readonly=True) as memory:
            for gone in (dog, again):
                with pytest.raises(NotFoundError):
                    memory.get(gone.id)

        await pilot.press("5")  # and in Sessions: a whole session, or the turn that is read
        await settle(app)
        assert isinstance(app.main.pane, SessionsPane)
        await pilot.press("E")
        await until(lambda: there(app, EraseDialog) and "said in the session" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: not isinstance(app.screen, EraseDialog))
        await pilot.press("enter")
        await until(lambda: app.main.pane.conversation_shown)  # type: ignore[attr-defined]
        await until(lambda: app.main.pane.transcript_side.transcript_view.selected_turn is not None)  # type: ignore[attr-defined]
        await pilot.press("E")
        await until(lambda: there(app, EraseDialog) and "Type " in screen_text(app))
        assert isinstance(app.screen.focused, Input)
        await pilot.press("escape")


async def test_what_may_say_it_in_other_words_is_listed_and_can_be_taken_along(story: Story) -> None:
    with story.open() as memory:
        said = memory.remember("My salary is 84,000 euros")
        memory.backups.make("manual")
        like = memory.remember("The person's pay is €84,000 per annum")
        again = memory.remember("About 84,000 euros salary a year")
        memory.models.index_pending()
    app = story.app()
    async with running(app) as pilot:
        assert isinstance(app.main.pane, MemoriesPane)
        app.main.pane.table.select_key(said.rid)
        await pilot.press("E")
        await until(lambda: there(app, EraseDialog) and "Type 1 to erase it" in screen_text(app))
        assert "2 memories may say it in other words and stay." in screen_text(app)
        await pilot.press("tab")
        table = app.screen.query_one(CarrierTable)
        while (row := table.selected) is None or row.carrier is None or row.carrier.key != like.id:
            await pilot.press("down")
        assert "may say it in other words; Space erase it as well" in screen_text(app)
        await pilot.press("space")
        await until(lambda: "Type 2 to erase them" in screen_text(app))
        assert "1 memory may say it in other words and stays." in screen_text(app)
        row = table.selected  # it stands further up now
        assert row is not None and row.carrier is not None and row.carrier.key == like.id
        await pilot.press("tab", "2", "enter")
        await until(lambda: "2 memories erased for good" in screen_text(app))
        await pilot.press("enter")
    with story.open(readonly=True) as memory:
        assert memory.get(again.id).content.startswith("About")
        with pytest.raises(NotFoundError):
            memory.get(like.id)


async def test_the_number_that_is_typed_is_seen_in_a_tiny_window(story: Story) -> None:
    app = story.app()
    async with running(app, (40, 12)) as pilot:
        await pilot.press("E")
        await until(lambda: there(app, EraseDialog) and isinstance(app.focused, Input))
        await pilot.press("7", "7", "7")
        await until(lambda: "777" in screen_text(app))
        assert "There is no undo." in screen_text(app) and "Enter erase" in screen_text(app)


async def test_an_interrupted_erase_is_told_and_finished_first(story: Story) -> None:
    with story.open() as memory:
        dog = memory.remember(DOG)
        memory.files.erase(memory.files.plan_erase([dog.id]))
        with memory._core.connections.write() as connection:
            connection.execute(
                "INSERT INTO memory_metadata VALUES ('erase_unfinished', ?)",
                (f'{{"request":{{"ids":["{dog.id}"]}},"memories":1,"at":1,"ids":["{dog.id}"]}}',),
            )
    app = story.app()
    async with running(app) as pilot:
        await until(lambda: "An erase was interrupted: E on any memory finishes it" in screen_text(app))
        await pilot.press("E")
        await until(lambda: there(app, EraseDialog) and "not proven yet" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "1 memory erased for good" in screen_text(app))
        with story.open(readonly=True) as memory:
            assert memory.files.unfinished_erase() is None


async def test_nothing_is_erased_in_a_memory_that_is_only_read(story: Story) -> None:
    app = story.app(readonly=True)
    async with running(app) as pilot:
        await pilot.press("E")
        await until(lambda: "open for reading only" in screen_text(app))
        assert not isinstance(app.screen, EraseDialog)
