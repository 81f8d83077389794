"""The way from one file format to the next: backed up first, whole or not at all, never backwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.errors import CorruptFileError, NewerFileError, OlderFileError
from memtui.engine.records import Options, Profile
from memtui.engine.store import migration, tables, triggers
from memtui.engine.store.check import structure
from memtui.engine.store.memories import content_hash
from memtui.engine.store.migration import Migration

from state_hash import state_hash

OPTIONS = Options(background=False, embedder="off")
CURRENT = migration.current_version()
ADDS_A_TABLE = Migration(CURRENT + 1, "moods", "CREATE TABLE moods (rid INTEGER PRIMARY KEY) STRICT")
ADDS_ANOTHER = Migration(CURRENT + 2, "more", "CREATE TABLE more (rid INTEGER PRIMARY KEY) STRICT")


@pytest.fixture
def old(place: Path) -> Path:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.correct(memory.remember("Ada lives in Porto").id, "Ada lives in Lisbon")
        memory.record_turn("talk", "user", "words")
    return place


@pytest.fixture(autouse=True)
def _what_a_file_should_hold() -> Iterator[None]:
    """It is kept in mind, and here it changes from test to test."""
    structure.expected_schema.cache_clear()
    yield
    structure.expected_schema.cache_clear()


def next_version(monkeypatch: pytest.MonkeyPatch, *steps: Migration) -> None:
    known = migration.load_migrations()
    monkeypatch.setattr(migration, "load_migrations", lambda: (*known, *steps))


def look(path: Path) -> tuple[int, set[str], str]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        return connection.pragma("user_version"), tables & {"moods", "more"}, state_hash(connection)
    finally:
        connection.close()


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [step.version for step in migration.load_migrations()] == list(range(1, CURRENT + 1))


def contents(connection: apsw.Connection) -> dict[str, list[tuple[object, ...]]]:
    """The rows of every table but the inner ones of full text; of a virtual table its configuration alone."""
    names = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*' "
        "AND (type = 'table' OR name GLOB '*_fts_config')"
    ).fetchall()
    return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for (name,) in names}


def test_a_new_file_and_one_that_went_through_every_format_are_the_same() -> None:
    made, upgraded = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    migration.create_schema(made)
    migration.apply_pending(upgraded)
    assert structure.existing_schema(made) == structure.existing_schema(upgraded)
    for pragma in ("user_version", "page_size", "encoding", "auto_vacuum"):
        assert made.pragma(pragma) == upgraded.pragma(pragma)
    of_a_new_file, of_an_old_one = contents(made), contents(upgraded)
    for table in of_a_new_file:
        columns = f"SELECT * FROM pragma_table_xinfo('{table}')"
        assert made.execute(columns).fetchall() == upgraded.execute(columns).fetchall()
    for rows in (of_a_new_file, of_an_old_one):
        [(key, device)] = rows.pop("memory_metadata")
        assert key == "device" and str(device).startswith("device-")
    assert of_a_new_file == of_an_old_one


def test_a_difference_in_the_schema_is_seen(place: Path) -> None:
    """Only the layout of the SQL is left out of the comparison."""
    connection = apsw.Connection(":memory:")
    migration.create_schema(connection)
    before = structure.existing_schema(connection)
    connection.execute(
        "ALTER TABLE recalls ADD COLUMN mood TEXT NOT NULL DEFAULT 'a  b' CHECK ( -- a comment\n mood<>'')"
    )
    [changed] = [key for key, sql in structure.existing_schema(connection).items() if before.get(key) != sql]
    assert changed == ("table", "recalls")
    assert structure.existing_schema(connection)[changed].endswith(
        "DEFAULT 'a  b' CHECK ( mood <> '' ) ) STRICT"
    )


OLDEST = Path(__file__).parents[2] / "data" / "oldest_file.db"
# What later formats give other values on purpose.
CHANGED_BY_MIGRATIONS = {
    "memories": {"decay_rate"},  # facts about health stay as sure as they were
    "entities": {"mention_count"},  # counted from the links
    "entity_aliases": {"entity_id"},  # each name got an entity of its own, merged into the first
}
RENAMED = {"told_contexts": "served_contexts"}


def test_a_file_of_the_oldest_format_is_upgraded_and_nothing_is_lost(place: Path) -> None:
    place.write_bytes(OLDEST.read_bytes())
    place.chmod(0o600)
    old = apsw.Connection(str(OLDEST), flags=apsw.SQLITE_OPEN_READONLY)
    names = [
        name
        for (name,) in old.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        )
        if not name.startswith("sqlite_") and name != "current_op"  # filled only within a transaction
    ]
    assert old.pragma("user_version") == 1 and len(names) == 20
    with Memory.open(place, options=OPTIONS) as memory:
        with memory._core.connections.read() as new:
            assert new.pragma("user_version") == CURRENT
            for table in names:
                columns = [row[1] for row in old.execute(f"PRAGMA table_info({table})")]
                kept = [name for name in columns if name not in CHANGED_BY_MIGRATIONS.get(table, ())]
                rows = f"SELECT {', '.join(kept)} FROM {{}}"
                before = set(old.execute(rows.format(table)))
                assert before and before <= set(new.execute(rows.format(RENAMED.get(table, table)))), table
        assert memory.files.check(deep=True).findings == ()
        assert memory.search("where does Ada live?").hits[0].memory.id == "fact_2"
        assert memory.search("王小明").hits[0].memory.id == "ep_2"
        assert set(memory.entities.get("Ada").entity.aliases) == {"Ada Lovelace", "@ada"}
        assert memory.scratchpad.get("plan") is not None
        assert memory.undo() is not None and memory.get("fact_4").valid_until is None
    old.close()


def test_a_new_file_has_the_current_format(old: Path) -> None:
    assert look(old)[0] == CURRENT


def test_an_old_file_is_backed_up_and_upgraded_on_opening(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, state = look(old)
    next_version(monkeypatch, ADDS_A_TABLE, ADDS_ANOTHER)
    with Memory.open(old, options=OPTIONS) as memory:
        assert memory.view.count("Lisbon") == 1
    assert look(old) == (CURRENT + 2, {"moods", "more"}, state)
    [backup] = (old.parent / "backups").glob("*-migration.db")
    assert look(backup) == (CURRENT, set(), state)


def test_an_old_file_is_not_read_as_if_it_were_new(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = old.read_bytes()
    next_version(monkeypatch, ADDS_A_TABLE)
    with pytest.raises(OlderFileError, match="written by an older memtui"):
        Memory.open(old, readonly=True, options=OPTIONS)
    assert old.read_bytes() == before
    assert Memory.rescue(old).find_problem() is None


def test_a_file_that_is_current_is_not_backed_up(old: Path) -> None:
    Memory.open(old, options=OPTIONS).close()
    assert not (old.parent / "backups").exists()


def test_the_triggers_are_those_of_the_new_version(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = apsw.Connection(str(old), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.execute(
        "DROP TRIGGER history_memories_insert; CREATE TRIGGER stray AFTER INSERT ON recalls BEGIN SELECT 1; END"
    )
    connection.close()
    next_version(monkeypatch, ADDS_A_TABLE)
    with Memory.open(old, options=OPTIONS) as memory:
        memory.remember("recorded again")
        assert memory.history.next_undo() is not None
        names = {f.message for f in memory.files.check().findings}
    assert names == set() or names == {"table moods is unknown"}


@pytest.mark.parametrize(
    "sql",
    ["CREATE TABLE moods (rid); THIS IS NOT SQL", "CREATE TABLE moods (rid); DELETE FROM no_such_table"],
)
def test_a_migration_that_fails_changes_nothing(old: Path, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = look(old)
    with monkeypatch.context() as patch:
        next_version(patch, Migration(CURRENT + 1, "broken", sql))
        with pytest.raises(Exception, match=r"syntax|no such table|refused"):
            Memory.open(old, options=OPTIONS)
    assert look(old) == before
    with Memory.open(old, options=OPTIONS) as memory:
        assert memory.files.check(deep=True).ok


def test_a_migration_that_breaks_references_is_not_committed(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = look(old)
    breaks = "CREATE TABLE moods (rid REFERENCES memories(rid)); PRAGMA defer_foreign_keys = ON; INSERT INTO moods VALUES (99)"
    next_version(monkeypatch, Migration(CURRENT + 1, "breaks", breaks))
    with pytest.raises(CorruptFileError, match="cannot be upgraded"):
        Memory.open(old, options=OPTIONS)
    assert look(old) == before


def test_a_damaged_file_is_not_upgraded(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray(old.read_bytes())
    content[4096 * 5 : 4096 * 6] = bytes(4096)
    old.write_bytes(bytes(content))
    next_version(monkeypatch, ADDS_A_TABLE)
    with pytest.raises(CorruptFileError):
        Memory.open(old, options=OPTIONS)
    assert old.read_bytes() == bytes(content)


def test_a_newer_file_is_for_reading_only(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        next_version(patch, ADDS_A_TABLE)
        Memory.open(old, options=OPTIONS).close()
    with pytest.raises(NewerFileError, match=f"format {CURRENT + 1}"):
        Memory.open(old, options=OPTIONS)
    with Memory.open(old, readonly=True, options=OPTIONS) as memory:
        assert memory.view.count("Lisbon") == 1


def before_topics(path: Path) -> None:
    """A file as it was before facts had topics."""
    known = migration.load_migrations()
    path.touch(0o600)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    covered = tables.COVERED["memories"]
    with connection, pytest.MonkeyPatch.context() as patch:
        columns = tuple(name for name in covered.columns if name not in ("topic", "happens_at"))
        patch.setitem(tables.COVERED, "memories", covered._replace(columns=columns))
        patch.delitem(tables.COVERED, "decided")
        patch.setattr(triggers, "stamp_sql", list)
        migration.apply_pending(connection, known[:13])
        connection.execute("INSERT INTO memory_metadata(key, value) VALUES ('erase_salt', '00ff')")
        for id, content, tags, extractor, confidence in (
            ("fact_a", "I'm allergic to nuts", '["health"]', "keyword", 0.8),
            ("fact_b", "I have a brother", '["self","family"]', "keyword", 0.8),
            ("fact_c", "A note of mine", '["health"]', None, 0.8),
            ("fact_d", "I take 5 mg", '["health"]', "keyword", 0.3),
        ):
            attributes = '{"extractor":"keyword"}' if extractor else "{}"
            connection.execute(
                "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at, confidence, "
                "decay_rate, tags, attributes) VALUES (?, 'fact', ?, ?, 'user', 1, 1, ?, 0.1, ?, ?)",
                (id, content, content_hash(content), confidence, tags, attributes),
            )
    connection.close()


def test_what_rules_drew_before_there_were_topics_gets_its_topic_and_is_no_history(
    place: Path,
) -> None:
    before_topics(place)
    with Memory.open(place, options=OPTIONS) as memory:
        found = {one.id: (one.topic, one.decay_rate) for one in memory.view.page("kind:fact")}
        assert found == {
            "fact_a": ("health", 0.0), "fact_b": ("identity", 0.1), "fact_c": (None, 0.1), "fact_d": ("health", 0.1)
        }  # fmt: skip
        with memory._core.connections.read() as connection:
            assert connection.execute("SELECT count(*) FROM changes WHERE act = 'update'").fetchone() == (0,)
        assert memory.files.check(deep=True).findings == ()
        # The backup that was made before the upgrade has the old format.
        assert memory.files.erase(memory.files.plan_erase(["fact_c"])).complete


def test_what_was_kept_from_an_agent_before_is_a_decision_that_travels(place: Path) -> None:
    known = migration.load_migrations()
    path = place
    path.touch(0o600)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    with connection:
        migration.apply_pending(connection, known[:17])
        connection.execute(
            "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at, attributes) "
            "VALUES ('fact_a', 'fact', 'My PIN is new', ?, 'user', 1, 1, '{\"withheld_from\":[\"Codex\"]}')",
            (content_hash("My PIN is new"),),
        )
    connection.close()
    with Memory.open(path, options=OPTIONS) as memory:
        assert [stamp.aspect for stamp in memory.view.detail("fact_a").decided] == ["not-for:codex"]


def test_the_weight_of_a_saved_profile_keeps_its_value_under_the_new_name(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.questions.save_profile(Profile(name="mine", vector=0.2, word_vector=0.5))
    connection = apsw.Connection(str(place))
    connection.execute("UPDATE profiles SET settings = replace(settings, 'word_vector', 'sense')")
    for index in ("facts_by_topic", "notes_by_topic"):
        connection.execute(f"DROP INDEX {index}")
    for table in ("devices", "versions", "merged", "erased", "read", "other_ids"):
        connection.execute(f"DROP TABLE sync_{table}")
    connection.execute("PRAGMA user_version = 19")
    connection.close()
    with Memory.open(place, options=OPTIONS) as memory:
        [mine] = [one for one in memory.questions.profiles() if one.name == "mine"]
        assert (mine.vector, mine.word_vector) == (0.2, 0.5)
