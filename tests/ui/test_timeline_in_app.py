"""The timeline of Memories: what it draws, its keys and its mouse, and that Enter lists and Esc comes back."""

from __future__ import annotations

from typing import Any

from memtui.ui.app import MemtuiApp
from memtui.ui.panes.memories.timeline import TimelineView
from memtui.ui.widgets.bars import StatusLine
from msgspec.structs import replace
from textual.events import MouseScrollDown
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, memories, quiet, running, screen_text, settle, still, until


def drawn(app: MemtuiApp) -> TimelineView:
    view = memories(app).timeline
    assert view is not None
    return view


async def shown(app: MemtuiApp, pilot: Pilot[None]) -> TimelineView:
    await pilot.press("T")
    await until(lambda: drawn(app).count_in_cell)
    await still(app)
    return drawn(app)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
    assert isinstance(pilot.app, MemtuiApp)
    await still(pilot.app)


async def test_time_across_rows_down_and_what_is_in_a_cell(story: Story) -> None:
    with story.open() as memory:
        memory.classify(memory.view.page("walnuts kind:fact")[0].id, topic="health")
        memory.models.index_pending()
    with story.open(actor="agent:coach") as agent:
        agent.search("walnuts?")
    app = story.app()
    async with running(app, size=(100, 30)) as pilot:
        listed = memories(app).table.row_count
        view = await shown(app, pilot)
        text = screen_text(app)
        assert "Everything" in text and "Health" in text and "No topic" in text and "by topic" in text
        assert f"learned {listed}" in text and "changed 1" in text and "forgotten 1" in text
        assert "Memories by topic and" in app.main.query_one(StatusLine).position_text

        # The cell in words and with its texts; Enter lists exactly those, Esc comes back to it.
        await press(pilot, "j", "p")
        assert (
            "Health, " in screen_text(app)
            and "1 learned" in screen_text(app)
            and "walnuts" in screen_text(app)
        )
        spot, cell = view.spot, view.cell_filter
        assert cell.startswith("topic:health on:")
        await press(pilot, "enter")
        assert memories(app).timeline is None and memories(app).filter_text == cell
        await settle(app)
        assert memories(app).table.row_count == 1
        await press(pilot, "escape")
        assert drawn(app).spot == spot and drawn(app).has_focus and not memories(app).filter_text

        # Zoom in and out keeps the place in time.
        unit, at = view.spot.at, view._timeline.unit  # type: ignore[union-attr]
        await press(pilot, "minus")
        coarser = view._timeline
        assert coarser is not None and coarser.unit != at and view.count_in_cell == 1
        await press(pilot, "=")
        assert (
            view._timeline is not None
            and view._timeline.unit == at
            and view.spot.at == unit
            and view.count_in_cell == 1
        )
        await press(pilot, *"=" * 6)
        assert view._timeline.unit == "hour" and "Hours are the finest" in screen_text(app)
        await press(pilot, "f")
        assert view._timeline.unit == at

        # Layers and rows.
        await press(pilot, "k", "v", "v", "home", "n")
        assert view.spot.layer == "forgotten" and "1 forgotten" in view.describe_cell
        await press(pilot, "v", "v", "home", "n")
        assert " recalled" in view.describe_cell
        await press(pilot, "v", "b")
        assert view.spot.by == "person" and "Ada" in screen_text(app)
        await press(pilot, "b")
        assert "No project" in screen_text(app)

        # A key of the list does nothing here; a filter narrows the timeline too.
        count = app.stats.active if app.stats is not None else 0
        await press(pilot, "b", "x")
        assert app.stats is not None and app.stats.active == count
        await press(pilot, "slash", *"walnuts", "enter")
        assert (
            view.has_focus and view._timeline.all.total("learned") == memories(app).table.row_count < listed
        )
        await press(pilot, "escape", "escape")
        assert memories(app).timeline is None and memories(app).table.has_focus


async def test_the_mouse_and_the_edges_of_time(story: Story) -> None:
    app = story.app()
    async with running(app, size=(80, 24)) as pilot:
        view = await shown(app, pilot)
        where = view._plan_drawing
        assert where is not None
        await pilot.click(view, offset=(1 + where.left, where.top))
        await still(app)
        assert view.period_number == 0 and view.row_number == 0
        await pilot.click(view, offset=(20, 0))
        await still(app)
        assert view.spot.layer == "changed"
        await press(pilot, "left", "H")
        assert "nothing earlier" in screen_text(app)
        await press(pilot, "end", "right", "L")
        assert "nothing later" in screen_text(app) and view.period_number == view._timeline.periods - 1  # type: ignore[union-attr]
        unit = view._timeline.unit  # type: ignore[union-attr]
        await pilot._post_mouse_events([MouseScrollDown], view, offset=(30, 5))
        await quiet(app)
        await until(lambda: view._timeline is not None and view._timeline.unit != unit)


async def test_without_anything_it_says_so(empty_story: Story) -> None:
    app = empty_story.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: app.stats is not None)
        await press(pilot, "T")
        assert "Nothing is remembered yet" in screen_text(app)
        await press(pilot, "enter", "=", "right", "v", "b", "j")
        assert "Nothing is remembered yet" in screen_text(app)


async def test_the_layer_of_changes_tells_what_it_was_also_before_it_is_counted(story: Story) -> None:
    with story.open() as memory:
        ferry = memory.remember("The ferry leaves on 12 December 2025", topic="plan")
        memory.correct(ferry.id, "The ferry leaves on 19 December 2025")
    app = story.app()
    async with running(app, size=(120, 40)) as pilot:
        view = await shown(app, pilot)
        everything = view._timeline
        assert everything is not None
        only = {"learned": everything.all.counts["learned"]}
        view._timeline = replace(
            everything,
            all=replace(everything.all, counts=only),
            rows=tuple(replace(one, counts={"learned": one.counts["learned"]}) for one in everything.rows),
        )
        assert view.spot.layer == "learned"
        view.do_layer()
        assert view.count_in_cell == 0  # nothing is known of it yet
        await until(lambda: view.count_in_cell)  # the cursor goes to where there is anything
        await until(lambda: "changed 12 Dec → 19 Dec" in screen_text(app))
        view.spot = view.spot._replace(by="topic", row="topic:plan")
        view.show()
        await still(app)
        await press(pilot, "enter")
        assert memories(app).table.row_count == 1 and "changed:2025-11" in memories(app).filter_text


async def test_steps_among_changes_pass_by_empty_periods_and_the_footer_says_what_comes_next(
    story: Story,
) -> None:
    for days, place in ((90, "Faro"), (40, "Porto")):
        story.now = NOW - days * DAY
        with story.open() as memory:
            written = memory.remember(f"Ada is in {place}")
            story.now += 5 * DAY
            memory.correct(written.id, f"Ada is back from {place}")
    story.now = NOW
    app = story.app()
    async with running(app, size=(120, 30)) as pilot:
        view = await shown(app, pilot)
        assert "v next: changed" in screen_text(app) and "b by person" in screen_text(app)
        await press(pilot, "v", "f")
        assert "v next: forgotten" in screen_text(app)
        found = view._timeline
        assert found is not None
        filled = [at for at, number in enumerate(found.all.counts["changed"]) if number]
        assert len(filled) > 1 and filled[-1] - filled[-2] > 1
        await press(pilot, "end", "left")
        there = view.period_number
        await press(pilot, "left")
        assert view.count_in_cell and view.period_number < there
        await press(pilot, "right")
        assert view.period_number == there


async def test_numbers_of_another_filter_are_never_shown(story: Story) -> None:
    app = story.app()
    async with running(app, size=(120, 30)) as pilot:
        view = await shown(app, pilot)
        pane = memories(app)
        pane.filter_bar.set_filter("walnuts", quiet=True)
        pane.show_rows(top=True)
        assert view._timeline is None and pane.filter_bar.count == "" and view.count_in_cell == 0
        await still(app)
        assert "Counting" not in screen_text(app) and view._timeline is not None
        assert view._timeline.all.total("learned") == pane.table.row_count
        assert pane.filter_bar.count.startswith(f"{pane.table.row_count} of ")
        await press(pilot, "slash", *" on:202")
        await until(lambda: "The filter has a mistake." in screen_text(app))
        assert "learned" not in screen_text(app)
