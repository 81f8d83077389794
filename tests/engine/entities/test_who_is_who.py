"""A name is who it is: whole names in any script, types as votes, and nothing linked by guessing."""

from __future__ import annotations

import pytest
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.models.ner import NameSpan
from memtui.engine.store import entities as rows
from memtui.engine.store import entity_lists
from naming_kit import about, names, read_again, tell

ALIKE = (
    "Yesterday we met Ann at home",
    "Yesterday we met Anna at home",
    "Yesterday we met Joanna at home",
    "вчера мы видели Алиса дома",
    "вчера мы видели Алисан дома",
    "昨天我见到李雷了",
)


def test_names_that_hold_one_another_stay_who_they_are(memory: Memory) -> None:
    tell(memory, *ALIKE)
    assert about(memory, "李雷") == {ALIKE[5]}
    memory.entities.link(tell(memory, "our colleague came")[0], "Ann")
    memory.entities.merge("Ann", "李雷")
    read_again(memory)
    assert about(memory, "Anna") == {ALIKE[1]}
    assert about(memory, "Joanna") == {ALIKE[2]}
    assert about(memory, "Алиса") == {ALIKE[3]}
    assert about(memory, "李雷") == {ALIKE[0], ALIKE[5], "our colleague came"}
    for text in ALIKE[:3]:
        word = text.split()[3]
        hits = memory.search(f"what did {word.lower()} say?").hits
        assert [hit.memory.content for hit in hits if "entity" in hit.retrievers][:1] == [text], word


@pytest.mark.parametrize("sign", ["a", "%", "_", "@", "*", "\\", "\ud800", "\0", "J_a"])
def test_a_sign_is_a_name_only_to_whom_it_was_given(memory: Memory, sign: str) -> None:
    tell(memory, *ALIKE)
    with pytest.raises(NotFoundError):
        memory.entities.get(sign)
    assert memory.search(sign) is not None
    if sign.strip("\0"):
        memory.entities.add_alias("Anna", sign)
        read_again(memory)
        assert memory.entities.get(sign).entity.canonical_name == "Anna"
        assert about(memory, "Anna") == {ALIKE[1]}


def test_case_width_and_accents_written_apart_make_no_difference(memory: Memory) -> None:
    tell(memory, "Yesterday I met José in Lisbon", "then JOSÉ and Jose\u0301 came, said José")
    assert memory.entities.get("JOSE\u0301").entity == memory.entities.get("ｊｏｓé").entity
    assert memory.entities.get("josé").total == 2


def test_more_of_a_known_name_is_another_name(memory: Memory) -> None:
    first, second = tell(memory, "Then Ada wrote to me", "Then Ada Lovelace wrote to me")
    assert names(memory, first) == {"Ada"}
    assert names(memory, second) == {"Ada Lovelace"}


def test_an_entity_is_found_by_name_alias_id_or_the_beginning_of_an_id(memory: Memory) -> None:
    tell(memory, "Then @ada wrote to me")
    entity = memory.entities.get("ada").entity
    assert entity.aliases == ("@ada",)
    for way in ("ADA", "@ada", entity.id, entity.id[:10]):
        assert memory.entities.get(way).entity == entity


def test_who_is_not_known_is_refused_with_near_names(memory: Memory) -> None:
    tell(memory, "Then Ada Lovelace wrote to me")
    with pytest.raises(NotFoundError) as refused:
        memory.entities.get("Ada Lovelase")
    assert "Ada Lovelace" in refused.value.hint


def test_the_type_is_what_most_texts_say(memory: Memory) -> None:
    ids = tell(
        memory, "We went to Apollo", *[f"The deadline of project Apollo moved {n} times" for n in range(3)]
    )
    assert memory.entities.get("Apollo").entity.type == "project"
    read_again(memory)
    read_again(memory)
    with memory._core.connections.read() as connection:
        votes = connection.execute("SELECT sum(votes) FROM entity_votes").get
        linked = connection.execute("SELECT count(*) FROM memory_entities WHERE vote IS NOT NULL").get
    assert votes == linked
    assert len(ids) == 4


def test_a_hashtag_says_more_than_guesses(memory: Memory) -> None:
    tell(memory, "Then Heron promised to call", "Then Heron laughed, said Bob Miller", "Heron says no")
    assert memory.entities.get("Heron").entity.type == "person"
    tell(memory, "Deployed #heron today")
    assert memory.entities.get("Heron").entity.type == "project"


def test_the_persons_type_stands_whatever_texts_say(memory: Memory) -> None:
    tell(memory, "We went to Apollo")
    memory.entities.retype("Apollo", "organization")
    tell(memory, *[f"The deadline of project Apollo moved {n} times" for n in range(3)])
    read_again(memory)
    found = memory.entities.get("Apollo").entity
    assert (found.type, found.decided) == ("organization", True)


def test_a_model_that_reads_a_text_again_changes_its_vote(memory: Memory) -> None:
    (id,) = tell(memory, "They used Quixel a lot")
    assert memory.entities.get("Quixel").entity.type != "project"
    one = memory.get(id)
    span = NameSpan(
        text="Quixel", start=10, end=16, type="project", confidence=0.75, provider="spacy", name="Quixel"
    )
    for _ in range(2):
        with memory._core.connections.write() as connection:
            rows.link(connection, one.rid, memory._core.indexer.find_mentions(one.content, [span]), 0)
    assert memory.entities.get("Quixel").entity.type == "project"
    assert memory.entities.get("Quixel").total == 1
    assert memory.files.check().ok


def test_a_name_of_two_is_linked_to_neither_and_asked_about(memory: Memory) -> None:
    tell(memory, "Then Ann Smith came", "Then Ann Jones came", "Then Ann came")
    memory.entities.merge("Ann Smith", "Ann")
    with pytest.raises(InputError):
        memory.entities.add_alias("Ann Jones", "Ann")
    memory.entities.keep_apart("Ann Jones", "Ann Smith")
    memory.entities.add_alias("Ann Jones", "Ann")
    (new,) = tell(memory, "Then Ann laughed, said Bob Miller")
    assert names(memory, new) == {"Bob Miller"}
    with pytest.raises(InputError, match="could be two"):
        memory.entities.get("Ann")
    memory.entities.link(new, memory.entities.get("Ann Jones").entity.id)
    read_again(memory)
    assert names(memory, new) == {"Bob Miller", "Ann Jones"}
    memory.entities.not_an_entity("Ann Smith")
    (newer,) = tell(memory, "Then Ann wept, said Bob Miller")
    assert names(memory, newer) == {"Bob Miller", "Ann Jones"}


def test_the_count_is_of_active_memories_each_once(memory: Memory) -> None:
    ids = tell(memory, "Then Ada Lovelace came, and Ada left", "Then Ada wrote", "Then Ada Lovelace wrote")
    memory.entities.merge("Ada Lovelace", "Ada")
    assert memory.entities.get("Ada").entity.mention_count == memory.entities.get("Ada").total == 3
    memory.forget(ids[0])
    assert memory.entities.get("Ada").entity.mention_count == 2
    assert len(about(memory, "Ada")) == 2
    memory.restore(ids[0])
    memory.entities.split("Ada Lovelace", "Ada")
    assert (memory.entities.get("Ada").total, memory.entities.get("Ada Lovelace").total) == (2, 2)
    assert memory.files.check().ok


def test_an_entity_knows_when_it_was_first_and_last_seen(memory: Memory) -> None:
    first = memory.record_turn("talk", "user", "Then Ada came", event_time=1_000)
    memory.record_turn("talk", "user", "Then Ada left", event_time=3_000)
    last = memory.record_turn("talk", "user", "Then Ada rang", event_time=9_000)
    found = memory.entities.get("Ada").entity
    assert (found.first_seen, found.last_seen) == (1_000, 9_000)
    memory.forget(last.id)
    memory.forget(first.id)
    found = memory.entities.get("Ada").entity
    assert (found.first_seen, found.last_seen) == (3_000, 3_000)


def test_a_profile_has_facts_first_then_the_latest_and_who_is_seen_with_it(memory: Memory) -> None:
    for at, text in enumerate(("Then Ada met Bob", "Then Ada met Bob in Lisbon", "Then Ada slept")):
        memory.record_turn("talk", "user", text, event_time=1_000 + at)
    memory.remember("Ada likes trains")
    profile = memory.entities.get("Ada")
    assert [one.kind for one in profile.memories] == ["fact", "episode", "episode", "episode"]
    assert [one.content for one in profile.memories[1:]] == [
        "Then Ada slept", "Then Ada met Bob in Lisbon", "Then Ada met Bob",
    ]  # fmt: skip
    assert [(one.entity.canonical_name, one.together) for one in profile.seen_with] == [
        ("Bob", 2),
        ("Lisbon", 1),
    ]
    assert (profile.total, profile.waiting, profile.unlinked) == (4, 0, 0)
    assert len(memory.entities.get("Ada", limit=2).memories) == 2


def test_the_list_is_filtered_ordered_and_paged(memory: Memory) -> None:
    tell(memory, "Then Ada met Bob", "Then Ada met Zoë in Lisbon", "вчера мы видели Алиса дома")
    assert [one.canonical_name for one in memory.entities.page(limit=1)] == ["Ada"]
    assert {one.canonical_name for one in memory.entities.page(type="location")} == {"Lisbon"}
    assert [one.canonical_name for one in memory.entities.page("ZOË")] == ["Zoë"]
    assert [one.canonical_name for one in memory.entities.page("алиса")] == ["Алиса"]
    everybody = [one.canonical_name for one in memory.entities.page(order="name")]
    assert everybody == sorted(everybody, key=str.casefold)
    assert [
        one.canonical_name for one in memory.entities.page("-ada -type:location", order="name", offset=1)
    ] == [
        "Zoë",
        "Алиса",
    ]
    memory.entities.pin("Zoë")
    assert memory.entities.page()[0].canonical_name == "Zoë"
    listed = memory.view.entity_list
    for order in ("mentions", "name", "last_seen", "first_seen"):
        for falling in (True, False):
            keys = [key for chunk in listed.keys(order=order, falling=falling) for key in chunk]
            assert keys == [one.eid for one in listed.page(order=order, falling=falling)]
            assert len(keys) == listed.count()
    for wrong in ({"type": "robot"}, {"order": "colour"}, {"offset": -1}):
        with pytest.raises(InputError):
            memory.entities.page(**wrong)  # type: ignore[arg-type]


def test_speakers_of_a_conversation_are_people(memory: Memory) -> None:
    memory.record_turn("talk", "Quill", "hello there")
    memory.record_turn("talk", "Mo", "and quill has a cold, poor thing; Quill should rest")
    assert memory.entities.get("Quill").entity.type == "person"


def test_an_entity_of_very_many_memories_has_the_same_profile(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, *(f"Then Ada met Bob for the {n}th time" for n in range(12)))
    for n in range(6):
        memory.remember(f"Ada likes train {n}")
    memory.entities.merge("Ada", "Bob")
    few = memory.entities.get("Ada", limit=10)
    monkeypatch.setattr(entity_lists, "_LOOKED_THROUGH", 1)
    many = memory.entities.get("Ada", limit=10)
    assert (many.memories, many.total) == (few.memories, few.total)
    assert [one.kind for one in many.memories] == ["fact"] * 6 + ["episode"] * 4
