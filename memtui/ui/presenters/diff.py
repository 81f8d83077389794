"""An old text above a new one, with the words that differ marked; or both side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from textual.content import Content

from memtui.present.text import ELLIPSIS
from memtui.ui.safe import assemble, content_with_marks

REMOVED = "$removed on $removed-background strike"
ADDED = "$added on $added-background bold"
# Comparing word by word is quadratic; longer texts are compared line by line.
_WORDS = 3_000
_token = re.compile(r"\w+|\s+|[^\w\s]+")
# So many code points beside a change are shown with it, and up to the end of the word.
_CONTEXT_LENGTH = 50
_line = re.compile(r"[^\n]*\n?")

Range = tuple[int, int]


def diff_ranges(old: str, new: str) -> tuple[list[Range], list[Range]]:
    """The code points of ``old`` that are missing in ``new``, and those of ``new`` that are missing in ``old``.

    Words are compared, or lines if the texts are long. Blanks between two changed words count as changed,
    so that the marks are not broken up.
    """
    gone: list[Range] = []
    come: list[Range] = []
    for (i1, i2), (j1, j2) in _changes(old, new):
        _add_range(gone, i1, i2, old)
        _add_range(come, j1, j2, new)
    return gone, come


def _changes(old: str, new: str) -> list[tuple[Range, Range]]:
    """What differs, in order: the code points in ``old`` and those in ``new`` at the same place. One of them may be empty."""
    pattern = _token if len(old) + len(new) < _WORDS * 6 else _line
    before = [found[0] for found in pattern.finditer(old) if found[0]]
    after = [found[0] for found in pattern.finditer(new) if found[0]]
    at_old = _token_offsets(before)
    at_new = _token_offsets(after)
    return [
        ((at_old[i1], at_old[i2]), (at_new[j1], at_new[j2]))
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def mark_differences(old: str, new: str) -> Content:
    """Both texts, the old one first, with their differences marked. Equal texts are named as equal."""
    if old == new:
        return assemble(("= ", "$text-muted"), (old, "$text-muted"))
    gone, come = diff_ranges(old, new)
    return assemble(
        ("- ", "bold $removed"), content_with_marks(old, gone, REMOVED, "$text-muted"), "\n",
        ("+ ", "bold $added"), content_with_marks(new, come, ADDED),
    )  # fmt: skip


def mark_changed_parts(old: str, new: str) -> Content:
    """``mark_differences``, where long parts that did not change are left out: a long text shows what was changed in it."""
    changes = _changes(old, new)
    if not changes:
        return mark_differences(old, new)
    gone, come = diff_ranges(old, new)
    was, gone = _leave_out_unchanged(old, gone, [one for one, _ in changes])
    now, come = _leave_out_unchanged(new, come, [other for _, other in changes])
    return assemble(
        ("- ", "bold $removed"), content_with_marks(was, gone, REMOVED, "$text-muted"), "\n",
        ("+ ", "bold $added"), content_with_marks(now, come, ADDED),
    )  # fmt: skip


def _leave_out_unchanged(text: str, marks: list[Range], changes: list[Range]) -> tuple[str, list[Range]]:
    """The text near its changes, and the marks in it. Words stay whole."""
    kept: list[Range] = []
    for start, end in changes:
        begin = text.rfind(" ", 0, max(start - _CONTEXT_LENGTH, 0)) + 1 if start > _CONTEXT_LENGTH else 0
        stop = text.find(" ", min(end + _CONTEXT_LENGTH, len(text)))
        stop = len(text) if stop < 0 else stop
        if kept and begin <= kept[-1][1] + _CONTEXT_LENGTH:
            kept[-1] = kept[-1][0], max(stop, kept[-1][1])
        else:
            kept.append((begin, stop))
    parts, moved, length = [], [], 0
    for begin, stop in kept:
        lead = f"{ELLIPSIS} " if begin else ""
        moved += [
            (start - begin + length + len(lead), end - begin + length + len(lead))
            for start, end in marks
            if begin <= start and end <= stop
        ]
        parts.append(f"{lead}{text[begin:stop]} ")
        length += len(parts[-1])
    return "".join(parts).rstrip(" ") + (f" {ELLIPSIS}" if kept[-1][1] < len(text) else ""), moved


def _token_offsets(tokens: list[str]) -> list[int]:
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets


def _add_range(ranges: list[Range], start: int, end: int, text: str) -> None:
    if start == end:
        return
    if ranges and text[ranges[-1][1] : start].isspace():
        start = ranges.pop()[0]
    ranges.append((start, end))


GAP = 3


def side_by_side(left: Sequence[Content], right: Sequence[Content], width: int) -> Iterable[Content]:
    """``width``: cells of the left side. The right side begins ``GAP`` cells after it."""
    empty = assemble("")
    for index in range(max(len(left), len(right))):
        one = left[index] if index < len(left) else empty
        other = right[index] if index < len(right) else empty
        yield assemble(one, " " * max(width - one.cell_length, 0), " " * GAP, other)
