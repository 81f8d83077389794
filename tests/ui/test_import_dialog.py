"""Import and welcome: what would be imported, what came in, stopping, and the way back."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from memtui.engine.importers import ingest
from memtui.engine.records import ImportReport, Refused
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.import_ import NAME, ImportDialog
from memtui.ui.dialogs.import_text import report_text
from memtui.ui.dialogs.welcome import WelcomeDialog
from memtui.ui.widgets.path_input import PathInput, complete_path
from textual.widgets import Static
from ui_story import DAY, NOW, Story, running, screen_text, settle, still, there, true, until

HOSTILE = "\x1b]52;c;aGk=\x07[@click=app.quit]x[/] \u202eevil"


def talk(file: Path, turns: int = 3, said: str = "we talked") -> Path:
    """A generic JSONL file of one conversation."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"session_id": file.stem, "role": "user", "content": f"{said} {number}", "time": NOW - DAY + number}
        for number in range(turns)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def claude_home(folder: Path, sessions: int, *, old: int = 0) -> Path:
    """A home with Claude Code session files; ``old`` of them will be swept within a week."""
    for number in range(sessions):
        file = folder / ".claude" / "projects" / "-home-ada" / f"s{number}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "type": "user", "uuid": f"u{number}", "sessionId": f"s{number}", "timestamp": "2025-11-20T10:00:00Z",
            "message": {"role": "user", "content": f"hello number {number}"},
        }  # fmt: skip
        file.write_text(json.dumps(record) + "\n", "utf-8")
        age = 25 if number < old else 1
        os.utime(file, (NOW - age * DAY, NOW - age * DAY))
    return folder


def turns_in(story: Story) -> int:
    with story.open(readonly=True) as memory:
        return memory.stats().by_kind.get("episode", 0)


def text_of(app: MemtuiApp) -> str:
    return " ".join(screen_text(app).split())


def unwrapped(text: str) -> str:
    """Without blanks and frames, which stand where a long path made a line end."""
    return text.replace(" ", "").replace("│", "")


def stage(app: MemtuiApp) -> str:
    return app.screen._stage if isinstance(app.screen, ImportDialog) else ""


async def typed(app: MemtuiApp, path: Path) -> None:
    dialog = app.screen
    assert isinstance(dialog, ImportDialog)
    dialog.query_one(PathInput).value = str(path)


@pytest.fixture(autouse=True)
def no_other_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


async def test_it_counts_first_and_writes_nothing_until_it_is_told_to(story: Story, tmp_path: Path) -> None:
    before = turns_in(story)
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("i")
        await until(lambda: there(app, ImportDialog))
        await typed(app, talk(tmp_path / "new.jsonl", 5))
        await pilot.press("enter")
        await until(lambda: "5 turns of 1 session would be imported" in text_of(app))
        assert turns_in(story) == before
        await pilot.press("enter")
        await until(lambda: "5 turns of 1 session imported" in text_of(app))
        assert turns_in(story) == before + 5
        await pilot.press("u")
        await until(lambda: app.screen is not app.main or turns_in(story) == before)


async def test_what_is_there_already_is_counted_and_not_added_again(story: Story, tmp_path: Path) -> None:
    file = talk(tmp_path / "again.jsonl", 4)
    with story.open() as memory:
        memory.files.import_paths([file])
    app = story.app()
    async with running(app) as pilot:
        app.push_screen(ImportDialog(file))
        await until(lambda: "nothing new in it" in text_of(app) and "4 already there" in text_of(app))
        await pilot.press("enter")
        await until(lambda: app.screen is app.main)


async def test_a_path_with_nothing_to_import_says_why_and_lets_one_try_again(
    story: Story, tmp_path: Path
) -> None:
    app = story.app()
    async with running(app) as pilot:
        app.push_screen(ImportDialog(tmp_path / "not there"))
        await until(lambda: "notthere" in unwrapped(text_of(app)) and "Enter another path" in text_of(app))
        await pilot.press("enter")
        box = app.screen.query_one(PathInput)
        await until(lambda: box.has_focus and box.selected_text == box.value)
        await pilot.press(*"new")
        assert box.value == "new"


async def test_what_cannot_be_read_is_told_and_the_rest_comes_in(story: Story, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Dear diary,\n")
    before = turns_in(story)
    app = story.app()
    async with running(app, (120, 60)) as pilot:
        app.push_screen(ImportDialog(tmp_path / "b.txt", talk(tmp_path / "new.jsonl", 2)))
        for said in ("2 turns of 1 session would be imported", "2 turns of 1 session imported"):
            shown = (said, "b.txt is in no format", "lists the formats")
            await until(
                lambda shown=shown: all(unwrapped(words) in unwrapped(text_of(app)) for words in shown)
            )  # type: ignore[misc]
            await pilot.press("enter")
    assert turns_in(story) == before + 2


async def test_an_import_can_be_stopped_and_what_came_in_is_one_operation(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_TURNS_PER_BATCH", 2)
    go_on = threading.Event()
    plain = ingest.ImportRun.import_batch

    def slow(self: ingest.ImportRun, batch: object) -> None:
        if self.account.kinds["turn"] and not self.account.dry_run:
            go_on.wait(120)  # with the second
        plain(self, batch)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest.ImportRun, "import_batch", slow)
    before = turns_in(story)
    app = story.app()
    async with running(app) as pilot:
        app.push_screen(ImportDialog(talk(tmp_path / "long.jsonl", 40)))
        await until(lambda: "40 turns of 1 session would be imported" in text_of(app))
        await pilot.press("enter")
        await until(lambda: "2 new turns" in text_of(app) and "%" in text_of(app))
        await pilot.press("c")
        go_on.set()
        await until(lambda: "Stopped." in text_of(app))
        came = turns_in(story) - before
        assert 0 < came < 40
        with story.open(readonly=True) as memory:
            operation = memory.view.operations(limit=1)[0]
        assert operation.kind == "import" and "cancelled" in operation.label


async def test_it_goes_on_in_the_background_and_the_dialog_finds_it_again(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_TURNS_PER_BATCH", 2)
    go_on = threading.Event()
    plain = ingest.ImportRun.import_batch

    def slow(self: ingest.ImportRun, batch: object) -> None:
        plain(self, batch)  # type: ignore[arg-type]
        if not self.account.dry_run:
            go_on.wait(120)

    monkeypatch.setattr(ingest.ImportRun, "import_batch", slow)
    before = turns_in(story)
    app = story.app()
    async with running(app) as pilot:
        app.push_screen(ImportDialog(talk(tmp_path / "long.jsonl", 9)))
        await until(lambda: "9 turns of 1 session would be imported" in text_of(app))
        await pilot.press("enter")
        await until(lambda: any(work.name == NAME for work in app.operations.works))
        await pilot.press("escape")
        assert app.screen is app.main
        await pilot.press("i")
        await until(lambda: "Importing" in text_of(app) and "in the background" in text_of(app))
        await pilot.press("escape")
        go_on.set()
        await until(lambda: turns_in(story) == before + 9)
        await until(lambda: "Imported 9 turns" in text_of(app))


async def test_detected_sources_are_offered_with_what_will_soon_be_gone(story: Story, tmp_path: Path) -> None:
    app = story.app(home=claude_home(tmp_path, 3, old=2))
    async with running(app) as pilot:
        await pilot.press("i")
        await until(lambda: "Claude Code" in text_of(app) and "3 sessions, 3 turns" in text_of(app))
        assert "2 files soon deleted" in text_of(app)
        assert app.screen.query_one(PathInput).value.endswith(".claude/projects")
        await pilot.press("enter")
        await until(lambda: "3 turns of 3 sessions would be imported" in text_of(app))


async def test_typing_replaces_the_path_that_is_proposed(story: Story, tmp_path: Path) -> None:
    app = story.app(home=claude_home(tmp_path, 1))
    async with running(app) as pilot:
        await pilot.press("i")
        await until(lambda: there(app, ImportDialog))
        path = app.screen.query_one(PathInput)
        await until(lambda: path.value.endswith(".claude/projects"))
        await pilot.press(*"/tmp")
        await until(lambda: path.value == "/tmp")


async def test_several_places_are_marked_and_come_in_together(story: Story, tmp_path: Path) -> None:
    claude_home(tmp_path, 2)
    prompts = {"display": "only a prompt", "timestamp": NOW * 1000, "project": "/x/y", "sessionId": "gone"}
    (tmp_path / ".claude" / "history.jsonl").write_text(json.dumps(prompts) + "\n")
    app = story.app(home=tmp_path)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("i")
        await until(lambda: "1 turn" in text_of(app))
        hints = next(line for line in screen_text(app).splitlines() if "Tab complete" in line)
        assert "mark more" in hints and "Esc leave" in hints
        await pilot.press("down", "space", "down", "space", "enter")
        await until(lambda: "3 turns of 3 sessions would be imported" in text_of(app))
        await pilot.press("enter")
        await until(lambda: "3 turns of 3 sessions imported" in text_of(app))
        await pilot.press("escape", "i")
        await until(lambda: "all in: 2 sessions" in text_of(app))


async def test_the_app_follows_sessions_when_the_settings_say_so(story: Story, tmp_path: Path) -> None:
    from memtui import config

    home = claude_home(tmp_path / "home", 1)
    (tmp_path / "config.toml").write_text("[feeds]\nwatch = true\n")
    before = turns_in(story)
    app = story.app(home=home, configuration=config.load(tmp_path / "config.toml"))
    async with running(app):
        await until(lambda: "following 1 place" in text_of(app) and turns_in(story) == before + 1)
        talk = next(home.rglob("s0.jsonl"))
        with talk.open("a", encoding="utf-8") as file:
            file.write(talk.read_text("utf-8").replace("u0", "u1"))
        await until(lambda: turns_in(story) == before + 2)
    assert app.follower.sessions.places == 0


async def test_an_empty_memory_is_welcomed_once_and_a_full_one_is_not(
    empty_story: Story, tmp_path: Path
) -> None:
    home = claude_home(tmp_path / "home", 2, old=1)
    app = empty_story.app(home=home)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: there(app, WelcomeDialog) and "Claude Code" in text_of(app))
        assert "1 session files are about to be deleted" in text_of(app)
        await pilot.press("1")
        await until(lambda: there(app, ImportDialog) and "would be imported" in text_of(app))
        await pilot.press("enter")
        await until(lambda: "2 turns of 2 sessions imported" in text_of(app))
    again = empty_story.app(home=home)
    async with running(again):
        assert again.screen is again.main


def columns_of(app: MemtuiApp, text: str) -> list[int]:
    """The column at which a text begins, for each line that has it."""
    return [line.index(text) for line in screen_text(app).splitlines() if text in line]


async def test_what_the_welcome_finds_late_renumbers_nothing(
    empty_story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtui.engine.importers import known_places

    home, gate, plain = claude_home(tmp_path, 2), threading.Event(), known_places.known_sources

    def slow(*given: Any, **named: Any) -> Any:
        gate.wait(60)
        return plain(*given, **named)

    monkeypatch.setattr(known_places, "known_sources", slow)
    app = empty_story.app(home=home)
    async with app.run_test(size=(120, 40)):
        await true(lambda: there(app, WelcomeDialog) and "Start empty" in text_of(app))
        assert "Looking for conversations" in text_of(app)
        before = columns_of(app, "3 Start empty")
        gate.set()
        await until(lambda: "Claude Code" in text_of(app))
        after = screen_text(app).splitlines()
        assert columns_of(app, "3 Start empty") == before
        assert next(line for line in after if "Claude Code" in line).split("4")[0].strip(" │┃|▌") == ""


async def test_welcome_offers_a_demo_and_an_empty_start(empty_story: Story, tmp_path: Path) -> None:
    app = empty_story.app(home=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: there(app, WelcomeDialog) and "Start empty" in text_of(app))
        await pilot.press("2")
        await until(lambda: not app.is_running)
    assert app.demo_wanted
    app = empty_story.app(home=tmp_path)
    async with app.run_test(size=(40, 12)) as pilot:
        await until(lambda: there(app, WelcomeDialog) and "Start empty" in text_of(app))
        await pilot.press("3")
        await until(lambda: app.screen is app.main)
    assert not app.demo_wanted


async def test_without_a_home_and_read_only_there_is_no_welcome(empty_story: Story, tmp_path: Path) -> None:
    for app in (empty_story.app(), empty_story.app(readonly=True, home=tmp_path)):
        async with app.run_test() as pilot:
            await until(lambda app=app: app.stats is not None)
            await still(pilot.app)
            assert app.screen is app.main


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{0}/al", "{0}/album/"),
        ("{0}/album/b", "{0}/album/b.zip"),
        ("{0}/nope", None),
        ("", None),
        ("{0}/.h", "{0}/.hid/"),
    ],
)
def test_a_path_is_completed_from_what_is_there(tmp_path: Path, text: str, found: str | None) -> None:
    (tmp_path / "album").mkdir()
    (tmp_path / "album" / "b.zip").touch()
    (tmp_path / ".hid").mkdir()
    expected = None if found is None else found.format(tmp_path)
    assert complete_path(text.format(tmp_path)) == expected


def test_completing_never_raises(tmp_path: Path) -> None:
    for text in ("\0", "~nobody-there/x", "/root/\udcff", "//", "~", f"{tmp_path}/\x1b"):
        complete_path(text)


async def test_tab_takes_the_completion(story: Story, tmp_path: Path) -> None:
    talk(tmp_path / "talks" / "one.jsonl")
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("i")
        await until(lambda: there(app, ImportDialog))
        box = app.screen.query_one(PathInput)
        box.value = f"{tmp_path}/tal"
        await until(lambda: box._suggestion == f"{tmp_path}/talks/")
        await pilot.press("tab")
        assert box.value == f"{tmp_path}/talks/"


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_hostile_files_and_names_do_nothing(
    story: Story, tmp_path: Path, size: tuple[int, int]
) -> None:
    file = talk(tmp_path / HOSTILE.replace("/", "_") / "x.jsonl", 3, HOSTILE)
    with file.open("a", encoding="utf-8") as lines:
        lines.write("\x1b[31mnot json\x07\n")
    app = story.app()
    async with running(app, size) as pilot:
        app.push_screen(ImportDialog(file.parent))
        await until(lambda: stage(app) == "counted")
        assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        await pilot.press("enter")
        await until(lambda: stage(app) in ("done", "drawing"))
        assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        await pilot.press("enter")
        await settle(app)
        assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        assert not app.screen.query(Static).filter(".import-text")


def test_the_report_tells_all_that_was_left_out() -> None:
    report = ImportReport(
        imported=0, already_there=0, skipped=36, sessions=0, files=1, seconds=0.1, dry_run=False,
        reasons={f"reason {number}": number for number in range(1, 9)},
        refused=(Refused(message="x.json is odd.", hint="Look."),),
    )  # fmt: skip
    shown = report_text(report).plain
    assert "15 for other reasons: reason 7, reason 8" in shown
    assert "1 source cannot be read" in shown


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_after_an_import_facts_are_drawn_with_a_preview_one_key_away(
    story: Story, tmp_path: Path, size: tuple[int, int]
) -> None:
    from memtui.ui.dialogs.proposals import ProposalsDialog

    app = story.app()
    async with running(app, size) as pilot:
        app.push_screen(ImportDialog(talk(tmp_path / "new.jsonl", 2, "I like tea and house")))
        await until(lambda: stage(app) == "counted")
        await settle(app)
        await pilot.press("enter")
        await until(lambda: stage(app) == "drawing" and "Look for facts now?" in text_of(app))
        assert "Of these, 1 conversation is not read yet" in " ".join(text_of(app).split())
        assert any(
            "Enter show them first" in line and "Esc not now" in line
            for line in screen_text(app).splitlines()
        )
        await pilot.press("enter")
        await until(lambda: there(app, ProposalsDialog))
        await settle(app)
        assert {plan.session_id for plan in app.screen._plans} == {"new"}
        await pilot.press("enter")
        await until(lambda: "new" not in story_waits(story))


async def test_an_import_without_conversations_offers_no_facts_of_others(
    story: Story, tmp_path: Path
) -> None:
    notes = tmp_path / "november.md"
    notes.write_text("# Notes\n\n- I moved to the house by the river\n- My bike is green\n")
    app = story.app()
    async with running(app) as pilot:
        app.push_screen(ImportDialog(notes))
        await until(lambda: stage(app) == "counted")
        await settle(app)
        await pilot.press("enter")
        await until(lambda: stage(app) == "done")
        await settle(app)
        assert story_waits(story) and "Look for facts" not in text_of(app)


async def test_drawing_facts_after_an_import_can_be_left_for_later(story: Story, tmp_path: Path) -> None:
    app = story.app()
    async with running(app) as pilot:
        app.push_screen(ImportDialog(talk(tmp_path / "new.jsonl", 2)))
        await until(lambda: stage(app) == "counted")
        await settle(app)
        await pilot.press("enter")
        await until(lambda: stage(app) == "drawing")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
    assert story_waits(story)


def story_waits(story: Story) -> set[str]:
    """The conversations that wait, by id."""
    with story.open(readonly=True) as memory:
        return {one.session_id for one in memory.sessions.pending(due=True)}
