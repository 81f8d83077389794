"""Progress of long work in one line: a bar, the counts, the remaining time, and the key that stops it."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from memtui.present.format import format_count
from memtui.present.glyphs import Glyphs
from memtui.ui.progress import Work
from memtui.ui.safe import assemble, line

EVERY = 0.2
_BAR = 14


class WorkStrip(Widget):
    """Shows the progress of a piece of work. ``stop_key``: the key that stops it."""

    DEFAULT_CSS = "WorkStrip { height: 1; padding: 0 1; background: $surface; }"

    def __init__(self, work: Work, glyphs: Glyphs, stop_key: str) -> None:
        super().__init__()
        self._work = work
        self._glyphs = glyphs
        self._stop_key = stop_key

    def on_mount(self) -> None:
        self.set_interval(EVERY, self.refresh)

    def render(self) -> Content:
        work, width = self._work, self.size.width
        stop = assemble((self._stop_key, "bold $accent"), (" stop", "$text-muted"))
        if work.cancelled():
            return line(f"stopping {work.name}", width, "$warning")
        share = min(work.done / work.total, 1.0) if work.total else 0.0
        bar = self._glyphs.bar * round(share * _BAR)
        parts = [f"{format_count(work.done)} of {format_count(work.total)}" if work.total else work.name]
        seconds_left = work.seconds_left
        if seconds_left is not None:
            parts.append(_duration_text(seconds_left))
        text = f" {self._glyphs.dot} ".join([*parts, work.detail] if work.detail else parts)
        text_width = width - _BAR - stop.cell_length - 4
        return assemble(
            (bar, "$accent"), (self._glyphs.empty * (_BAR - len(bar)), "$text-muted"), " ",
            line(text, text_width), " " * max(text_width - len(text), 0), "  ", stop,
        ).truncate(width)  # fmt: skip


def _duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{max(round(seconds), 1)} s left"
    return f"{round(seconds / 60)} min left"
