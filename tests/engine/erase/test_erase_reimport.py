"""What was erased does not come back with the files that it came from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from erase_kit import CJK, FACT, KEPT, TURN, open_memory, rows
from memtui import Memory

pytestmark = pytest.mark.usefixtures("near")


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def mem0(path: Path) -> Path:
    record = {
        "hash": "5f",
        "metadata": None,
        "created_at": "2026-02-03T10:00:00Z",
        "updated_at": None,
        "user_id": "ada",
    }
    texts = [("m1", FACT), ("m2", KEPT), ("m3", FACT)]
    path.write_text(json.dumps({"results": [{"id": id, "memory": text} | record for id, text in texts]}))
    return path


def graph(path: Path) -> Path:
    return write(
        path,
        {"type": "entity", "name": "Zanzibarova", "entityType": "person", "observations": [TURN]},
        {"type": "entity", "name": "Greenhouse", "entityType": "place", "observations": [KEPT]},
    )


def turns(path: Path) -> Path:
    return write(path, *({"role": "user", "content": text, "session": "s"} for text in (FACT, KEPT, CJK)))


@pytest.mark.parametrize("source", [mem0, graph, turns])
def test_importing_the_same_files_again_adds_nothing(memory: Memory, tmp_path: Path, source: object) -> None:
    path = source(tmp_path / "in.jsonl")  # type: ignore[operator]
    assert memory.files.import_paths([path]).imported
    memory.models.index_pending()
    chosen = [one.id for one in memory.view.page() if one.content != KEPT]
    assert memory.files.erase(memory.files.plan_erase(chosen)).complete
    for dry_run in (True, False):
        again = memory.files.import_paths([path], dry_run=dry_run)
        assert again.imported == 0, again
        assert again.reasons["erased for good"] >= 1
    assert [one.content for one in memory.view.page()] == [KEPT]


def test_our_own_export_brings_no_row_of_it_back(memory: Memory, tmp_path: Path) -> None:
    fact, turn = memory.remember(FACT), memory.record_turn("talk", "user", TURN)
    memory.remember(KEPT)
    memory.scratchpad.set("zxq", FACT)
    memory.questions.pin(FACT[:50])
    memory.models.index_pending()
    export = tmp_path / "out.jsonl"
    memory.files.export(export)
    assert memory.files.erase(memory.files.plan_erase([fact.id, turn.id])).complete
    before = memory.files.content_hash()
    assert memory.files.import_paths([export]).imported == 0
    assert memory.files.content_hash() == before
    assert memory.files.check(deep=True).findings == ()


def test_a_turn_that_a_hook_recorded_does_not_come_back_with_its_transcript(
    memory: Memory, tmp_path: Path
) -> None:
    talk = "5f0c9d52-7a41-4b0e-9f57-3c2f4f6f1e01"
    record = {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/work", "sessionId": talk,
        "version": "2.1.0", "type": "user", "message": {"role": "user", "content": TURN},
        "uuid": "00000000-0000-4000-8000-000000000001", "timestamp": "2026-03-04T10:00:00.250Z",
    }  # fmt: skip
    path = write(tmp_path / "talk.jsonl", record)
    memory.files.import_paths([path])
    [told] = memory.view.page()
    memory.undo(memory.view.operations()[0].op_id)
    assert told.session_id is not None
    said = memory.record_turn(told.session_id, "user", TURN, told.event_time + 40, source="hook:claude-code")
    assert memory.files.erase(memory.files.plan_erase([said.id])).complete
    again = record | {"uuid": "00000000-0000-4000-8000-000000000002", "timestamp": "2026-03-04T10:05:00Z"}
    later = record | {"uuid": "00000000-0000-4000-8000-000000000003", "timestamp": "2026-03-04T11:30:00Z"}
    write(path, record, again, later)
    assert memory.files.import_paths([path]).reasons == {"erased for good": 2}, (
        "one told twice is refused twice"
    )
    [new] = memory.view.page()
    assert new.event_time == told.event_time + 90 * 60, "said again much later, it is another turn"
    assert memory.files.import_paths([path]).imported == 0


@pytest.mark.parametrize(
    "stamps", [("2026-03-04T10:00:00Z", None), (None, "2026-03-04T10:00:00Z"), (None, None)]
)
def test_without_a_time_the_words_alone_tell_what_was_erased(
    stamps: tuple[str | None, str | None], memory: Memory, tmp_path: Path
) -> None:
    def told(id: str, stamp: str | None) -> Path:
        line = {"role": "user", "content": TURN, "session": "s", "id": id}
        return write(tmp_path / "in.jsonl", line if stamp is None else line | {"time": stamp})

    memory.files.import_paths([told("1", stamps[0])])
    assert memory.files.erase(memory.files.plan_erase([one.id for one in memory.view.page()])).complete
    assert memory.files.import_paths([told("2", stamps[1])]).reasons == {"erased for good": 1}


def test_a_restored_backup_does_not_let_it_in_either(home: Path, tmp_path: Path) -> None:
    source = turns(tmp_path / "in.jsonl")
    with open_memory(home) as memory:
        memory.files.import_paths([source])
        memory.backups.make("manual")
        [turn] = [one for one in memory.view.page() if one.content == FACT]
        assert memory.files.erase(memory.files.plan_erase([turn.id])).complete
        memory.backups.restore("latest")
        assert memory.view.count() == 2
        assert memory.files.import_paths([source]).imported == 0


def test_a_copy_of_ones_own_does_not_count_it_as_missing(home: Path, tmp_path: Path) -> None:
    with open_memory(home) as memory:
        fact, other = memory.remember(FACT), memory.remember(KEPT)
        mine = tmp_path / "mine.db"
        mine.write_bytes(memory.backups.make("manual").path.read_bytes())
        assert memory.files.erase(memory.files.plan_erase([fact.id])).complete
        memory.forget(other.id)
        memory.backups.restore_memories(mine)
        assert [one.content for one in memory.view.page()] == [KEPT]


def test_a_title_that_quoted_it_does_not_come_back_with_later_turns(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    place = tmp_path / "in.jsonl"
    title = {"part": FACT, "whole": "Of a jam", "kept": "Of a greenhouse"}
    said = [(session, text) for session in title for text in (FACT if session == "part" else TURN, KEPT)]

    def told() -> None:
        lines = [
            {"role": "user", "content": f"{text} {session}", "session": session, "title": title[session]}
            for session, text in said
        ]
        memory.files.import_paths([write(place, *lines)])

    told()
    chosen = [one.id for one in memory.view.page() if one.session_id == "part" and FACT in one.content]
    chosen += [one.id for one in memory.view.page() if one.session_id == "whole"]
    assert memory.files.erase(memory.files.plan_erase(chosen)).complete
    said += [(session, "Said later, and harmless") for session in title]
    told()
    titles = rows(home, "SELECT session_id, title FROM sessions_consolidations ORDER BY session_id")
    assert titles == [("kept", title["kept"]), ("part", None), ("whole", None)]
    said.append(("part", "Said last"))
    title["part"] = "A new title"
    told()
    assert rows(home, "SELECT title FROM sessions_consolidations WHERE session_id = 'part'") == [
        ("A new title",)
    ]


def test_reading_the_turn_that_stays_draws_no_erased_fact_again(memory: Memory) -> None:
    said = "My sister Nell is allergic to penicillin"
    memory.record_turn("talk", "user", said + ".")
    asyncio.run(memory.consolidate("talk"))
    (fact,) = memory.view.page(filter="kind:fact")
    plan = memory.files.plan_erase([fact.id])
    assert memory.files.erase(plan).complete
    assert [one.content for one in memory.view.page(filter="kind:episode")] == [said + "."]
    asyncio.run(memory.sessions.consolidate("talk", again=True))
    assert not memory.view.page(filter="kind:fact")
    memory.record_turn("later", "user", said + ".")
    asyncio.run(memory.consolidate("later"))
    assert [one.content for one in memory.view.page(filter="kind:fact")] == [said]
