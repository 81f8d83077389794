"""Detection by content; what is refused, and how it is said."""

from __future__ import annotations

import gzip
import json
import os
import pkgutil
import zipfile
from contextlib import closing
from importlib import import_module
from pathlib import Path

import apsw
import pytest
from import_samples import claude, conversation, ignored, jsonl, message, read, words
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers import formats as folder
from memtui.engine.importers.base import Format
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.limits import MIB, ImportLimits
from memtui.engine.importers.registry import BUILT_IN
from memtui.engine.records import Options


def formats(*paths: Path) -> list[str]:
    return [found.format for found in find_sources(paths).sources]


def test_formats_are_told_by_content_whatever_the_name(tmp_path: Path) -> None:
    code = jsonl(tmp_path / "conversations.json", [claude("user", "hi")])
    plain = jsonl(tmp_path / "agent-x.zip", [{"role": "user", "content": "hi"}])
    export = tmp_path / "notes.jsonl"
    export.write_text(json.dumps([conversation("c", [message("user", "hi")])], indent=1))
    assert formats(code) == ["claude-code"]
    assert formats(plain) == ["jsonl"]
    assert formats(export) == ["chatgpt"]
    assert sorted(formats(tmp_path)) == ["chatgpt", "claude-code", "jsonl"]


def test_a_first_line_longer_than_the_head_is_recognised(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"data": "A" * 6_000_000}}
    code = jsonl(tmp_path / "a", [claude("user", [image, {"type": "text", "text": "look"}])])
    plain = jsonl(tmp_path / "b", [{"content": "x" * 1_000_000, "role": "user"}])
    assert formats(code) == ["claude-code"]
    assert formats(plain) == ["jsonl"]
    assert words(read(code)[0]) == ["look"]


def test_a_file_of_titles_and_snapshots_alone_is_recognised(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [{"type": "summary", "summary": "x", "leafUuid": "y"}])
    assert formats(path) == ["claude-code"]
    assert read(path)[0] == []


def test_a_broken_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [b'{"role": "user", "conte', {"role": "user", "content": "hi"}])
    assert formats(path) == ["jsonl"]


def test_other_files_in_a_folder_are_counted_and_left_alone(tmp_path: Path) -> None:
    jsonl(tmp_path / "deep" / "er" / "s.jsonl", [claude("user", "hi")])
    (tmp_path / "empty").touch()
    (tmp_path / "image").write_bytes(b"\x89PNG\0")
    (tmp_path / "notes.md").write_text("# Notes")
    (tmp_path / "damaged.zip").write_bytes(b"PK\x03\x04 and then nothing")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    found = find_sources([tmp_path])
    assert [source.source.path.name for source in found.sources] == ["s.jsonl"]
    assert ignored(found) == {
        "empty": 1,
        "not text": 1,
        "headings and links without text": 1,
        "cannot be read": 2,
        "not a file": 1,
    }


def test_a_note_of_prose_alone_is_read_where_its_name_says_that_it_is_one(tmp_path: Path) -> None:
    prose = "We moved the bees to the south field because of the wind.\n\nThe old hives are empty.\n"
    for name in ("bees.md", "Bees.Markdown", "bees.txt"):
        (tmp_path / name).write_text(prose)
    (tmp_path / "props.md").write_text("---\ntags: [home]\nstatus: active\n---\n")
    (tmp_path / ".gitignore").write_text("*.log\n- build\n# no notes\n")
    found = find_sources([tmp_path])
    assert sorted(one.source.path.name for one in found.sources) == ["Bees.Markdown", "bees.md"]
    assert ignored(found) == {"plain text": 1, "in no known format": 1, "properties without text": 1}
    with pytest.raises(InputError, match="properties without text"):
        find_sources([tmp_path / "props.md"])


@pytest.mark.parametrize(
    "text", ["Buy oat milk", "- Call dentist\n", "---\ntags: [home]\n---\nTea.\n", "# Bob\n\nVegan\n"]
)
def test_a_short_note_is_read_too(text: str, tmp_path: Path) -> None:
    (tmp_path / "short.md").write_text(text)
    (found,) = find_sources([tmp_path]).sources
    assert found.format == "markdown"


def test_plain_text_is_told_how_it_is_read_as_a_note(tmp_path: Path) -> None:
    (tmp_path / "bees.txt").write_text("We moved the bees to the south field because of the wind.\n")
    with pytest.raises(InputError, match=r"bees\.txt is plain text") as caught:
        find_sources([tmp_path / "bees.txt"])
    assert ".md" in caught.value.hint


def test_a_path_named_twice_is_read_once_and_the_oldest_file_first(tmp_path: Path) -> None:
    new = jsonl(tmp_path / "a.jsonl", [claude("user", "new")])
    old = jsonl(tmp_path / "b.jsonl", [claude("user", "old")])
    os.utime(old, (1000, 1000))
    found = find_sources([new, tmp_path, old])
    assert [source.source.path for source in found.sources] == [old, new]
    assert found.size == old.stat().st_size + new.stat().st_size


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"\x7fELF\0\0\0", "is not text"),
        ('{"role": "user"}'.encode("utf-16"), "is not text"),
        (b"Dear diary,\n", "is in no format"),
        (b"[]", "is an empty list"),
        (b'{"name": "package", "version": "1"}', "is in no format"),
        (b"PK\x03\x04 and then nothing", "is not a usable zip file"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_cause(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        find_sources([path])
    assert said in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == 3


def test_missing_paths_empty_folders_and_devices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file or folder"):
        find_sources([tmp_path / "missing"])
    with pytest.raises(InputError, match="empty folder"):
        find_sources([tmp_path])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        find_sources([tmp_path / "pipe"])
    with pytest.raises(InputError, match=r"Nothing in .*\(1 × not a file\)"):
        find_sources([tmp_path])
    with pytest.raises(InputError, match="is not a path"):
        find_sources([Path("nul\0byte")])
    with pytest.raises(InputError, match="Nothing to import"):
        find_sources([])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "hi")])
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        find_sources([path])


def test_a_failing_disk_is_refused_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "hi")])

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        find_sources([path])


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_sources([jsonl(tmp_path / "s.jsonl", [claude("user", "hi")])], "whatsapp")
    assert all(feed.name in caught.value.hint for feed in BUILT_IN)


def test_a_named_format_narrows_and_is_trusted_where_nothing_else_is_recognised(tmp_path: Path) -> None:
    code = jsonl(tmp_path / "code" / "s.jsonl", [claude("user", "hi")])
    plain = jsonl(tmp_path / "plain.jsonl", [{"role": "user", "content": "hi"}])
    odd = jsonl(tmp_path / "odd.jsonl", [{"speaker": "x"}] * 300 + [{"role": "user", "content": "late"}])
    assert [found.source.path for found in find_sources([tmp_path], "claude-code").sources] == [code]
    with pytest.raises(InputError, match=r"is not in JSONL format \(Claude Code format\)"):
        find_sources([code], "jsonl")
    with pytest.raises(InputError, match="in no format"):
        find_sources([odd])
    assert words(read(odd, "jsonl")[0]) == ["late"]
    assert find_sources([plain], "jsonl").sources


def test_encrypted_and_strangely_packed_members_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    line = json.dumps({"role": "user", "content": "hi"})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.jsonl", line)
        archive.writestr("folder/", "")
        archive.writestr("bz.jsonl", line, zipfile.ZIP_BZIP2)
        archive.writestr("locked.jsonl", line)
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"locked.jsonl") - 46
    raw[entry + 8] |= 1
    path.write_bytes(raw)
    found = find_sources([path])
    assert [source.source.member for source in found.sources] == ["good.jsonl"]
    assert found.sources[0].source.place == f"{path}: good.jsonl"
    assert ignored(found) == {"packed in a way that is not read": 1, "encrypted": 1}


def test_every_format_of_the_folder_is_in_the_table_and_is_one_function() -> None:
    declared = []
    for found in pkgutil.iter_modules(folder.__path__):
        module = import_module(f"{folder.__name__}.{found.name}")
        own = [value for value in vars(module).values() if isinstance(value, Format)]
        assert {one.read for one in own} <= {getattr(module, "read", None)}, found.name
        declared += own
    assert sorted(one.name for one in declared) == sorted(one.name for one in BUILT_IN)
    assert len({one.name for one in BUILT_IN}) == len(BUILT_IN)


def test_the_hint_for_an_unknown_file_names_the_page_that_lists_the_formats(tmp_path: Path) -> None:
    (tmp_path / "kv.json").write_text('{"task": "move the standup"}')
    with pytest.raises(InputError) as refused:
        find_sources([tmp_path / "kv.json"])
    assert "The guide's page “import” lists the formats." in refused.value.hint
    assert "--format" not in refused.value.hint, "the app has no such option"


def test_a_file_packed_with_gzip_is_read_like_any_other(tmp_path: Path) -> None:
    plain = jsonl(tmp_path / "s.jsonl", [claude("user", "one"), claude("user", "two")])
    packed = tmp_path / "s.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    turns, skips = read(packed)
    assert (words(turns), skips) == (["one", "two"], [])
    assert turns == read(plain)[0]
    assert ignored(find_sources([tmp_path])) == {"packed copy of a file beside it": 1}
    many = jsonl(tmp_path / "many", [claude("user", f"{number} {number**7}") for number in range(20_000)])
    packed.write_bytes(gzip.compress(many.read_bytes())[:-100_000])
    turns, skips = read(packed)
    assert 0 < len(turns) < 20_000
    assert skips[-1].reason == "the rest of the file cannot be read"
    packed.write_bytes(b"\x1f\x8b\x08 and then nothing")
    with pytest.raises(InputError, match="cannot be read") as caught:
        find_sources([packed])
    assert "fetch it again" in caught.value.hint


def test_what_gzip_unpacks_is_capped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"role": "user", "content": "hi"}\n' * 200_000))
    turns, skips = read(path, limits=ImportLimits(ratio=5, ratio_from=2 * MIB))
    assert 0 < len(turns) < 200_000
    assert "more than 5 times" in skips[-1].place


def test_messages_in_one_array_are_read_however_it_is_laid_out(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "hi", "time": 1_760_000_000},
        {"role": "assistant", "content": [{"text": "hello"}]},
    ]
    for layout in (None, 2):
        path = tmp_path / "talk.json"
        path.write_text("\ufeff" + json.dumps(said, indent=layout))
        assert formats(path) == ["json"]
        turns, skips = read(path)
        assert ([(turn.role, turn.content) for turn in turns], skips) == (
            [("user", "hi"), ("assistant", "hello")],
            [],
        )
    # The same, one a line: importing both adds nothing.
    lines = jsonl(tmp_path / "talk.jsonl", said)
    assert [turn.source_key for turn in read(lines)[0]] == [turn.source_key for turn in turns]
    path.write_text(json.dumps([{"name": "x", "role": "admin"}]))
    with pytest.raises(InputError):
        find_sources([path])


@pytest.mark.parametrize(
    ("member", "help"),
    [
        ("x.zip", "Unpack the archive"),
        ("x.gz", "Unpack the archive"),
        ("x.html", "memtui reads conversations"),
    ],
)
def test_what_to_do_with_an_archive_that_holds_nothing_is_told(
    member: str, help: str, tmp_path: Path
) -> None:
    raw = {"x.zip": b"PK\x05\x06" + b"\0" * 18, "x.gz": gzip.compress(b"x"), "x.html": b"<p>"}[member]
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        archive.writestr(member, raw)
    with pytest.raises(InputError) as caught:
        find_sources([tmp_path / "out.zip"])
    assert caught.value.message.startswith(f"Nothing in {tmp_path / 'out.zip'} can be imported (1 ")
    assert caught.value.hint.startswith(help)


def test_a_database_of_another_program_or_half_of_one_is_told_from_text(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (zeroblob(20000))")
    with pytest.raises(InputError, match="of another program") as caught:
        find_sources([path])
    assert "--format" not in caught.value.hint
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(InputError, match="without a table that can be read") as caught:
        find_sources([path])
    assert "copy" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "cause", "help"),
    [
        ("a.jsonl", '{"role": "user", "content": "hello"\n{"role"\n', "not valid JSON", "fetch it again"),
        (
            "b.json",
            '{\n  "session": {"timestamp": "2025-04-20T10:15:30Z", "id": "x"}, "items": [{"type"',
            "in Codex CLI format: 1 × the file ends in the middle",
            "copy or download it again",
        ),
        (
            "c.json",
            '[{"uuid": "u1", "name": "", "chat_messages": []}]',
            "in Claude.ai format: 1 × conversation without messages",
            "nothing to import",
        ),
        (
            "d.json",
            '{"sessionId": "1", "projectHash": "x", "messages": []}',
            "in Gemini CLI format: 1 × conversation without messages",
            "nothing to import",
        ),
    ],
)
def test_a_refusal_names_the_program_the_cause_and_what_helps(
    tmp_path: Path, name: str, text: str, cause: str, help: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "memory.db", options=options) as memory, pytest.raises(InputError) as refused:
        memory.files.import_paths([file])
    assert cause in refused.value.message
    assert help in refused.value.hint
