"""What the person corrects about names: what each verb does, that it stays, and that undo takes it back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError, ProtectedError
from naming_kit import about, names, read_again, tell

ADA = ("Then Ada wrote to me", "Then Ada Lovelace wrote to me", "Then @ada wrote to Bob")


def test_a_renamed_entity_keeps_its_old_name_as_an_alias(memory: Memory) -> None:
    ids = tell(memory, *ADA)
    entity = memory.entities.rename("Ada", "Countess of Lovelace")
    assert entity.decided and "Ada" in entity.aliases
    read_again(memory)
    assert memory.entities.get("ada").entity == memory.entities.get("countess of lovelace").entity == entity
    assert names(memory, ids[0]) == {"Countess of Lovelace"}
    tell(memory, "Later the Countess of Lovelace left")
    assert memory.entities.get("Ada").total == 3
    memory.undo()  # the turn
    memory.undo()
    assert memory.entities.get("Ada").entity.canonical_name == "Ada"
    with pytest.raises(NotFoundError):
        memory.entities.get("Countess of Lovelace")


def test_a_merge_is_what_its_preview_said_and_both_names_and_ids_lead_to_it(memory: Memory) -> None:
    tell(memory, *ADA)
    absorbed = memory.entities.get("Ada").entity
    memory.entities.describe("Ada", "a friend")
    preview = memory.entities.preview_merge("Ada Lovelace", "Ada")
    assert (preview.memories_after, preview.moved, preview.aliases) == (3, 2, ("Ada", "@ada"))
    merged = memory.entities.merge("Ada Lovelace", "Ada")
    assert (merged.mention_count, merged.aliases, merged.type) == (3, preview.aliases, preview.type)
    assert merged.summary == "a friend"
    for way in (absorbed.id, "Ada", "@ada", "Ada Lovelace"):
        assert memory.entities.get(way).entity.eid == merged.eid
    read_again(memory)
    tell(memory, "Today Ada came, said Bob")
    assert memory.entities.get(absorbed.id).total == 4


def test_a_merge_undone_is_as_before_and_redone_as_after(memory: Memory) -> None:
    tell(memory, *ADA)
    before = memory.entities.page()
    memory.entities.merge("Ada Lovelace", "Ada")
    after = memory.entities.page()
    memory.undo()
    assert memory.entities.page() == before
    memory.redo()
    assert memory.entities.page() == after
    assert memory.files.check().ok


def test_merges_of_merges_lead_straight_to_the_survivor_and_never_in_a_circle(memory: Memory) -> None:
    tell(memory, *ADA)
    ids = [memory.entities.get(name).entity.id for name in ("Ada", "Ada Lovelace", "Bob")]
    memory.entities.merge(ids[1], ids[0])
    memory.entities.merge(ids[2], ids[1])
    for one in ids:
        assert memory.entities.get(one).entity.canonical_name == "Bob"
        with pytest.raises(InputError):
            memory.entities.merge(one, ids[2])
    assert memory.entities.get("Bob").total == 3
    assert memory.files.check().ok
    memory.undo()
    memory.undo()
    assert [memory.entities.get(one).entity.id for one in ids] == ids


def test_an_alias_split_off_takes_its_memories_along(memory: Memory) -> None:
    ids = tell(memory, *ADA)
    memory.entities.merge("Ada Lovelace", "Ada")
    new = memory.entities.split("Ada Lovelace", "@ada")
    assert about(memory, new.id) == {ADA[2]}
    assert about(memory, "Ada Lovelace") == {ADA[0], ADA[1]}
    read_again(memory)
    assert names(memory, ids[2]) == {new.canonical_name, "Bob"}
    memory.undo()
    assert memory.entities.get("Ada Lovelace").total == 3


def test_what_was_called_otherwise_before_can_be_split_off_a_renamed_one(memory: Memory) -> None:
    tell(memory, "Then Jon came", "Then John came")
    memory.entities.merge("Jon", "John")
    kept = memory.entities.rename("Jon", "John")
    new = memory.entities.split("John", "Jon")
    assert (about(memory, new.id), about(memory, kept.id)) == ({"Then Jon came"}, {"Then John came"})
    assert memory.files.check().ok
    memory.undo()
    assert about(memory, kept.id) == {"Then Jon came", "Then John came"}
    assert memory.files.check().ok


def test_its_own_name_and_one_it_does_not_have_cannot_be_split_off(memory: Memory) -> None:
    tell(memory, *ADA)
    for wrong in ("Ada", "Bob", "nobody"):
        with pytest.raises(InputError):
            memory.entities.split("Ada", wrong)


def test_an_alias_links_old_and_new_texts_until_it_is_removed(memory: Memory) -> None:
    first, *_ = tell(memory, "what the enchantress said was wise", *ADA)
    memory.entities.add_alias("Ada", "the enchantress")
    (second,) = tell(memory, "ask the Enchantress tomorrow")
    assert names(memory, first) == names(memory, second) == {"Ada"}
    memory.entities.remove_alias("Ada", "The Enchantress")
    read_again(memory)
    assert "Ada" not in names(memory, first) | names(memory, second)
    memory.undo()
    assert names(memory, first) == names(memory, second) == {"Ada"}
    memory.entities.add_alias("Ada", "the enchantress")
    assert names(memory, first) == {"Ada"}


def test_a_name_of_somebody_else_is_refused_with_the_way_out(memory: Memory) -> None:
    tell(memory, *ADA)
    for attempt in (memory.entities.add_alias, memory.entities.rename):
        with pytest.raises(InputError, match="Bob") as refused:
            attempt("Ada", "bob")
        assert "Merge" in refused.value.hint
    for nothing in ("", "  ", "\u200b\0", "x" * 201):
        if nothing.strip("\u200b\0 "):
            with pytest.raises(InputError):
                memory.entities.add_alias("Ada", nothing)


def test_a_memory_taken_off_stays_off(memory: Memory) -> None:
    id, *_ = tell(memory, *ADA)
    memory.entities.unlink(id, "Ada")
    read_again(memory)
    assert names(memory, id) == set()
    assert memory.entities.get("Ada").unlinked == 1
    with pytest.raises(InputError):
        memory.entities.unlink(id, "Ada")
    memory.entities.add_alias("Ada", "wrote")
    read_again(memory)
    assert names(memory, id) == set(), "another of its names does not bring it back"
    memory.entities.link(id, "Ada")
    assert names(memory, id) == {"Ada"}
    for _ in range(3):
        memory.undo()
    assert names(memory, id) == {"Ada"}


def test_a_memory_put_to_an_entity_stays_there(memory: Memory) -> None:
    id, *_ = tell(memory, "our neighbour came by", *ADA)
    memory.entities.link(id, "Ada")
    read_again(memory)
    assert names(memory, id) == {"Ada"}
    memory.entities.merge("Ada Lovelace", "Ada")
    assert names(memory, id) == {"Ada Lovelace"}
    memory.undo()
    memory.undo()
    assert names(memory, id) == set()


def test_what_is_no_entity_is_gone_from_lists_search_and_filters_and_stays_gone(memory: Memory) -> None:
    tell(memory, *ADA)
    memory.entities.not_an_entity("Ada")
    read_again(memory)
    tell(memory, "Then Ada rang")
    assert "Ada" not in [one.canonical_name for one in memory.entities.page()]
    with pytest.raises(NotFoundError, match="not an entity"):
        memory.entities.get("Ada")
    assert not [hit for hit in memory.search("what about Ada?").hits if "entity" in hit.retrievers]
    assert memory.view.count('entity:"Ada"') == 0
    memory.undo()  # the turn
    memory.undo()
    assert memory.entities.get("Ada").total == 2


def test_a_name_that_was_no_entity_can_be_given_to_one(memory: Memory) -> None:
    tell(memory, *ADA)
    memory.entities.not_an_entity("Ada")
    assert memory.entities.add_alias("Ada Lovelace", "Ada").mention_count == 3
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.entities.get("Ada")


def test_a_summary_and_a_pin_are_kept_and_taken_back(memory: Memory) -> None:
    tell(memory, *ADA)
    assert memory.entities.describe("Ada", " wrote the\nfirst program ").summary == "wrote the first program"
    assert memory.entities.pin("Ada").pinned
    assert memory.entities.describe("Ada", None).summary is None
    memory.undo()
    assert memory.entities.get("Ada").entity.summary == "wrote the first program"
    assert not memory.entities.pin("Ada", False).pinned


CORRECTIONS: dict[str, Callable[[Memory, str], object]] = {
    "rename": lambda memory, id: memory.entities.rename("Ada", "Countess"),
    "retype": lambda memory, id: memory.entities.retype("Ada", "project"),
    "merge": lambda memory, id: memory.entities.merge("Bob", "Ada"),
    "describe": lambda memory, id: memory.entities.describe("Ada", "somebody"),
    "hide": lambda memory, id: memory.entities.not_an_entity("Ada"),
    "split": lambda memory, id: memory.entities.split("Ada", "@ada"),
    "unlink": lambda memory, id: memory.entities.unlink(id, "Ada"),
}


@pytest.mark.parametrize("verb", CORRECTIONS)
def test_an_agent_may_correct_what_nobody_decided_but_not_the_persons_word(
    memory: Memory, agent: Memory, verb: str
) -> None:
    ids = tell(memory, *ADA)
    CORRECTIONS[verb](agent, ids[0])
    agent.undo()
    memory.entities.rename("Ada", "Ada B.")
    memory.entities.rename("Ada B.", "Ada")
    memory.entities.retype("Ada", "person")
    memory.entities.describe("Ada", "a friend")
    memory.entities.link(ids[0], "Ada")
    if verb == "unlink":
        memory.entities.unlink(ids[0], "Ada")
        memory.entities.link(ids[0], "Ada")
    with pytest.raises(ProtectedError):
        CORRECTIONS[verb](agent, ids[0])


def test_an_agent_may_not_merge_what_the_person_keeps_apart(memory: Memory, agent: Memory) -> None:
    tell(memory, *ADA)
    memory.entities.keep_apart("Ada", "Ada Lovelace")
    with pytest.raises(ProtectedError):
        agent.entities.merge("Ada Lovelace", "Ada")
    assert memory.entities.merge("Ada Lovelace", "Ada").mention_count == 3


def test_a_correction_names_its_operation(memory: Memory) -> None:
    tell(memory, *ADA)
    memory.entities.merge("Ada Lovelace", "Ada")
    operation = memory.history.next_undo()
    assert operation is not None and operation.label == "Merged “Ada” into “Ada Lovelace”"


def test_a_split_cannot_be_undone_while_another_one_is_merged_into_what_it_made(memory: Memory) -> None:
    tell(memory, "Then Jon came", "Then John came", "Then Bob came")
    memory.entities.merge("Jon", "John")
    memory.entities.rename("Jon", "John")
    new = memory.entities.split("John", "Jon")
    split = memory.history.next_undo()
    memory.entities.merge(new.id, "Bob")
    assert split is not None
    undone = memory.undo(split.op_id)
    assert undone is not None and [conflict.table for conflict in undone.conflicts] == ["entities"]
    assert "Bob" in undone.conflicts[0].reason
    assert memory.files.check().ok
