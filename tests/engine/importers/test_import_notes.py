"""Facts, names, observations and scratchpad entries of other memories: what arrives, once, and leaves again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from import_samples import jsonl
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options, SecretPolicy
from other_memories import assert_comes_once_and_goes, rows

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")
KEY = "AKIAIOSFODNN7EXAMPLQ"
GRAPH: list[Any] = [
    {"type": "entity", "name": "Ada Byron", "entityType": "person", "observations": ["Speaks French", "Ada Byron likes tea"]},
    {"type": "entity", "name": "Lumen", "entityType": "Company", "observations": []},
    {"type": "entity", "name": "Harvest Day", "entityType": "event", "observations": ["Is in May", 7, "  "]},
    {"type": "relation", "from": "Ada Byron", "to": "Lumen", "relationType": "works_at"},
    {"type": "entity", "name": None, "entityType": "x", "observations": ["lost"]},
    b'{"type": "entity", "name": "Cut',
    b"\xff\xfe not json",
    {"type": "relation", "from": "Ada Byron"},
    {"type": "something newer"},
]  # fmt: skip
OBSERVED: list[Any] = [
    {"id": "0b0d5c1e-5a52-4c4a-8f3d-111111111111", "content": "The API allows 100 calls a minute", "category": "finding",
     "source": "GOAL:probe", "created_at": "2026-02-03T10:00:00Z"},
    {"id": "0b0d5c1e-5a52-4c4a-8f3d-222222222222", "content": "Check limits first", "category": "lesson",
     "source": "explicit", "created_at": "2026-02-03T10:00:05.25+02:00"},
    {"content": "No id and no time", "category": "insight"},
    {"id": "x", "content": "Odd", "category": "rumour"},
    {"id": "y", "content": "", "category": "finding"},
    b'{"id": "z", "content": "cut o',
]  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as opened:
        yield opened


def test_a_key_that_comes_twice_counts_once_and_hides_nothing(memory: Memory, tmp_path: Path) -> None:
    said = [
        ("one", "Beans need poles"),
        ("one", "Peas need nets"),
        ("two", "Peas need nets"),
        ("three", "Beans need poles"),
    ]
    records = [{"id": id, "content": text, "category": "finding", "source": "explicit"} for id, text in said]
    report = memory.files.import_paths([jsonl(tmp_path / "o.jsonl", records)])
    assert (report.imported, report.already_there) == (2, 2)
    assert rows(memory, "SELECT content FROM memories ORDER BY rid") == [
        ("Beans need poles",),
        ("Peas need nets",),
    ]


def test_a_graph_becomes_facts_about_its_entities(memory: Memory, tmp_path: Path) -> None:
    report = memory.files.import_paths([jsonl(tmp_path / "memory.jsonl", GRAPH)])
    assert report.formats == ("mcp-memory",)
    assert report.kinds == {"entity": 3, "fact": 4}
    assert report.reasons == {
        "no text in it": 2, "no name": 2, "not valid JSON": 1, "not text in UTF-8": 1, "not a message": 1,
    }  # fmt: skip
    assert report.operation is not None
    assert report.operation.label == "Imported 3 entities and 4 facts from MCP memory"
    facts = rows(memory, "SELECT content, trust, source, confirmed_at FROM memories ORDER BY content")
    assert facts == [
        ("Ada Byron likes tea", "agent", "import:mcp-memory", None),
        ("Ada Byron works at Lumen.", "agent", "import:mcp-memory", None),
        ("Ada Byron: Speaks French", "agent", "import:mcp-memory", None),
        ("Harvest Day: Is in May", "agent", "import:mcp-memory", None),
    ]
    profile = memory.entities.get("Ada Byron")
    assert (profile.entity.type, profile.total) == ("person", 3)
    assert memory.entities.get("Lumen").entity.type == "organization"
    assert memory.entities.get("Harvest Day").entity.summary == "event"


def test_a_graph_may_have_the_names_of_later_servers(memory: Memory, tmp_path: Path) -> None:
    graph = [
        {"type": "entity", "name": "Ada", "entity_type": "person", "observations": ["likes tea"]},
        {"type": "relation", "from_entity": "Ada", "to_entity": "Lumen", "relation_type": "works_at"},
    ]
    report = memory.files.import_paths([jsonl(tmp_path / "memory.jsonl", graph)])
    assert report.kinds == {"entity": 1, "fact": 2}
    assert rows(memory, "SELECT content FROM memories ORDER BY content") == [
        ("Ada works at Lumen.",),
        ("Ada: likes tea",),
    ]
    assert memory.entities.get("Ada").entity.type == "person"
    alone = memory.files.import_paths([jsonl(tmp_path / "relations.jsonl", graph[1:])])
    assert alone.formats == ("mcp-memory",)


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("type", {"text": "likes tea", "timestamp": "2026-03-01T10:00:00Z", "version": "1"}),
        ("_type", {"text": "likes tea", "timestamp": "2026-03-01T10:00:00Z", "version": "1"}),
        ("type", {"content": "likes tea", "ts": "2026-03-01T10:00:00.000Z", "durability": "permanent"}),
    ],
)
def test_an_observation_may_be_an_object_with_its_time(
    memory: Memory, tmp_path: Path, kind: str, seen: dict[str, str]
) -> None:
    graph = [
        {kind: "entity", "name": "Ada", "entityType": "person", "observations": [seen, {"version": "2"}]},
        {kind: "relation", "from": "Ada", "to": "Lumen", "relationType": "works_at"},
    ]
    report = memory.files.import_paths([jsonl(tmp_path / "memory.jsonl", graph)])
    assert (report.kinds, report.reasons) == ({"entity": 1, "fact": 2}, {"no text in it": 1})
    found = rows(memory, "SELECT event_time FROM memories WHERE content = 'Ada: likes tea'")
    assert found == [(1772359200,)]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_graph_may_be_one_document(memory: Memory, tmp_path: Path, indent: int | None) -> None:
    graph = {
        "entities": [{"name": "Ada", "entityType": "person", "observations": ["cannot eat nuts"]}, "odd"],
        "relations": [{"from": "Ada", "to": "Lumen", "relationType": "works_at"}],
    }
    (tmp_path / "graph.json").write_text(json.dumps(graph, indent=indent))
    report = memory.files.import_paths([tmp_path / "graph.json"])
    assert (report.formats, report.kinds) == (("mcp-memory",), {"entity": 1, "fact": 2})
    assert report.reasons == {"not a message": 1}
    assert memory.entities.get("Ada").entity.type == "person"
    assert memory.files.import_paths([tmp_path / "graph.json"]).imported == 0


def test_a_graph_comes_once_and_can_be_taken_back(memory: Memory, tmp_path: Path) -> None:
    assert_comes_once_and_goes(memory, jsonl(tmp_path / "memory.jsonl", [*GRAPH, *GRAPH]))


def test_names_that_are_known_stay_what_they_are(memory: Memory, tmp_path: Path) -> None:
    memory.files.import_paths([jsonl(tmp_path / "a", GRAPH)])
    memory.entities.retype("Ada Byron", "project")
    memory.files.import_paths(
        [jsonl(tmp_path / "b", [{"type": "entity", "name": "ada byron", "entityType": "person", "observations": ["is old"]}])]
    )  # fmt: skip
    profile = memory.entities.get("Ada Byron")
    assert (profile.entity.type, profile.total) == ("project", 4)


def test_observations_keep_category_source_and_time(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "observations.jsonl", OBSERVED)
    report = memory.files.import_paths([path])
    assert report.formats == ("observations",)
    assert report.kinds == {"observation": 3}
    assert report.reasons == {"no known category": 1, "no text in it": 1, "not valid JSON": 1}
    found = rows(memory, "SELECT kind, category, source, trust, event_time FROM memories ORDER BY rid")
    assert found[0] == ("observation", "finding", "GOAL:probe", "model", 1770112800)
    assert found[1] == ("observation", "lesson", "explicit", "agent", 1770105605)
    assert found[2][:4] == ("observation", "insight", "explicit", "agent")


def test_observations_come_once_and_can_be_taken_back(memory: Memory, tmp_path: Path) -> None:
    assert_comes_once_and_goes(memory, jsonl(tmp_path / "observations.jsonl", [*OBSERVED, *OBSERVED]))


def test_key_values_go_to_the_scratchpad_where_asked_for(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "kv.json"
    path.write_text(
        json.dumps({"api.limit": "100", "count": 3, "gone": None, "token": f"it is {KEY}"}, indent=2)
    )
    with pytest.raises(InputError, match="in no format"):
        memory.files.import_paths([path])
    report = memory.files.import_paths([path], format="scratchpad")
    assert report.kinds == {"scratchpad entry": 2}
    assert report.reasons == {"value that is not text": 2}
    assert memory.scratchpad.get("api.limit").value == "100"
    assert KEY not in memory.scratchpad.get("token").value
    assert memory.undo() is not None
    assert memory.scratchpad.keys() == []


def test_key_values_come_once_and_can_be_taken_back(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "kv.json"
    path.write_text(json.dumps({"api.limit": "100", "plan": "sow in March"}))
    assert_comes_once_and_goes(memory, path, format="scratchpad")


def test_a_key_in_use_keeps_its_value(memory: Memory, tmp_path: Path) -> None:
    memory.scratchpad.set("plan", "mine")
    path = tmp_path / "kv.json"
    path.write_text('{"plan": "theirs"}')
    report = memory.files.import_paths([path], format="scratchpad")
    assert (report.imported, report.reasons) == (0, {"scratchpad key in use with another value": 1})
    assert memory.scratchpad.get("plan").value == "mine"


@pytest.mark.parametrize("content", ['{"a": "b"', '["a"]', '{"a": {"b": "c"}}', "{'a': 'b'}"])
def test_odd_key_value_files_are_told_and_stop_no_others(
    memory: Memory, tmp_path: Path, content: str
) -> None:
    path, good = tmp_path / "kv.json", tmp_path / "good.json"
    path.write_text(content)
    good.write_text('{"plan": "beans"}')
    with pytest.raises(InputError, match=r"Nothing could be imported from .*kv\.json"):
        memory.files.import_paths([path], format="scratchpad")
    report = memory.files.import_paths([path, good], format="scratchpad")
    assert (report.imported, len(report.refused), len(report.skips)) == (1, 1, 1)
    assert report.skips[0].place.startswith(str(path))


def test_a_file_without_content_is_no_error(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "kv.json"
    path.write_text("{}")
    assert memory.files.import_paths([path], format="scratchpad").imported == 0


def test_secrets_and_over_long_notes_are_treated_as_on_every_way_in(tmp_path: Path) -> None:
    entity = {"type": "entity", "name": "Vault", "entityType": "thing",
              "observations": [f"the key is {KEY}", "x" * 30_000]}  # fmt: skip
    path = jsonl(tmp_path / "memory.jsonl", [entity])
    for policy, stored in (("redact", False), ("keep", True)):
        options = Options(background=False, embedder="off", secrets=SecretPolicy(facts=policy))  # type: ignore[arg-type]
        with Memory.open(tmp_path / policy / "memory.db", clock=lambda: NOW, options=options) as memory:
            report = memory.files.import_paths([path])
            assert (report.kinds, report.reasons) == ({"entity": 1, "fact": 1}, {"too long": 1})
            [(content,)] = rows(memory, "SELECT content FROM memories")
            assert (KEY in content) is stored
            assert report.redacted == (not stored)


def test_a_text_that_is_known_as_a_fact_is_not_added_again(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Ada Byron likes tea")
    report = memory.files.import_paths([jsonl(tmp_path / "memory.jsonl", GRAPH)])
    assert (report.kinds["fact"], report.already_there) == (3, 2)  # the fact, and her name
    assert memory.files.import_paths([tmp_path / "memory.jsonl"]).imported == 0
