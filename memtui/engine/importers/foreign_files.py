"""Files that people try to import and that hold no text: pictures, PDFs, office documents. They are called by name."""

from __future__ import annotations

from collections.abc import Collection

PICTURE, SOUND, VIDEO, PDF = "picture", "sound file", "video", "PDF"
WORD, EXCEL, SLIDES = "Word document", "Excel file", "PowerPoint file"
OPEN_DOCUMENT, EBOOK, OFFICE = "OpenDocument file", "e-book", "Office file"

_SAVE_AS_TEXT = "memtui reads text. Save it as .md or .txt, and import that."
HINTS = {
    **dict.fromkeys((PICTURE, SOUND, VIDEO), "memtui reads text: conversations, notes and other memories."),
    **dict.fromkeys((PDF, WORD, EXCEL, SLIDES, OPEN_DOCUMENT, EBOOK, OFFICE), _SAVE_AS_TEXT),
}
"""What to do instead, for each kind."""

_MAGICS = {
    b"\xff\xd8\xff": PICTURE, b"\x89PNG\r\n\x1a\n": PICTURE, b"GIF87a": PICTURE, b"GIF89a": PICTURE,
    b"II*\0": PICTURE, b"MM\0*": PICTURE, b"%PDF-": PDF, b"ID3": SOUND, b"OggS": SOUND, b"fLaC": SOUND,
    b"\x1aE\xdf\xa3": VIDEO, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": OFFICE,
}  # fmt: skip
_RIFF = {b"WEBP": PICTURE, b"WAVE": SOUND, b"AVI ": VIDEO}
_BRANDS = {b"heic": PICTURE, b"heix": PICTURE, b"mif1": PICTURE, b"avif": PICTURE, b"M4A ": SOUND}
_MEMBERS = {"word/document.xml": WORD, "xl/workbook.xml": EXCEL, "ppt/presentation.xml": SLIDES}


def kind(head: bytes) -> str:
    """The kind of file by its first bytes; empty where they do not tell."""
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], VIDEO)
    return next((name for magic, name in _MAGICS.items() if head.startswith(magic)), "")


def document(members: Collection[str]) -> str:
    """The kind of document that a zip archive with these members is; empty where it is another archive."""
    for member, name in _MEMBERS.items():
        if member in members:
            return name
    if "mimetype" in members:
        return (
            EBOOK
            if "META-INF/container.xml" in members
            else OPEN_DOCUMENT
            if "content.xml" in members
            else ""
        )
    return ""
