"""Recording a turn: what is returned, what is stored, what is left to the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options, SecretPolicy

QUIET = Options(background=False, embedder="off")
NOW = 1_750_000_000


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=lambda: NOW, options=QUIET) as opened:
        yield opened


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("secrets", ["quarantine", "redact", "keep"])
def test_what_is_returned_is_what_is_stored(secrets: str) -> None:
    options = Options(background=False, embedder="off", secrets=SecretPolicy(episodes=secrets))  # type: ignore[arg-type]
    with Memory.open(":memory:", clock=lambda: NOW, options=options) as memory:
        for text in ("Ada met Grace in Lisbon", "my key is sk-proj-abcDEF0123456789abcDEF0123456789abcDEF01"):
            turn = memory.record_turn("talk", "user", text, NOW - 5, source="hook", project="ferry")
            assert turn == memory.get(turn.id)
            assert turn.id.startswith("ep_")


def test_a_turn_is_found_by_its_words_at_once(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "The lighthouse keeper is called Bosse")
    assert [row.id for row in memory.view.page("lighthouse")] == [turn.id]


def test_without_a_background_links_are_made_at_once(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "We met Ada Lovelace in Lisbon")
    assert "Ada Lovelace" in [entity.canonical_name for entity in memory.view.entities_of(turn.id)]
    assert memory.stats().unlinked == 0


def test_with_a_background_links_follow_by_themselves(place: Path) -> None:
    with Memory.open(place, options=Options(embedder="off")) as memory:
        turn = memory.record_turn("talk", "user", "We met Ada Lovelace in Lisbon")
        assert within(60, lambda: memory.stats().unlinked == 0)
        assert "Ada Lovelace" in [entity.canonical_name for entity in memory.view.entities_of(turn.id)]


def test_the_background_works_although_writing_never_pauses(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.jobs.indexer.PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr("memtui.engine.jobs.indexer.QUIET_SECONDS", 2)
    with Memory.open(place, options=Options(embedder="off")) as memory:
        first = memory.record_turn("talk", "user", "We met Ada Lovelace in Lisbon")

        def linked_while_talking() -> bool:
            memory.record_turn("talk", "assistant", "And then?")
            return bool(memory.view.entities_of(first.id))

        assert within(60, linked_while_talking)


def test_the_trust_of_a_turn_follows_its_role(memory: Memory) -> None:
    trust = {
        role: memory.record_turn("talk", role, "words").trust
        for role in ("user", "Assistant", "tool", "system")
    }
    assert trust == {"user": "user", "Assistant": "agent", "tool": "tool", "system": "tool"}
    assert memory.record_turn("talk", "Ada", "words").trust == "user"


def test_the_words_of_unknown_speakers_are_trusted_as_the_actor_is() -> None:
    for actor, trust in (("agent:codex", "agent"), ("import", "tool"), ("scheduler", "model")):
        with Memory.open(":memory:", actor=actor, options=QUIET) as memory:
            assert memory.record_turn("talk", "Ada", "words").trust == trust
            assert memory.record_turn("talk", "user", "words").trust == "user"


def test_times_are_unix_seconds_or_aware_datetimes(memory: Memory) -> None:
    moment = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    assert memory.record_turn("talk", "user", "a", moment).event_time == int(moment.timestamp())
    assert memory.record_turn("talk", "user", "b", 1_700_000_000.9).event_time == 1_700_000_000
    assert memory.record_turn("talk", "user", "c", -1.5).event_time == -2
    assert memory.record_turn("talk", "user", "d").event_time == NOW


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 1),
        float("nan"),
        float("inf"),
        -1e20,
        datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000 * 1000,
    ],
)
def test_times_that_mean_nothing_are_refused(memory: Memory, moment: float | datetime) -> None:
    with pytest.raises(InputError) as caught:
        memory.record_turn("talk", "user", "words", moment)
    assert caught.value.hint
    assert memory.view.count("kind:episode") == 0


@pytest.mark.parametrize("content", ["", "   \n\t ", "x" * 500_001, None, 7, b"bytes"])
def test_what_is_no_text_is_refused(memory: Memory, content: str) -> None:
    with pytest.raises(InputError) as caught:
        memory.record_turn("talk", "user", content)
    assert caught.value.hint
    assert memory.view.count("kind:episode") == 0
    assert memory.view.count_operations() == 0


@pytest.mark.parametrize(
    "content",
    ["a\0b", "x" * 500_000, "\ud800 alone", "[/] \x1b]52;c;!\x07", "e" + "\u0301" * 500, "\u202egnp.exe"],
)
def test_hostile_texts_are_kept_as_they_came(memory: Memory, content: str) -> None:
    turn = memory.record_turn("talk", "user", content)
    assert memory.get(turn.id).content == content.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert memory.files.check(deep=True).ok


@pytest.mark.parametrize("name", ["", "  ", "s" * 501, None])
def test_sessions_and_roles_have_names(memory: Memory, name: str) -> None:
    with pytest.raises(InputError):
        memory.record_turn(name, "user", "words")
    with pytest.raises(InputError):
        memory.record_turn("talk", name, "words")


def test_a_session_spans_its_turns_in_whatever_order_they_come(memory: Memory) -> None:
    for moment in (500, 100, 900, 300):
        memory.record_turn("talk", "user", f"at {moment}", moment)
    session = memory.view.session("talk")
    assert (session.first_seen_at, session.last_seen_at, session.turns) == (100, 900, 4)
    assert [turn.event_time for turn in memory.view.transcript("talk")] == [100, 300, 500, 900]


def test_a_session_keeps_the_source_and_project_it_learned_first(memory: Memory) -> None:
    memory.record_turn("talk", "user", "a", source="hook")
    memory.record_turn("talk", "user", "b", source="hook", project="ferry")
    memory.record_turn("talk", "user", "c", source="hook", project="tram")
    session = memory.view.session("talk")
    assert (session.source, session.project) == ("hook", "ferry")


def test_a_turn_does_not_fade(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "words")
    assert (turn.confidence, turn.decay_rate, turn.effective) == (1.0, 0.0, 1.0)


def test_the_background_leaves_few_segments_in_the_full_text_index(place: Path) -> None:
    """Every commit adds one; writers do not merge them, a search would have to look into each."""
    with Memory.open(place, options=QUIET) as memory:
        for number in range(100):
            memory.record_turn("talk", "user", f"turn {number} about the harbour and the ferry")

        def segments() -> int:
            with memory._core.connections.read() as connection:
                return int(connection.execute("SELECT count(DISTINCT segid) FROM memories_fts_idx").get)

        before = segments()
        memory.models.index_pending()
        assert segments() < min(before, 8)
        assert memory.view.count("harbour kind:episode") == 100
        assert memory.files.check(deep=True).ok


def test_the_background_moves_the_log_into_the_file(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        for number in range(50):
            memory.record_turn("talk", "user", f"turn {number}")
        memory.models.index_pending()
        with memory._core.connections.exclusive() as connection:
            busy, frames = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        assert busy == frames, "nothing was left to be moved"
