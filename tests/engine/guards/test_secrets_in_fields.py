"""A secret that is put into any field of any door is nowhere in the file but in the quarantined turn itself."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options, SecretPolicy

KEY = "sk-proj-abcDEF0123456789abcDEF0123456789abcDEF01"
SPLIT = KEY[:20] + "\u200b" + KEY[20:]
OPTIONS = Options(background=False, embedder="off")


def _held(place: Path) -> list[str]:
    """Each column that has the key, in any row; the text of a quarantined turn may."""
    found = []
    connection = apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        if table.startswith(("memories_fts", "facts_fts", "memories_cjk", "sqlite_", "vec_")):
            continue
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        for row in connection.execute(f"SELECT * FROM {table}"):
            for name, value in zip(names, row, strict=True):
                text = str(value).replace("\u200b", "").replace("\\u200b", "")
                if KEY in text and not (table == "memories" and name == "content"):
                    found.append(f"{table}.{name}")
    connection.close()
    return found


def _refused(call: object, *args: object, **named: object) -> None:
    with pytest.raises(InputError) as caught:
        call(*args, **named)  # type: ignore[operator]
    assert KEY not in str(caught.value)


def test_no_door_keeps_a_secret_beside_a_memory(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    with Memory.open(place, options=OPTIONS) as memory:
        fact = memory.remember(
            f"The key is {KEY}", tags=[KEY, "work"], source=f"mail {KEY}", project=f"shop {SPLIT}"
        )
        assert fact.tags == ("redacted-api-key", "work")
        _refused(memory.tag, fact.id, add=[SPLIT])
        memory.record_turn(f"session {KEY}", f"Ada {KEY}", f"My key is {KEY}, says Ada.", project=KEY)
        memory.models.index_pending()
        memory.remember("Ada Lovelace lives in Ghent")
        memory.models.index_pending()
        ada = memory.entities.get("Ada Lovelace").entity
        _refused(memory.entities.add_alias, ada.id, f"Ada {KEY}")
        _refused(memory.entities.rename, ada.id, KEY)
        memory.entities.describe(ada.id, f"has {KEY}")
        memory.questions.pin(f"who has {SPLIT}?")
        memory.questions.expect(f"what is {KEY}?", fact.id)
        _refused(memory.questions.pin, "who?", filter=f"source:{KEY}")
        _refused(memory.scratchpad.set, KEY, "value")
        memory.scratchpad.set("note", f"value {KEY}")
    with Memory.open(place, actor="agent:scout", options=OPTIONS) as agent:
        agent.search(f"Ghent {KEY}")
        agent.context(f"Where does Ada live? {KEY}")
    assert _held(place) == []


def test_no_import_keeps_one_in_titles_names_and_tags(tmp_path: Path) -> None:
    place, export = tmp_path / "memory.db", tmp_path / "conversations.json"
    message = {
        "role": "user",
        "content": {"content_type": "text", "parts": ["Hello there"]},
        "create_time": 1.7e9,
    }
    export.write_text(
        json.dumps(
            [
                {
                    "title": f"How to use {KEY}", "create_time": 1.7e9, "conversation_id": "c1", "current_node": "n1",
                    "mapping": {"n1": {"id": "n1", "parent": None, "children": [],
                                       "message": {**message, "author": {"role": "user"}, "id": "m1"}}},
                }
            ]
        )
    )  # fmt: skip
    note = tmp_path / "graph.jsonl"
    graph = [
        {
            "type": "entity",
            "name": "Ada",
            "entityType": f"has {KEY}",
            "observations": [f"likes {KEY}", "likes tea"],
        },
        {"type": "entity", "name": KEY, "entityType": "person", "observations": ["likes tea, too"]},
    ]
    note.write_text("\n".join(map(json.dumps, graph)))
    observed = tmp_path / "observed.jsonl"
    observed.write_text(
        json.dumps(
            {
                "id": "0b0d5c1e-5a52-4c4a-8f3d-111111111111",
                "content": "The API allows 100 calls",
                "category": "finding",
                "source": f"GOAL:{KEY}",
                "created_at": "2026-02-03T10:00:00Z",
            }
        )
        + "\n"
    )
    with Memory.open(place, options=OPTIONS) as memory:
        memory.files.import_paths([export])
        memory.files.import_paths([note])
        memory.files.import_paths([observed])
        assert memory.view.count() >= 2
    assert _held(place) == []


def test_the_label_of_an_operation_tells_no_secret_of_a_fact_that_keeps_it(tmp_path: Path) -> None:
    options = Options(background=False, embedder="off", secrets=SecretPolicy(facts="quarantine"))
    with Memory.open(tmp_path / "memory.db", options=options) as memory:
        fact = memory.remember(f"The key is {KEY}")
        later = memory.correct(fact.id, f"The key was {KEY}")
        assert "secrets" in later.attributes
    assert _held(tmp_path / "memory.db") == []
