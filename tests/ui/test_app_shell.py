"""The shell of the app: opening, undo, live refresh, errors, help, leaving."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest
from memtui.engine.errors import StoreError
from memtui.engine.memory import Memory
from memtui.engine.records import Changes
from memtui.ui.actions import GROUPS, HELP_GROUPS, actions_at
from memtui.ui.app import MemtuiApp
from memtui.ui.crash import crash_report
from memtui.ui.dialogs.dialog import ErrorDialog
from memtui.ui.dialogs.help import HelpDialog
from memtui.ui.dialogs.jump import JumpScreen
from memtui.ui.messages import Notified
from memtui.ui.palette import MemtuiPalette, score_command
from memtui.ui.panes.maintenance.pane import MaintenancePane
from memtui.ui.panes.registry import PANES, spec_of
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from memtui.ui.widgets.bars import KeyBar, StatusLine, TabBar
from memtui.ui.widgets.filter_input import FilterInput
from textual.command import CommandList
from textual.widgets import Static
from ui_story import Story, at_pane, memories, quiet, running, screen_text, settle, still, there, true, until


def said(app: MemtuiApp) -> str:
    return app.main.query_one(StatusLine).said


async def test_the_window_is_there_before_the_memory_is_open(story: Story) -> None:
    gate = threading.Event()

    def open_slowly() -> Memory:
        gate.wait(120)
        return story.open()

    app = MemtuiApp(open_slowly, look=Appearance(motion=False), clock=story.clock, state=at_pane("memories"))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "2 Memories" in screen_text(app) and "? help" in screen_text(app)
        await pilot.press("a")
        await until(lambda: "Opening the memory" in said(app))
        gate.set()
        await settle(app)
        assert "Standup moved" in screen_text(app)


async def test_what_runs_in_the_background_begins_by_itself(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[bool] = []

    app = story.app()

    async def begin() -> None:
        begun.append(app.operations.memory is not None)

    monkeypatch.setattr(app.follower, "start_jobs", begin)
    async with running(app):
        await until(lambda: begun)
    assert begun == [True]


async def test_a_memory_that_cannot_be_opened_is_a_panel_with_cause_and_next_step() -> None:
    def refuse() -> Memory:
        raise StoreError("the file is on the moon.", "Fetch it, then start again.")

    app = MemtuiApp(refuse, look=Appearance(motion=False))
    async with app.run_test(size=(120, 40)):
        await until(lambda: "the file is on the moon." in screen_text(app))
        assert "Fetch it, then start again." in screen_text(app)


@pytest.mark.parametrize("pane", [spec.pane_id for spec in PANES])
@pytest.mark.parametrize("key", ["q", "escape", "ctrl+c"])
async def test_without_a_memory_the_app_ends_with_the_panel(pane: str, key: str) -> None:
    def refuse() -> Memory:
        raise StoreError("the file is on the moon.", "Fetch it, then start again.")

    state = UiState(None)
    state.pane = pane
    app = MemtuiApp(refuse, look=Appearance(motion=False), state=state)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: there(app, ErrorDialog) and "moon" in screen_text(app))
        assert "leave" in screen_text(app)
        await pilot.press(key)
        await until(lambda: app.return_code is not None)
    assert app.return_code == 4


@pytest.mark.parametrize(
    "pane",
    [
        pytest.param(
            spec.pane_id, marks=[] if spec.pane_id in ("you", "memories", "review") else [pytest.mark.long]
        )
        for spec in PANES
    ],
)
async def test_no_key_crashes_a_pane_whose_memory_is_still_being_opened(pane: str, story: Story) -> None:
    gate = threading.Event()

    def open_slowly() -> Memory:
        gate.wait(120)
        return story.open()

    state = UiState(None)
    state.pane = pane
    app = MemtuiApp(open_slowly, look=Appearance(motion=False), state=state)
    async with app.run_test(size=(100, 30)) as pilot:
        try:
            await pilot.pause()
            for action in actions_at("everywhere", "list", app.main.pane.pane_id):
                if action.id != "quit" and action.group != "Move":
                    app.action_perform(action.id)
                    await pilot.pause()
                    assert not isinstance(app.screen, ErrorDialog), action.id
                    while app.screen is not app.main:
                        await pilot.press("escape")
                await app.main.go_to(pane)
            await pilot.press("slash", "a", "b")
            await pilot.pause()
            if isinstance(app.main.pane, MaintenancePane):
                app.main.pane._refresh_rows()  # as it does by itself after some seconds
                await pilot.pause()
            assert app.screen is app.main
        finally:
            gate.set()


async def test_reading_only_refuses_every_change_and_says_so(story: Story) -> None:
    app = story.app(readonly=True)
    async with running(app) as pilot:
        assert "read only" in screen_text(app)
        footer = screen_text(app).splitlines()[-1]
        assert footer.strip().startswith("read-only") and "filter" in footer
        assert not any(verb in footer for verb in ("correct", "forget", "undo", "add"))
        for key in ("a", "e", "x", "u", "t"):
            app.main.query_one(StatusLine).said = ""
            await pilot.press(key)
            await until(lambda: "open for reading only" in said(app))
            assert app.screen is app.main
    with story.open(readonly=True) as memory:
        assert memory.view.count("kind:fact") == 6


async def test_undo_and_redo_are_named_and_follow_one_another(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("x")
        await until(lambda: memories(app).table.row_count == 5)
        assert app.main.query_one(StatusLine).undo_hint == "u undo"
        await pilot.press("u")
        await until(lambda: said(app).startswith("Undid: Forgot"))
        assert app.main.query_one(StatusLine).undo_hint == "ctrl+r redo"
        await until(lambda: memories(app).table.row_count == 6)
        await pilot.press("ctrl+r")
        await until(lambda: said(app).startswith("Redid: Forgot"))
        await until(lambda: memories(app).table.row_count == 5)


async def test_undoing_something_of_an_earlier_run_asks_first(story: Story) -> None:
    with story.open() as memory:
        story.now -= 3600
        memory.remember("From an earlier run")
        story.now += 3600
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("u")
        await until(lambda: "before this run of memtui" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "Nothing was undone" in said(app))


async def test_undoing_something_of_another_terminal_asks_first(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        with story.open() as other:
            story.now += 5
            other.remember("From the other terminal")
        await pilot.press("u")
        await until(lambda: "not made in this window" in screen_text(app))
        assert "From the other terminal" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: "Nothing was undone" in said(app))
        await pilot.press("x")
        await until(lambda: said(app).startswith("Forgot"))
        await pilot.press("u")
        await until(lambda: said(app).startswith("Undid: Forgot"))


async def test_what_another_process_writes_appears_and_the_selection_stays(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("j", "j")
        chosen = memories(app).table.selected_key
        with story.open(actor="agent:other") as other:
            other.remember("Told from elsewhere")
        await until(lambda: "Told from elsewhere" in screen_text(app))
        assert memories(app).table.selected_key == chosen


async def test_an_unexpected_error_is_a_panel_and_its_report_has_no_memory_text(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(self: Memory, id: str) -> None:
        text = "Ada is allergic to walnuts"
        raise RuntimeError(f"cannot read {text}")

    monkeypatch.setattr(Memory, "forget", explode)
    app = story.app(crash_folder=tmp_path / "reports")
    async with running(app) as pilot:
        await pilot.press("x")
        await until(lambda: there(app, ErrorDialog))
        await until(lambda: "RuntimeError" in screen_text(app))
        assert "walnuts" not in "\n".join(screen_text(app).splitlines()[10:30])
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
    (written,) = (tmp_path / "reports").iterdir()
    output = written.read_text()
    assert "RuntimeError" in output and "in explode" in output
    assert "walnuts" not in output
    assert written.stat().st_mode & 0o777 == 0o600


def test_a_crash_report_has_the_chain_of_errors_and_no_values() -> None:
    def inner(secret: str) -> None:
        raise KeyError(secret)

    try:
        try:
            inner("sk-live-0123456789")
        except KeyError as error:
            raise StoreError("could not read “my diary”") from error
    except StoreError as error:
        output = crash_report(error, "1.2.3")
    assert "memtui 1.2.3" in output
    assert "StoreError (exit code 4)" in output and "KeyError" in output and "in inner" in output
    assert "sk-live" not in output and "diary" not in output and str(Path.home()) not in output


async def test_help_lists_the_keys_of_the_focused_part_with_reasons(story: Story) -> None:
    app = story.app()
    async with running(app, (120, 70)) as pilot:
        await pilot.press("question_mark")
        await until(lambda: there(app, HelpDialog))
        await pilot.pause()
        text = screen_text(app)
        assert "Mark this row" in text and "confirmed already" in text
        # What works now comes before what cannot run.
        assert text.index("Mark this row") < text.index("confirmed already")
        assert HELP_GROUPS[-2:] == ("Move", "Panes") and set(HELP_GROUPS) == set(GROUPS)
        assert "Esc leave" in text
        await pilot.press("q")
        await pilot.press("tab", "f1")
        await until(lambda: there(app, HelpDialog))
        await pilot.pause()
        assert "Mark this row" not in screen_text(app)


async def test_nothing_of_the_help_stands_under_the_keys(story: Story) -> None:
    app = story.app()
    async with running(app, (60, 24)) as pilot:
        await pilot.press("question_mark")
        await until(lambda: there(app, HelpDialog))
        await pilot.pause()
        shown = str(app.screen.query_one(".text-body", Static).render())
        lines = [line for line in shown.splitlines() if line.strip()]
        width = app.screen.query_one(".text-body").size.width
        assert max(map(len, lines)) <= width
        assert len([line for line in lines if line.startswith(" " * 12)]) > 3


async def test_jump_mode_puts_letters_on_the_parts(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("ctrl+o")
        await until(lambda: there(app, JumpScreen))
        await pilot.press("s")
        await until(lambda: memories(app).preview.has_focus)


async def test_the_palette_finds_actions_and_runs_them(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", "ctrl+p")
        await until(lambda: there(app, MemtuiPalette))
        await pilot.press(*"forget")
        await until(lambda: "goes to the Trash" in screen_text(app))
        await still(pilot.app)
        await pilot.press("enter")
        await until(lambda: memories(app).table.row_count == 5)


def test_words_come_before_fuzzy_hits_in_the_palette() -> None:
    candidates = (  # the name, what else describes it, the score of the fuzzy match
        ("Sort: oldest first", "Put the list in this order.", 12.0),
        ("Recall log", "Show what agents were told and when.", 0.0),
        ("Told by agents", "", 16.0),
        ("Untold", "", 18.0),
        ("Settings", "toldest", 0.0),
    )

    def found(query: str) -> list[str]:
        scores = {name: score_command(query, name, also, fuzzy) for name, also, fuzzy in candidates}
        return sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])

    assert found("told") == ["Told by agents", "Recall log", "Settings", "Untold", "Sort: oldest first"]
    assert found("log rec")[0] == "Recall log"
    # A short query does not look into descriptions.
    assert score_command("to", "Recall log", "Show what agents were told.", 0.0) == 0
    assert score_command("re", "Recall log", "", 1.0) > score_command("re", "Theme", "", 9.0)


async def test_the_palette_knows_what_is_in_other_panes(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".cursor").mkdir()
    app = story.app()

    def on_screen(text: str) -> bool:
        return text in screen_text(app)

    async with running(app) as pilot:
        for typed, shown in (
            ("look back", "History: look back"),
            ("health", "Maintenance: Health"),
            ("watch", "Watch the sessions of agents"),
            ("remember", "Write down a new memory"),
            ("draw", "Picture for others"),
            ("spring", "Timeline"),
        ):
            await pilot.press("ctrl+p")
            await until(lambda: there(app, MemtuiPalette))
            await pilot.press(*typed)
            await until(partial(on_screen, shown))
            await pilot.press("escape")
            await until(lambda: app.screen is app.main)
        await pilot.press("ctrl+p")
        await until(lambda: there(app, MemtuiPalette))
        await pilot.press(*"told")
        await until(lambda: on_screen("told"))
        await still(pilot.app)
        first = app.screen.query_one(CommandList).get_option_at_index(0)
        assert "told" in str(first.prompt), first.prompt
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await pilot.press("ctrl+p")
        await until(lambda: there(app, MemtuiPalette))
        await pilot.press(*"backups")
        await until(lambda: "Maintenance: Backups" in screen_text(app))
        await still(pilot.app)
        await pilot.press("enter")
        await until(lambda: app.main.active == "maintenance")
        pane = app.main.pane
        assert isinstance(pane, MaintenancePane)
        await until(lambda: (row := pane.table.selected) is not None and row.topic == "backups")
        await pilot.press("ctrl+p")
        await until(lambda: there(app, MemtuiPalette))
        await pilot.press(*"connect")
        await until(lambda: "Connect your agent" in screen_text(app))
        await still(pilot.app)
        await pilot.press("enter")
        await until(lambda: "Cursor: found, not connected" in screen_text(app))


async def test_many_sayings_of_one_kind_are_one_line_and_one_toast(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        for number in range(200):
            app.post_message(Notified(f"Page {number} could not be read.", "error", kind="page"))
        await still(pilot.app)
        assert said(app).endswith("(×200)")
        assert len(app._notifications) == 1


async def test_what_was_said_goes_with_the_next_key_and_with_the_pane(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("escape")
        await until(lambda: said(app).startswith("There is nothing to go back to"))
        await pilot.press("j")
        await until(lambda: said(app) == "")
        await pilot.press("x")
        await until(lambda: said(app).startswith("Forgot"))
        await pilot.press("j")
        assert said(app).startswith("Forgot") and "undo" in screen_text(app)
        await pilot.press("3")
        await until(lambda: said(app) == "")


async def test_a_configured_key_works_and_the_footer_shows_it(story: Story) -> None:
    app = story.app(keymap={"forget": "delete", "tag": "question_mark"})
    async with running(app) as pilot:
        assert "delete forget" in screen_text(app)
        assert "? would mean both" in said(app)
        await pilot.press("x")
        await pilot.press("delete")
        await until(lambda: memories(app).table.row_count == 5)


async def test_printable_keys_belong_to_the_input_that_has_the_focus(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", *"xq?u2")
        assert app.main.query_one(FilterInput).value == "xq?u2"
        await pilot.press("f1")
        await until(lambda: there(app, HelpDialog))


async def test_on_a_small_screen_enter_opens_the_detail_and_escape_leaves_it(story: Story) -> None:
    app = story.app()
    async with running(app, (40, 12)) as pilot:
        assert "confidence" not in screen_text(app)
        await pilot.press("enter")
        await until(lambda: "confidence" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: "confidence" not in screen_text(app))


async def test_a_light_theme_and_a_theme_of_textual_can_be_chosen_while_it_runs(story: Story) -> None:
    app = story.app(look=Appearance(theme="memtui-light", motion=False))
    async with running(app) as pilot:
        for theme in ("gruvbox", "ansi-dark", "memtui-dark"):
            app.theme = theme
            await still(pilot.app)
            assert "Standup moved" in screen_text(app)


async def test_the_app_opens_on_you_wherever_it_was_left(story: Story, tmp_path: Path) -> None:
    kept = tmp_path / "state" / "ui"
    for _ in range(2):
        app = story.app(state=UiState(kept))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(lambda app=app: "walnuts" in screen_text(app))
            assert app.shown_pane_id == "you"
            await pilot.press("8")
            await until(lambda app=app: app.shown_pane_id == "history")
    assert kept.stat().st_mode & 0o777 == 0o600


async def test_without_facts_the_app_opens_on_memories(empty_story: Story) -> None:
    for texts, says in (
        ((), "Nothing is remembered yet."),
        (("I like tea",), "No facts yet, only conversations."),
    ):
        with empty_story.open() as memory:
            for text in texts:
                memory.record_turn("talk", "user", text)
        app = empty_story.app(state=UiState(None))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(lambda app=app, says=says: says in screen_text(app))
            assert app.shown_pane_id == "memories"
            await pilot.press("0")
            await until(lambda app=app: app.shown_pane_id == "you")
            await quiet(app)
            assert app.shown_pane_id == "you"


async def test_the_active_tab_is_always_in_sight(story: Story) -> None:
    app = story.app()
    async with running(app, (30, 12)) as pilot:
        assert "2Mem" in screen_text(app)
        await pilot.press("8")
        await pilot.pause()
        tabs = next(line for line in screen_text(app).splitlines() if "8His" in line)
        assert tabs.strip().startswith("…")
        await pilot.press("3")
        await pilot.pause()
        tabs = next(line for line in screen_text(app).splitlines() if "3Find" in line)
        assert tabs.rstrip().endswith("…")


async def test_tabs_count_what_the_list_counts(story: Story) -> None:
    app = story.app()
    async with running(app):
        await until(lambda: app.stats is not None)
        tab = next(tab for tab in app.main.query_one(TabBar).tabs if tab.pane_id == "memories")
        assert tab.counted == memories(app).table.row_count == 6


async def test_a_crash_prints_no_values_and_leaves_a_report(
    story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(self: StatusLine) -> None:
        diary = "Ada is allergic to walnuts"
        raise RuntimeError(diary)

    app = story.app(crash_folder=tmp_path)
    with pytest.raises(RuntimeError):
        async with running(app):
            monkeypatch.setattr(StatusLine, "render", explode)
            app.main.query_one(StatusLine).refresh()
            await until(lambda: app._exception is not None)
    assert app.return_code == 1
    message = app.crash_message()
    assert "RuntimeError" in message and str(tmp_path) in message
    printed = capsys.readouterr()
    (written,) = tmp_path.glob("crash-*.txt")
    for output in (message, printed.out, printed.err, written.read_text()):
        assert "walnuts" not in output


async def test_what_another_process_writes_before_the_first_look_appears(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.ui.app.POLL_SECONDS", 60.0)
    app = story.app()
    async with running(app):
        with story.open(actor="agent:other") as other:
            other.remember("Told in the first moment")
        app.poll_changes()
        await until(lambda: "Told in the first moment" in screen_text(app))


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_in_ascii_no_pane_and_no_dialog_has_signs_of_others(
    story: Story, size: tuple[int, int]
) -> None:
    app = story.app(look=Appearance(ascii=True, motion=False))
    async with running(app, size) as pilot:
        for key in ("1", "3", "escape", "T", "5", "7", "8", "question_mark"):
            await pilot.press(key)
            await settle(app)
            await pilot.pause()
            assert not set("─│╭╮╰╯·…“”▁▂▃▄▅▆▇✓") & set(screen_text(app)), key


async def test_keys_that_never_have_a_sense_in_a_pane_are_in_neither_its_footer_nor_its_help(
    story: Story,
) -> None:
    def labels() -> set[str]:
        return {key.label for key in app.main.query_one(KeyBar).keys}

    def helped() -> set[str]:
        return {line.keys for line in app.main.help_lines()[1]}

    app = story.app()
    async with running(app, (200, 55)) as pilot:
        assert {"mark", "sort"} <= labels() and {"Space", "*", ">", "<"} <= helped()
        await pilot.press("8")
        await settle(app)
        assert not {"mark", "sort"} & labels() and not {"Space", "*", ">", "<"} & helped()
        assert {"undo this", "filter"} <= labels()


async def test_counts_that_come_while_a_pane_is_only_being_made_are_for_the_others(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        main = app.main
        await until(lambda: app.stats is not None)
        first, stats = main.active, app.stats
        assert stats is not None
        main._make_pane(spec_of("sessions"))
        main.active = "sessions"
        main.show_stats(stats)
        main.memory_changed(Changes(tables=frozenset({"*"})))
        del main._panes["sessions"]
        main.active = first
        await pilot.press("5")
        await settle(app)
        assert main.active == "sessions" and "A run all" in screen_text(app)


async def test_keys_before_the_memory_is_open_are_answered_without_an_error_sign(story: Story) -> None:
    gate = threading.Event()

    def open_slowly() -> Memory:
        gate.wait(120)
        return story.open()

    state = UiState(None)
    state.pane = "review"
    app = MemtuiApp(open_slowly, look=Appearance(motion=False), clock=story.clock, state=state)
    async with app.run_test(size=(80, 24)) as pilot:
        await true(lambda: "counting cards" in screen_text(app), 20)
        for key in ("c", "left"):
            app.main.query_one(StatusLine).said = ""
            await pilot.press(key)
            await until(lambda: "Opening the memory" in said(app))
            assert app.main.query_one(StatusLine).severity == "information"
        gate.set()
        await until(lambda: "counting cards" not in screen_text(app))


async def test_a_message_that_is_cut_in_the_status_line_is_shown_in_full(story: Story) -> None:
    app = story.app()
    reason = (
        "Only facts can be merged, and this is an observation: “After a rest week ask how far the run was”"
    )
    async with running(app, (60, 20)):
        app.show_message("Short enough.", "warning")
        await until(lambda: said(app) == "Short enough.")
        assert not app._notifications
        app.show_message(reason, "warning")
        await until(lambda: len(app._notifications) == 1)
        assert [one.message for one in app._notifications] == [reason]
