"""Pictures, PDFs and office documents are called what they are."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from memtui.engine.errors import InputError
from memtui.engine.importers.detect import find_sources


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
