"""A dialog that asks for a time in the past, or for two."""

from __future__ import annotations

from typing import NamedTuple

from textual import on
from textual.widgets import Input, Static

from memtui.engine.errors import InputError
from memtui.ui.safe import assemble

from .line_input import LineDialog

_HINT = (
    "One time shows the memory as it was then: yesterday, last tuesday, last month, october, 2026-03-03, 14:30, 2d. "
    "Two times show what changed between them: monday .. yesterday. Or until now: monday .."
)


class Moments(NamedTuple):
    """The memory at ``start``, or the changes from ``start`` to ``end``."""

    start: str
    end: str = ""

    @classmethod
    def parse(cls, text: str) -> Moments:
        """``yesterday``, or two of them with ``..`` between: ``monday .. now``."""
        start, dots, end = text.partition("..")
        return cls(start.strip(), end.strip() or ("now" if dots else ""))


class PointInTimeDialog(LineDialog):
    """Returns a text that names one or two times."""

    hints = (("Enter", "look"),)

    def __init__(self, text: str) -> None:
        super().__init__("Look back", text, hint=_HINT, placeholder="yesterday", longest=80)

    @on(Input.Submitted)
    def _check(self, event: Input.Submitted) -> None:
        from memtui.engine.search.moments import moment

        try:
            for part in Moments.parse(event.value):
                if part:
                    moment(part, self.shell.clock())
        except InputError as error:
            event.prevent_default()  # the base class would accept it
            self.query_one(".dialog-warning", Static).update(assemble((f"! {error.message}", "$warning")))
