"""Pictures, PDFs, office documents and what other programs write are called what they are."""

from __future__ import annotations

import sqlite3
import zipfile
from pathlib import Path

import pytest
from memtui.engine.errors import InputError
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.refusals import MISSED


def document(path: Path, *members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "<xml/>")
    return path


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a picture"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a picture"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "a picture"),
        (b"\0\0\0\x18ftypheic\0\0", "a picture"),
        (b"\0\0\0\x18ftypisom\0\0", "a video"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "an Office file"),
    ],
)
def test_a_file_that_is_no_text_is_called_by_its_kind(tmp_path: Path, head: bytes, kind: str) -> None:
    file = tmp_path / "letter.bin"
    file.write_bytes(head + b"\0" * 100)
    with pytest.raises(InputError, match=f"letter.bin is {kind}. It cannot be imported.") as caught:
        find_sources([file])
    assert "memtui reads text" in caught.value.hint and "--format" not in caught.value.hint


@pytest.mark.parametrize(
    ("member", "kind"),
    [
        ("word/document.xml", "a Word document"),
        ("xl/workbook.xml", "an Excel file"),
        ("content.xml", "an OpenDocument file"),
    ],
)
def test_an_office_document_is_no_archive(tmp_path: Path, member: str, kind: str) -> None:
    file = document(tmp_path / "letter", "[Content_Types].xml", "mimetype", member)
    with pytest.raises(InputError, match=f"is {kind}. It cannot be imported.") as caught:
        find_sources([file])
    assert "Save it as .md or .txt" in caught.value.hint


def test_in_a_folder_a_document_is_one_file_that_is_left_out(tmp_path: Path) -> None:
    document(tmp_path / "letter.docx", "[Content_Types].xml", "word/document.xml")
    (tmp_path / "tea.md").write_text("# Tea\n\nAda drinks green tea without sugar.\n")
    found = find_sources([tmp_path])
    assert [(one.name, one.reason) for one in found.left_out] == [("letter.docx", "Word document")]


@pytest.mark.parametrize(
    ("text", "what", "help"),
    [
        ("<!DOCTYPE html>\n<html><head><title>ChatGPT Data Export</title>", "a page of a ChatGPT export", "conversations.json"),
        ("<html><body><p>My notes</p></body></html>", "a web page", ".md"),
        ("\n# 2025-02-03 10:11:12.123456\n+add a test\n", "an Aider input history", ".aider.chat.history.md"),
        ("12/03/2024, 10:01 - Ana: Are you coming tonight?\n12/03/2024, 10:02 - Rui: Yes\n", "a WhatsApp chat", '"role"'),
        ("[12.03.24, 10:01:00] Ana: Kommst du heute?\n", "a WhatsApp chat", '"role"'),
        ('[{"header":"Gemini Apps","title":"Prompted an egg"}]', "a Gemini activity file", '"role"'),
        ("[]\n", "an empty list", "Export again"),
        ('{"results": [], "count": 0}', "an empty list", "Export again"),
        ('{"composerData": {"composerId": "x", "conversation": []}}', "a chat file of Cursor", "export the chat as Markdown"),
        ('{"allComposers":[{"composerId":"abc"}]}', "a chat file of Cursor", "export the chat as Markdown"),
        ('[{"user":"U1","type":"message","ts":"1700000000.000100","text":"hello"}]', "a Slack export", '"role"'),
    ],
)  # fmt: skip
def test_what_another_program_wrote_is_called_by_its_name(
    tmp_path: Path, text: str, what: str, help: str
) -> None:
    file = tmp_path / "file.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=f"file.txt is {what}. It cannot be imported.") as caught:
        find_sources([file])
    assert help in caught.value.hint and "--format" not in caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "what", "help"),
    [
        (
            "money.csv",
            "date,amount,what\n2026-01-02,12.3,shoes\n",
            "a table",
            "as sentences into an .md file",
        ),
        ("conf.yaml", "name: x\nlist:\n  - a\n", "a YAML file", "as sentences into an .md file"),
        ("days.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR\n", "a calendar", "as sentences into an .md file"),
        ("all.mbox", "From a@b Thu Jan 1\nSubject: x\n\nhi\n", "a mail file", "Save the mails that matter"),
    ],
)
def test_a_text_that_says_nothing_of_itself_is_called_by_its_name(
    tmp_path: Path, name: str, text: str, what: str, help: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=f"{name} is {what}. It cannot be imported.") as caught:
        find_sources([tmp_path / name])
    assert help in caught.value.hint and "--format" not in caught.value.hint


def test_an_archive_of_pictures_is_no_picture(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        for number in range(3):
            archive.writestr(f"IMG_{number}.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0")
    with pytest.raises(
        InputError, match=r"Nothing in .*photos.zip can be imported \(3 × picture\)"
    ) as caught:
        find_sources([tmp_path / "photos.zip"])
    assert "memtui reads text" in caught.value.hint


def test_a_database_of_an_editor_is_called_by_its_name(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.vscdb") as connection:
        connection.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
    connection.close()
    with pytest.raises(InputError, match=r"is a database of VS Code or Cursor\.") as caught:
        find_sources([tmp_path / "state.vscdb"])
    assert "export the chat" in caught.value.hint


def test_chats_that_cannot_be_read_count_as_missed_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\nAda drinks green tea without sugar.\n")
    (tmp_path / "chat.txt").write_text("12/03/2024, 10:01 - Ana: Are you coming tonight?\n")
    (left_out,) = find_sources([tmp_path]).left_out
    assert left_out.reason == "WhatsApp chat" and left_out.reason in MISSED


def test_a_folder_of_nothing_else_has_the_hint_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("12/03/2024, 10:01 - Ana: Are you coming tonight?\n")
    with pytest.raises(InputError, match=r"1 × WhatsApp chat") as caught:
        find_sources([tmp_path])
    assert '"role"' in caught.value.hint
