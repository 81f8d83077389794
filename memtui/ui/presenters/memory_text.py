"""The preview of a memory as one text: its content, its sources, its confidence and its history.

Pure functions from records to ``Content``. They use no widget and read nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from memtui.present import caution, replacement
from memtui.present import memory as words
from memtui.present.changes import column_changes
from memtui.present.decision import other_devices
from memtui.present.format import local_date, local_time, relative_time
from memtui.present.operation import author_suffix, recall_line
from memtui.ui.keymap import default_key
from memtui.ui.safe import assemble, content, content_of_line, content_with_marks, line

from .diff import mark_differences
from .memory_rows import ended_sign
from .source_words import excerpt_around, shared_words
from .text_layout import LABEL, LISTED, TextLayout, stack_lines

if TYPE_CHECKING:
    from memtui.engine.records import Caution, MemoryDetail, MemoryRecord, RowChange
    from memtui.present.glyphs import Glyphs


_QUOTE = 280
_CURVE = 12
_NAME = 60


# A longer text is cut here. The editor shows all of it.
LONGEST = 20_000


class MemoryText(TextLayout):
    """Lays out memories for a preview ``width`` cells wide, as of ``now``. ``key`` gives the key of an action."""

    def __init__(
        self, width: int, now: float, glyphs: Glyphs, key: Callable[[str], str] = default_key
    ) -> None:
        super().__init__(width, now, glyphs)
        self.key = key

    # -- the whole

    def quick_preview(self, memory: MemoryRecord) -> Content:
        """What can be shown from the row alone."""
        return stack_lines([*self._head_lines(memory)])

    def full_text(self, detail: MemoryDetail) -> Content:
        """All details of a memory."""
        memory = detail.memory
        return stack_lines(
            [
                *self._head_lines(memory),
                *self._caution_lines(detail.cautions if memory.active else ()),
                *self._open_card_lines(detail),
                *self._withheld_lines(detail),
                *self._successor_line(detail),
                *self._replacement_lines(detail),
                *self._fading_lines(detail),
                *self._paragraph_group(
                    self._source_lines(detail),
                    self._entity_lines(detail),
                    self._enrichment_lines(detail),
                    self._version_lines(detail),
                    self._merged_lines(detail),
                ),
                *self._paragraph_group(
                    self._derived_lines(detail),
                    self._history_lines(detail),
                    self._other_devices_lines(detail),
                    self._recall_lines(detail),
                ),
                *self._paragraph_group(self._neighbour_lines(detail)),
                *self._paragraph_group(self._identity_line(memory)),
            ]
        )

    def title(self, memory: MemoryRecord) -> Content:
        """The title of the frame: kind, trust and age."""
        glyph = self.glyphs.kinds[memory.kind]
        age = relative_time(memory.event_time, self.now)
        parts = (words.kind_label(memory), words.speaker_note(memory), age)
        return assemble((f" {glyph} ", "$accent"), f" {self.glyphs.dot} ".join(parts), " ")

    # -- parts

    def _head_lines(self, memory: MemoryRecord) -> Iterable[Content]:
        text = memory.content
        yield content(text[:LONGEST])
        if len(text) > LONGEST:
            yield assemble(
                (f"… {len(text) - LONGEST:,} more characters;", "$warning"),
                self._key_hint("editor", "opens all of it in $EDITOR"),
            )
        yield assemble("")
        yield from self._state_lines(memory)
        yield from self._topic_date_tags_lines(memory)

    def _topic_date_tags_lines(self, memory: MemoryRecord) -> Iterable[Content]:
        """Its topic, the date in its text, and its tags."""
        if memory.topic:
            yield from self.labelled("topic", assemble((memory.topic, "$text")))
        if happens := words.date_note(memory, self.now):
            late = words.is_past_plan(memory, self.now)
            yield from self.labelled("date", assemble((happens, "$warning" if late else "$text")))
        if memory.tags:
            yield from self.labelled("tags", assemble(("  ".join(memory.tags), "$text")))

    def _state_lines(self, memory: MemoryRecord) -> Iterable[Content]:
        level = self.level_bar(memory.effective)
        confidence = words.confidence_left(memory)
        yield from self.labelled("confidence", assemble((level, "$accent"), f" {confidence}"))
        if kept := words.confirmed_since(memory, self.now):
            yield from self.labelled("kept", assemble((f"{self.glyphs.protected} ", "$success"), kept))
        if pinned := words.pinned_since(memory, self.now):
            yield from self.labelled("pinned", assemble((f"{self.glyphs.pinned} ", "$accent"), pinned))
        if ended := words.ended_text(memory, self.now):
            text = f"{ended_sign(memory, self.glyphs)} {ended}"
            yield from self.labelled(
                "trash", assemble((text, "$warning"), self._key_hint("restore", "restores"))
            )

    def _caution_lines(self, cautions: Sequence[Caution]) -> Iterable[Content]:
        """Statements in it that were corrected or forgotten since."""
        for label, caution_line in caution.caution_lines(cautions, self.now):
            yield from self.labelled(label, content_of_line(caution_line))

    def _open_card_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for label, text in words.open_card_text(detail):
            yield from self.labelled(label, content_of_line(text))

    def _withheld_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for label, agents in words.withheld_from_text(detail):
            yield from self.labelled(
                label, assemble(content_of_line(agents), self._key_hint("agents", "changes who may see it"))
            )

    def _fading_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        if text := words.fading_text(detail.memory, detail.fades, self.now):
            if detail.fades is None:
                yield from self.labelled("fading", assemble((text, "$text")))
                return
            late = "" if detail.fades > self.now else " !"
            curve = (self._confidence_curve(detail), "$accent")
            yield from self.labelled("fading", assemble(curve, f"  {text}{late}"))

    def _confidence_curve(self, detail: MemoryDetail) -> str:
        """A plot of the confidence, from its last use to the day when it has faded."""
        memory, fades = detail.memory, detail.fades or self.now
        start = max(
            memory.created_at, memory.last_accessed or 0, memory.confirmed_at or 0, memory.happens_at or 0
        )
        span = max(fades - start, 1.0)
        rate = math.log(max(memory.confidence, 1e-9) / detail.threshold) / span if detail.threshold else 0.0
        levels = self.glyphs.curve
        shown = []
        for step in range(_CURVE):
            confidence = memory.confidence * math.exp(-rate * span * step / (_CURVE - 1))
            shown.append(levels[min(int(confidence * len(levels)), len(levels) - 1)])
        return "".join(shown)

    def _source_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        memory = detail.memory
        if memory.kind == "episode":
            yield from self.labelled("said in", self._session_and_time(detail, memory))
        for index, source in enumerate(detail.sources[:LISTED]):
            yield from self.labelled("" if index else "said in", self._session_and_time(detail, source))
            quote = words.without_secrets(source)
            part, ranges = excerpt_around(quote, shared_words(memory.content, quote), _QUOTE)
            quoted = assemble("“", content_with_marks(part, ranges, "bold $accent", "$text-muted"), "”")
            yield from self._indent_text(quoted, 2)
        yield from self._more_line(len(detail.sources))

    def _session_and_time(self, detail: MemoryDetail, memory: MemoryRecord) -> Content:
        session = detail.sessions.get(memory.session_id or "")
        title = session.name if session is not None else None
        title = title or memory.session_id or memory.source or memory.kind
        when = local_time(memory.event_time, self.now)
        role = memory.source_role or "user"
        who = "" if role == "user" or self.width < 60 else f"{role} {self.glyphs.dot} "
        text_width = max(self.width - LABEL - len(when) - len(who) - 3, 12)
        return assemble(line(title, text_width), (f" {self.glyphs.dot} {who}{when}", "$text-muted"))

    def _entity_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        between = assemble((f" {self.glyphs.dot} ", "$text-muted"))
        for label, entities in words.entities_by_type(detail.entities).items():
            ways = []
            for entity in entities[:LISTED]:
                name = line(entity.canonical_name, _NAME, "$entity")
                # A click shows everything about it, like @.
                ways.append(name.stylize(Style.from_meta({"@click": f"app.show_entity({entity.eid})"})))
            yield from self.labelled(label, between.join(ways))

    def _enrichment_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        """The names that a language model found in it."""
        read = detail.enrichment
        if read is None:
            return
        text = words.enrichment_text(read, self.now, most=LISTED, between=f" {self.glyphs.dot} ")
        yield from self.labelled("read again", content_of_line(text))

    def _derived_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for index, one in enumerate(detail.derived[:LISTED]):
            glyph = self.glyphs.kinds[one.kind]
            text = line(one.content, max(self.width - LABEL - 2, 10))
            yield from self.labelled("" if index else "derived", assemble((f"{glyph} ", "$accent"), text))
        yield from self._more_line(len(detail.derived))

    def _neighbour_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        rows: Sequence[MemoryRecord] = detail.around
        sources = {source.id for source in detail.sources}
        if len(rows) < 2:
            return
        for index, one in enumerate(rows):
            here = one.id == detail.memory.id or one.id in sources
            glyph = self.glyphs.cursor if here else " "
            same_day = local_date(one.event_time) == local_date(detail.memory.event_time)
            time = local_time(one.event_time, self.now)
            when = time.rpartition(" ")[2 if same_day else 0]
            text_width = max(self.width - LABEL - len(when) - 3, 10)
            text = line(one.content, text_width, "bold" if here else "$text-muted")
            row = assemble((f"{glyph} ", "$accent"), (f"{when} ", "$text-muted"), text)
            yield from self.labelled("" if index else "around it", row)

    def _identity_line(self, memory: MemoryRecord) -> Iterable[Content]:
        parts = [memory.id, memory.source or "", memory.project or ""]
        yield assemble((f" {self.glyphs.dot} ".join(part for part in parts if part), "$text-disabled"))

    # -- what happened to it

    def _version_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for one in detail.replacements:
            now_here = " (this one)" if one.new.id == detail.memory.id else ""
            when = f"{replacement.how_and_when(one, self.now)}{now_here}"
            yield from self.labelled(replacement.label(one), assemble((when, "$text-muted")))
            if one.old is None:
                continue
            yield from self._indent_text(
                mark_differences(one.old.content[:LONGEST], one.new.content[:LONGEST]), 2
            )

    def _replacement_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        """What it was and what it is now, and the key that goes to the other version."""
        told = detail.successor is not None or (bool(detail.cautions) and not detail.asked)
        way = assemble("") if detail.successor is not None else self._key_hint("successor", "goes there")
        for one in detail.replacements:
            days = replacement.moved_days(one, self.now)
            if days is None and told and one.ids[0] == detail.memory.id != one.new.id:
                continue  # said above
            text = content_of_line(replacement.line(one, self.now, detail.memory))
            yield from self.labelled(replacement.label(one), assemble(text, way))
            way = assemble("")

    def _successor_line(self, detail: MemoryDetail) -> Iterable[Content]:
        """The memory that replaced it, and the key that goes there."""
        one = detail.successor
        if one is None:
            return
        glyph = self.glyphs.kinds[one.kind] if one.active else ended_sign(one, self.glyphs)
        way = self._key_hint("successor", "goes there")
        text = line(one.content, max(self.width - LABEL - 2 - way.cell_length, 10))
        yield from self.labelled("now", assemble((f"{glyph} ", "$accent"), text, way))

    def _key_hint(self, action: str, does: str) -> Content:
        """A key and what it does."""
        return assemble("  ", (self.key(action), "bold $accent"), (f" {does}", "$text-muted"))

    def _merged_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for label, memories in (("made of", detail.merged), ("merged into", detail.merged_into)):
            for index, one in enumerate(memories[:LISTED]):
                text = line(one.content, max(self.width - LABEL - 2, 10))
                glyph = self.glyphs.kinds[one.kind] if one.active else ended_sign(one, self.glyphs)
                yield from self.labelled("" if index else label, assemble((f"{glyph} ", "$accent"), text))

    def _history_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for index, (operation, change) in enumerate(detail.history[-LISTED:]):
            when = local_time(operation.at, self.now)
            by = author_suffix(operation)
            text_width = 2 * (self.width - LABEL) - len(when) - len(by) - 4
            row = assemble(
                (f"{when}  ", "$text-muted"), line(operation.label, text_width), (by, "$text-muted")
            )
            yield from self.labelled("" if index else "history", row)
            yield from self._change_lines(change)

    def _other_devices_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for label, row in other_devices(detail, self.now):
            yield from self.labelled(label, content_of_line(row))

    def _change_lines(self, change: RowChange) -> Iterable[Content]:
        if change.before is None or change.after is None:
            return
        for one in column_changes(change.before, change.after, self.now):
            if one.text:
                yield from self._indent_text(mark_differences(one.was[:LONGEST], one.now[:LONGEST]), 2)
            else:
                text = (f"{one.label}: {one.was} → {one.now}", "$text-muted")
                yield from self.labelled("", assemble(text))

    def _recall_lines(self, detail: MemoryDetail) -> Iterable[Content]:
        for index, recall in enumerate(detail.recalls[:LISTED]):
            yield from self.labelled(
                "" if index else "told to", content_of_line(recall_line(recall, self.now))
            )
        yield from self._more_line(len(detail.recalls))
