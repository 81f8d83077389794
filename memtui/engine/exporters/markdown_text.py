"""Escape stored text for Markdown notes, so that neither Markdown, Obsidian nor a plugin acts on it.

File names are ones that every system can have; values of the frontmatter are YAML strings whatever they hold.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from memtui.engine.wording import text_beginning

_NAME_BYTES = 120
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])( *\..*)?")
_NOT_IN_NAMES = re.compile(
    r'[\\/:*?"<>|#^\[\]%`$~={}!&@]|(?<![^\W_])_|_(?![^\W_])|(?<=\bwww)\.', re.IGNORECASE
)
# What Markdown, Obsidian or one of its plugins would act on, wherever it is: code, emphasis, links, embeds, HTML,
# entities, strikethrough, tables, mathematics, footnotes and block ids, comments, tags, fields, templates, addresses.
_LIVE = re.compile(
    r"[\\`*\[\]<|$^&~]|(?<![^\W_])_|_(?![^\W_])|=(?==)|(?<==)=|:(?=:)|(?<=:):|%(?=%)|(?<=[%<])%|\{(?=\{)|(?<=\{)\{|\}(?=\})|(?<=\})\}"
    r"|\#(?=\S)|:(?=//)|(?<=\S)@(?=\S)|(?<=\bwww)\.",
    re.IGNORECASE,
)
# And what begins something at the beginning of a line: quotes, headings, lists, lines, fences, definitions.
_LEADING = re.compile(r"[>#=+:-]|\d{1,9}[.)]")
# What a parser would drop or change is written as its number: blanks at the ends of a line, control characters.
_LOST = re.compile(
    "^[ \t\u00a0]|[ \t]$|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)
_NOT_SHOWN = re.compile(r"[{}%#=:!/]{2,}|>")
_LINK = re.compile(r"\[(?=\[)|(?<=<)%|\{(?=\{)")
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


def case_insensitive_key(name: str) -> str:
    """Equal for names that some file system takes for one."""
    return unicodedata.normalize("NFKC", name).casefold()


def escape_markdown(text: str) -> str:
    """The text, to be read as it is: whatever it holds, it is plain paragraphs. ``unescaped`` gives it back."""
    return "\n".join(map(_escaped_line, text.split("\n")))


def _escaped_line(line: str) -> str:
    lead = _LEADING.match(line)
    if lead and not _LIVE.match(line):
        rest = line[lead.end() :]
        return f"{lead[0][:-1]}\\{lead[0][-1]}{_escaped_signs(rest)}"
    return _escaped_signs(line)


def _escaped_signs(text: str) -> str:
    text = _LIVE.sub(lambda match: "".join(f"\\{c}" for c in match[0]), text)
    return _LOST.sub(lambda match: f"&#{ord(match[0])};", text)


def escape_on_one_line(text: str, limit: int) -> str:
    """The beginning of the text, on one line, escaped."""
    return escape_markdown(text_beginning(text, limit))


def as_block_quote(text: str) -> str:
    """The text as a block quote."""
    return "\n".join(f"> {line}" if line else ">" for line in escape_markdown(text).split("\n"))


def wiki_link(path: str, shown: str = "") -> str:
    """A link to a note of the vault (its path without suffix), shown as ``shown`` without the signs that would act."""
    shown = _LOST.sub(" ", _LIVE.sub(" ", " ".join(shown.split())))
    shown = " ".join(_NOT_SHOWN.sub(" ", shown).split())
    return f"[[{path}|{shown}]]" if shown else f"[[{path}]]"


def yaml_frontmatter(values: dict[str, Any]) -> str:
    """YAML between its lines; what is None or empty is left out. JSON values are YAML. No value is a link."""
    lines = [
        f"{name}: {_NOT_IN_YAML.sub(_escape_character, _LINK.sub(_escape_template_sign, json.dumps(value, ensure_ascii=False)))}"
        for name, value in values.items()
        if value is not None and value != []
    ]
    return "\n".join(["---", *lines, "---", ""])


def _escape_template_sign(match: re.Match[str]) -> str:
    """A sign in a JSON string that no program takes for the beginning of something: ``<%``, ``{{``; a link gets a blank."""
    return "[ " if match[0] == "[" else f"\\u{ord(match[0]):04x}"


def _escape_character(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
