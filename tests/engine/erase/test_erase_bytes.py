"""After an erase no byte of it is in any file: the memory, its log, its backups, whatever their format."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest
from erase_kit import CJK, FACT, KEPT, QUIET, TURN, found_in_bytes, old_backup, open_memory, rows, with_log
from memtui import Memory
from memtui.demo import create_demo
from memtui.engine.erase import proof as proofs
from memtui.engine.errors import InputError, NotFoundError, ReadOnlyError
from memtui.engine.records import Options

# Parts of the texts, names and words alone, in the spelling of the texts and of the index.
TRACES = (
    *("Quetzalcoatlus", "quetzalcoatlu", "zxqvelvet", "third flowerpot"),
    *("wvkrhubarb", "zanzibarova", "Zanzibarova", "not for the fair"),
    *("花生过敏", "王小明", "小明", "🦖🥜"),
)


def test_nothing_is_left_in_any_file_and_another_process_proves_it(home: Path) -> None:
    with Memory.open(home, options=Options(background=False)) as memory:  # with vectors
        fact = memory.remember(FACT, tags=["flowerpot-key"])
        cjk = memory.remember(CJK)
        turn = memory.record_turn("talk", "user", TURN)
        memory.record_turn("talk", "assistant", "Noted.")
        memory.remember(KEPT)
        memory.models.index_pending()
        memory.backups.make("manual")
        asyncio.run(memory.consolidate("talk"))
        memory.forget(cjk.id)
        memory.scratchpad.set("todo", f"ask about this: {FACT}")
        memory.backups.make("restore")
        vector = rows(home, "SELECT vector FROM embeddings WHERE rid = ?", fact.rid)[0][0]
    old = old_backup(home, 1, fact.id, FACT)
    with_log(old, f"UPDATE memories SET content = '{TURN}', id = '{turn.id}' WHERE rid = 1")
    assert len({piece for piece, _ in found_in_bytes(home.parent, [*TRACES, vector])}) == len(TRACES) + 1
    with Memory.open(home, options=Options(background=False)) as memory:
        plan = memory.files.plan_erase([fact.id, cjk.id, turn.id])
        assert {backup.holds for backup in plan.backups} == {
            1,
            3,
            4,
        }  # the last one: what was drawn from the turn, too
        proof = memory.files.erase(plan)
        assert (proof.complete, proof.found, proof.problems) == (True, 0, ())
        assert proof.backups_written == 3
        assert proof.pieces > 10
        assert sum(file.bytes for file in proof.files) == proof.bytes > 100_000
        assert memory.files.check(deep=True).ok
        assert memory.view.count("is:forgotten") == 0
        with pytest.raises(NotFoundError):
            memory.get(fact.id)
        assert not memory.search("zxqvelvet flowerpot key", preview=True).hits[:1] or all(
            hit.memory.content in (KEPT, "Noted.") for hit in memory.search("zxqvelvet", preview=True).hits
        )
        for backup in memory.backups.all():
            memory.backups.restore(backup.path.name)
            assert memory.files.check(deep=True).ok, memory.files.check(deep=True).findings
            assert memory.view.count() in (0, 2)
    assert found_in_bytes(home.parent, [*TRACES, vector[:48]]) == []
    assert rows(old, "PRAGMA user_version") == [(1,)]


def test_the_pages_of_a_long_text_are_written_over(memory: Memory, home: Path, near: None) -> None:
    """Whole pages that are let go of keep their bytes until the file is written anew."""
    words = " ".join(f"zxq{number:05}" for number in range(6_000))
    turn = memory.record_turn("s", "user", words)
    memory.record_turn("s", "user", KEPT)
    proof = memory.files.erase(memory.files.plan_erase([turn.id]))
    assert proof.complete, proof
    memory.close()
    assert found_in_bytes(home.parent, ["zxq00003", "zxq03000 zxq03001", "zxq05990"]) == []


def test_a_whole_life_is_erased_session_by_session(home: Path, near: None, full: bool) -> None:
    """Real words find what a few sentences do not: from the twentieth time on, FTS5's optimising kept some."""
    create_demo(home, now=1_790_000_000)
    with Memory.open(home, options=QUIET) as memory:
        talks = memory.view.sessions(limit=100)
        for talk in talks if full else talks[:3]:
            proof = memory.files.erase(memory.files.plan_erase(session_id=talk.session_id))
            assert proof.complete, (talk.title, proof)
        assert memory.files.check(deep=True).ok


def test_a_damaged_backup_is_told_and_goes_when_asked_for(memory: Memory, home: Path, near: None) -> None:
    fact = memory.remember(FACT)
    backup = memory.backups.make("manual").path
    content = backup.read_bytes()
    backup.write_bytes(content[:3000] + b"\xff" * 2000 + content[5000:20000] + FACT.encode())
    plan = memory.files.plan_erase([fact.id])
    assert [one.path for one in plan.damaged] == [backup]
    proof = memory.files.erase(plan)
    assert not proof.complete
    assert proof.found
    assert any(backup.name in problem for problem in proof.problems)
    assert memory.files.unfinished_erase() is not None
    assert not memory.files.check().ok
    proof = memory.files.resume_erase(delete_damaged=True)
    assert proof is not None
    assert proof.complete
    assert not backup.exists()
    assert memory.files.unfinished_erase() is None


def test_words_that_something_kept_says_too_are_told_and_no_failure(memory: Memory, near: None) -> None:
    fact = memory.remember("the code is 9471 aubergine")
    other = memory.record_turn("s", "user", "As I said, the code is 9471 aubergine. Got it?")
    plan = memory.files.plan_erase([fact.id])
    assert [(one.key, one.outcome, one.choice) for one in plan.carriers if one.key == other.id] == [
        (other.id, "kept", True)
    ]
    proof = memory.files.erase(plan)
    assert (proof.complete, proof.found) == (True, 0)
    assert {still.where for still in proof.kept} >= {f"episode {other.id}"}
    assert memory.get(other.id).content.startswith("As I said")


def test_words_that_memtui_uses_itself_are_no_leftovers(memory: Memory, near: None) -> None:
    fact = memory.remember("The schedule of embeddings and reflection is unchanged by foreign triggers")
    proof = memory.files.erase(memory.files.plan_erase([fact.id]))
    assert (proof.complete, proof.found, proof.kept) == (True, 0, ())


def test_only_the_person_erases_in_a_file_that_can_be_written(memory: Memory, home: Path) -> None:
    fact = memory.remember(FACT)
    plan = memory.files.plan_erase([fact.id])
    for actor in ("agent:x", "scheduler", "import"):
        with open_memory(home, actor=actor) as other, pytest.raises(InputError):
            other.files.erase(plan)
    with open_memory(home, readonly=True) as other, pytest.raises(ReadOnlyError):
        other.files.erase(plan)
    memory.remember(f"again: {FACT}")
    with pytest.raises(InputError, match="has changed since"):
        memory.files.erase(plan)
    assert memory.get(fact.id).content == FACT
    assert memory.files.unfinished_erase() is None


def test_pieces_are_found_wherever_they_stand_and_only_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = 4096
    monkeypatch.setattr(proofs, "_CHUNK", chunk)
    place = tmp_path / "file"
    for start in (0, 1, 7, chunk - 5, chunk - 11, chunk, 2 * chunk + 3, 3 * chunk - 11):
        data = bytearray(b"ab" * (3 * chunk // 2))
        data[start : start + 11] = b"needle 4711"
        place.write_bytes(data)
        assert proofs.search_file(place, [b"needle 4711", b"needle 4712", b"abababab"]) == {0, 2}
    place.write_bytes(b"tiny")
    assert proofs.search_file(place, [b"needle 4711"]) == set()


def test_a_file_in_utf_16_is_searched_in_it(tmp_path: Path) -> None:
    place = tmp_path / "wide.db"
    connection = apsw.Connection(str(place))
    connection.execute("PRAGMA encoding = 'UTF-16le'")
    connection.execute("CREATE TABLE t(x)")
    connection.execute("INSERT INTO t VALUES ('a wide secret')")
    connection.close()
    (piece,) = proofs.pieces_of(["a wide secret"])
    assert proofs.search_file(place, proofs.encoded_forms(piece, proofs.encoding_of(place))) == {1}


def test_a_memory_without_a_file_is_erased_as_well() -> None:
    with Memory.open(":memory:", options=QUIET) as memory:
        fact = memory.remember(FACT)
        proof = memory.files.erase(memory.files.plan_erase([fact.id]))
        assert (proof.complete, proof.files) == (True, ())
        assert memory.view.count() == 0


def test_a_proof_is_not_made_by_what_lies_in_the_current_folder(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "here" / "memtui" / "engine"
    fake.mkdir(parents=True)
    for folder in (fake, fake.parent):
        (folder / "__init__.py").touch()
    (fake / "proof.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path / "here")
    with Memory.open(place, options=Options(background=False, embedder="off")) as memory:
        fact = memory.remember("The walnut allergy of Ada Lovelace is severe")
        assert memory.files.erase(memory.files.plan_erase([fact.id])).complete
