"""Files that people try to import and that cannot be read: pictures, PDFs, office documents, chats of other programs.

They are called by name, with what would help.
"""

from __future__ import annotations

import re
from collections.abc import Collection

PICTURE, SOUND, VIDEO, PDF = "picture", "sound file", "video", "PDF"
WORD, EXCEL, SLIDES = "Word document", "Excel file", "PowerPoint file"
OPEN_DOCUMENT, EBOOK, OFFICE = "OpenDocument file", "e-book", "Office file"
AIDER_INPUT, CHATGPT_PAGE, WEB_PAGE = "Aider input history", "page of a ChatGPT export", "web page"
WHATSAPP, GEMINI, SLACK = "WhatsApp chat", "Gemini activity file", "Slack export"
EDITOR = "database of VS Code or Cursor"
CHATS = frozenset({WHATSAPP, GEMINI, SLACK, EDITOR})
"""What holds conversations."""

_AS_LINES = 'Write each message as a line {"role", "content", "time"}, and import that.'
_SAVE_AS_TEXT = "memtui reads text. Save it as .md or .txt, and import that."
HINTS = {
    **dict.fromkeys((PICTURE, SOUND, VIDEO), "memtui reads text: conversations, notes and other memories."),
    **dict.fromkeys((PDF, WORD, EXCEL, SLIDES, OPEN_DOCUMENT, EBOOK, OFFICE, WEB_PAGE), _SAVE_AS_TEXT),
    **dict.fromkeys((WHATSAPP, GEMINI, SLACK), _AS_LINES),
    AIDER_INPUT: "Import .aider.chat.history.md beside it: it has the answers, too.",
    CHATGPT_PAGE: "Import conversations.json of the same export, or the whole zip archive.",
    EDITOR: "In the editor, export the chat as Markdown, and import that.",
}
"""What to do instead, for each kind."""

_MAGICS = {
    b"\xff\xd8\xff": PICTURE, b"\x89PNG\r\n\x1a\n": PICTURE, b"GIF87a": PICTURE, b"GIF89a": PICTURE,
    b"II*\0": PICTURE, b"MM\0*": PICTURE, b"%PDF-": PDF, b"ID3": SOUND, b"OggS": SOUND, b"fLaC": SOUND,
    b"\x1aE\xdf\xa3": VIDEO, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": OFFICE,
}  # fmt: skip
_TEXTS = (
    (re.compile(rb"\s*# \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\r?\n\+"), AIDER_INPUT),
    (re.compile(rb"(?is)\s*<(?:!doctype html|html)\b.{0,2000}?<title>ChatGPT"), CHATGPT_PAGE),
    (re.compile(rb"(?i)\s*<(?:!doctype html|html)\b"), WEB_PAGE),
    (re.compile(rb"(?:\xe2\x80\x8e)?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d\d[^\n]{0,8}?(?:\] | - )\S"), WHATSAPP),
    (re.compile(rb'\s*\[\s*\{\s*"header"\s*:\s*"Gemini'), GEMINI),
    (re.compile(rb'\s*\[\s*\{(?=[^{}]{0,500}"ts"\s*:\s*"\d{10}\.\d{6}")(?=[^{}]{0,500}"type"\s*:\s*"message")'), SLACK),
)  # fmt: skip
_EDITOR_TABLE = "ItemTable"
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


def text_kind(head: bytes) -> str:
    """What wrote a text that is in no format of memtui, by its beginning; empty where that does not tell."""
    return next((name for shape, name in _TEXTS if shape.match(head)), "")


def database_kind(tables: Collection[str]) -> str:
    """The program whose SQLite file has these tables; empty where they do not tell."""
    return EDITOR if _EDITOR_TABLE in tables else ""


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
