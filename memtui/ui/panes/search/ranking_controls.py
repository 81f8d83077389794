"""The controls of a ranking: a line for each value, changed with left and right. The hits follow at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from memtui.present.glyphs import Glyphs
from memtui.ui.action_dispatch import perform_action, perform_chord
from memtui.ui.actions import ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.safe import assemble, line

from .ranking import RANKING_CONTROLS, RankingControl, Tuning

if TYPE_CHECKING:
    from memtui.engine.records import Profile

LABEL = 12
VALUE = 6
_HUES = {
    "keyword": "$keyword",
    "vector": "$vector",
    "word vector": "$word_vector",
    "entity": "$entity",
    "neighbours": "$context",
    "session": "$context",
    "facts": "$context",
}
_LEAST_SLIDER, _WIDEST_SLIDER = 6, 24


class RankingControls(Widget, can_focus=True):
    """``show`` displays a tuning. Every change posts ``TuningChanged`` with the new one."""

    BINDINGS = [*bindings_at("tuning")]
    part: ClassVar[ActionContext] = "tuning"
    action_perform, action_chord = perform_action, perform_chord
    cursor: reactive[int] = reactive(0)
    tuning: reactive[Tuning | None] = reactive(None)

    @message_type
    class TuningChanged(Message):
        """The person changed the ranking to this one."""

        tuning: Tuning

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self._profiles: Sequence[Profile] = ()
        self._agents = ""

    def show_tuning(self, tuning: Tuning, profiles: Sequence[Profile], agents: str) -> None:
        """``profiles``: the possible profiles. ``agents``: the name of the one that agents use."""
        self._profiles = profiles
        self._agents = agents
        self.tuning = tuning
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(RANKING_CONTROLS)

    def render(self) -> Content:
        if self.tuning is None:
            return assemble("")
        shown = RANKING_CONTROLS[self._first_visible : self._first_visible + max(self.size.height, 1)]
        lines = [
            self._control_line(index, control, self.tuning)
            for index, control in enumerate(shown, self._first_visible)
        ]
        return Content("\n").join(lines)

    @property
    def _first_visible(self) -> int:
        """The first shown line. If there is little room, the lines around the cursor are shown."""
        visible_lines = max(self.size.height, 1)
        return max(min(self.cursor - visible_lines // 2, len(RANKING_CONTROLS) - visible_lines), 0)

    def _control_line(self, index: int, control: RankingControl, tuning: Tuning) -> Content:
        width = max(self.size.width, 12)
        here = self.has_focus and index == self.cursor
        background = " on $row-cursor" if here else ""
        idle = control.idle(tuning)
        hue = "$text-disabled" if idle else _HUES.get(control.label, "$text-muted")
        text = "$text-disabled" if idle else "$text"
        mark = (f"{self.glyphs.cursor if here else ' '} ", f"$accent{background}")
        label = (control.label.ljust(LABEL), f"{hue}{background}")
        value_width = width - LABEL - 2
        level = control.level(tuning)
        if idle or level is None or value_width < VALUE + _LEAST_SLIDER:
            setting = f"{control.shown(tuning)}  {idle}" if idle else control.shown(tuning)
            if control.label == "profile" and tuning.base.name == self._agents and not tuning.is_changed:
                setting += f" {self.glyphs.dot} agents use it"
            value = line(setting, value_width, f"{text}{background}")
        else:
            slider = self._draw_slider(level, min(value_width - VALUE, _WIDEST_SLIDER), hue, background)
            value = assemble((control.shown(tuning).ljust(VALUE), f"{text}{background}"), slider)
        rest = max(width - 2 - LABEL - value.cell_length, 0)
        return assemble(mark, label, value, (" " * rest, background.strip()))

    def _draw_slider(self, level: float, cells: int, hue: str, background: str) -> Content:
        track = cells - 1
        at = round(level * (track - 1))
        return assemble(
            (self.glyphs.bar * at, f"{hue}{background}"),
            (self.glyphs.marked, f"bold {hue}{background}"),
            (self.glyphs.empty * (track - at), f"$frame{background}"),
        )

    # -- turning

    def _change_value(self, by: int) -> None:
        if self.tuning is not None:
            turned = RANKING_CONTROLS[self.cursor].turn(self.tuning, by, self._profiles)
            if turned != self.tuning:
                self.tuning = turned
                self.post_message(self.TuningChanged(turned))

    def do_up(self) -> None:
        self.cursor = max(self.cursor - 1, 0)

    def do_down(self) -> None:
        self.cursor = min(self.cursor + 1, len(RANKING_CONTROLS) - 1)

    def do_less(self) -> None:
        self._change_value(-1)

    def do_more(self) -> None:
        self._change_value(1)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click selects a line. A click left or right of the slider's mark changes the value."""
        offset = event.get_content_offset(self)
        index = self._first_visible + offset.y if offset is not None else -1
        if offset is None or not 0 <= index < len(RANKING_CONTROLS):
            return
        self.cursor = index
        level = RANKING_CONTROLS[index].level(self.tuning) if self.tuning is not None else None
        start = 2 + LABEL
        if offset.x < start:
            return
        if level is None:
            self._change_value(1)
            return
        track = min(self.size.width - LABEL - 2 - VALUE, _WIDEST_SLIDER) - 1
        self._change_value(1 if offset.x - start - VALUE > round(level * (track - 1)) else -1)
