"""Claude.ai exports: conversations with their messages in order, in both notations, with broken ones among them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from import_samples import read, reasons, words
from memtui import Memory
from memtui.engine.records import Options


def message(sender: str, text: str, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": f"m-{sender}-{text[:8]}",
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": "2026-03-04T10:15:30.250000Z",
        "updated_at": "2026-03-04T10:15:30.250000Z",
        "attachments": [],
        "files": [],
    } | fields


def conversation(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": "c-1",
        "name": "Ponds",
        "summary": "",
        "created_at": "2026-03-04T10:00:00Z",
        "updated_at": "2026-03-04T11:00:00Z",
        "account": {"uuid": "a-1"},
        "chat_messages": list(messages),
    } | fields


def export(path: Path, *conversations: Any, indent: int | None = None) -> Path:
    path.write_text(json.dumps(conversations, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_messages_become_turns(tmp_path: Path, indent: int | None) -> None:
    path = export(
        tmp_path / "conversations.json",
        conversation(message("human", "Which pump?"), message("assistant", "The small one.")),
        indent=indent,
    )
    (question, answer), skips = read(path)
    assert (question.role, question.content, question.trust) == ("user", "Which pump?", "user")
    assert (answer.role, answer.content, answer.trust) == ("assistant", "The small one.", "agent")
    assert question.session_id == "claude-ai:c-1"
    assert question.session_title == "Ponds"
    assert question.source == "import:claude-ai"
    assert question.source_key == "claude-ai:c-1:m-human-Which pu"
    assert question.event_time == 1772619330.25
    assert skips == []


def test_the_other_notation_and_missing_names_are_read(tmp_path: Path) -> None:
    given = conversation(name="")
    del given["chat_messages"]
    given["messages"] = [
        {"role": "user", "content": "Just a text.", "created_at": None},
        {"role": "assistant", "text": "Only text."},
    ]
    turns, _ = read(export(tmp_path / "x.json", given))
    assert words(turns) == ["Just a text.", "Only text."]
    assert {turn.session_title for turn in turns} == {None}
    assert [turn.event_time for turn in turns] == [1772618400.0] * 2


def test_thinking_and_tools_are_nobodys_words(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "text": "hidden thoughts"},
        {"type": "tool_use", "name": "web_search", "input": {}},
        {"type": "tool_result", "content": [{"type": "text", "text": "page"}]},
        {"type": "text", "text": "I looked."},
    ]
    path = export(
        tmp_path / "x.json",
        conversation(
            message("human", "", content=[]),
            message("assistant", "```\nThis block is not supported\n```\nI looked.", content=blocks),
            message("system", "Be kind."),
        ),
    )
    turns, skips = read(path)
    assert words(turns) == ["I looked."]
    assert reasons(skips) == ["hidden or system text", "no text in it"]


def test_what_was_pasted_or_attached_is_quoted(tmp_path: Path) -> None:
    pasted = {"file_name": "", "extracted_content": "the pasted log"}
    paper = {"file_name": "paper.txt", "extracted_content": "someone else's words"}
    photo = {"file_name": "photo.png", "file_size": 7}
    path = export(
        tmp_path / "x.json",
        conversation(
            message("human", "What is wrong?", attachments=[pasted, paper]),
            message("human", "", content=[], attachments=[paper]),
            message("human", "", content=[], files=[photo], attachments=[photo]),
        ),
    )
    turns, skips = read(path)
    assert [(turn.role, turn.content, turn.trust) for turn in turns] == [
        ("user", "What is wrong?", "user"),
        ("attachment", "the pasted log", "tool"),
        ("attachment", "paper.txt:\n\nsomeone else's words", "tool"),
        ("attachment", "paper.txt:\n\nsomeone else's words", "tool"),
    ]
    assert len({turn.source_key for turn in turns}) == 4
    assert [skip.reason for skip in skips] == ["attached file without its text"] * 2


def test_a_title_is_a_name(tmp_path: Path) -> None:
    given = conversation(message("human", "Which pump?"), title="Pumps")
    del given["name"]
    turns, _ = read(export(tmp_path / "x.json", given))
    assert turns[0].session_title == "Pumps"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("listed", [True, False])
def test_what_claude_remembers_comes_in_as_a_models_facts(
    tmp_path: Path, indent: int | None, listed: bool
) -> None:
    kept = {
        "conversations_memory": "**Work context**\n\nAda builds greenhouses.\n\n**Top of mind**\n\n- Pumps for the pond\n",
        "project_memories": {"p-1": "Uses **oak**."},
        "account_uuid": "a-1",
    }
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("memories.json", json.dumps([kept] if listed else kept, indent=indent))
        archive.writestr("conversations.json", json.dumps([conversation(message("human", "Hello"))]))
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        assert memory.files.import_paths([path]).kinds == {"turn": 1, "fact": 3}
        facts = memory.view.page("kind:fact", limit=5)
        assert sorted((fact.content, fact.trust) for fact in facts) == [
            ("Top of mind: Pumps for the pond", "model"),
            ("Uses **oak**.", "model"),
            ("Work context: Ada builds greenhouses.", "model"),
        ]
        assert memory.files.import_paths([path]).already_there == 4


def test_broken_conversations_and_messages_do_not_stop_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    odd: list[Any] = [
        {"uuid": 7, "chat_messages": "none"},
        conversation(uuid="empty"),
        conversation(
            7,
            None,
            ["x"],
            {"sender": 7},
            {"sender": "human", "text": 9},
            message("human", "last"),
            uuid="odd",
        ),
    ]
    first = json.dumps(conversation(message("human", "first")))
    path.write_text(f"[{first},\n{{broken}},\n" + ",\n".join(map(json.dumps, odd)) + f",\n{first[:80]}")
    turns, skips = read(path)
    assert words(turns) == ["first", "last"]
    assert reasons(skips) == [
        "conversation without messages",
        "no role",
        "no text in it",
        "not valid JSON",
        "record of an unknown shape",
        "the file ends in the middle",
    ]


def test_an_export_is_imported_from_its_archive_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("users.json", '[{"uuid": "u", "full_name": "Ada"}]')
        archive.writestr("projects.json", '[{"uuid": "p", "docs": []}]')
        talk = conversation(message("human", "one"), message("assistant", "two"))
        nameless = conversation({"sender": "human", "text": "three"}) | {"uuid": None}
        archive.writestr("conversations.json", json.dumps([talk, nameless]))
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "home" / "memory.db", options=options) as memory:
        report = memory.files.import_paths([tmp_path / "data.zip"])
        assert (report.imported, report.sessions, report.formats) == (3, 2, ("claude-ai",))
        again = memory.files.import_paths([tmp_path / "data.zip"])
        assert (again.imported, again.already_there) == (0, 3)
