"""Everything derived is damaged on purpose: the check finds it, repair mends it, and no base row is touched.

Must fail on: a full-text check without rank 1, which looks at the structure of the index only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import CorruptFileError, ReadOnlyError
from memtui.engine.records import Options
from memtui.engine.store import full_text, history
from memtui.engine.store.check.structure import DERIVED, expected_schema

from state_hash import all_rids, covered_rows

pytestmark = pytest.mark.repair

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
        for text in TEXTS:
            memory.observations.remember_one(f"Seen in the harbour: {text}", "insight")
        memory.correct(memory.remember("Ada lives in Porto").id, "Ada lives in Lisbon")
        memory.forget(memory.remember("to be forgotten").id)
        memory.models.index_pending()
    return path


@pytest.fixture
def memory(whole: Path, place: Path) -> Iterator[Memory]:
    place.write_bytes(whole.read_bytes())
    place.chmod(0o600)
    with Memory.open(place, options=OPTIONS) as opened:
        opened._core.connections.checkpoint()
        assert opened.files.check(deep=True).findings == ()
        yield opened


def execute(memory: Memory, *statements: str) -> None:
    """As a program would that knows nothing of the rules (and has no foreign keys on)."""
    with memory._core.connections.exclusive() as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        try:
            for statement in statements:
                connection.execute(statement)
        finally:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA ignore_check_constraints = OFF")


def base_rows(memory: Memory) -> list[object]:
    with memory._core.connections.read() as connection:
        return [memory.files.content_hash(), *covered_rows(connection)]


def behind_its_back(memory: Memory, *statements: str) -> None:
    """As a program would that knows no DEFENSIVE mode, and may write the inner tables of an index."""
    connection = apsw.Connection(str(memory.path))
    connection.set_busy_timeout(5_000)
    try:
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


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


def index_another_observation(memory: Memory) -> None:
    execute(
        memory,
        "INSERT INTO observations_fts(observations_fts, rowid, content) SELECT 'delete', rid, content "
        "FROM observations_text LIMIT 1",
        "INSERT INTO observations_fts(rowid, content) SELECT rid, 'something else altogether' FROM observations_text LIMIT 1",
    )


def lose_the_bigrams(memory: Memory) -> None:
    execute(memory, "INSERT INTO memories_cjk(memories_cjk) VALUES ('delete-all')")


def tear(table: str) -> Callable[[Memory], None]:
    """The index loses some of its pages."""

    def damage(memory: Memory) -> None:
        behind_its_back(memory, f"DELETE FROM {table}_data WHERE id > 10")

    damage.__name__ = f"tear_{table}"
    return damage


def lose_inner_table(table: str) -> Callable[[Memory], None]:
    def damage(memory: Memory) -> None:
        behind_its_back(memory, f"DROP TABLE {table}_docsize")

    damage.__name__ = f"lose_the_sizes_of_{table}"
    return damage


def lose_table(table: str) -> Callable[[Memory], None]:
    def damage(memory: Memory) -> None:
        execute(memory, f"DROP TABLE {table}")

    damage.__name__ = f"lose_{table}"
    return damage


def spoil_the_folding(memory: Memory) -> None:
    execute(
        memory, "UPDATE folding SET indexed = 'x' WHERE place = 7", "DELETE FROM folding WHERE place = 30"
    )


def lose_every_index(memory: Memory) -> None:
    execute(memory, *(f"DROP INDEX {name}" for kind, name in expected_schema() if kind == "index"))


def lose_every_vocabulary(memory: Memory) -> None:
    execute(memory, *(f"DROP TABLE {table}" for table in full_text.VOCABULARIES))


def lose_a_view(memory: Memory) -> None:
    execute(memory, "DROP VIEW observations_text")


def change_a_view(memory: Memory) -> None:
    execute(
        memory, "DROP VIEW observations_text", "CREATE VIEW observations_text(rid, content) AS SELECT 1, 'x'"
    )


def invent_an_index(memory: Memory) -> None:
    execute(memory, "CREATE INDEX mine ON memories(content)")


def invent_a_trigger(memory: Memory) -> None:
    execute(memory, "CREATE TRIGGER mine AFTER INSERT ON memories BEGIN SELECT 1; END")


def write_past_an_index(memory: Memory) -> None:
    """A row that an index does not know of: the index is hidden from SQLite while it is written."""
    connection = apsw.Connection(str(memory.path))
    entry = connection.execute("SELECT * FROM sqlite_schema WHERE name = 'recalls_by_time'").get
    connection.close()
    behind_its_back(memory, "DELETE FROM sqlite_schema WHERE name = 'recalls_by_time'")
    behind_its_back(memory, "INSERT INTO recalls(at, agent, query, memory_ids) VALUES (1, 'a', 'q', '[]')")
    connection = apsw.Connection(str(memory.path))
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", entry)
    connection.close()


def count_keys_from_the_start(memory: Memory) -> None:
    behind_its_back(memory, "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'memories'")


def link_what_is_gone(memory: Memory) -> None:
    execute(memory, "INSERT INTO memory_entities(rid, eid) VALUES (999, 1)")


def keep_a_vector_of_nothing(memory: Memory) -> None:
    execute(
        memory,
        "INSERT INTO embeddings SELECT model_id, 999, dims, dtype, vector FROM embeddings WHERE rid = 1",
    )


def lose_the_vector_index(memory: Memory) -> None:
    execute(memory, "DROP TABLE vec_memories_a")


def lose_an_inner_table_of_the_vector_index(memory: Memory) -> None:
    behind_its_back(memory, "DELETE FROM vec_memories_a_rowids")


def restart_the_log_of_vectors(memory: Memory) -> None:
    behind_its_back(memory, "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'vector_log'")


def garble_what_was_judged(memory: Memory) -> None:
    execute(memory, "INSERT OR REPLACE INTO memory_metadata VALUES ('judged', '{not json')")


def judge_ahead(memory: Memory) -> None:
    execute(memory, "INSERT OR REPLACE INTO memory_metadata VALUES ('judged', '{\"through\": 99999}')")


def forget_which_vector_index(memory: Memory) -> None:
    execute(memory, "UPDATE memory_metadata SET value = 'z' WHERE key = 'vector_index'")


def open_the_backups_to_others(memory: Memory) -> None:
    made = memory.backups.make()
    made.path.chmod(0o640)
    made.path.parent.chmod(0o755)


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
    open_the_backups_to_others: "permissions",
    index_another_observation: "full text",
    lose_the_bigrams: "full text",
    **{tear(table): "full text" for table in full_text.ALL_TABLES},
    **{lose_inner_table(table): "schema" for table in full_text.ALL_TABLES},
    **{lose_table(table): "schema" for table in (*full_text.ALL_TABLES, *DERIVED)},
    lose_table("folding"): "schema",
    spoil_the_folding: "schema",
    lose_every_index: "schema",
    lose_every_vocabulary: "schema",
    lose_a_view: "schema",
    change_a_view: "schema",
    invent_an_index: "schema",
    invent_a_trigger: "schema",
    write_past_an_index: "pages",
    count_keys_from_the_start: "schema",
    link_what_is_gone: "foreign keys",
    keep_a_vector_of_nothing: "foreign keys",
    lose_the_vector_index: "vector index",
    lose_an_inner_table_of_the_vector_index: "vector index",
    restart_the_log_of_vectors: "embeddings",
    garble_what_was_judged: "cached",
    judge_ahead: "cached",
    forget_which_vector_index: "cached",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_found_and_repaired_without_touching_base_rows(
    damage: Callable[[Memory], None], memory: Memory
) -> None:
    if DAMAGES[damage] == "permissions" and os.name == "nt":
        pytest.skip("modes of POSIX")
    before = base_rows(memory)
    damage(memory)
    found = memory.files.check(deep=True)
    assert DAMAGES[damage] in {finding.check for finding in found.findings}
    assert all(finding.repairable and finding.message and finding.remedy for finding in found.findings)
    assert found.ok == all(finding.severity == "warning" for finding in found.findings)

    report = memory.files.check(deep=True, repair=True)
    assert {DAMAGES[damage], "schema"} & {mended.check for mended in report.repaired}
    assert all(mended.did.endswith(".") for mended in report.repaired)
    memory.models.index_pending()
    assert memory.files.check(deep=True).findings == ()
    assert base_rows(memory) == before
    assert memory.path is not None
    assert [str(path) for path in memory.path.parent.glob("backups/*-repair.db")] == [report.backup]
    assert memory.view.count("ferry kind:fact") == 1


def test_every_index_that_is_missing_is_named(memory: Memory) -> None:
    lose_every_index(memory)
    said = {finding.message for finding in memory.files.check().findings}
    assert said == {f"index {name} is missing" for kind, name in expected_schema() if kind == "index"}


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
    found = {finding.check for finding in memory.files.check().findings}
    assert found >= {"full text", "links", "entities", "schema", "vector index", "embeddings"}
    assert memory.files.check(repair=True).ok
    assert memory.files.check(deep=True).ok


# For what the file's own rules would refuse.
UNCHECKED = "PRAGMA ignore_check_constraints = ON"

BASE_DAMAGES: dict[str, tuple[str, ...]] = {
    "ids do not match their kind": ("UPDATE memories SET id = 'obs_1' WHERE rid = 1",),
    "content hashes are wrong": ("UPDATE memories SET content_hash = 'nonsense' WHERE rid = 1",),
    "confidences lie outside": (UNCHECKED, "UPDATE memories SET confidence = 7 WHERE rid = 1"),
    "JSON columns cannot be read": (UNCHECKED, "UPDATE memories SET tags = 'red, blue' WHERE rid = 1"),
    "something else than they should": ("UPDATE memories SET tags = '{}' WHERE rid = 1",),
    "times that no calendar has": ("UPDATE memories SET event_time = event_time * 1000 WHERE rid = 1",),
    "the Trash must say why": (UNCHECKED, "UPDATE memories SET ended_by = 'faded' WHERE rid = 1"),
    "only facts decay": (UNCHECKED, "UPDATE memories SET decay_rate = 0.1 WHERE rid = 1"),
    "confirmed facts must not decay": ("UPDATE memories SET decay_rate = 0.2 WHERE confirmed_at IS NOT NULL",),
    "name sources that are gone": ("UPDATE memories SET source_ids = '[\"ep_gone\"]' WHERE rid = 2",),
    "derive from themselves": (
        "UPDATE memories SET source_ids = json_array((SELECT id FROM memories WHERE rid = 4)) WHERE rid = 2",
        "UPDATE memories SET source_ids = json_array((SELECT id FROM memories WHERE rid = 2)) WHERE rid = 4",
    ),
    "entities have no name": ("UPDATE entities SET canonical_name = ' ' WHERE eid = 1",),
    "rows of profiles cannot be read": (UNCHECKED, "INSERT INTO profiles(name, settings) VALUES ('mine', '{')"),
    "entity_aliases point at something": ("INSERT INTO entity_aliases(key, entity_id, alias) VALUES ('x', 999, 'X')",),
    "is not registered": ("DELETE FROM sessions_consolidations",),
    "impossible times": ("UPDATE sessions_consolidations SET first_seen_at = last_seen_at + 1",),
    "watermarks": ("UPDATE sessions_consolidations SET consolidated_through = 99999, consolidated_at = 1",),
    "or watermarks": ("UPDATE sessions_consolidations SET consolidated_at = 1",),
    "ran more than once": (
        "DROP INDEX job_runs_once",
        "INSERT INTO job_runs(job, period, state, started_at, finished_at) VALUES ('decay', '2026-03-01', 'done', 1, 2), "
        "('decay', '2026-03-01', 'done', 3, 4)",
    ),
    "belong to no operation": ("DELETE FROM ops WHERE op_id = 1",),
    "changes that cannot be read": ("UPDATE changes SET lo = hi + 1 WHERE seq = 1",),
    "a job, model or agent changed": (
        "INSERT INTO ops(at, actor, kind, label) VALUES (unixepoch() + 9, 'scheduler', 'decay', 'x')",
        "INSERT INTO changes(op_id, tbl, act, lo, hi, before, after) "
        "SELECT max(op_id), 'memories', 'update', 2, 2, '{\"confidence\": 0.5}', '{\"confidence\": 1}' FROM ops",
    ),
    "recorded in the future": ("UPDATE memories SET created_at = unixepoch() + 9 * 86400 WHERE rid = 1",),
    "operations were made in the future": ("UPDATE ops SET at = unixepoch() + 9 * 86400 WHERE op_id = 1",),
    "sessions were consolidated, or wait, in the future": (
        "UPDATE sessions_consolidations SET next_attempt_at = unixepoch() + 9 * 86400",
    ),
    "table stowaway is unknown": ("CREATE TABLE stowaway (x)",),
    "table scratchpad is missing": ("DROP TABLE scratchpad",),
    "table recalls differs": ("ALTER TABLE recalls ADD COLUMN mood TEXT",),
}  # fmt: skip


@pytest.mark.parametrize("said", BASE_DAMAGES)
def test_damage_to_base_rows_is_found_told_and_left_to_the_person(said: str, memory: Memory) -> None:
    execute(memory, *BASE_DAMAGES[said])
    before = base_table(memory)
    found = memory.files.check(deep=True).findings
    assert all(one.total >= len(one.ids) for one in found)
    report = memory.files.check(deep=True, repair=True)
    left = [finding for finding in report.findings if said in finding.message]
    assert left and left[0].remedy and not left[0].repairable
    assert base_table(memory) == before
    assert report.ok == ("future" in said)


def base_table(memory: Memory) -> list[object]:
    """Also where a table is missing, and content_hash with it."""
    with memory._core.connections.read() as connection:
        return [
            row
            for table in (
                "memories",
                "entities",
                "entity_aliases",
                "sessions_consolidations",
                "ops",
                "changes",
                "recalls",
            )
            for row in connection.execute(f"SELECT * FROM {table}")
        ]


def test_several_damages_at_once_are_mended_together(memory: Memory) -> None:
    before = base_rows(memory)
    execute(memory, "UPDATE memories SET content_hash = 'nonsense' WHERE rid = 1")
    together = [
        damage for damage, check in DAMAGES.items()
        if check in ("full text", "links", "entities", "cached", "history", "foreign keys", "permissions")
        and not damage.__name__.startswith("lose_the_sizes")
    ]  # fmt: skip
    for damage in together:
        damage(memory)
    report = memory.files.check(deep=True, repair=True)
    assert [finding.message for finding in report.findings] == ["content hashes are wrong (1)"]
    assert {mended.check for mended in report.repaired} >= {
        "full text",
        "links",
        "entities",
        "cached",
        "foreign keys",
    }
    assert base_rows(memory)[2:] == before[2:]


def test_the_rows_of_a_finding_are_named(memory: Memory) -> None:
    execute(memory, "UPDATE memories SET content_hash = 'nonsense' WHERE rid <= 2")
    [finding] = memory.files.check(deep=True).findings
    assert [memory.get(id).rid for id in finding.ids] == [1, 2]


@pytest.mark.parametrize(
    ("actor", "kind"), [("scheduler", "decay"), ("person", "consolidate"), ("agent:coach", "merge")]
)
def test_who_touched_what_was_protected_is_told_even_when_it_is_no_longer(
    actor: str, kind: str, memory: Memory
) -> None:
    confirmed, open_one = (
        memory.get(fact_named(memory, "ferry")),
        memory.get(fact_named(memory, "Porto to Lisbon")),
    )
    with memory._core.connections.write() as connection:
        connection.execute(
            "UPDATE memories SET confirmed_at = NULL, decay_rate = 0.1 WHERE rid = ?", (open_one.rid,)
        )
    with history.operation(memory._core.connections, memory._core.clock, actor, kind, "meddled") as op:
        op.connection.execute(
            "UPDATE memories SET confidence = 0.4 WHERE rid IN (?, ?)", (confirmed.rid, open_one.rid)
        )
    memory.confirm(open_one.id)
    assert [finding.ids for finding in memory.files.check().findings if finding.check == "protection"] == [
        (confirmed.id,)
    ]
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memories SET confirmed_at = NULL WHERE rid = ?", (confirmed.rid,))
    assert [finding.ids for finding in memory.files.check().findings if finding.check == "protection"] == [
        (confirmed.id,)
    ]


def fact_named(memory: Memory, words: str) -> str:
    return memory.view.rows(all_rids(memory, f"kind:fact {words}"))[0].id


def test_a_rule_that_the_rows_break_is_left_and_the_rest_is_mended(memory: Memory) -> None:
    execute(
        memory, "DROP INDEX job_runs_once", "DROP INDEX recalls_by_time",
        "INSERT INTO job_runs(job, period, state, started_at, finished_at) VALUES ('decay', '2026-03-01', 'done', 1, 2), "
        "('decay', '2026-03-01', 'done', 3, 4)",
    )  # fmt: skip
    report = memory.files.check(repair=True)
    assert {finding.message for finding in report.findings} == {
        "index job_runs_once is missing", "1 job ran more than once: decay for 2026-03-01 (2 times)",
    }  # fmt: skip
    assert [mended.did for mended in report.repaired] == [
        "Made the schema that of this version: index recalls_by_time."
    ]


def test_a_finding_about_very_many_rows_names_some_and_counts_all(memory: Memory) -> None:
    with memory._core.connections.write() as connection:
        connection.execute(
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO memories(id, kind, "
            "content, content_hash, trust, event_time, created_at) SELECT printf('ep_%d', i), 'episode', 'a', 'b', "
            "'user', 1, 1 FROM n"
        )
    [finding] = [one for one in memory.files.check(deep=True).findings if one.check == "rows"]
    assert (len(finding.ids), finding.total, finding.about) == (200, 300, "memories")


def test_an_unknown_table_or_a_missing_index_is_said(memory: Memory) -> None:
    execute(memory, "CREATE TABLE stowaway (x)", "DROP INDEX memories_by_time")
    messages = {finding.message for finding in memory.files.check().findings}
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
        report = damaged.files.check()
        assert not report.ok
        assert "pages" in {finding.check for finding in report.findings}
        try:
            damaged.files.check(repair=True)
        except CorruptFileError as error:
            assert "Nothing was repaired" in error.message


def test_a_readonly_memory_is_checked_but_not_repaired(memory: Memory) -> None:
    lose_a_link(memory)
    assert memory.path is not None
    with Memory.open(memory.path, readonly=True, options=OPTIONS) as reader:
        report = reader.files.check(deep=True)
        assert "links" in {finding.check for finding in report.findings}
        with pytest.raises(ReadOnlyError):
            reader.files.check(repair=True)


def test_a_memory_that_is_whole_is_neither_backed_up_nor_changed_by_repair(memory: Memory) -> None:
    report = memory.files.check(deep=True, repair=True)
    assert report.ok and report.repaired == ()
    assert not (memory.path or Path()).with_name("backups").exists()


def test_the_harness_catches_a_check_without_rank_1(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it FTS5 looks at its own structure only, which is whole."""
    monkeypatch.setattr("memtui.engine.store.check.indexes.RANKS", dict.fromkeys(full_text.TABLES, 0))
    monkeypatch.setattr("memtui.engine.store.check.indexes._SAMPLE", 0)
    with pytest.raises(AssertionError):
        test_damage_is_found_and_repaired_without_touching_base_rows(index_another_text, memory)
