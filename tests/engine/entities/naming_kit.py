"""What the tests of names ask again and again."""

from __future__ import annotations

from memtui import Memory


def tell(memory: Memory, *texts: str) -> list[str]:
    """Record turns; returns their ids."""
    return [memory.record_turn("talk", "user", text).id for text in texts]


def about(memory: Memory, name: str) -> set[str]:
    """The texts of everything about an entity."""
    return {one.content for one in memory.entities.get(name).memories}


def names(memory: Memory, id: str) -> set[str]:
    """What a memory is linked to."""
    return {entity.canonical_name for entity in memory.view.entities_of(id)}


def read_again(memory: Memory) -> None:
    """What a re-import, a re-index or a repair comes to."""
    with memory._core.connections.write() as connection:
        connection.execute(
            "INSERT INTO index_queue(rid, text, vector) SELECT rid, 1, 0 FROM memories WHERE true "
            "ON CONFLICT(rid) DO UPDATE SET text = 1"
        )
    memory.models.index_pending()
