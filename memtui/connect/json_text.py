"""Set one value in the text of a JSON file and leave every other character as it is.

Agents keep other settings in these files, and people format them by hand. Writing the parsed document would reformat
all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "


class _Member(NamedTuple):
    key: str
    start: int
    value: int
    end: int


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """``text`` with ``value`` at ``path`` (keys of nested objects, created if missing).

    An empty text counts as an empty object. Raises ValueError if the text is no JSON object, or if a value on the
    path is not an object.
    """
    if not text.strip():
        text = "{}\n"
    json.loads(text)  # all of it must be valid JSON, not only this path
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        members, end = _members(text, at)
        found = next((member for member in reversed(members) if member.key == key), None)
        if found is None:
            nested = value
            for outer in reversed(path[depth + 1 :]):
                nested = {outer: nested}
            return _inserted(text, members, end, key, nested)
        if depth == len(path) - 1:
            new = _dumped(value, _line_indent(text, found.start)) if "\n" in text[at:end] else _flat(value)
            return text[: found.value] + new + text[found.end :]
        at = found.value
    raise ValueError("no path was given")


def _members(text: str, at: int) -> tuple[list[_Member], int]:
    """The members of the object that begins at ``at``, and the position of its closing brace."""
    if text[at] != "{":
        raise ValueError("there is something else than an object on the way")
    found: list[_Member] = []
    place = _skip(text, at + 1)
    while text[place] != "}":
        start = place
        key, place = _DECODER.raw_decode(text, start)
        value = _skip(text, _skip(text, place) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        found.append(_Member(key, start, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found, place


def _inserted(text: str, members: list[_Member], end: int, key: str, value: Any) -> str:
    """``text`` with a new member before the closing brace at ``end``, formatted like its neighbours."""
    name = _flat(key)
    if members:
        last = members[-1]
        if "\n" not in text[last.end : end]:
            return f"{text[: last.end]}, {name}: {_flat(value)}{text[last.end :]}"
        indent = _line_indent(text, last.start)
        return f"{text[: last.end]},\n{indent}{name}: {_dumped(value, indent)}{text[last.end :]}"
    outer = _line_indent(text, end)
    indent = outer + _INDENT
    before = text[:end].rstrip()
    return f"{before}\n{indent}{name}: {_dumped(value, indent)}\n{outer}{text[end:]}"


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dumped(value: Any, indent: str) -> str:
    """``value`` as JSON in several lines, indented like the line before it."""
    step = "\t" if "\t" in indent else _INDENT
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"\n{indent}".join(lines)


def _line_indent(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None  # it may be empty
    return match.end()
