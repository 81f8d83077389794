"""ChatGPT exports: the tree, what is hidden in it, and the shapes the file comes in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from import_samples import conversation, message, read, reasons, words


def export(path: Path, conversations: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(conversations), encoding="utf-8")
    return path


def test_the_current_branch_becomes_turns_in_order(tmp_path: Path) -> None:
    talk = conversation("c1", [None, message("user", "Hello?"), message("assistant", "Yes, hello.")])
    (question, answer), skips = read(export(tmp_path / "x.json", [talk]))
    assert question.content == "Hello?"
    assert question.role == "user"
    assert question.trust == "user"
    assert question.session_id == "chatgpt:c1"
    assert question.source_key == "chatgpt:c1:m-c1-1"
    assert question.source == "import:chatgpt"
    assert question.session_title == "Planting plan"
    assert question.event_time == 1767225600.5
    assert answer.trust == "agent"
    assert skips == []


def test_an_abandoned_branch_is_not_the_conversation(tmp_path: Path) -> None:
    talk = conversation("c1", [None, message("user", "Edited"), message("assistant", "Current")])
    mapping = talk["mapping"]
    mapping["old"] = {
        "id": "old",
        "parent": "c1-0",
        "children": [],
        "message": message("user", "Before the edit"),
    }
    turns, _ = read(export(tmp_path / "x.json", [talk]))
    assert words(turns) == ["Edited", "Current"]


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_without_a_current_node_the_newest_leaf_is_taken(tmp_path: Path, current: object) -> None:
    talk = conversation("c1", [None, message("user", "Asked"), message("assistant", "New", create_time=30.0)])
    talk["mapping"]["old"] = {"parent": "c1-1", "message": message("assistant", "Old", create_time=20.0)}
    talk["current_node"] = current
    turns, _ = read(export(tmp_path / "x.json", [talk]))
    assert words(turns) == ["Asked", "New"]


def test_system_tool_and_hidden_messages_are_passed_over(tmp_path: Path) -> None:
    talk = conversation(
        "c1",
        [
            message("system", "You are helpful"),
            message("user", {"content_type": "user_editable_context", "user_profile": "..."}),
            message("user", "Seen by nobody", metadata={"is_visually_hidden_from_conversation": True}),
            message("assistant", "print(1)", recipient="python"),
            message("tool", "1"),
            message("assistant", {"content_type": "thoughts", "thoughts": []}),
            message("user", {"content_type": "text", "parts": [""]}),
            message("user", "Kept", recipient=None),
        ],
    )
    turns, skips = read(export(tmp_path / "x.json", [talk]))
    assert words(turns) == ["Kept"]
    assert reasons(skips) == ["hidden or system text", "no text in it", "tool call or output"]


def test_parts_may_be_objects(tmp_path: Path) -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 3},
        "What is in it?",
        {"content_type": "audio_transcription", "text": "I said this aloud."},
        None,
    ]
    talk = conversation("c1", [message("user", {"content_type": "multimodal_text", "parts": parts})])
    only = message("user", {"content_type": "multimodal_text", "parts": parts[:1]})
    turns, skips = read(export(tmp_path / "x.json", [talk, conversation("c2", [only])]))
    assert words(turns) == ["What is in it?\n\nI said this aloud."]
    assert [skip.reason for skip in skips] == ["image, sound or other part that is not text"] * 2


@pytest.mark.parametrize(
    "content",
    [
        {"content_type": "letter", "parts": ["I am allergic to nuts."]},
        {"content_type": "letter", "text": "I am allergic to nuts."},
        {"content_type": ["letter"], "parts": [{"text": "I am allergic to nuts."}]},
    ],
)
def test_the_text_of_an_unknown_kind_of_message_is_read(tmp_path: Path, content: dict[str, object]) -> None:
    strange = message("user", {"content_type": "letter", "body": {"a": 1}})
    nobody = message("user", "?", author={"role": ["user"]})
    talk = conversation("c1", [message("user", content), strange, nobody])
    turns, skips = read(export(tmp_path / "x.json", [talk]))
    assert words(turns) == ["I am allergic to nuts."]
    assert reasons(skips) == ["hidden or system text", "unknown kind of message"]
    assert "x.json" in next(skip.place for skip in skips if skip.reason == "unknown kind of message")


def test_absent_times_and_titles_are_borrowed_or_left_out(tmp_path: Path) -> None:
    talk = conversation(
        "c1", [message("user", "a", create_time=None), message("assistant", "b", create_time=None)],
        title=None, create_time=1000.0,
    )  # fmt: skip
    bare = conversation("c2", [message("user", "c", create_time=None)], create_time=None, update_time=None)
    turns, _ = read(export(tmp_path / "x.json", [talk, bare]))
    assert [turn.event_time for turn in turns] == [1000.0, 1000.0, None]
    assert turns[0].session_title is None


def test_a_cycle_in_the_tree_ends(tmp_path: Path) -> None:
    talk = conversation("c1", [message("user", "a"), message("assistant", "b")])
    talk["mapping"]["c1-0"]["parent"] = "c1-1"
    turns, _ = read(export(tmp_path / "x.json", [talk]))
    assert words(turns) == ["a", "b"]


def test_a_broken_message_does_not_hide_those_before_it(tmp_path: Path) -> None:
    talk = conversation("c1", [message("user", "a"), message("assistant", "b"), message("user", "c")])
    talk["mapping"]["c1-1"]["message"] = {"author": "nobody", "content": 3}
    turns, skips = read(export(tmp_path / "x.json", [talk]))
    assert words(turns) == ["a", "c"]
    assert reasons(skips) == ["record of an unknown shape"]


def test_one_broken_conversation_does_not_stop_the_file(tmp_path: Path) -> None:
    good = json.dumps(conversation("c1", [message("user", "a")]))
    also = json.dumps(conversation("c2", [message("user", "b")]))
    path = tmp_path / "x.json"
    path.write_text(
        f'[{good}, 7, {{"mapping": ]}}, {{"mapping": 5}}, {{"mapping": {{}}}}, {also}', encoding="utf-8"
    )
    turns, skips = read(path)
    assert words(turns) == ["a", "b"]
    assert reasons(skips) == [
        "conversation without messages",
        "neither an object nor an array",
        "not valid JSON",
        "record of an unknown shape",
    ]


def test_a_file_cut_off_in_the_middle_gives_what_is_whole(tmp_path: Path) -> None:
    talks = [conversation(f"c{n}", [message("user", f"text {n}")]) for n in range(3)]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(talks)[:-40], encoding="utf-8")
    turns, skips = read(path)
    assert words(turns) == ["text 0", "text 1"]
    assert reasons(skips) == ["the file ends in the middle"]


def test_lone_surrogates_and_bad_bytes_are_replaced(tmp_path: Path) -> None:
    raw = json.dumps([conversation("c1", [message("user", "half \ud83d end"), message("user", "BYTE é")])])
    path = tmp_path / "x.json"
    path.write_bytes(raw.encode().replace(b"BYTE", b"\xff\xfe"))
    turns, _ = read(path)
    assert words(turns) == ["half \ufffd end", "\ufffd\ufffd é"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_sharded_export_is_read_whole_from_a_folder_or_a_zip(tmp_path: Path, packed: bool) -> None:
    names = ["conversations-000.json", "conversations-001.json", "sub/renamed.dat"]
    folder = tmp_path / "export"
    for number, name in enumerate(names):
        export(folder / name, [conversation(f"c{number}", [message("user", f"shard {number}")])])
    (folder / "chat.html").write_text("<html>conversations mapping parent</html>")
    (folder / "user.json").write_text('{"id": "user-1", "email": "ada@example.org"}')
    (folder / "picture.dat").write_bytes(b"\x89PNG\0\0\0")
    path = folder
    if packed:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, str(file.relative_to(folder)))
    turns, _ = read(path)
    assert sorted(words(turns)) == ["shard 0", "shard 1", "shard 2"]


def test_one_conversation_without_an_array_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(conversation("c1", [message("user", "alone")]), indent=2))
    assert words(read(path)[0]) == ["alone"]
