"""What happened to a memory: its corrections, its history with what changed, and who was told it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.format import local_date, local_time, relative_time
from memtui.ui.keymap import table_key
from memtui.ui.safe import assemble, line

from .diff import old_and_new
from .memory_rows import ended_sign
from .text_layout import LABEL, LISTED, TextLayout

if TYPE_CHECKING:
    from memtui.engine.records import Operation, RowChange
    from memtui.ui.glyphs import Glyphs

    from .memory_detail import Detail

# More of a text than that is not laid out; the editor shows it whole.
LONGEST = 20_000
_COLUMN_NAMES = {
    "content": "text", "confidence": "confidence", "valid_until": "in Trash since",
    "ended_by": "in Trash because", "confirmed_at": "confirmed", "decay_rate": "fading rate", "tags": "tags",
    "attributes": "links", "source_ids": "sources", "kind": "kind", "category": "category", "project": "project",
}  # fmt: skip
_BARE = str.maketrans(dict.fromkeys('{}[]"') | {":": " ", ",": ", "})


class PastText(TextLayout):
    """The parts of a preview that look back. ``key``: how the key of an action is shown."""

    def __init__(self, width: int, now: float, glyphs: Glyphs, key: Callable[[str], str] = table_key) -> None:
        super().__init__(width, now, glyphs)
        self.key = key

    def _versions(self, detail: Detail) -> Iterable[Content]:
        for before, after in pairwise(detail.versions):
            day = local_date(after.created_at, self.now)
            now_here = " (this one)" if after.id == detail.memory.id else ""
            yield from self.labelled("corrected", assemble((f"{day}{now_here}", "$text-muted")))
            yield from self._indented(old_and_new(before.content[:LONGEST], after.content[:LONGEST]), 2)

    def _successor(self, detail: Detail) -> Iterable[Content]:
        """What stands in the place of one that was replaced, and the way there."""
        one = detail.successor
        if one is None:
            return
        sign = self.glyphs.kinds[one.kind] if one.active else ended_sign(one, self.glyphs)
        way = self._way("successor", "goes there")
        text = line(one.content, max(self.width - LABEL - 2 - way.cell_length, 10))
        yield from self.labelled("now", assemble((f"{sign} ", "$accent"), text, way))

    def _way(self, action: str, told: str) -> Content:
        """A key that leads on from here."""
        return assemble("  ", (self.key(action), "bold $accent"), (f" {told}", "$text-muted"))

    def _merged(self, detail: Detail) -> Iterable[Content]:
        for label, found in (("made of", detail.merged), ("merged into", detail.merged_into)):
            for index, one in enumerate(found[:LISTED]):
                text = line(one.content, max(self.width - LABEL - 2, 10))
                sign = self.glyphs.kinds[one.kind] if one.active else ended_sign(one, self.glyphs)
                yield from self.labelled("" if index else label, assemble((f"{sign} ", "$accent"), text))

    def _history(self, detail: Detail) -> Iterable[Content]:
        for index, (operation, change) in enumerate(detail.history[-LISTED:]):
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
        if column == "attributes":  # names and ids, without the signs of JSON around them
            return str(value)[:200].translate(_BARE)
        return str(value)[:200]

    def _recalls(self, detail: Detail) -> Iterable[Content]:
        for index, recall in enumerate(detail.recalls[:LISTED]):
            when = relative_time(recall.at, self.now)
            asked = line(recall.query, 60)
            told = assemble(
                (f"{when} ago  ", "$text-muted"), recall.agent, (" asked “", "$text-muted"), asked, "”"
            )
            yield from self.labelled("" if index else "told to", told)
        yield from self._more(len(detail.recalls))
