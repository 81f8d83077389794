"""What an agent reads is ranked, bounded, marked where it must not be obeyed, and remembered as told to it."""

from __future__ import annotations

import json

import pytest
from door_kit import Door
from memtui import Memory, Toolbox
from memtui.engine.errors import InputError
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import run_tool

from clock import Clock

SECRET = "my key is sk-proj-" + "Ab3" * 16


def test_only_what_was_told_is_a_recall_and_the_log_says_to_whom(door: Door) -> None:
    for number in range(12):
        door.person.remember(f"Train number {number} was late")
    output = door.ask("search_memory", query="trains", limit=3)["memories"]
    assert len(output) == 3
    [recall] = door.person.view.recent_recalls()
    assert (recall.agent, recall.query) == ("bot", "trains")
    assert recall.memory_ids == tuple(one["id"] for one in output)
    assert sum(one.access_count for one in door.person.view.page()) == 3
    door.person.search("trains")
    door.agent.memory.search("trains", preview=True)
    assert len(door.person.view.recent_recalls()) == 1


def test_a_recall_of_each_way_to_read_is_in_the_preview_of_the_memory(door: Door) -> None:
    fact = door.person.remember("My friend Selma Lund plays the accordion")
    door.ask("get_context", prompt="accordion?", session_id="s")
    door.ask("get_entity_info", name="selma lund")
    door.ask("search_memory", query="who plays music?", kind="fact")
    said = [recall.query for recall in door.person.view.recalls_of(fact.id)]
    assert said[-2:] == ["selma lund", "accordion?"]


def test_nothing_found_is_an_empty_answer_and_no_recall(door: Door) -> None:
    door.person.remember("Ada is allergic to walnuts")
    assert door.ask("search_memory", query="xyzzy")["memories"] == []
    assert door.ask("get_context", prompt="xyzzy") == {"text": "", "tokens": 0}
    assert door.person.view.recent_recalls() == []


def test_a_secret_is_left_out_and_said_to_be(door: Door) -> None:
    door.person.record_turn("s", "user", SECRET)
    answer = door.call("search_memory", query="my key")
    assert "sk-proj" not in answer.text and "secret" in answer.text
    assert door.person.view.recent_recalls() == []


def test_kind_and_tag_narrow_and_a_tag_is_only_a_tag(door: Door) -> None:
    work = door.person.remember("The standup is at ten", tags=["work"])
    door.person.remember("The standup comedian was funny")
    found = door.ask("search_memory", query="standup", tag="#work", kind="fact")["memories"]
    assert [one["id"] for one in found] == [work.id]
    assert door.ask("search_memory", query="standup", tag='x" is:trash')["memories"] == []


def test_counts_and_the_newest_time(door: Door, clock: Clock) -> None:
    assert "latest" not in door.ask("memory_stats")
    door.person.remember("The standup is at ten")
    door.person.record_turn("s", "user", "hello")
    output = door.ask("memory_stats")
    assert output["memories"] == 2 and output["by_kind"] == {
        "episode": 1,
        "fact": 1,
        "reflection": 0,
        "observation": 0,
    }


def test_who_may_be_the_same_is_told_with_a_name_until_it_is_decided(door: Door) -> None:
    door.person.remember("My friend Selma Lund plays the accordion")
    door.person.remember("Then Selma called from the harbour")
    door.person.models.index_pending()
    assert door.ask("get_entity_info", name="Selma Lund")["may_also_be"] == ["Selma"]
    assert [one.canonical_name for one in door.person.entities.merge_candidates("Selma")] == ["Selma Lund"]
    agent = Agent(door.agent.memory, filter="-tag:private")
    assert "may_also_be" not in run_tool(agent, "get_entity_info", {"name": "Selma Lund"}).text
    door.person.entities.keep_apart("Selma", "Selma Lund")
    assert "may_also_be" not in door.ask("get_entity_info", name="Selma Lund")


def test_who_is_unknown_is_an_error_with_a_way_on(door: Door) -> None:
    error = door.refused("get_entity_info", name="Nobody Atall")
    assert error["code"] == "not_found" and "search_memory" in error["hint"]


def test_a_program_gets_function_schemas_and_answers_as_text() -> None:
    with Memory.open(":memory:", actor="agent:bot") as memory:
        box = Toolbox.of(memory)
        names = [one["name"] for one in box.function_schemas()]
        assert "search_memory" in names and "save_facts_batch" not in names
        assert all(not one["strict"] and one["type"] == "function" for one in box.function_schemas())
        stored = json.loads(box.call("remember_fact", '{"content": "Likes tea", "confidence": null}').text)
        assert stored["status"] == "done"
        assert "unknown_tool" in box.call("save_facts_batch", {}).text
        names = [
            one["name"] for one in Toolbox.of(memory, ("consolidator",), readonly=True).function_schemas()
        ]
        assert names == ["is_session_consolidated", "get_episodes_for_consolidation", "detect_conflicts"]


def test_recalls_of_one_day_are_one_recall_day(door: Door, clock: Clock) -> None:
    fact = door.person.remember("Ada plays the cello")
    for days, recalls in ((1, 3), (2, 2)):
        for _ in range(recalls):
            door.ask("search_memory", query="cello")
        assert door.person.get(fact.id).recall_days == days
        clock.now += 86_400
    assert door.person.get(fact.id).access_count == 5


def test_what_replaced_a_memory_is_not_named_outside_the_agents_filter(door: Door) -> None:
    shown, hidden = (
        door.person.remember(text) for text in ("The key is under the pot", "The bell is broken")
    )
    later = door.person.correct(hidden.id, "The bell rings")
    secret = door.person.correct(shown.id, "The key is behind the bell")
    door.person.tag(secret.id, add=["private"])
    agent = Agent(door.agent.memory, filter="-tag:private")
    with pytest.raises(InputError) as error:
        agent.get(hidden.id)
    assert later.id in str(error.value.hint)
    with pytest.raises(InputError) as error:
        agent.get(shown.id)
    assert secret.id not in f"{error.value.message} {error.value.hint}"


def test_a_memory_of_an_agent_has_no_tag_that_its_filter_excludes(door: Door) -> None:
    agent = Agent(door.agent.memory, filter="-tag:private tag:work")
    assert agent.own_tags() == ("work",)
    assert run_tool(agent, "remember_fact", {"content": "The standup is at ten"}).ok
    (record,) = door.person.view.page("kind:fact")
    assert record.tags == ("work",)


def test_characters_that_hide_words_are_shown_to_agents_and_stay_in_the_file(door: Door) -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    text = f"My aunt Ida{tags} keeps \u202ebees\u200b and a \U0001f468\u200d\U0001f373 in \x1b[31mOslo \u2764\ufe0f"
    shown = (
        "My aunt Ida‹U+E006F›‹U+E0062›‹U+E0065›‹U+E0079› keeps ‹U+202E›bees‹U+200B› and a "
        "\U0001f468\u200d\U0001f373 in ‹U+001B›[31mOslo \u2764\ufe0f"
    )
    fact = door.person.remember(text)
    answer = door.call("search_memory", query="aunt bees")
    assert answer.structured is not None and answer.structured["memories"][0]["content"] == shown
    assert answer.structured == json.loads(answer.text)
    assert shown in door.ask("get_context", prompt="What does my aunt Ida keep?")["text"]
    assert shown in door.person.context("What does my aunt Ida keep?").text
    assert door.person.view.get(fact.id).content == text
