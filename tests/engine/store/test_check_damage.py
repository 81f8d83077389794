"""Every index is damaged on purpose: the check finds it, repair mends it, and no base row is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import CorruptFileError, ReadOnlyError
from memtui.engine.records import Options

from state_hash import covered_rows

OPTIONS = Options(background=False)
TEXTS = (
    "Ada Lovelace moved from Porto to Lisbon in March",
    "The ferry to Bergen leaves at nine in the morning",
    "Grace keeps the lighthouse and its old engine running",
    "東京都の灯台はとても古い",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with Memory.open(path, options=OPTIONS) as memory:
        for text in TEXTS:
            memory.record_turn("talk", "user", f"Yesterday I heard: {text}")
            memory.remember(text)
        memory.correct(memory.remember("Ada lives in Porto").id, "Ada lives in Lisbon")
        memory.forget(memory.remember("to be forgotten").id)
        memory.index_pending()
    return path


@pytest.fixture
def memory(whole: Path, place: Path) -> Iterator[Memory]:
    place.write_bytes(whole.read_bytes())
    place.chmod(0o600)
    with Memory.open(place, options=OPTIONS) as opened:
        assert opened.check(deep=True).findings == ()
        yield opened


def execute(memory: Memory, *statements: str) -> None:
    """As a program would that knows nothing of the rules (and has no foreign keys on)."""
    with memory._connections.exclusive() as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        try:
            for statement in statements:
                connection.execute(statement)
        finally:
            connection.execute("PRAGMA foreign_keys = ON")


def base_rows(memory: Memory) -> list[object]:
    with memory._connections.read() as connection:
        return list(covered_rows(connection))


def drop(trigger: str) -> str:
    return f"DROP TRIGGER {trigger}"


def lose_a_text(memory: Memory) -> None:
    execute(
        memory,
        "INSERT INTO memories_fts(memories_fts, rowid, context, content) "
        "SELECT 'delete', rid, context, content FROM memories_text WHERE rid = 1",
    )


def index_another_text(memory: Memory) -> None:
    """The words are there, under the wrong row: only a comparison with the texts finds it."""
    execute(
        memory,
        "INSERT INTO facts_fts(facts_fts, rowid, context, content) SELECT 'delete', rid, context, content FROM facts_text "
        "WHERE rid = 2",
        "INSERT INTO facts_fts(rowid, context, content) VALUES (2, '', 'something else altogether')",
    )


def lose_a_link(memory: Memory) -> None:
    execute(memory, "DELETE FROM memory_links")


def invent_a_link(memory: Memory) -> None:
    execute(
        memory,
        "INSERT INTO memory_links SELECT a.id, 'source', b.id FROM memories a, memories b WHERE a.rid = 1 AND b.rid = 3",
    )


def miscount_mentions(memory: Memory) -> None:
    execute(memory, "UPDATE entities SET mention_count = mention_count + 2 WHERE eid = 1")


def misdate_a_link(memory: Memory) -> None:
    execute(
        memory, "UPDATE memory_entities SET at = at + 1 WHERE rid = (SELECT min(rid) FROM memory_entities)"
    )


def miscount_votes(memory: Memory) -> None:
    execute(memory, "UPDATE entity_votes SET votes = votes + 1")


def drop_a_trigger(memory: Memory) -> None:
    execute(memory, drop("history_memories_update"))


def replace_a_trigger(memory: Memory) -> None:
    execute(
        memory, drop("text_insert"), "CREATE TRIGGER text_insert AFTER INSERT ON memories BEGIN SELECT 1; END"
    )


def lose_a_vector_entry(memory: Memory) -> None:
    execute(memory, "DELETE FROM vec_memories_a WHERE rid = 1")


def invent_a_vector_entry(memory: Memory) -> None:
    execute(
        memory,
        "INSERT INTO vec_memories_a(rid, kind, embedding) SELECT 999, 'fact', vec_int8(vector) FROM embeddings WHERE rid = 1",
    )


def change_a_vector(memory: Memory) -> None:
    execute(
        memory, drop("vectors_update"),
        "UPDATE embeddings SET vector = (SELECT vector FROM embeddings WHERE rid = 3) WHERE rid = 1",
    )  # fmt: skip


def zero_a_vector(memory: Memory) -> None:
    execute(memory, "UPDATE embeddings SET vector = zeroblob(256) WHERE rid = 2")


def shorten_a_vector(memory: Memory) -> None:
    execute(memory, "UPDATE embeddings SET vector = x'01', dims = 1 WHERE rid = 1")


def lose_a_vector(memory: Memory) -> None:
    execute(memory, "DELETE FROM embeddings WHERE rid = 1")


def leave_an_operation_open(memory: Memory) -> None:
    execute(memory, "INSERT INTO current_op(one, op_id) VALUES (1, 1)")


def open_to_others(memory: Memory) -> None:
    assert memory.path is not None
    memory.path.chmod(0o644)


DAMAGES: dict[Callable[[Memory], None], str] = {
    lose_a_text: "full text",
    index_another_text: "full text",
    lose_a_link: "links",
    invent_a_link: "links",
    miscount_mentions: "entities",
    misdate_a_link: "entities",
    miscount_votes: "entities",
    drop_a_trigger: "schema",
    replace_a_trigger: "schema",
    lose_a_vector_entry: "vector index",
    invent_a_vector_entry: "vector index",
    change_a_vector: "vector index",
    zero_a_vector: "embeddings",
    shorten_a_vector: "embeddings",
    lose_a_vector: "embeddings",
    leave_an_operation_open: "history",
    open_to_others: "permissions",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_found_and_repaired_without_touching_base_rows(
    damage: Callable[[Memory], None], memory: Memory
) -> None:
    if damage is open_to_others and os.name == "nt":
        pytest.skip("modes of POSIX")
    before = base_rows(memory)
    damage(memory)
    found = memory.check(deep=True)
    assert DAMAGES[damage] in {finding.check for finding in found.findings}
    assert all(finding.repairable and finding.message for finding in found.findings)
    assert found.ok == all(finding.severity == "warning" for finding in found.findings)

    report = memory.check(deep=True, repair=True)
    assert DAMAGES[damage] in report.repaired
    memory.index_pending()
    assert memory.check(deep=True).findings == ()
    assert base_rows(memory) == before
    assert len(list((memory.path or Path()).parent.glob("backups/*-repair.db"))) == 1
    assert memory.view.count("ferry kind:fact") == 1


def test_the_quick_check_finds_what_needs_no_read_of_every_text(memory: Memory) -> None:
    for damage in (
        lose_a_text,
        lose_a_link,
        miscount_mentions,
        drop_a_trigger,
        lose_a_vector_entry,
        zero_a_vector,
    ):
        damage(memory)
    found = {finding.check for finding in memory.check().findings}
    assert found >= {"full text", "links", "entities", "schema", "vector index", "embeddings"}
    assert memory.check(repair=True).ok
    assert memory.check(deep=True).ok


BASE_DAMAGES: dict[str, tuple[str, ...]] = {
    "ids do not match their kind": ("UPDATE memories SET id = 'obs_1' WHERE rid = 1",),
    "content hashes are wrong": ("UPDATE memories SET content_hash = 'nonsense' WHERE rid = 1",),
    "confirmed facts must not decay": ("UPDATE memories SET decay_rate = 0.2 WHERE confirmed_at IS NOT NULL",),
    "name sources that are gone": ("UPDATE memories SET source_ids = '[\"ep_gone\"]' WHERE rid = 2",),
    "derive from themselves": (
        "UPDATE memories SET source_ids = json_array((SELECT id FROM memories WHERE rid = 4)) WHERE rid = 2",
        "UPDATE memories SET source_ids = json_array((SELECT id FROM memories WHERE rid = 2)) WHERE rid = 4",
    ),
    "are not registered": ("DELETE FROM sessions_consolidations",),
    "impossible times": ("UPDATE sessions_consolidations SET first_seen_at = last_seen_at + 1",),
    "watermarks": ("UPDATE sessions_consolidations SET consolidated_through = 99999",),
    "belong to no operation": ("DELETE FROM ops WHERE op_id = 1",),
    "a job changed": (
        "INSERT INTO ops(at, actor, kind, label) VALUES (unixepoch() + 9, 'scheduler', 'decay', 'x')",
        "INSERT INTO changes(op_id, tbl, act, lo, hi, before, after) "
        "SELECT max(op_id), 'memories', 'update', 2, 2, '{}', '{}' FROM ops",
    ),
    "in the future": ("UPDATE memories SET created_at = unixepoch() + 9 * 86400 WHERE rid = 1",),
}  # fmt: skip


@pytest.mark.parametrize("said", BASE_DAMAGES)
def test_damage_to_base_rows_is_found_and_left_to_the_person(said: str, memory: Memory) -> None:
    execute(memory, *BASE_DAMAGES[said])
    before = base_rows(memory)
    report = memory.check(deep=True, repair=True)
    assert said in " ".join(finding.message for finding in report.findings)
    assert base_rows(memory) == before
    assert report.ok == (said == "in the future")


def test_the_rows_of_a_finding_are_named(memory: Memory) -> None:
    execute(memory, "UPDATE memories SET content_hash = 'nonsense' WHERE rid <= 2")
    [finding] = memory.check(deep=True).findings
    assert [memory.get(identity).rid for identity in finding.ids] == [1, 2]


def test_an_unknown_table_or_a_missing_index_is_said(memory: Memory) -> None:
    execute(memory, "CREATE TABLE stowaway (x)", "DROP INDEX memories_by_time")
    messages = {finding.message for finding in memory.check().findings}
    assert messages == {"table stowaway is unknown", "index memories_by_time is missing"}


def test_damaged_pages_are_a_finding_and_are_never_repaired_away(memory: Memory) -> None:
    path = memory.path
    assert path is not None
    memory.close()
    content = bytearray(path.read_bytes())
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_entities_back'").get
    connection.close()
    content[(root - 1) * 4096 + 8 : (root - 1) * 4096 + 64] = b"\xff" * 56
    path.write_bytes(bytes(content))
    with Memory.open(path, options=OPTIONS) as damaged:
        report = damaged.check()
        assert not report.ok
        assert "pages" in {finding.check for finding in report.findings}
        try:
            damaged.check(repair=True)
        except CorruptFileError as error:
            assert "Nothing was repaired" in error.message


def test_a_readonly_memory_is_checked_but_not_repaired(memory: Memory) -> None:
    lose_a_link(memory)
    assert memory.path is not None
    with Memory.open(memory.path, readonly=True, options=OPTIONS) as reader:
        report = reader.check(deep=True)
        assert "links" in {finding.check for finding in report.findings}
        with pytest.raises(ReadOnlyError):
            reader.check(repair=True)


def test_a_memory_that_is_whole_is_neither_backed_up_nor_changed_by_repair(memory: Memory) -> None:
    report = memory.check(deep=True, repair=True)
    assert report.ok and report.repaired == ()
    assert not (memory.path or Path()).with_name("backups").exists()


def test_the_harness_catches_a_check_without_rank_1(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it FTS5 looks at its own structure only, which is whole."""
    monkeypatch.setattr(
        "memtui.engine.store.invariants._FULL_TEXT", dict.fromkeys(("memories_fts", "facts_fts"), 0)
    )
    index_another_text(memory)
    assert "full text" not in {finding.check for finding in memory.check(deep=True).findings}
