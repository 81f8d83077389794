"""The memory that tests of screens look at."""

from __future__ import annotations

import asyncio
import shutil
import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memtui.engine.memory import Memory
from memtui.engine.records import ID_PREFIX, Kind
from ui_story import DAY, IN_THREADS, NOW, Story


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Days and hours are the same on every machine."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(autouse=True)
def threads_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a test can wait for them (``quiet``)."""
    plain = BaseEventLoop.run_in_executor

    def counted(self: BaseEventLoop, *given: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = plain(self, *given)
        IN_THREADS.add(future)
        future.add_done_callback(IN_THREADS.discard)
        return future

    IN_THREADS.clear()
    monkeypatch.setattr(BaseEventLoop, "run_in_executor", counted)


@pytest.fixture(autouse=True)
def a_patient_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans that are meant for a person do not run out where the machine is slow."""
    monkeypatch.setattr("memtui.ui.action_dispatch.CHORD_SECONDS", 600.0)
    monkeypatch.setattr("memtui.ui.notifications.SAID_SECONDS", 600.0)


class PlainIds:
    """Memories are numbered, so that a screen is the same each time."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self, kind: Kind) -> str:
        self.given += 1
        return f"{ID_PREFIX[kind]}{self.given:012x}"


@pytest.fixture
def plain_ids(monkeypatch: pytest.MonkeyPatch) -> PlainIds:
    ids = PlainIds()
    monkeypatch.setattr("memtui.engine.store.memories.new_id", ids)
    return ids


@pytest.fixture
def empty_story(place: Path) -> Story:
    story = Story(place)
    story.open().close()
    return story


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The file that ``story`` copies, and how many ids it has given."""
    ids, story = PlainIds(), Story(tmp_path_factory.mktemp("story") / "memory.db")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("memtui.engine.store.memories.new_id", ids)
        _write(story)
    return story.path, ids.given


@pytest.fixture
def story(plain_ids: PlainIds, place: Path, written: tuple[Path, int]) -> Story:
    """Two conversations, eight facts of different standing, one of them corrected, one forgotten."""
    file, plain_ids.given = written
    shutil.copyfile(file, place)
    place.chmod(0o600)
    return Story(place)


def _write(story: Story) -> None:
    with story.open() as memory:
        story.now = NOW - 30 * DAY
        _say(
            memory, "trip", "user", "Honestly I'd rather take the train than fly if it's less than six hours"
        )
        _say(memory, "trip", "assistant", "Noted: trains for anything under six hours.")
        story.now = NOW - 20 * DAY
        _say(memory, "work", "user", "From now on standup is at 10:30 on Tuesdays, the rest stays")
        story.now = NOW - 12 * DAY
    with story.open(actor="agent:assistant") as agent:
        agent.remember("Considering a move to Porto", tags=["home"])
        story.now = NOW - 5 * DAY
        agent.remember("Ada is allergic to walnuts", tags=["family", "health"])
        agent.remember("Uses a fountain pen with green ink")
        story.now = NOW - 3 * DAY
        agent.remember("Prefers trains over flights for anything under six hours", tags=["travel"])
    with story.open() as memory:
        story.now = NOW - 2 * DAY
        standup = memory.remember("Standup is at 10:00", tags=["work"])
        memory.remember("The spare key is with Nadia")
        story.now = NOW - DAY
        memory.correct(standup.id, "Standup moved to 10:30 on Tuesdays")
        memory.forget(memory.remember("Owns a unicycle").id)


def _say(memory: Memory, session: str, role: str, text: str) -> None:
    memory.record_turn(session, role, text)
