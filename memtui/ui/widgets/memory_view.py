"""The preview of a memory as one text: what it says, where it came from, how long it will last.

Pure functions from records to ``Content``; they know no widget and ask nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.format import local_date, local_time, relative_time
from memtui.ui.safe import assemble, content, line, marked
from memtui.ui.words import excerpt, shared

from .diff_view import old_and_new

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Operation, RowChange
    from memtui.ui.detail import Detail
    from memtui.ui.glyphs import Glyphs

# Cells of the labels at the left.
LABEL = 12
# More of a text than that is not laid out; the editor shows it whole.
LONGEST = 20_000
_QUOTE = 280
_CURVE = 12
_LIST = 12
_COLUMN_NAMES = {
    "content": "text", "confidence": "confidence", "valid_until": "in Trash since",
    "ended_by": "in Trash because", "confirmed_at": "confirmed", "decay_rate": "fading rate", "tags": "tags",
    "attributes": "links", "source_ids": "sources", "kind": "kind", "category": "category", "project": "project",
}  # fmt: skip


class MemoryText:
    """Lays out memories for a preview ``width`` cells wide, as of ``now``."""

    def __init__(self, width: int, now: float, glyphs: Glyphs) -> None:
        self.width = max(width, 20)
        self.now = now
        self.glyphs = glyphs

    # -- the whole

    def glance(self, memory: MemoryRecord) -> Content:
        """What the row alone tells."""
        return _stack([*self._head(memory)])

    def whole(self, detail: Detail) -> Content:
        """Everything."""
        memory = detail.memory
        return _stack(
            [
                *self._head(memory),
                *self._fading(detail),
                *self._group(self._said_in(detail), self._named(detail), self._versions(detail)),
                *self._group(self._derived(detail), self._history(detail), self._recalls(detail)),
                *self._group(self._around(detail)),
                *self._group(self._foot(memory)),
            ]
        )

    def title(self, memory: MemoryRecord) -> Content:
        """For the frame: what it is, whose word it is, and how old."""
        sign = self.glyphs.kinds[memory.kind]
        whose = {"user": "from you", "agent": "from an agent", "tool": "from a tool", "model": "from a model"}
        told = (memory.category or memory.kind, whose[memory.trust], relative_time(memory.event_time, self.now))
        return assemble((f" {sign} ", "$accent"), f" {self.glyphs.dot} ".join(told), " ")

    # -- parts

    def _group(self, *parts: Iterable[Content]) -> Iterable[Content]:
        """Parts that belong together, after a blank line."""
        lines = [one for part in parts for one in part]
        return [assemble(""), *lines] if lines else []

    def _head(self, memory: MemoryRecord) -> Iterable[Content]:
        text = memory.content
        yield content(text[:LONGEST])
        if len(text) > LONGEST:
            yield assemble(
                (f"… {len(text) - LONGEST:,} more characters; o opens all of it in $EDITOR", "$warning")
            )
        yield assemble("")
        yield from self._state(memory)
        if memory.tags:
            yield from self.labelled("tags", assemble(("  ".join(memory.tags), "$text")))

    def _state(self, memory: MemoryRecord) -> Iterable[Content]:
        level = self.level(memory.effective)
        told = f" {number(memory.effective)}"
        if memory.effective < memory.confidence - 0.005:
            told += f" of {number(memory.confidence)}"
        yield from self.labelled("confidence", assemble((level, "$accent"), told))
        if memory.confirmed_at is not None:
            day = local_date(memory.confirmed_at, self.now)
            yield from self.labelled(
                "kept", assemble((f"{self.glyphs.protected} ", "$success"), f"confirmed {day}, does not fade")
            )
        if memory.valid_until is not None:
            why = memory.ended_by or "ended"
            day = local_date(memory.valid_until, self.now)
            yield from self.labelled(
                "trash", assemble((f"{self.glyphs.ended} {why} {day}", "$warning"), "  R brings it back")
            )

    def _fading(self, detail: Detail) -> Iterable[Content]:
        memory = detail.memory
        if detail.fades is None or memory.valid_until is not None:
            return
        day = local_date(detail.fades, self.now)
        gone = f"until {day}" if detail.fades > self.now else f"gone since {day}"
        yield from self.labelled(
            "fading",
            assemble(
                (self._curve(detail), "$accent"), f"  {gone}", ("" if detail.fades > self.now else " !")
            ),
        )

    def _curve(self, detail: Detail) -> str:
        """The confidence from the last sign of life to the day it is gone."""
        memory, fades = detail.memory, detail.fades or self.now
        start = max(memory.created_at, memory.last_accessed or 0, memory.confirmed_at or 0)
        span = max(fades - start, 1.0)
        rate = math.log(max(memory.confidence, 1e-9) / detail.threshold) / span if detail.threshold else 0.0
        levels = self.glyphs.curve
        shown = []
        for step in range(_CURVE):
            left = memory.confidence * math.exp(-rate * span * step / (_CURVE - 1))
            shown.append(levels[min(int(left * len(levels)), len(levels) - 1)])
        return "".join(shown)

    def _said_in(self, detail: Detail) -> Iterable[Content]:
        memory = detail.memory
        if memory.kind == "episode":
            yield from self.labelled("said in", self._place(detail, memory))
        for index, source in enumerate(detail.sources[:_LIST]):
            yield from self.labelled("" if index else "said in", self._place(detail, source))
            part, ranges = excerpt(source.content, shared(memory.content, source.content), _QUOTE)
            quoted = assemble("“", marked(part, ranges, "bold $accent", "$text-muted"), "”")
            yield from self._indented(quoted, 2)
        yield from self._more(len(detail.sources))

    def _place(self, detail: Detail, memory: MemoryRecord) -> Content:
        session = detail.sessions.get(memory.session_id or "")
        title = session.title if session is not None else None
        title = title or memory.session_id or memory.source or memory.kind
        when = local_time(memory.event_time, self.now)
        role = memory.source_role or "user"
        who = "" if role == "user" or self.width < 60 else f"{role} {self.glyphs.dot} "
        room = max(self.width - LABEL - len(when) - len(who) - 3, 12)
        return assemble(line(title, room), (f" {self.glyphs.dot} {who}{when}", "$text-muted"))

    def _named(self, detail: Detail) -> Iterable[Content]:
        by_type: dict[str, list[str]] = {}
        for entity in detail.entities:
            by_type.setdefault(_TYPE_LABELS.get(entity.type, "about"), []).append(entity.canonical_name)
        for label, names in by_type.items():
            yield from self.labelled(label, assemble((f" {self.glyphs.dot} ".join(names[:_LIST]), "$entity")))

    def _versions(self, detail: Detail) -> Iterable[Content]:
        for before, after in pairwise(detail.versions):
            day = local_date(after.created_at, self.now)
            now_here = " (this one)" if after.id == detail.memory.id else ""
            yield from self.labelled("corrected", assemble((f"{day}{now_here}", "$text-muted")))
            yield from self._indented(old_and_new(before.content[:LONGEST], after.content[:LONGEST]), 2)

    def _derived(self, detail: Detail) -> Iterable[Content]:
        for index, one in enumerate(detail.derived[:_LIST]):
            sign = self.glyphs.kinds[one.kind]
            text = line(one.content, max(self.width - LABEL - 2, 10))
            yield from self.labelled("" if index else "derived", assemble((f"{sign} ", "$accent"), text))
        yield from self._more(len(detail.derived))

    def _history(self, detail: Detail) -> Iterable[Content]:
        for index, (operation, change) in enumerate(detail.history[-_LIST:]):
            when = local_time(operation.at, self.now)
            who = "" if operation.actor == "person" else f" by {operation.actor}"
            undone = " (undone)" if operation.state == "undone" else ""
            room = 2 * (self.width - LABEL) - len(when) - len(who) - len(undone) - 4
            told = assemble(
                (f"{when}  ", "$text-muted"), line(operation.label, room), (f"{who}{undone}", "$text-muted")
            )
            yield from self.labelled("" if index else "history", told)
            yield from self._changes(operation, change)

    def _changes(self, operation: Operation, change: RowChange) -> Iterable[Content]:
        if change.before is None or change.after is None:
            return
        for column, name in _COLUMN_NAMES.items():
            before, after = change.before.get(column), change.after.get(column)
            if before == after or (column not in change.before and column not in change.after):
                continue
            if column == "content":
                yield from self._indented(old_and_new(str(before)[:LONGEST], str(after)[:LONGEST]), 2)
            else:
                was, now = self._value(column, before), self._value(column, after)
                yield from self._indented(assemble((f"{name}: {was} → {now}", "$text-muted")), 2)

    def _value(self, column: str, value: object) -> str:
        if value is None or value in ("", "[]", "{}"):
            return "none"
        if column in ("valid_until", "confirmed_at") and isinstance(value, int | float):
            return local_time(value, self.now)
        return str(value)[:200]

    def _recalls(self, detail: Detail) -> Iterable[Content]:
        for index, recall in enumerate(detail.recalls[:_LIST]):
            when = relative_time(recall.at, self.now)
            asked = line(recall.query, 60)
            told = assemble(
                (f"{when} ago  ", "$text-muted"), recall.agent, (" asked “", "$text-muted"), asked, "”"
            )
            yield from self.labelled("" if index else "told to", told)
        yield from self._more(len(detail.recalls))

    def _around(self, detail: Detail) -> Iterable[Content]:
        rows: Sequence[MemoryRecord] = detail.around
        sources = {source.id for source in detail.sources}
        if len(rows) < 2:
            return
        for index, one in enumerate(rows):
            here = one.id == detail.memory.id or one.id in sources
            sign = self.glyphs.cursor if here else " "
            same_day = local_date(one.event_time) == local_date(detail.memory.event_time)
            moment = local_time(one.event_time, self.now)
            when = moment.rpartition(" ")[2 if same_day else 0]
            room = max(self.width - LABEL - len(when) - 3, 10)
            text = line(one.content, room, "bold" if here else "$text-muted")
            told = assemble((f"{sign} ", "$accent"), (f"{when} ", "$text-muted"), text)
            yield from self.labelled("" if index else "around it", told)

    def _foot(self, memory: MemoryRecord) -> Iterable[Content]:
        parts = [memory.id, memory.source or "", memory.project or ""]
        yield assemble((f" {self.glyphs.dot} ".join(part for part in parts if part), "$text-disabled"))

    def _more(self, number: int) -> Iterable[Content]:
        if number > _LIST:
            yield from self.labelled("", assemble((f"and {number - _LIST:,} more", "$text-muted")))

    # -- laying out

    def level(self, share: float, cells: int = 8) -> str:
        """A share of 1 as a bar."""
        filled = round(max(0.0, min(share, 1.0)) * cells)
        return self.glyphs.bar * filled + self.glyphs.empty * (cells - filled)

    def labelled(self, label: str, text: Content) -> Iterable[Content]:
        lead = assemble((label.ljust(LABEL), "$text-muted"))
        for index, part in enumerate(text.wrap(self.width - LABEL)):
            yield assemble(lead if index == 0 else " " * LABEL, part)

    def _indented(self, text: Content, by: int) -> Iterable[Content]:
        for part in text.wrap(self.width - by):
            yield assemble(" " * by, part)


_TYPE_LABELS = {
    "person": "people", "place": "places", "project": "projects", "organization": "groups", "date": "dates",
}  # fmt: skip


def number(share: float) -> str:
    """A confidence in three cells: ``1.0``, ``.74``."""
    return "1.0" if share >= 0.995 else f"{max(share, 0.0):.2f}"[1:]


def _stack(lines: Iterable[Content]) -> Content:
    return Content("\n").join(lines)
