"""Our own vault, read back: the memories keep their ids, so nothing comes in twice, wherever it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.exporters.markdown_text import as_block_quote
from memtui.engine.importers.formats import vault as vaults
from memtui.engine.records import MemoryRecord, Options
from other_memories import assert_comes_once_and_goes

NOW = 1_800_000_000
OFF = Options(embedder="off", background=False)
TEXTS = [
    "Ada prefers trains to Ghent",
    "Lives in [[Porto]] #tag <b> $5 ^end",
    "[bold]markup[/bold] [/] \\[[x]] C:\\con \\* %% &amp; <!-- -->",
    "]]>\n---\n# Shopping\n## Food\n- milk for [[People/Ada]]\n\n> quoted\n| table |",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "old" / "memory.db", clock=lambda: NOW, options=OFF) as opened:
        yield opened


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "new" / "memory.db", clock=lambda: NOW, options=OFF) as opened:
        yield opened


def notes(memory: Memory) -> list[MemoryRecord]:
    with memory._core.connections.read() as connection:
        ids = [
            id for (id,) in connection.execute("SELECT id FROM memories WHERE kind <> 'episode' ORDER BY id")
        ]
    return [memory.get(str(id)) for id in ids]


def shape(found: MemoryRecord) -> tuple[object, ...]:
    return (
        found.id, found.kind, found.content, found.category, found.event_time, round(found.confidence, 6), found.trust,
        found.project, found.tags, found.confirmed_at is not None, found.ended_by, found.source_ids,
    )  # fmt: skip


def filled(memory: Memory) -> None:
    memory.record_turn("s", "user", "I prefer trains, says Ada.")
    for text in TEXTS:
        memory.remember(text, tags=["travel"])
    memory.forget(memory.remember("a mistake").id)
    memory.models.index_pending()


def test_a_vault_read_back_gives_the_same_notes_and_adds_nothing_where_it_came_from(
    memory: Memory, fresh: Memory, tmp_path: Path
) -> None:
    filled(memory)
    memory.files.export(tmp_path / "vault", format="markdown")
    again = memory.files.import_paths([tmp_path / "vault"])
    assert (again.imported, again.operation) == (0, None)
    report = fresh.files.import_paths([tmp_path / "vault"])
    assert report.formats == ("memtui-vault",)
    assert report.reasons == {vaults.DAY: 1, vaults.INDEX: 1}
    there = [found for found in notes(memory) if found.ended_by is None]
    assert [shape(found)[:-1] for found in notes(fresh)] == [shape(found)[:-1] for found in there]
    assert fresh.files.import_paths([tmp_path / "vault"]).imported == 0


def test_it_comes_once_and_goes_again(memory: Memory, fresh: Memory, tmp_path: Path) -> None:
    filled(memory)
    memory.files.export(tmp_path / "vault", format="markdown")
    assert_comes_once_and_goes(fresh, tmp_path / "vault")


def test_a_note_that_was_edited_is_told_and_the_memory_keeps_its_text(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Lives in Lyon")
    memory.files.export(tmp_path / "vault", format="markdown")
    (note,) = (tmp_path / "vault" / "Facts").glob("*.md")
    note.write_text(note.read_text().replace("> Lives in Lyon", "> Lives in Porto"))
    report = memory.files.import_paths([tmp_path / "vault"])
    assert report.reasons["edited outside of memtui: the memory keeps its text"] == 1
    assert [found.content for found in notes(memory)] == ["Lives in Lyon"]


def test_ones_own_notes_beside_are_facts_as_ever(memory: Memory, fresh: Memory, tmp_path: Path) -> None:
    memory.remember("Lives in Lyon")
    memory.files.export(tmp_path / "vault", format="markdown")
    (tmp_path / "vault" / "My own.md").write_text(
        "# My own\n\n- A thought about ponds and how to keep them clean\n"
    )
    fresh.files.import_paths([tmp_path / "vault"])
    assert len(notes(fresh)) == 2


@given(st.text().filter(lambda text: text.strip()) | st.text("\\[]<#^%$!*_>(){}:\n a", min_size=1))
def test_what_is_escaped_is_read_as_it_was(text: str) -> None:
    read = "\n".join(vaults.strip_quotes(line) for line in as_block_quote(text).split("\n"))
    kept = text
    assert [line.rstrip() for line in read.split("\n")] == [line.rstrip() for line in kept.split("\n")]
