"""The preview of the past: a memory as it was and as it is now, or a change between two times.

Pure functions from records to ``Content``. They use no widget and read nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.present.format import local_time
from memtui.present.memory import confidence, differences, kind_label, whose, why_ended
from memtui.present.past import ago, coverage_notes, verb_label
from memtui.ui.presenters.diff import old_and_new
from memtui.ui.presenters.memory_rows import ended_sign
from memtui.ui.presenters.memory_text import LONGEST
from memtui.ui.presenters.text_layout import TextLayout, stack
from memtui.ui.safe import assemble, content

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord
    from memtui.engine.records.history import HistoryCoverage, PastChange


class Since(NamedTuple):
    """A memory as it is now, and its last version. Both are None if it was erased."""

    now: MemoryRecord | None
    latest: MemoryRecord | None


def gather_since(memory: Memory, one: MemoryRecord) -> Since:
    """Blocks."""
    from memtui.engine.errors import NotFoundError

    try:
        versions = memory.view.versions(one.id)
    except NotFoundError:
        return Since(None, None)
    here = next((found for found in versions if found.id == one.id), None)
    return Since(here, versions[-1])


class PastText(TextLayout):
    """Texts of the past."""

    def memory(self, one: MemoryRecord, at: int, coverage: HistoryCoverage, since: Since | None) -> Content:
        """A memory as it was ``at`` a time. ``since`` None: what happened since was not read yet."""
        lines = [
            *self._label(f"as it was on {local_time(at, self.now)}"),
            content(one.content[:LONGEST]),
            assemble(""),
        ]
        lines += self._state(one)
        if since is not None:
            lines += [assemble(""), *self._now(one, since)]
        return stack([*lines, *self._coverage(coverage)])

    def change(self, change: PastChange, coverage: HistoryCoverage) -> Content:
        """What happened to a memory."""
        when = "" if change.at is None else f", {local_time(change.at, self.now)}"
        lines = [*self._label(f"{verb_label(change.verb)}{when}")]
        old, new = change.before, change.after
        if old is not None and new is not None and old.content != new.content:
            lines.append(old_and_new(old.content[:LONGEST], new.content[:LONGEST]))
        else:
            lines.append(content(change.memory.content[:LONGEST]))
        lines.append(assemble(""))
        if old is not None and new is not None:
            lines += self._differences(old, new)
        else:
            lines += self._state(change.memory)
        return stack([*lines, *self._coverage(coverage)])

    def _label(self, text: str) -> Iterable[Content]:
        yield from assemble(
            (text, "bold $warning"), (f"  {self.glyphs.dot} the past, read only", "$text-muted")
        ).wrap(self.width)
        yield assemble("")

    def _state(self, one: MemoryRecord) -> Iterable[Content]:
        yield from self.labelled("kind", assemble(kind_label(one), (f" {whose(one)}", "$text-muted")))
        if one.kind != "episode":
            kept = (f"  {self.glyphs.protected} confirmed", "$success") if one.protected else ("", "")
            yield from self.labelled(
                "confidence",
                assemble((self.level(one.effective), "$accent"), f" {confidence(one.effective)}", kept),
            )
        if one.tags:
            yield from self.labelled("tags", assemble("  ".join(one.tags)))
        yield from self.labelled("recorded", assemble(local_time(one.created_at, self.now)))
        if one.valid_until is not None:
            text = f"{ended_sign(one, self.glyphs)} {why_ended(one)} {local_time(one.valid_until, self.now)}"
            yield from self.labelled("trash", assemble((text, "$warning")))

    def _now(self, one: MemoryRecord, since: Since) -> Iterable[Content]:
        yield assemble(("now", "bold $accent"))
        here, latest = since.now, since.latest
        if here is None or latest is None:
            yield from assemble(("It is no longer there.", "$warning")).wrap(self.width)
            return
        if latest.id != here.id and latest.content != one.content:
            yield from self.labelled("corrected", assemble((ago(latest.created_at, self.now), "$text-muted")))
            yield old_and_new(one.content[:LONGEST], latest.content[:LONGEST])
            return
        differences = list(self._differences(one, here))
        if one.content != here.content:
            yield old_and_new(one.content[:LONGEST], here.content[:LONGEST])
        elif not differences:
            yield assemble(("The same.", "$text-muted"))
        yield from differences

    def _differences(self, old: MemoryRecord, new: MemoryRecord) -> Iterable[Content]:
        for label, was, is_now, _ in differences(old, new):
            change = assemble((was, "$removed"), (" → ", "$text-muted"), (is_now, "$added"))
            yield from self.labelled(label, change)

    def _coverage(self, coverage: HistoryCoverage) -> Iterable[Content]:
        for note in coverage_notes(coverage, self.now):
            yield assemble("")
            yield from content(f"{self.glyphs.conflict} {note}", "$warning").wrap(self.width)
