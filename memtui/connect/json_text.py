"""Set or remove one value in the text of a JSON file and leave every other character as it is.

Agents keep other settings in these files, and people format them by hand. Writing the parsed document would reformat
all of it. Comments and trailing commas, which several programs allow, are kept as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "
_TEXT_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TEXT_OR_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_REST_OF_LINE = re.compile(r"[ \t]*(?:/\*[^\n]*?\*/[ \t]*)*(?://[^\n]*)?(?=\n|\Z)")

Key = str | int


class _Member(NamedTuple):
    key: Key
    start: int
    value: int
    end: int


class _JsonText:
    """A text, and the same with blanks for its comments (``bare``) and also for trailing commas (``plain``)."""

    def __init__(self, text: str, *, strict: bool) -> None:
        self.text = text
        self.bare = text if strict else _TEXT_OR_COMMENT.sub(_blank_comment, text)
        self.plain = text if strict else _TEXT_OR_TRAILING_COMMA.sub(_blank_comma, self.bare)

    def find_comma(self, begin: int, end: int) -> int:
        """Where a comma is between two members, also a trailing one; -1 for none."""
        return self.bare.find(",", begin, end)


def load(text: str, *, strict: bool = False) -> dict[str, Any]:
    """The document; a blank text is an empty object. ``strict``: without comments and trailing commas.

    Raises ValueError for anything but an object.
    """
    document = json.loads(_JsonText(text, strict=strict).plain) if text.strip() else {}
    if not isinstance(document, dict):
        raise ValueError("it is not an object")
    return document


def set_values(text: str, path: Sequence[Key], values: Mapping[str, Any], *, strict: bool = False) -> str:
    """``text`` with ``values`` in the object at ``path``; its other keys are kept.

    Raises ValueError as ``set_value``.
    """
    document: Any = load(text, strict=strict)
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    if document is None:
        return set_value(text, path, values, strict=strict)
    if not isinstance(document, dict):
        raise ValueError(f"its {'.'.join(map(str, path))} is not an object")
    for key, value in values.items():
        if key not in document or document[key] != value:
            text = set_value(text, (*path, key), value, strict=strict)
    return text


def set_value(text: str, path: Sequence[Key], value: Any, *, strict: bool = False) -> str:
    """``text`` with ``value`` at ``path``: keys of nested objects, created if missing, and positions in lists. The
    position after the last one adds to a list.

    An empty text counts as an empty object. Raises ValueError if the text is no JSON object, or if something else is
    on the path.
    """
    if not text.strip():
        text = "{}\n"
    load(text, strict=strict)  # all of it must be valid, not only this path
    source = _JsonText(text, strict=strict)
    at = _skip_blanks(source.plain, 0)
    for depth, key in enumerate(path):
        members, end = _members_at(source.plain, at, key)
        member_found = next((member for member in reversed(members) if member.key == key), None)
        if member_found is None:
            nested = value
            for outer in reversed(path[depth + 1 :]):
                nested = {outer: nested} if isinstance(outer, str) else [nested]
            return _insert_member(source, members, at, end, key, nested)
        if depth == len(path) - 1:
            new = (
                _indented_json(value, _line_indent(text, member_found.start), text)
                if "\n" in text[at:end]
                else _one_line_json(value)
            )
            return text[: member_found.value] + new + text[member_found.end :]
        at = member_found.value
    raise ValueError("no path was given")


def remove(text: str, path: Sequence[Key], *, prune: bool = True, strict: bool = False) -> str:
    """``text`` without the value at ``path``, and with ``prune`` without what is empty then around it.

    The text itself if nothing is there. Raises ValueError as ``set_value``.
    """
    if not text.strip():
        return text
    load(text, strict=strict)
    source = _JsonText(text, strict=strict)
    at = _skip_blanks(source.plain, 0)
    for depth, key in enumerate(path):
        if source.plain[at] not in "{[":
            return text
        members, end = _members_at(source.plain, at, key)
        place = next((n for n in reversed(range(len(members))) if members[n].key == key), None)
        if place is None:
            return text
        if depth == len(path) - 1:
            changed = _remove_member(source, members, place, at, end)
            if (
                prune
                and depth
                and len(members) == 1
                and not text[at + 1 : end]
                .replace(text[members[0].start : members[0].end], "", 1)
                .strip(" \t\r\n,")
            ):
                return remove(changed, path[:-1], strict=strict)
            return changed
        at = members[place].value
    raise ValueError("no path was given")


def _members_at(plain: str, at: int, key: Key) -> tuple[list[_Member], int]:
    """The members of the object or list that begins at ``at``, and the position of its closing brace."""
    closing = "}" if isinstance(key, str) else "]"
    if plain[at] != ("{" if isinstance(key, str) else "["):
        raise ValueError("there is something else than an object on the way")
    members: list[_Member] = []
    place = _skip_blanks(plain, at + 1)
    while plain[place] != closing:
        start = place
        name: Key = len(members)
        if closing == "}":
            name, place = _DECODER.raw_decode(plain, start)
            place = _skip_blanks(plain, _skip_blanks(plain, place) + 1)
        end = _DECODER.raw_decode(plain, place)[1]
        members.append(_Member(name, start, place, end))
        place = _skip_blanks(plain, end)
        if plain[place] == ",":
            place = _skip_blanks(plain, place + 1)
    return members, place


def _insert_member(source: _JsonText, members: list[_Member], at: int, end: int, key: Key, value: Any) -> str:
    """The text with a new member before the closing brace at ``end``, formatted like its neighbours."""
    text = source.text
    name = f"{_one_line_json(key)}: " if isinstance(key, str) else ""
    if not members:
        outer = _line_indent(text, end)
        indent = outer + _indentation_step(text)
        before = text[:end].rstrip()
        return f"{before}\n{indent}{name}{_indented_json(value, indent, text)}\n{outer}{text[end:]}"
    last = members[-1]
    trailing = source.find_comma(last.end, end)
    after = last.end if trailing < 0 else trailing + 1
    separator, closing = (",", "") if trailing < 0 else ("", ",")
    if "\n" not in text[at:end] or "\n" not in text[last.end : end]:
        return f"{text[:after]}{separator} {name}{_one_line_json(value)}{closing}{text[after:]}"
    rest = _REST_OF_LINE.match(text, after)
    line_end = rest.end() if rest else after
    indent = _line_indent(text, last.start)
    new = f"\n{indent}{name}{_indented_json(value, indent, text)}{closing}"
    return f"{text[:after]}{separator}{text[after:line_end]}{new}{text[line_end:]}"


def _remove_member(source: _JsonText, members: list[_Member], place: int, at: int, end: int) -> str:
    """The text without one member, its comma, and a comment behind it on its line."""
    text, member = source.text, members[place]
    own = source.find_comma(member.end, members[place + 1].start if place + 1 < len(members) else end)
    after = member.end if own < 0 else own + 1
    line = text.rfind("\n", 0, member.start)
    rest = _REST_OF_LINE.match(text, after)
    if line >= at and not text[line : member.start].strip() and rest:
        begin, after = line, rest.end()
    elif place + 1 < len(members):
        begin, after = member.start, members[place + 1].start
    elif place:
        begin = members[place - 1].end if own < 0 else member.start - (text[member.start - 1] == " ")
        if own < 0:
            return text[:begin] + text[after:]
    else:
        begin = member.start
    kept = text[:begin]
    if own < 0 and place:  # it was the last one: the comma before it has to go
        comma = source.find_comma(members[place - 1].end, member.start)
        kept = text[:comma] + text[comma + 1 : begin]
    if len(members) == 1 and not (kept[at + 1 :] + text[after:end]).strip():
        return kept[: at + 1] + text[end:]
    return kept + text[after:]


def _blank_comment(match: re.Match[str]) -> str:
    comment = match[0]
    return comment if comment.startswith('"') else re.sub(r"[^\n]", " ", comment)


def _blank_comma(match: re.Match[str]) -> str:
    return " " if match[0] == "," else match[0]


def _one_line_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented_json(value: Any, indent: str, text: str) -> str:
    """``value`` as JSON in several lines, indented like the line before it and with the steps of ``text``."""
    step = "\t" if "\t" in indent else _indentation_step(text)
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"\n{indent}".join(lines)


def _indentation_step(text: str) -> str:
    """By how much the document is indented."""
    match = re.match(r"\s*(?://[^\n]*\s*)*\{[ \t]*\n([ \t]+)\S", text)
    return match[1] if match else _INDENT


def _line_indent(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None  # it may be empty
    return match.end()
