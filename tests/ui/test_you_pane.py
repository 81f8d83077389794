"""You: what it shows, that Enter opens what the cursor is on, and that Esc comes back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from memtui.present.format import local_date
from memtui.present.portrait import WHEN, WHO
from memtui.ui.actions import BY_ID
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.edit import CorrectDialog
from memtui.ui.panes.entities.pane import EntitiesPane
from memtui.ui.panes.history.pane import HistoryPane
from memtui.ui.panes.memories.pane import MemoriesPane
from memtui.ui.panes.search.pane import SearchPane
from memtui.ui.panes.you.pane import YouPane
from memtui.ui.panes.you.rows import Stop
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import StatusLine
from memtui.ui.widgets.stop_view import HEAD
from textual.pilot import Pilot
from textual.widgets import Input
from ui_story import DAY, NOW, Story, memories, quiet, running, screen_text, settle, still, there, until


@pytest.fixture
def known(story: Story) -> Story:
    """The story with topics, a plan, a person, an agent that was told something, and a card that waits."""
    with story.open() as memory:
        for words, topic in (
            ("walnuts", "health"), ("Standup", "routine"), ("trains", "preference"), ("spare key", "home"), ("Porto", "plan"),
        ):  # fmt: skip
            memory.classify(memory.view.page(f"{words} kind:fact")[0].id, topic=topic)
        memory.remember("The ferry to Norway leaves on 12 December 2025", topic="plan")
        memory.remember("Had a party on 3 May 2025", topic="plan")
        memory.models.index_pending()
    with story.open(actor="agent:coach") as agent:
        agent.search("trains or flights?")
        agent.review.request_change("forget", agent.view.page("pen kind:fact")[0].id)
    story.now = NOW
    return story


def at_you(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "you"
    return story.app(state=state, **given)


def you(app: MemtuiApp) -> YouPane:
    pane = app.main.pane
    assert isinstance(pane, YouPane)
    return pane


async def ready(app: MemtuiApp) -> YouPane:
    await until(lambda: app.screen_stack and app.main.is_mounted and you(app)._portrait is not None)
    await quiet(app)
    return you(app)


async def choose(app: MemtuiApp, wanted: Callable[[Stop], object]) -> Stop:
    """Put the cursor on the first stop that is wanted."""
    view = (await ready(app)).view
    for number, stop in enumerate(view._laid.stops):
        if wanted(stop):
            view.put_cursor(number)
            await quiet(app)
            return stop
    raise AssertionError(f"it is not among {view._laid.stops}")


async def back(app: MemtuiApp, pilot: Pilot[None], stop: Stop) -> None:
    """Esc comes back to where the cursor was."""
    await pilot.press("escape")
    await until(lambda: isinstance(app.main.pane, YouPane))
    await quiet(app)
    assert you(app).stop is not None and you(app).stop.key == stop.key  # type: ignore[union-attr]


async def opened(app: MemtuiApp, pilot: Pilot[None], wanted: Callable[[Stop], object], place: str) -> Stop:
    stop = await choose(app, wanted)
    await pilot.press("enter")
    await until(lambda: app.shown_pane_id == place)
    await settle(app)
    return stop


async def test_its_key_shows_what_is_known_by_topic(known: Story) -> None:
    app = known.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: app.operations.memory is not None)
        await pilot.press("0")
        await ready(app)
        text = screen_text(app)
        for title in ("Health", "Plans ahead", "Routines", "Preferences", "Home", "Other facts"):
            assert title in text
        assert "0 You" in text and "party" not in text and "Projects" not in text
        assert "12 Dec  The ferry" in text
        assert "8 facts, 4 of them confirmed" in app.main.query_one(StatusLine).position_text


async def test_enter_on_a_fact_shows_it_in_memories(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        stop = await opened(
            app, pilot, lambda stop: stop.memory and "walnuts" in stop.memory.content, "memories"
        )
        assert memories(app).current is not None and "walnuts" in memories(app).current.content  # type: ignore[union-attr]
        assert memories(app).has_class("-zoom-preview")
        await back(app, pilot, stop)


async def test_enter_on_a_topic_lists_exactly_its_facts(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        for name in ("health", None):
            stop = await opened(
                app, pilot, lambda stop, name=name: stop.topic and stop.topic.topic == name, "memories"
            )
            assert stop.topic is not None
            pane = app.main.pane
            assert isinstance(pane, MemoriesPane)
            await until(lambda pane=pane, stop=stop: pane.table.row_count == stop.topic.total)
            await back(app, pilot, stop)


async def test_each_number_of_plans_cards_and_conversations_lists_so_many_rows(known: Story) -> None:
    with known.open() as memory:
        test = memory.remember("The allergist tests Ada", topic="health")
        memory.classify(test.id, happens="2025-12-09")
        memory.remember("There is a sourdough to start", topic="plan")
        cards = len(memory.review.inbox().items)
        first, *others = memory.sessions.pending()
        memory.sessions.skip(first.session_id)
        waiting = len(others)
        assert waiting
    app = at_you(known)
    async with app.run_test(size=(120, 50)) as pilot:
        portrait = (await ready(app))._portrait
        assert portrait is not None and (portrait.plans.ahead, portrait.plans.over) == (2, 1)
        for about, place, number in (
            ("ahead", "memories", portrait.plans.ahead), ("other plans", "memories", portrait.plans.others),
            ("review", "review", cards), ("sessions", "sessions", waiting),
        ):  # fmt: skip
            stop = await opened(app, pilot, lambda stop, about=about: stop.about == about, place)
            table = app.main.pane.table  # type: ignore[attr-defined]
            await until(lambda table=table, number=number: table.row_count == number)
            await back(app, pilot, stop)


async def test_a_month_of_the_plans_lists_them_by_their_day(known: Story) -> None:
    lessons = [
        (f"Lesson {number}", f"2026-01-{number + 10}") for number in range(9)
    ]  # more than there is room for
    with known.open() as memory:
        for text, day in (("The race", "2025-12-03"), ("A dinner", "2025-11-30"), *lessons):
            memory.classify(memory.remember(text, topic="plan").id, happens=day)
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app)
        assert "in November" in screen_text(app) and "in January 2026" in screen_text(app)
        stop = await choose(app, lambda stop: stop.due and stop.due.term == "2025-12")
        assert "lists all 2 facts with a day in December 2025, by day" in screen_text(app)
        for key, wanted in (
            ("enter", lambda stop: stop.due and stop.due.term == "2025-12"),
            ("w", lambda stop: stop.memory and "race" in stop.memory.content and stop.month is None),
        ):
            stop = await choose(app, wanted)
            await pilot.press(key)
            await until(lambda: app.shown_pane_id == "memories" and memories(app).table.row_count == 2)
            await settle(app)
            shown = screen_text(app)
            assert shown.index("The race") < shown.index("The ferry")
            # The day of each stands in the place of its age.
            assert " day" in shown and " age" not in shown
            assert any("The race" in line and "3 Dec" in line for line in shown.splitlines())
            await back(app, pilot, stop)
        # The order was that of the visit.
        await pilot.press("2")
        await settle(app)
        assert memories(app).table.order == ("time", True) and " age" in screen_text(app)


async def test_what_fades_is_listed_with_the_day_on_which_it_does(known: Story) -> None:
    with known.open(actor="agent:coach") as agent:
        for colour, days in (("blue", 24), ("red", 26)):
            known.now = NOW - days * DAY
            agent.remember(f"Wants a {colour} bike", confidence=0.4)
        known.now = NOW
        facts = agent.view.page("bike is:fading", sort="fades", descending=False)
        days = [agent.view.fade_times([one.rid])[one.rid] for one in facts]
        assert days == [agent.view.detail(one.id).fades for one in facts]
    assert [one.content for one in facts] == ["Wants a red bike", "Wants a blue bike"] and days == sorted(
        days
    )
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        stop = await opened(app, pilot, lambda stop: stop.about == "fading", "memories")
        await until(lambda: memories(app).table.row_count >= 2)
        await settle(app)
        shown = screen_text(app)
        assert " until" in shown and shown.index("red bike") < shown.index("blue bike")
        for fact, day in zip(facts, days, strict=True):
            until_when = local_date(day, known.now) if day > known.now else "due"
            assert any(fact.content in line and until_when in line for line in shown.splitlines())
        await back(app, pilot, stop)


async def test_enter_on_a_person_shows_everything_about_her(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        stop = await opened(
            app, pilot, lambda stop: stop.entity and stop.entity.canonical_name == "Ada", "entities"
        )
        pane = app.main.pane
        assert isinstance(pane, EntitiesPane)
        await until(lambda: pane.table.selected is not None and pane.table.selected.canonical_name == "Ada")
        await back(app, pilot, stop)


async def test_enter_on_what_goes_on_shows_it(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        stop = await opened(app, pilot, lambda stop: stop.about == "review", "review")
        await back(app, pilot, stop)
        stop = await opened(app, pilot, lambda stop: stop.about == "sessions", "sessions")
        await back(app, pilot, stop)
        stop = await opened(app, pilot, lambda stop: stop.about == "new", "memories")
        assert memories(app).filter_text == "kind:fact learned:7d"
        await back(app, pilot, stop)


async def test_enter_on_an_agent_lists_what_it_was_told_today(known: Story) -> None:
    known.now = NOW - 2 * DAY
    with known.open(actor="agent:coach") as agent:
        agent.search("what was it two days ago?")
    known.now = NOW
    with known.open(actor="agent:planner") as other:
        other.search("walnuts")
    app = at_you(known)
    async with app.run_test(size=(120, 50)) as pilot:
        stop = await opened(app, pilot, lambda stop: stop.agent == "coach", "history")
        pane = app.main.pane
        assert isinstance(pane, HistoryPane)
        assert pane.recalls
        await until(lambda: pane.table.row_count == 1 and "trains or flights?" in screen_text(app))
        await back(app, pilot, stop)
        # The visit leaves no trace, though History opened with it.
        assert not pane.recalls and pane.filter_text == ""
        portrait = you(app)._portrait
        assert portrait is not None
        # The item of the first line and the title of the section count today, and list it.
        for section in ("head served", "Told to agents today"):
            stop = await opened(
                app,
                pilot,
                lambda stop, section=section: stop.about == "served" and stop.section == section,
                "history",
            )
            await until(lambda: pane.table.row_count == 2)
            assert pane.filter_text == "on:today" and "told" in pane.table.render_line(0).text.split()
            today = "1 memory" if portrait.status.memories == 1 else f"{portrait.status.memories} memories"
            assert f"{today} told to agents today" in screen_text(app)
            await back(app, pilot, stop)
        # The line below the agents reaches back seven days, and says so.
        stop = await opened(app, pilot, lambda stop: stop.about == "told", "history")
        await until(lambda: pane.table.row_count == 3 and "two days ago" in screen_text(app))
        assert f"{portrait.told} memories told to agents in the last seven days" in screen_text(app)
        await back(app, pilot, stop)


async def test_the_cursor_goes_down_across_and_to_what_goes_on(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        view = (await ready(app)).view
        assert view.stop_at_cursor is not None and view.stop_at_cursor.about == "review"
        await pilot.press("l")
        assert view.stop_at_cursor.about == "sessions"
        # The second line is of one period.
        await pilot.press("j")
        assert view.stop_at_cursor.about == "new"
        await pilot.press("k", "j", "j")
        first = view.cursor
        assert view._laid.columns[first] == 0 and view._laid.columns[first - 1] == HEAD
        await pilot.press("right")
        assert view._laid.columns[view.cursor] == 1
        await pilot.press("k")
        assert view._laid.columns[view.cursor] in (-1, 1)
        await pilot.press("h", "G")
        assert view.cursor == len(view._laid.stops) - 1
        await pilot.press("g", "g")
        assert view.cursor == 0


async def test_the_text_under_the_cursor_is_there_in_full(known: Story) -> None:
    long = "Wants to be called Ada by friends, " + "and never by her second name, " * 4 + "which nobody knows"
    with known.open() as memory:
        memory.remember(long, topic="identity")
    app = at_you(known)
    async with app.run_test(size=(120, 40)):
        await choose(app, lambda stop: stop.memory and "second name" in stop.memory.content)
        text = screen_text(app)
        assert "which nobody knows" in text and "from you, 22 Nov · confidence 1.0" in text
        await choose(app, lambda stop: stop.topic and stop.topic.topic == "identity")
        assert "Enter lists the one fact under “About you”." in screen_text(app)


async def test_it_follows_what_changes(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)):
        await ready(app)
        with known.open(actor="agent:coach") as agent:
            agent.remember("Plays the tuba", topic="routine")
        await until(lambda: "Plays the tuba" in screen_text(app))


async def test_a_question_is_asked_in_search_and_another_one_over_it(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app)
        await pilot.press("slash")
        await until(lambda: app.shown_pane_id == "search" and isinstance(app.focused, Input))
        await pilot.press(*"walnuts", "enter")
        await until(lambda: "allergic to walnuts" in screen_text(app))
        await pilot.press("0")
        await until(lambda: app.shown_pane_id == "you")
        await pilot.press("slash")
        await until(lambda: app.shown_pane_id == "search")
        await pilot.pause(0.5)
        assert isinstance(app.focused, Input)
        await pilot.press(*"trains", "enter")
        await until(lambda: app.main.query_one(SearchPane).question == "trains")


async def test_the_fact_under_the_cursor_is_changed_with_the_keys_of_memories(known: Story) -> None:
    def footer() -> str:
        return screen_text(app).splitlines()[-1]

    app = at_you(known)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await choose(app, lambda stop: stop.about == "review")
        assert "correct" not in footer()
        await pilot.press("c")
        await until(lambda: "There is no fact under the cursor." in screen_text(app))

        stop = await choose(app, lambda stop: stop.memory and "trains" in stop.memory.content)
        assert stop.memory is not None and not stop.memory.protected
        assert "e correct   c confirm   x forget" in footer()
        await pilot.press("c")
        await until(lambda: you(app).current is not None and you(app).current.protected)  # type: ignore[union-attr]
        assert you(app).stop.key == stop.key  # type: ignore[union-attr]

        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        await pilot.press("ctrl+end", *" again", "enter")
        await until(lambda: you(app).current is not None and "again" in you(app).current.content)  # type: ignore[union-attr]

        await pilot.press("x")
        await until(
            lambda: "again" not in "".join(s.memory.content for s in you(app).view._laid.stops if s.memory)
        )
        after = you(app).stop
        assert after is not None
        await pilot.press("j")
        moved = you(app).stop
        await pilot.press("u")
        await until(
            lambda: "again" in "".join(s.memory.content for s in you(app).view._laid.stops if s.memory)
        )
        # The cursor stays where the person went since.
        assert you(app).stop is not None and moved is not None and you(app).stop.key == moved.key  # type: ignore[union-attr]


async def test_it_looks_only(known: Story) -> None:
    with known.open(readonly=True) as memory:
        before = memory.view.count_operations(), memory.view.recent_recalls()
    app = at_you(known, readonly=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app)
        await pilot.press("j", "j", "l", "y", "G")
        await quiet(app)
    with known.open(readonly=True) as memory:
        assert (memory.view.count_operations(), memory.view.recent_recalls()) == before


async def test_without_facts_it_says_the_way_out(empty_story: Story) -> None:
    app = empty_story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("0")
        await ready(app)
        assert "Nothing is known about you yet." in screen_text(app)
    with empty_story.open() as memory:
        memory.record_turn("talk", "user", "I like tea")
    app = empty_story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("0")
        await ready(app)
        text = screen_text(app)
        assert "No facts yet, only conversations." in text and "5  turn 1 conversation into facts" in text
        await pilot.press("enter", "j", "y")
        await quiet(app)
        assert app.shown_pane_id == "you"


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
async def test_hostile_texts_stay_where_they_are(known: Story, size: tuple[int, int]) -> None:
    with known.open() as memory:
        memory.remember("\x1b]52;c;aGk=\x07[/] \u202egnp.exe [bold]x", topic="identity")
    app = at_you(known)
    async with app.run_test(size=size) as pilot:
        await choose(app, lambda stop: stop.memory and "exe" in stop.memory.content)
        await until(lambda: "␛]52;c" in screen_text(app))
        text = screen_text(app)
        assert "\x1b" not in text and "\u202e" not in text
        await pilot.press("question_mark")
        await until(lambda: app.screen is not app.main)


async def test_the_number_of_cards_is_that_of_the_tab(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)):
        pane = await ready(app)
        app.show_count("review", 17)
        await quiet(app)
        assert pane.shell.tab_count("review") == 17 and re.search("17 (to )?review", screen_text(app))


async def test_it_tells_what_is_new_since_the_app_was_open_last(known: Story, tmp_path: Path) -> None:
    def begin() -> MemtuiApp:
        state = UiState(tmp_path / "app.json")
        state.pane = "you"
        return known.app(state=state)

    known.now += 2 * 3_600
    app = begin()
    async with app.run_test(size=(120, 40)):
        await ready(app)
        assert "New this week" in screen_text(app)  # it is not known when it was open before
    known.now += 2 * DAY
    with known.open() as memory:
        rose = memory.remember("The ferry is called Rose")
        memory.correct(rose.id, "The ferry is called Rosa")
    known.now += DAY
    app = begin()
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app)
        text = screen_text(app)
        assert "2 new  " not in text and re.search("Since .*: +1 new +1 changed", text)
        await choose(app, lambda stop: stop.about == "new")
        assert "when memtui was open last" in screen_text(app)
        await pilot.press("enter")
        await until(lambda: app.main.active == "memories" and memories(app).table.row_count == 1)
        assert memories(app).filter_text.startswith("kind:fact learned:2")
    # Nothing came since: what is new this week is shown.
    known.now += 2 * 3_600
    app = begin()
    async with app.run_test(size=(120, 40)):
        await ready(app)
        assert re.search("This week: +[0-9]+ new", screen_text(app))


async def test_what_changed_stands_with_the_day_that_it_was_on(known: Story) -> None:
    with known.open() as memory:
        ferry = memory.view.page("ferry")[0]
        moved = memory.correct(ferry.id, "The ferry to Norway leaves on 19 December 2025")
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        await choose(app, lambda stop: stop.section == WHEN and stop.memory is not None)
        text = screen_text(app)
        assert "was 12 Dec" in text and "now 19 Dec" in text
        await pilot.press("N")
        await until(lambda: memories(app).current is not None and memories(app).current.id == ferry.id)
        assert moved.active


async def test_what_changed_stands_beside_what_it_was(known: Story) -> None:
    with known.open() as memory:
        key = memory.view.page("spare key kind:fact")[0]
        memory.correct(key.id, "Samir has the spare key")
    app = at_you(known)
    async with app.run_test(size=(120, 40)):
        await choose(app, lambda stop: stop.about == "changed")  # the detail below has no fact
        assert f"was: {key.content[:12]}" in screen_text(app)


async def test_a_month_of_a_person_leads_to_the_profile_and_to_that_month_of_the_timeline(
    known: Story,
) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 50)) as pilot:
        stop = await opened(
            app, pilot, lambda stop: stop.section == WHO and stop.entity is not None, "entities"
        )
        await back(app, pilot, stop)
        assert stop.entity is not None and stop.month is not None
        assert "w that month" in screen_text(app).splitlines()[-1]
        await pilot.press("w")
        await until(lambda: app.shown_pane_id == "memories" and memories(app).timeline is not None)
        await still(app)
        view = memories(app).timeline
        assert view is not None and view.spot.by == "person" and view.spot.at == stop.month.start
        [here] = [one for one in stop.month.persons if one.person.eid == stop.entity.eid]
        # Turns count: all memories are what there is.
        assert app.stats is not None and memories(app).total() == app.stats.active
        assert view.count_in_cell == here.memories and stop.entity.canonical_name in view.describe_cell
        await back(app, pilot, stop)
        # What the timeline was is as before: nothing of the visit stays in Memories.
        await pilot.press("2")
        await settle(app)
        assert memories(app).filter_text == ""


async def test_what_changed_leads_to_that_month_of_the_changes(known: Story) -> None:
    with known.open() as memory:
        memory.correct(memory.view.page("spare key kind:fact")[0].id, "Samir has the spare key")
    app = at_you(known)
    async with app.run_test(size=(120, 50)) as pilot:
        stop = await choose(app, lambda stop: stop.section == WHEN and stop.memory is not None)
        await pilot.press("w")
        await until(lambda: app.shown_pane_id == "memories" and memories(app).timeline is not None)
        await still(app)
        view = memories(app).timeline
        assert view is not None and view.spot.layer == "changed" and stop.month is not None
        assert view.count_in_cell == stop.month.changed
        await back(app, pilot, stop)
        await opened(app, pilot, lambda stop: stop.about == "when", "memories")
        assert memories(app).timeline is not None
        await pilot.press("0")
        await choose(app, lambda stop: stop.about == "review")
        await pilot.press("w")
        await until(lambda: "put the cursor on a month" in screen_text(app))


@pytest.mark.parametrize("size", [(80, 12), (80, 24), (120, 20)])
async def test_its_key_goes_to_the_top_and_a_page_takes_the_cursor_along(
    known: Story, size: tuple[int, int]
) -> None:
    app = at_you(known)
    async with app.run_test(size=size) as pilot:
        view = (await ready(app)).view
        for key in ("pagedown", "pagedown", "pageup", "pagedown", "pagedown", "pageup"):
            await pilot.press(key)
            row = view._laid.rows[view.cursor]
            assert view.scroll_offset.y <= row < view.scroll_offset.y + view.size.height
        await pilot.press("0")
        await until(lambda: view.cursor == 0 and view.scroll_offset.y == 0)


async def test_down_from_the_first_line_goes_to_what_is_below(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        view = (await ready(app)).view
        heads = [number for number, column in enumerate(view._laid.columns) if column == HEAD]
        for number in (one for one in heads if view._laid.rows[one] == view._laid.rows[heads[-1]]):
            view.put_cursor(number)
            begin, _ = view._cells_of_stop(number)
            await pilot.press("j")
            here, end = view._cells_of_stop(view.cursor)
            assert here <= begin < end


async def test_esc_in_a_memory_of_a_list_goes_back_to_the_list_as_it_was(known: Story) -> None:
    with known.open() as memory:
        for text in ("Takes iron tablets", "Sees Dr. Lind for the knee"):
            memory.remember(text, topic="health")
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        stop = await opened(app, pilot, lambda stop: stop.topic and stop.topic.topic == "health", "memories")
        pane = memories(app)
        await until(lambda: pane.table.row_count == 3)
        await pilot.press("j")
        listed = pane.filter_text, pane.table.selected_key
        for opening in ("enter", "space"):
            await pilot.press(opening)
            await quiet(app)
            if opening == "space":
                await pilot.press("k")
            else:
                assert pane.has_class("-zoom-preview")
            await pilot.press("escape")
            await quiet(app)
            assert app.shown_pane_id == "memories" and not pane.has_class("-zoom-preview")
            assert (pane.filter_text, pane.table.selected_key) == listed and not pane.table.marks
        # Another version, opened from within a memory of the list: one step back each.
        await pilot.press("enter")
        await app.navigation.open_memory(listed[1] or 0)
        await settle(app)
        for zoomed in (True, False):
            await pilot.press("escape")
            await settle(app)
            assert app.shown_pane_id == "memories" and pane.has_class("-zoom-preview") is zoomed
            assert (pane.filter_text, pane.table.selected_key) == listed
        await back(app, pilot, stop)
        stop = await opened(app, pilot, lambda stop: stop.about == "ahead", "memories")
        await back(app, pilot, stop)
        await opened(app, pilot, lambda stop: stop.topic and stop.topic.topic == "health", "memories")
        assert pane.table.row_count == 3


async def test_what_a_visit_set_stays_with_the_visit(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 40)) as pilot:
        for number, away in enumerate(("2", "0", "5")):
            await opened(app, pilot, lambda stop: stop.about == "ahead", "memories")
            assert memories(app).table.order == ("day", False)
            await pilot.press(away)
            await quiet(app)
            if away == "0":
                await opened(app, pilot, lambda stop: stop.topic and stop.topic.topic == "health", "memories")
                assert memories(app).table.order == ("time", True) and memories(app).table.row_count == 1
            await pilot.press("2")
            await settle(app)
            pane = memories(app)
            assert (pane.filter_text, pane.table.order) == ("", ("time", True)), number
            assert pane.table.row_count > 3 and " age" in screen_text(app)
            await pilot.press("0")
            await ready(app)
        # What the person set in the list is there after the visit.
        await pilot.press("2", "slash", *"standup", "enter")
        await settle(app)
        await pilot.press("0")
        await opened(app, pilot, lambda stop: stop.about == "ahead", "memories")
        await pilot.press("2")
        await settle(app)
        assert memories(app).filter_text == "standup" and memories(app).table.order == ("time", True)


async def test_the_timeline_is_read_anew_at_each_visit_and_its_filter_ends_with_it(known: Story) -> None:
    for days, place in ((40, "Faro"), (2, "Porto")):
        known.now = NOW - days * DAY
        with known.open() as memory:
            written = memory.remember(f"Ada is in {place}")
            memory.correct(written.id, f"Ada is back from {place}")
            memory.models.index_pending()
    known.now = NOW
    app = at_you(known)
    async with app.run_test(size=(120, 50)) as pilot:
        stop = await choose(
            app,
            lambda stop: stop.section == WHO and stop.entity and stop.month and stop.month.term == "2025-10",
        )
        assert stop.entity is not None and stop.month is not None
        for _ in range(2):
            await choose(app, lambda one: one.key == stop.key)
            await pilot.press("w")
            await until(lambda: app.shown_pane_id == "memories" and memories(app).timeline is not None)
            await still(app)
            view = memories(app).timeline
            assert view is not None and view.spot.at == stop.month.start
            assert stop.entity.canonical_name in view.describe_cell and "Faro" in screen_text(app)
            await back(app, pilot, stop)
            # The months of changes, right after: at the month in which most changed.
            most = await choose(app, lambda one: one.about == "when")
            assert "most in Nov" in screen_text(app)
            await pilot.press("enter")
            await until(lambda: app.shown_pane_id == "memories" and memories(app).timeline is not None)
            await still(app)
            assert view.spot.by == "topic" and "Everything, November 2025" in screen_text(app)
            assert "Porto" in screen_text(app)
            await back(app, pilot, most)
        await pilot.press("T")
        await until(lambda: app.shown_pane_id == "memories" and memories(app).timeline is not None)
        await still(app)
        assert "by topic" in screen_text(app) and memories(app).timeline is not None
        # The number of the pane shows its list, without the filter of the visits.
        for key in ("2", "0", "w"):
            await choose(app, lambda one: one.key == stop.key) if key == "w" else None
            await pilot.press(key)
            await still(app)
        assert memories(app).filter_text.startswith("kind:episode")
        await pilot.press("2")
        await settle(app)
        assert memories(app).timeline is None and memories(app).filter_text == ""


async def test_the_footer_begins_with_what_enter_does(known: Story) -> None:
    app = at_you(known)
    async with app.run_test(size=(120, 50)):
        await ready(app)
        for wanted in (WHO, WHEN, "Plans ahead"):
            for stop in [one for one in you(app).view._laid.stops if one.section == wanted]:
                await choose(app, lambda one, stop=stop: one.key == stop.key)
                assert screen_text(app).splitlines()[-1].split()[0] == "Enter", stop


async def test_tab_goes_from_section_to_section(known: Story) -> None:
    lessons = [(f"Lesson {number}", f"2025-12-{number + 10}") for number in range(9)]
    with known.open() as memory:
        for text, day in lessons:
            memory.classify(memory.remember(text, topic="plan").id, happens=day)
    for size in ((80, 24), (120, 40)):
        app = at_you(known)
        async with app.run_test(size=size) as pilot:
            view = (await ready(app)).view
            at_top = view.cursor
            keys = 0
            while view.stop_at_cursor is None or view.stop_at_cursor.about != "ahead":
                await pilot.press("tab")
                keys += 1
            await pilot.press("j")
            assert view.stop_at_cursor.due is not None and keys + 1 <= 5
            # Each title once, then the first line again; and the same way back.
            seen = []
            for key in ("tab", "shift+tab"):
                await pilot.press("g", "g", key)
                titles = []
                while view.cursor != at_top:
                    assert view.stop_at_cursor is not None
                    titles.append(view.stop_at_cursor.section_on_screen)
                    row = view._laid.rows[view.cursor] - view.scroll_offset.y
                    assert 0 <= row < view.size.height
                    await pilot.press(key)
                seen.append(titles)
            assert seen[0] == seen[1][::-1] and len(set(seen[0])) == len(seen[0])
            assert {"Health", "Plans ahead", WHO} <= set(seen[0])
            _, help = app.main.help_lines()
            assert [one.help for one in help if one.keys == "Tab"] == [BY_ID["next_section"].help]
