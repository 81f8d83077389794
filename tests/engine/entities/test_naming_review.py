"""Review asks whether two entities are one; the person decides, and is not asked again."""

from __future__ import annotations

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options
from naming_kit import tell


def asked(memory: Memory) -> set[tuple[str, ...]]:
    return {tuple(one.canonical_name for one in card.entities) for card in memory.review.entity_cards()}


@pytest.mark.parametrize(
    ("texts", "pair"),
    [
        (("Then Ada came", "Then Ada Lovelace came"), ("Ada Lovelace", "Ada")),
        (("Then B. Miller came", "Then Bob Miller came"), ("Bob Miller", "B. Miller")),
        (("Then José Garcia came", "Then Jose Garcia came"), ("José Garcia", "Jose Garcia")),
        (
            ("Write to ada.lovelace@example.org", "Then Ada Lovelace came"),
            ("Ada Lovelace", "ada.lovelace@example.org"),
        ),
        (("вчера мы видели Алиса дома", "вчера мы видели Алиса Смирнова дома"), ("Алиса Смирнова", "Алиса")),
    ],
)
def test_names_that_may_be_one_are_asked_about(
    memory: Memory, texts: tuple[str, str], pair: tuple[str, str]
) -> None:
    tell(memory, *texts)
    assert asked(memory) == {pair}
    [card] = [item for item in memory.review.items() if item.kind == "entities"]
    assert {turn.content for turn in card.sources} == set(texts)
    assert all(name in card.text for name in pair) and card.reason
    memory.review.decide(card, "merge")
    assert memory.entities.get(pair[1]).entity.canonical_name == pair[0]
    assert memory.entities.get(pair[0]).total == 2
    assert asked(memory) == set()
    memory.undo()
    assert asked(memory) == {pair}


def test_names_that_only_look_alike_are_not_asked_about(memory: Memory) -> None:
    tell(
        memory,
        "Then Ann came", "Then Anna came", "Then Joanna came", "Then Bob Lovelace met Ada Byron",
        "We flew to York and to New York", "昨天我见到李雷了",
    )  # fmt: skip
    assert asked(memory) == set()


def test_kept_apart_is_not_asked_again_and_put_off_is_asked_later(place: object) -> None:
    now = 1_750_000_000.0
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=lambda: now, options=options) as memory:
        tell(memory, "Then Ada came", "Then Ada Lovelace came", "Then Bob came", "Then Bob Miller came")
        cards = {card.entities[1].canonical_name: card for card in memory.review.entity_cards()}
        memory.review.decide(cards["Ada"], "both")
        memory.review.decide(cards["Bob"], "snooze")
        assert asked(memory) == set()
        now += 8 * 86_400
        assert asked(memory) == {("Bob Miller", "Bob")}


def test_the_one_that_stands_can_be_chosen(memory: Memory) -> None:
    tell(memory, "Then Ada came", "Then Ada Lovelace came")
    [card] = memory.review.entity_cards()
    with pytest.raises(InputError):
        memory.review.decide(card, "merge", keep="ent_000000000000")
    with pytest.raises(InputError):
        memory.review.decide(card, "forget")
    memory.review.decide(card, "merge", keep=card.entities[1].id)
    assert memory.entities.get("Ada Lovelace").entity.canonical_name == "Ada"


def test_a_first_name_of_two_is_asked_about_with_each(memory: Memory) -> None:
    tell(memory, "Then Ann came", "Then Ann Smith came", "Then Ann Jones came")
    assert asked(memory) == {("Ann Smith", "Ann"), ("Ann Jones", "Ann")}
    assert all("1 more" in card.reason for card in memory.review.entity_cards())


def test_two_with_the_same_name_are_asked_about(memory: Memory) -> None:
    tell(memory, "Then Ann Smith came", "Then Ann Jones came")
    with (
        memory._core.connections.write() as connection
    ):  # as files of earlier versions have it: one name, two types
        connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, 0)")
        for number, type in enumerate(("person", "project")):
            connection.execute(
                "INSERT INTO entities(id, canonical_name, type, created_at) VALUES (?, 'Apollo', ?, 0)",
                (f"ent_00000000000{number}", type),
            )
            connection.execute(
                "INSERT INTO entity_aliases(key, entity_id, alias) VALUES ('apollo', last_insert_rowid(), 'Apollo')"
            )
        connection.execute("DELETE FROM current_op")
    assert ("Apollo", "Apollo") in asked(memory)
