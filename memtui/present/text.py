"""Makes stored text safe for a terminal: ``visible_text()`` and ``one_line()``.

Stored text is hostile. An escape sequence could write the clipboard. A direction override could reverse a
sentence. Zero-width characters could hide a message. ``visible_text()`` replaces every such character by one that
can be seen; the file keeps the original. Plain text, in any script, is returned as the same object.

Records are shown as lines of parts: a piece of text and its role. The caller turns a role into a colour.

Lengths are terminal cells, and never less than a terminal draws: all parts of a joined emoji count, although
most terminals draw one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple, NewType

VisibleText = NewType("VisibleText", str)
"""A string that went through ``visible_text()``. Only such text may reach the screen."""

ELLIPSIS = "…"
NEWLINE_MARK = "↵"
_TAB = "    "
_MARKS_KEPT = 4
# Combining marks take no cells, so a limit in cells alone does not limit the text.
_CODE_POINTS_PER_CELL = 8

_ZWNJ, _ZWJ, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"

# Controls except the line feed; characters without width or shape; bidi controls; surrogates; noncharacters; tags.
_UNSEEN = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
) + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))

# Blocks with combining marks (and letters: the category decides), and the joiners.
_MARK_BLOCKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u109f\u135d-\u135f\u1712-\u1aff\u1b00-\u1dff\u200c\u200d\u20d0-\u20ff"
    "\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua69f\ua6f0\ua6f1\ua800-\uabef\ufb1e"
    "\ufe00-\ufe2f\U000101fd-\U0001037a\U00010a01-\U00011fff\U00013430-\U0001345f\U00016100-\U00016fff"
    "\U0001bc9d\U0001bc9e\U0001cf00-\U0001cf46\U0001d165-\U0001d244\U0001da00-\U0001daaf\U0001e000-\U0001e94a"
    "\U000e0100-\U000e01ef"
)


@cache
def _stacked_marks() -> re.Pattern[str]:
    """Compiled at first use, like the next two: such large sets would slow every start by milliseconds."""
    return re.compile(f"[{_MARK_BLOCKS}]{{{_MARKS_KEPT + 1},}}")


@cache
def _invisible_characters() -> re.Pattern[str]:
    return re.compile(f"[{_UNSEEN}]")


@cache
def _unseen_or_newline() -> re.Pattern[str]:
    return re.compile(f"[{_UNSEEN}\n]")


# Invisible characters that Python calls printable.
_unseen_printable = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]")
_line_ends = re.compile("\r\n?|[\u2028\u2029]")
_blanks = re.compile(r"[^\S\n]+")
_line_breaks = re.compile(rf" ?(?:(?:\n|{NEWLINE_MARK}) ?)+")

# Where a joiner has an effect: scripts that join or split letters with it, and emoji.
_joining_script = re.compile(
    "[\u0590-\u1aff\ua800-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]"
)
_emoji = re.compile("[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")


def visible_text(text: str, limit: int | None = None, *, newlines: bool = False) -> VisibleText:
    """``text`` with every character that a terminal would obey or hide replaced by a visible one.

    Line ends become ``\\n``, kept with ``newlines`` and shown as ``↵`` without. A tab becomes
    blanks. Other controls become control pictures (``␛``); C1, bidi controls, zero-width characters,
    tags, surrogates and noncharacters become ``‹U+202E›``. ZWJ and ZWNJ stay where they join emoji or
    letters of a script that uses them. Of stacked marks four stay. A text longer than ``limit`` cells is
    cut and ends with ``…``. Applying it twice changes nothing.
    """
    cut = False
    if limit is not None and len(text) > (most := 2 * _CODE_POINTS_PER_CELL * max(limit, 1)):
        text, cut = text[:most], True
    if not _is_plain(text.replace("\n", "") if newlines else text):
        text = _replace_invisible(text, newlines)
    return VisibleText(text if limit is None else _fit_to_cells(text, limit, cut))


def one_line(text: str, limit: int) -> VisibleText:
    """``text`` as one row of at most ``limit`` cells: blanks collapsed, line breaks as `` ↵ ``."""
    most = 2 * _CODE_POINTS_PER_CELL * max(limit, 1)
    start = text[:most].strip()
    if not start.isprintable() or "  " in start or NEWLINE_MARK in start:
        start = _blanks.sub(" ", _line_ends.sub("\n", start))
        start = _line_breaks.sub(f" {NEWLINE_MARK} ", start).strip()
    return VisibleText(_fit_to_cells(visible_text(start), limit, bool(text[most:].strip())))


def one_line_part(text: str, limit: int) -> VisibleText:
    """A part of a row of at most ``limit`` cells: the blanks at its beginning stay, because another part is before it."""
    blanks = max(min(len(text) - len(text.lstrip(" ")), limit), 0)
    return VisibleText(" " * blanks + one_line(text, limit - blanks))


def max_cells(text: str) -> int:
    """The most cells that a terminal may need for one line of visible text."""
    return len(text) if text.isascii() else sum(_cell_widths(text))


def without_control_characters(text: str) -> str:
    """``text`` without characters that a terminal obeys or hides, as wide as Textual measured it (the last filter)."""
    if text.isprintable():
        return text
    from rich.cells import get_character_cell_size

    def blank_out(match: re.Match[str]) -> str:
        joiner = match[0] in (_ZWNJ, _ZWJ)
        return match[0] if joiner else "\ufffd" * get_character_cell_size(match[0])

    return _unseen_or_newline().sub(blank_out, text)


def _is_plain(text: str) -> bool:
    # str.isprintable is much faster than a regex search, and right for all but a few characters.
    return text.isprintable() and (
        text.isascii() or (_unseen_printable.search(text) is None and _stacked_marks().search(text) is None)
    )


def _replace_invisible(text: str, newlines: bool) -> str:
    text = _line_ends.sub("\n", text)
    text = _stacked_marks().sub(_limit_stack, text)
    if newlines:
        return _invisible_characters().sub(
            lambda match: _TAB if match[0] == "\t" else _visible_substitute(match), text
        )
    return _unseen_or_newline().sub(_visible_substitute, text)


def _visible_substitute(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if code < 0x20:
        return {"\n": NEWLINE_MARK, "\t": " "}.get(character) or chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character in (_ZWNJ, _ZWJ) and _joins_emoji(match.string, match.start()):
        return character
    return f"‹U+{code:04X}›"


def _joins_emoji(text: str, at: int) -> bool:
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if _invisible_characters().match(before) or not before:
        return False
    if text[at] == _ZWNJ:
        return _joining_script.match(before) is not None
    # Elsewhere a ZWJ joins nothing, and Textual would give the next character no width.
    if _invisible_characters().match(after):
        return False
    return any(one.match(before) and one.match(after) for one in (_joining_script, _emoji))


def _limit_stack(match: re.Match[str]) -> str:
    kept, stacked = [], 0
    for character in match[0]:
        if unicodedata.category(character) in ("Mn", "Me"):
            stacked += 1
        elif character not in (_ZWNJ, _ZWJ):
            stacked = 0
        if stacked <= _MARKS_KEPT:
            kept.append(character)
    return "".join(kept)


def _cell_widths(text: str) -> Iterator[int]:
    from rich.cells import get_character_cell_size

    width = 0
    for character in text:
        # The emoji style may widen the character before it.
        width = 1 if character == _EMOJI_STYLE and width < 2 else get_character_cell_size(character)
        yield width


def _fit_to_cells(text: str, limit: int, cut: bool) -> str:
    """``text``, or its start and an ellipsis. ``cut``: the text was cut before."""
    if limit <= 0:
        return ""
    if text.isascii():
        return text if len(text) <= limit and not cut else text[: limit - 1] + ELLIPSIS
    if 2 * len(text) <= limit and not cut:
        return text
    most = _CODE_POINTS_PER_CELL * limit
    used, end = 0, None
    for at, width in enumerate(_cell_widths(text)):
        used += width
        if end is None and (used >= limit or at >= most - 1):
            end = at
        if used > limit or at >= most:
            break
    else:
        if not cut:
            return text
    return text[:end].rstrip(_ZWNJ + _ZWJ) + ELLIPSIS


Role = Literal[
    "text", "strong", "dim", "faint", "accent",
    "keyword", "vector", "word_vector", "entity", "context",
    "success", "warning", "error", "added", "removed",
    "project", "organization", "location",
]  # fmt: skip

Part = tuple[str, Role]
Line = tuple[Part, ...]
"""Parts of one line, in order. Their text is as stored: the caller must pass it through ``visible_text()``."""


class LabelledLine(NamedTuple):
    """A line about a record, with a label."""

    label: str
    line: Line
