"""Dialogs for one line of text: a summary, a name, how long to pause, a time in the past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from memtui.engine.errors import InputError
from memtui.present.text import visible_text
from memtui.ui.safe import assemble, content

from .dialog import Dialog

_LONGEST_PROMPT = 2_000


class LineDialog(Dialog[str]):
    """Returns the text without blanks around it. ``empty``: what an empty line means, if it is allowed."""

    hints = (("Enter", "save"),)

    def __init__(
        self,
        title: str,
        text: str = "",
        *,
        hint: str = "",
        placeholder: str = "",
        longest: int,
        empty: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._hint = hint
        self._placeholder = placeholder
        self._longest = longest
        self._empty = empty

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        if self._hint:
            yield Static(content(self._hint, "$text-muted", limit=600), classes="dialog-text")
        # A text that is too long is kept until the person shortens it.
        longest = max(self._longest, len(self._text))
        yield Input(self._text, placeholder=visible_text(self._placeholder), max_length=longest, compact=True)
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _check_typed(self, event: Input.Changed) -> None:
        warning = self._empty if self._text and not event.value.strip() else ""
        self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))

    @on(Input.Submitted)
    def _submit_line(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if text or self._empty:
            self.dismiss(text)
        else:
            self.query_one(".dialog-warning", Static).update(
                assemble(("! There is nothing to save yet.", "$warning"))
            )


class PromptDialog(LineDialog):
    """Asks for the prompt of an agent at which a memory may be told."""

    hints = (("Enter", "ask"),)

    def __init__(self) -> None:
        super().__init__(
            "Would agents be told this?",
            hint="It depends on what they are asked. Type a prompt as you would type it to an agent.",
            placeholder="where shall we eat tonight?",
            longest=_LONGEST_PROMPT,
        )


BUILT_IN = ("default", "rrf")
LONGEST = 60


class NameDialog(Dialog[str]):
    """Asks for a name that is not built in. A name in ``taken`` is replaced, with a warning."""

    hints = (("Enter", "save"),)

    def __init__(self, title: str, used_names: Sequence[str], suggested: str = "") -> None:
        super().__init__()
        self._title = title
        self._taken = used_names
        self._suggested = "" if suggested in BUILT_IN else suggested

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        yield Input(self._suggested, placeholder="a name", max_length=LONGEST, compact=True)
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _check_typed(self, event: Input.Changed) -> None:
        name = event.value.strip()
        warning = ""
        if name in BUILT_IN:
            warning = "! This one is built in and cannot be replaced: choose another name."
        elif name in self._taken:
            warning = "! This name exists: it will be replaced."
        self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))

    @on(Input.Submitted)
    def _submit_line(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if name and name not in BUILT_IN:
            self.dismiss(name)


_ABOUT = (
    "No conversation is recorded, from any program, until then. Agents can still read, and what you write down yourself"
    " is kept. For how long? 1h, 90m, until 18:00, tomorrow. Empty: until you end it. To never record a subject: Esc, then B."
)


class PauseDialog(LineDialog):
    """Returns a text that names a future time. Empty: a pause without an end. ``never``: what is not recorded anyway."""

    hints = (("Enter", "pause"),)

    def __init__(self, never: Sequence[str] = ()) -> None:
        super().__init__(
            "Pause recording", "1h", hint="\n".join((_ABOUT, *never)), placeholder="1h", longest=40,
            empty="Without a time it lasts until you end it.",
        )  # fmt: skip

    @on(Input.Submitted)
    def _check_pause(self, event: Input.Submitted) -> None:
        from memtui.engine.search.time_expressions import parse_future_time

        try:
            if event.value.strip():
                parse_future_time(event.value, self.shell.clock())
        except InputError as error:
            event.prevent_default()  # the base class would accept it
            warning = f"! {error.message} {error.hint}"
            self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))


_NEVER = (
    "Name a subject, for example: bank account. A message that has these words in one sentence is never recorded, "
    "from any program or import, and becomes no fact.\n"
    "The same in other words is not noticed. What is there already stays, and what you write down yourself is kept.\n"
    "To record it again: memtui pause --off --subject WORDS."
)


class NeverDialog(LineDialog):
    """Returns the words of a subject that is never to be recorded. ``never``: what is not recorded already."""

    hints = (("Enter", "never record it"),)

    def __init__(self, never: Sequence[str] = ()) -> None:
        super().__init__(
            "Never remember", hint="\n".join((_NEVER, *never)), placeholder="bank account", longest=80
        )


_HINT = (
    "One time shows the memory as it was then: yesterday, last tuesday, last month, october, 2026-03-03, 14:30, 2d.\n"
    "Two times show what changed between them: monday .. yesterday. Or until now: monday .."
)


class PointsInTime(NamedTuple):
    """The memory at ``start``, or the changes from ``start`` to ``end``."""

    start: str
    end: str = ""

    @classmethod
    def parse(cls, text: str) -> PointsInTime:
        """``yesterday``, or two of them with ``..`` between: ``monday .. now``."""
        start, dots, end = text.partition("..")
        return cls(start.strip(), end.strip() or ("now" if dots else ""))


class PointInTimeDialog(LineDialog):
    """Returns a text that names one or two times."""

    hints = (("Enter", "look"),)

    def __init__(self, text: str) -> None:
        super().__init__("Look back", text, hint=_HINT, placeholder="yesterday", longest=80)

    @on(Input.Submitted)
    def _check_times(self, event: Input.Submitted) -> None:
        from memtui.engine.search.time_expressions import parse_past_time

        try:
            for part in PointsInTime.parse(event.value):
                if part:
                    parse_past_time(part, self.shell.clock())
        except InputError as error:
            event.prevent_default()  # the base class would accept it
            self.query_one(".dialog-warning", Static).update(assemble((f"! {error.message}", "$warning")))
