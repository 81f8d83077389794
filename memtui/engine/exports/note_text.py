"""Stored text in Markdown notes: nothing in it becomes a link, a tag, a picture, HTML or a header of the note.

File names are ones that every system can have; values of the frontmatter are YAML strings whatever they hold.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from memtui.engine.wording import beginning

_NAME_BYTES = 120
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])( *\..*)?")
_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|#^\[\]%]')
# What Obsidian or Markdown would act on: links, pictures, HTML, comments, mathematics, tags; a backslash before one.
_LIVE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|\[\[|!\[|\](?=[(\[:])|<|%%|\$|(?<!\S)#(?=\S)|\^(?=[\w-]+\s*$)", re.MULTILINE
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_LINK = re.compile(r"\[(?=\[)")
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def file_name(text: str, fallback: str) -> str:
    """A name (without suffix) for a note on ``text``: at most 120 bytes, never empty, reserved or hidden."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c)[0] != "C"
    )
    text = " ".join(_NOT_IN_NAMES.sub(" ", text).split())
    text = text.encode()[:_NAME_BYTES].decode(errors="ignore").strip(" .")
    if not text:
        return fallback
    return f"_{text}" if _RESERVED.fullmatch(text) else text


def key(name: str) -> str:
    """Equal for names that some file system takes for one."""
    return unicodedata.normalize("NFKC", name).casefold()


def escaped(text: str) -> str:
    """The text, to be read as it is; its lines stay."""
    text = _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _LIVE.sub(lambda match: "".join(f"\\{c}" for c in match[0]), text)


def one_line(text: str, limit: int) -> str:
    """The beginning of the text, on one line, escaped."""
    return escaped(beginning(text, limit))


def quoted(text: str) -> str:
    """The text as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in escaped(text).split("\n"))


def link(path: str, shown: str = "") -> str:
    """A link to a note of the vault (its path without suffix), shown as ``shown`` without what ends or breaks it."""
    shown = " ".join(re.sub(r"[\[\]|\\<>]|%%|!(?=\[)", " ", _CONTROL.sub(" ", shown)).split())
    return f"[[{path}|{shown}]]" if shown else f"[[{path}]]"


def frontmatter(values: dict[str, Any]) -> str:
    """YAML between its lines; what is None or empty is left out. JSON values are YAML. No value is a link."""
    lines = [
        f"{name}: {_NOT_IN_YAML.sub(_code, _LINK.sub('[ ', json.dumps(value, ensure_ascii=False)))}"
        for name, value in values.items()
        if value is not None and value != []
    ]
    return "\n".join(["---", *lines, "---", ""])


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
