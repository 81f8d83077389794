"""What the tables themselves refuse, whoever writes them; and how ids are made and found."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import ID_PREFIX, Options
from memtui.engine.store import memories

FACT = {
    "id": "fact_000000000001", "kind": "fact", "content": "x", "content_hash": "0" * 16, "trust": "user",
    "event_time": 1, "created_at": 1,
}  # fmt: skip


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as opened:
        yield opened


def insert(memory: Memory, **columns: object) -> None:
    row = FACT | columns
    with memory._core.connections.write() as connection:
        connection.execute(
            f"INSERT INTO memories({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            tuple(row.values()),
        )


def test_the_row_that_the_others_vary_is_accepted(memory: Memory) -> None:
    insert(memory)
    assert memory.view.count() == 1


@pytest.mark.parametrize(
    "columns",
    [
        {"kind": "rumour"}, {"category": "gossip"}, {"category": "insight"}, {"trust": "nobody"}, {"ended_by": "boredom"},
        {"confidence": 1.01}, {"confidence": -0.1}, {"decay_rate": -0.1}, {"kind": "episode", "decay_rate": 0.1},
        {"valid_until": 5}, {"ended_by": "faded"}, {"tags": "not json"}, {"source_ids": "["}, {"attributes": "{"},
        {"content": None}, {"content_hash": None}, {"event_time": "yesterday"}, {"event_time": 1.5}, {"created_at": None},
        {"confidence": "high"}, {"content": b"bytes"},
    ],
    ids=str,
)  # fmt: skip
def test_rows_that_make_no_sense_are_refused(memory: Memory, columns: dict[str, object]) -> None:
    with pytest.raises(Exception, match=r"constraint|CHECK|cannot store|NOT NULL"):
        insert(memory, **columns)
    assert memory.view.count_operations() == 0


@pytest.mark.parametrize("column", ["id", "source_key"])
def test_identities_are_unique(memory: Memory, column: str) -> None:
    insert(memory, source_key="chatgpt:1")
    other = {"id": "fact_000000000002", "source_key": "chatgpt:2"} | {column: FACT.get(column, "chatgpt:1")}
    with pytest.raises(Exception, match="UNIQUE"):
        insert(memory, **other)


def test_rows_without_a_source_key_do_not_collide(memory: Memory) -> None:
    insert(memory)
    insert(memory, id="fact_000000000002")
    assert memory.view.count() == 2


def test_a_rid_is_never_used_again(memory: Memory) -> None:
    first = memory.remember("one")
    memory.undo()
    assert memory.remember("two").rid > first.rid


def test_ids_begin_with_their_kind_and_do_not_repeat() -> None:
    for kind, prefix in ID_PREFIX.items():
        ids = {memories.new_id(kind) for _ in range(2_000)}
        assert len(ids) == 2_000
        assert all(id.startswith(prefix) and len(id) == len(prefix) + 12 for id in ids)


def test_a_memory_is_found_by_the_unique_beginning_of_its_id(memory: Memory) -> None:
    insert(memory, id="fact_abcdef000001")
    insert(memory, id="fact_abcdff000002")
    assert memory.get("fact_abcdef000001").id == "fact_abcdef000001"
    assert memory.get("fact_abcde").id == "fact_abcdef000001"
    assert memory.get("fact_abcdf").id == "fact_abcdff000002"


def test_an_ambiguous_beginning_lists_the_candidates(memory: Memory) -> None:
    insert(memory, id="fact_abcdef000001")
    insert(memory, id="fact_abcdff000002")
    with pytest.raises(InputError) as caught:
        memory.get("fact_abcd")
    assert "fact_abcdef000001" in caught.value.message and "fact_abcdff000002" in caught.value.message


def test_a_whole_id_wins_over_longer_ones(memory: Memory) -> None:
    insert(memory, id="fact_abcd")
    insert(memory, id="fact_abcdff000002")
    assert memory.get("fact_abcd").id == "fact_abcd"


@pytest.mark.parametrize(
    "id", ["", "f", "fac", "ep_", "fact_zzz", "%", "_____", "fact_\0", "ü" * 8, "' OR 1 --"]
)
def test_what_names_no_memory_is_said_so(memory: Memory, id: str) -> None:
    insert(memory)
    with pytest.raises(NotFoundError) as caught:
        memory.get(id)
    assert caught.value.hint


def test_texts_that_differ_in_case_and_spacing_only_share_their_hash() -> None:
    assert memories.content_hash("Ada  lives\nin ＬＩＳＢＯＮ") == memories.content_hash(
        "ada lives in lisbon"
    )
    assert memories.content_hash("Ada lives in Lisbon") != memories.content_hash("Ada lives in Porto")


def test_foreign_rows_of_a_gone_memory_go_with_it(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "We met Ada Lovelace in Lisbon")
    with memory._core.connections.write() as connection:
        connection.execute("DELETE FROM memories WHERE rid = ?", (turn.rid,))
        for table in ("memory_entities", "index_queue", "embeddings"):
            assert connection.execute(f"SELECT count(*) FROM {table}").get == 0
        assert connection.execute("SELECT sum(mention_count) FROM entities").get == 0
        with pytest.raises(apsw.ConstraintError):
            connection.execute("INSERT INTO memory_entities(rid, eid) VALUES (999, 1)")
