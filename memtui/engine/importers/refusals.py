"""Reasons why a file is not imported, and the next step for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from memtui.engine.errors import InputError
from memtui.engine.records import Refused

from . import compression
from .base import Format
from .foreign_values import BAD_UTF8
from .json_items import CUT_OFF
from .stream import REST

PICTURE, SOUND, VIDEO, PDF = "picture", "sound file", "video", "PDF"
WORD, EXCEL, SLIDES = "Word document", "Excel file", "PowerPoint file"
OPEN_DOCUMENT, EBOOK, OFFICE = "OpenDocument file", "e-book", "Office file"
AIDER_INPUT, CHATGPT_PAGE, WEB_PAGE = "Aider input history", "page of a ChatGPT export", "web page"
WHATSAPP, GEMINI, SLACK = "WhatsApp chat", "Gemini activity file", "Slack export"
EDITOR_CHATS, CURSOR_CHAT = "database of VS Code or Cursor", "chat file of Cursor"
CHAT_FILES = frozenset({WHATSAPP, GEMINI, SLACK, EDITOR_CHATS, CURSOR_CHAT})
"""What holds conversations."""
TABLE, YAML, CALENDAR, CONTACTS, MAIL = "table", "YAML file", "calendar", "contact file", "mail file"
EMPTY_LIST = "empty list"

_AS_LINES = 'Write each message as a line {"role", "content", "time"}, and import that.'
_SAVE_AS_TEXT = "memtui reads text. Save it as .md or .txt, and import that."
HINTS = {
    **dict.fromkeys((PICTURE, SOUND, VIDEO), "memtui reads text: conversations, notes and other memories."),
    **dict.fromkeys((PDF, WORD, EXCEL, SLIDES, OPEN_DOCUMENT, EBOOK, OFFICE, WEB_PAGE), _SAVE_AS_TEXT),
    **dict.fromkeys((WHATSAPP, GEMINI, SLACK), _AS_LINES),
    AIDER_INPUT: "Import .aider.chat.history.md beside it: it has the answers, too.",
    CHATGPT_PAGE: "Import conversations.json of the same export, or the whole zip archive.",
    **dict.fromkeys(
        (EDITOR_CHATS, CURSOR_CHAT), "In the editor, export the chat as Markdown, and import that."
    ),
    **dict.fromkeys(
        (TABLE, YAML, CALENDAR, CONTACTS),
        "Write what should be remembered as sentences into an .md file, one a line, and import that.",
    ),
    MAIL: "Save the mails that matter as .md or .txt, and import those.",
    EMPTY_LIST: "It has no memories and no messages. Export again, with the account or user that has some.",
}
"""What to do instead, for each kind."""

_KIND_BY_MAGIC = {
    b"\xff\xd8\xff": PICTURE, b"\x89PNG\r\n\x1a\n": PICTURE, b"GIF87a": PICTURE, b"GIF89a": PICTURE,
    b"II*\0": PICTURE, b"MM\0*": PICTURE, b"%PDF-": PDF, b"ID3": SOUND, b"OggS": SOUND, b"fLaC": SOUND,
    b"\x1aE\xdf\xa3": VIDEO, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": OFFICE,
}  # fmt: skip
_TEXTS = (
    (re.compile(rb"\s*# \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\r?\n\+"), AIDER_INPUT),
    (re.compile(rb"(?is)\s*<(?:!doctype html|html)\b.{0,2000}?<title>ChatGPT"), CHATGPT_PAGE),
    (re.compile(rb"(?i)\s*<(?:!doctype html|html)\b"), WEB_PAGE),
    (re.compile(rb"(?:\xe2\x80\x8e)?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d\d[^\n]{0,8}?(?:\] | - )\S"), WHATSAPP),
    (re.compile(rb'\s*(?:\[\s*\]\s*\Z|\{\s*"(?:results|memories|conversations)"\s*:\s*\[\s*\])'), EMPTY_LIST),
    (re.compile(rb'\s*[\[{].{0,500}?"(?:composerData|composerId|allComposers)"\s*:', re.DOTALL), CURSOR_CHAT),
    (re.compile(rb'\s*\[\s*\{\s*"header"\s*:\s*"Gemini'), GEMINI),
    (re.compile(rb'\s*\[\s*\{(?=[^{}]{0,500}"ts"\s*:\s*"\d{10}\.\d{6}")(?=[^{}]{0,500}"type"\s*:\s*"message")'), SLACK),
)  # fmt: skip
_EDITOR_TABLE = "ItemTable"
# By these a store is known whose columns are not those that memtui reads.
_STORE_TABLES = {
    "store of claude-mem in an unknown version": {"sdk_sessions", "observations"},
    "store of engram in an unknown version": {"sessions", "observations", "user_prompts"},
    "store of mcp-memory-service in an unknown version": {"memories", "metadata", "memory_graph"},
    "store of opencode in an unknown version": {"session", "message", "part"},
    "store of MemPalace in an unknown version": {"entities", "triples"},
}
_VECTORS = "Chroma store of an unknown program"
_CHROMA_TABLES = {"collections", "segments", "embeddings", "embedding_metadata"}
_INDEX_OF_NOTES = "index of basic-memory"
STORES = frozenset(_STORE_TABLES)
HINTS[_INDEX_OF_NOTES] = "Its notes are Markdown files: import their folder."
HINTS[_VECTORS] = (
    "Only a palace of MemPalace is read. Export it with its program as JSON lines, and import those."
)
HINTS |= dict.fromkeys(
    STORES, "Update its program, which brings the store up to date, or update memtui; then import it again."
)
_KIND_BY_RIFF_TYPE = {b"WEBP": PICTURE, b"WAVE": SOUND, b"AVI ": VIDEO}
_KIND_BY_BRAND = {b"heic": PICTURE, b"heix": PICTURE, b"mif1": PICTURE, b"avif": PICTURE, b"M4A ": SOUND}
_KIND_BY_MEMBER = {"word/document.xml": WORD, "xl/workbook.xml": EXCEL, "ppt/presentation.xml": SLIDES}


def foreign_kind(head: bytes) -> str:
    """The kind of file by its first bytes; empty where they do not tell."""
    if head[:4] == b"RIFF":
        return _KIND_BY_RIFF_TYPE.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _KIND_BY_BRAND.get(head[8:12], VIDEO)
    return next((name for magic, name in _KIND_BY_MAGIC.items() if head.startswith(magic)), "")


def text_kind(head: bytes) -> str:
    """What wrote a text that is in no format of memtui, by its beginning; empty where that does not tell."""
    return next((name for shape, name in _TEXTS if shape.match(head)), "")


_KIND_BY_SUFFIX = {
    (".csv", ".tsv"): TABLE, (".yaml", ".yml"): YAML, (".ics",): CALENDAR, (".vcf",): CONTACTS, (".mbox", ".eml"): MAIL,
}  # fmt: skip


def named_kind(name: str) -> str:
    """What a text in no known format is by the end of its name; empty where that does not tell."""
    return next((kind for ends, kind in _KIND_BY_SUFFIX.items() if name.casefold().endswith(ends)), "")


def database_kind(tables: Collection[str]) -> str:
    """The program whose SQLite file has these tables, in no shape that is read; empty where they do not tell."""
    if _EDITOR_TABLE in tables:
        return EDITOR_CHATS
    if {"entity", "observation", "relation", "project"} <= frozenset(tables):
        return _INDEX_OF_NOTES
    if frozenset(tables) >= _CHROMA_TABLES:
        return _VECTORS
    return next((kind for kind, known in _STORE_TABLES.items() if known <= frozenset(tables)), "")


def document_kind(members: Collection[str]) -> str:
    """The kind of document that a zip archive with these members is; empty where it is another archive."""
    for member, name in _KIND_BY_MEMBER.items():
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


EMPTY = "empty"
UNREADABLE = "cannot be read"
BINARY = "not text"
OTHER = "in no known format"
RECORDS = "JSON in no known format"
BROKEN = "not valid JSON"
PLAIN = "plain text"
NO_FILE = "not a file"
PROPERTIES = "properties without text"
LINKS = "headings and links without text"
PROGRAMS = "settings or deleted notes of another program"
ASIDE = "notes beside something else"
OWN = "this memory"
NESTED = "database in an archive"
PACKED = "packed file in an archive"
FOREIGN = "SQLite file of another program"
ANOTHER_MEMORY = "a memory of memtui"
NO_TABLES = "SQLite file without a table that can be read"
NEWER = "written by a newer version of its program"
# Where no format that somebody names could help: what does.
_HINT_BY_REASON = {
    NESTED: "Unpack the archive, and import what is in it.",
    PACKED: "Unpack the archive, and import what is in it.",
    **dict.fromkeys((UNREADABLE, BROKEN), "It may be an incomplete download or copy: fetch it again."),
    PROPERTIES: "A note needs words below its properties.",
    PLAIN: "To read it as a note, rename it to .md. On the command line, --format markdown does the same.",
    LINKS: "A note needs words of its own beside its links.",
    NO_TABLES: "It may be empty, or an incomplete copy: copy it again while no program writes it.",
    ANOTHER_MEMORY: "Name the file itself to merge it into this memory; memtui restore FILE goes back to a backup.",
    FOREIGN: "The guide's page “import” lists the stores that memtui reads.",
    NEWER: "Update memtui, or name the file and its --format to import what memtui knows of it.",
}
# What may hold conversations and could not be read: an import that left such a file out was no full success.
MISSED = (
    frozenset({UNREADABLE, RECORDS, BROKEN, compression.NEEDS, PACKED, NESTED, NEWER, *STORES}) | CHAT_FILES
)
ENCRYPTED = "encrypted by the program that wrote it"
NO_MESSAGES = "conversation without messages"
RECORD_HINTS = {
    BROKEN: _HINT_BY_REASON[BROKEN],
    CUT_OFF: "It is incomplete: copy or download it again.",
    ENCRYPTED: "Only the program with the key can read it: write the session without encryption, and import that.",
    NO_MESSAGES: "Nothing was said in it: there is nothing to import.",
}
"""What helps where a whole file gives nothing for one of these reasons."""
NOTHING_SAID = (
    "It has only what the program wrote for itself, such as titles or tool calls: nobody says anything in it."
)
DAMAGED = "The file may be damaged, or in a format that memtui does not know."
LETTERS_LOST = BAD_UTF8
"""The warning of a file that has another encoding."""
# Reasons of records: a part of their file is missing.
LOST_PART = frozenset({CUT_OFF, REST})
_FORMATS = (
    "memtui reads conversations, notes and other memories. The guide's page “import” lists the formats."
)


class NewerSchemaError(InputError):
    """A store was recognised, and its schema is newer than what memtui knows of it."""


class UnknownFormatError(InputError):
    """Nothing was recognised; a format that the person names may help."""


def no_records_error(
    path: Path, wanted: Format | None, reasons: Counter[str], *, folder: bool, archive: bool
) -> InputError:
    """What to raise for a path in which nothing is in the ``wanted`` format, or in any; ``reasons`` counts what is left out."""
    what = f"is not in {wanted.label} format" if wanted else "is in no format that can be imported"
    some = f"is in {wanted.label} format" if wanted else "can be imported"
    helps = _HINT_BY_REASON | HINTS
    help = next((helps[reason] for reason, _ in reasons.most_common() if reason in helps), "")
    if folder and not reasons:
        return InputError(f"{path} is an empty folder.", "Name the folder that holds the session files.")
    if not (folder or archive) and len(reasons) == 1 and (kind := next(iter(reasons))) in HINTS:
        article = "an" if kind[0] in "AEeiOo" else "a"
        return InputError(f"{path} is {article} {kind}. It cannot be imported.", HINTS[kind])
    if folder or (archive and reasons):
        seen = ", ".join(f"{count:,} × {reason}" for reason, count in reasons.most_common(5))
        useful = help if archive or len(reasons) == 1 else ""
        return InputError(f"Nothing in {path} {some} ({seen}).", useful or _FORMATS)
    reason = reasons.most_common(1)[0][0] if reasons else EMPTY
    if reason == EMPTY:
        return InputError(f"{path} is empty.", "Check that it was written or downloaded completely.")
    if reason == BINARY:
        return InputError(
            f"{path} is not text in UTF-8. It cannot be imported.",
            "If it is packed, unpack it. If it is text, save it as UTF-8.",
        )
    if reason == NO_FILE:
        return InputError(
            f"{path} is neither a file nor a folder.", "Name a file, a folder or a zip archive."
        )
    if reason == PLAIN:
        return InputError(f"{path} is plain text in no known format.", help)
    seen = "" if reason in (OTHER, RECORDS) else f" ({reason})"
    if help:
        return InputError(f"{path} {what}{seen}.", help)
    return UnknownFormatError(f"{path} {what}{seen}.", _FORMATS)


def none_usable_error(refused: Sequence[Refused]) -> InputError:
    """What to raise when everything that was named is refused: all the reasons, each next step once."""
    return InputError(
        "\n".join(one.message for one in refused), "\n".join(dict.fromkeys(one.hint for one in refused))
    )
