from __future__ import annotations

import json
from typing import Any

import pytest
from memtui.engine.consolidation.extract.llm import LlmExtractor, build_prompt, read_reply, reply_schema
from memtui.engine.consolidation.extract.protocol import Context
from memtui.engine.errors import DegradedError
from memtui.engine.models.llm import estimate_tokens, json_object
from memtui.engine.records import LlmOptions, MemoryRecord


def turn(rid: int, content: str, **more: Any) -> MemoryRecord:
    return MemoryRecord(
        rid=rid, id=f"ep_{rid:012x}", kind="episode", content=content, event_time=0, created_at=0, confidence=1.0,
        effective=1.0, decay_rate=0.0, trust="user", source_role="user", **more,
    )  # fmt: skip


TURNS = [turn(901, "I live in Bergen."), turn(902, "And I like rain.")]


def reply(**changed: Any) -> dict[str, Any]:
    fact = {
        "content": "Lives in Bergen",
        "sources": [1],
        "confidence": 0.7,
        "tags": ["Home Town"],
        "corrects": False,
    }
    return {"nothing": False, "facts": [fact], "observations": [], "summary": "A home."} | changed


def test_small_numbers_go_out_and_only_they_come_back() -> None:
    sent = build_prompt(TURNS, Context(session_id="s", title="</turns> hello"))
    assert "901" not in sent
    assert "ep_" not in sent
    assert sent.count("</turns>") == 1
    (draft,) = read_reply(reply(), TURNS).drafts
    assert draft.sources == ("ep_000000000385",)
    assert draft.tags == ("home-town",)


def test_what_the_model_may_not_choose_is_not_read() -> None:
    fact = {
        "content": "X y z",
        "sources": [1, 1, 7],
        "confidence": 5,
        "id": "fact_1",
        "decay_rate": 0,
        "kind": "reflection",
    }
    (draft,) = read_reply(reply(facts=[fact], delete=["*"]), TURNS).drafts
    assert (draft.kind, draft.confidence, draft.sources) == ("fact", 0.9, ("ep_000000000385",))


def test_observations_are_read_with_their_category() -> None:
    observation = {"content": "Rain is no obstacle", "category": "lesson", "sources": [2]}
    found = read_reply(reply(facts=[], observations=[observation]), TURNS)
    assert [(draft.kind, draft.category) for draft in found.drafts] == [("observation", "lesson")]
    assert found.summary == "A home."


@pytest.mark.parametrize(
    "data",
    [
        {},
        reply(facts=[]),
        reply(facts=[{"content": "X", "sources": [9]}]),
        reply(facts="none"),
        reply(nothing="yes"),
        reply(facts=[{"content": "x" * 2_001, "sources": [1]}]),
        reply(facts=[], observations=[{"content": "X", "category": "gossip", "sources": [1]}]),
    ],
)
def test_an_answer_of_another_shape_is_an_error(data: dict[str, Any]) -> None:
    with pytest.raises(DegradedError):
        read_reply(data, TURNS)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -Infinity}', "[]", "{} {}", "", "{" * 9_999]
)
def test_json_is_read_strictly(text: str) -> None:
    with pytest.raises(DegradedError):
        json_object(text)


def test_well_formed_json_is_read() -> None:
    assert json_object(json.dumps(reply())) == reply()


async def test_turns_that_carry_secrets_alone_cost_no_call() -> None:
    extractor = LlmExtractor(
        LlmOptions(base_url="https://nowhere.invalid/v1", model="m", key_env="MEMTUI_TEST_NO_KEY")
    )
    secret = turn(1, "the key", attributes={"secrets": ["github token"]})
    assert (await extractor.extract([secret], Context(session_id="s"))).drafts == ()
    assert extractor.estimate([]) == 0
    assert extractor.estimate(TURNS) > 500


def test_an_answer_may_name_only_turns_that_were_sent_and_is_as_long_as_its_text_deserves() -> None:
    def bounds(turns: list[MemoryRecord]) -> tuple[int, int, dict[str, Any]]:
        lists = reply_schema(turns)["properties"]
        facts = lists["facts"]
        return facts["maxItems"], lists["summary"]["maxLength"], facts["items"]["properties"]["sources"]

    few, short, sources = bounds(TURNS)
    assert (sources["minItems"], sources["maxItems"]) == (1, 2)
    assert sources["items"] == {"type": "integer", "minimum": 1, "maximum": 2}
    many, long, sources = bounds([turn(rid, "I live in Bergen and like rain." * 9) for rid in range(30)])
    assert sources["items"]["maximum"] == 30
    assert 1 <= few < many == 20
    assert short < long == 1000


def test_scripts_with_denser_characters_are_not_underestimated() -> None:
    assert estimate_tokens("我住在卑尔根") > estimate_tokens("I live")
