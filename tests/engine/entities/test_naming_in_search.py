"""The entity retriever after corrections: by name or alias, whole words, the longest; each memory once; sums exact."""

from __future__ import annotations

import math

import pytest
from memtui import Memory
from memtui.engine.records import Profile
from naming_kit import tell


def retriever(memory: Memory, query: str) -> dict[str, tuple[str, ...]]:
    """Text -> the names that the entity retriever says it matched."""
    hits = memory.search(query, limit=50).hits
    return {
        hit.memory.content: hit.retrievers["entity"].matched for hit in hits if "entity" in hit.retrievers
    }


def test_a_question_by_any_name_finds_the_memories_of_all_of_them_each_once(memory: Memory) -> None:
    texts = ("Then Ada Lovelace met Ada", "Then @ada slept", "Then Ada Lovelace sang")
    tell(memory, *texts, "Then Bob came")
    memory.entities.merge("Ada Lovelace", "Ada")
    memory.entities.add_alias("Ada", "the enchantress")
    everything = dict.fromkeys(texts, ("Ada Lovelace",))
    for query in (
        "ada",
        "what does ADA LOVELACE do?",
        "and the Enchantress?",
        "ada lovelace, ada, the enchantress",
    ):
        assert retriever(memory, query) == everything, query
    assert retriever(memory, "enchantress adam lovelaces") == {}


def test_the_longest_name_wins(memory: Memory) -> None:
    tell(memory, "Then Ada came", "Then Ada Lovelace came", "Then Ada Lovelace Institute opened")
    assert retriever(memory, "ada lovelace?") == {"Then Ada Lovelace came": ("Ada Lovelace",)}
    assert retriever(memory, "ada!") == {"Then Ada came": ("Ada",)}


@pytest.mark.parametrize("fusion", ["rrf", "score"])
def test_the_parts_of_a_hit_add_up_to_its_score(memory: Memory, fusion: str) -> None:
    tell(
        memory, *(f"Then Ada Lovelace met Bob for the {n}th time" for n in range(8)), "Then @ada sang to Bob"
    )
    memory.entities.merge("Ada Lovelace", "ada")
    for hit in memory.search("Ada and Bob sang", profile=Profile(fusion=fusion)).hits:  # type: ignore[arg-type]
        assert math.isclose(sum(one.term for one in hit.retrievers.values()), hit.score, abs_tol=1e-12)
        assert set(hit.retrievers["entity"].matched) <= {"Ada Lovelace", "Bob"}


def test_a_memory_taken_off_is_not_found_by_that_name_and_explained_so(memory: Memory) -> None:
    ids = tell(memory, "Then Ada came", "Then Ada left")
    memory.entities.unlink(ids[0], "Ada")
    assert set(retriever(memory, "Ada")) == {"Then Ada left"}
    assert (
        "entity" not in memory.explain("Ada", ids[0]).retrievers
        or memory.explain("Ada", ids[0]).retrievers["entity"].rank is None
    )


def test_a_filter_finds_the_memories_of_every_name(memory: Memory) -> None:
    tell(memory, "Then Ada came", "Then Ada Lovelace left")
    id = memory.entities.get("Ada").entity.id
    memory.entities.merge("Ada Lovelace", "Ada")
    for way in ("Ada", "ada lovelace", id):
        assert memory.view.count(f'entity:"{way}"') == 2
