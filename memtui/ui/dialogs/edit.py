"""Dialogs with text: add a memory or an observation, correct it, change tags, topic and date, edit the scratchpad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from memtui.engine.memories.validation import MAX_NOTE, MAX_VALUE
from memtui.engine.records import TOPICS, Dependents
from memtui.present.format import plural
from memtui.present.text import visible_text
from memtui.ui.presenters.diff import mark_changed_parts
from memtui.ui.safe import assemble, content, line
from memtui.ui.widgets.text_view import DependsView

from .dialog import CLEAR_HINT, LINE_HINT, Dialog, EditingDialog


class WrittenMemory(NamedTuple):
    """A new memory as the person wrote it."""

    text: str
    tags: tuple[str, ...]


class TopicChange(NamedTuple):
    """A new topic and day of a memory. None: leave it. "none": remove it."""

    topic: str | None
    happens: str | None


class TagChange(NamedTuple):
    add: tuple[str, ...]
    remove: tuple[str, ...]


class AddDialog(EditingDialog[WrittenMemory]):
    """A new memory: text and tags."""

    hints = (("Enter", "save"), LINE_HINT, ("Tab", "tags"))

    def title_text(self) -> str:
        return "Write down a memory"

    def body(self) -> ComposeResult:
        yield self.make_text_area()
        yield Static(assemble(("tags, with blanks between", "$text-muted")), classes="dialog-label")
        yield Input(placeholder="work travel", compact=True)
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    @on(Input.Submitted)
    def action_save(self) -> None:
        if not self.typed_text:
            self.show_warning("There is nothing to save yet.")
            return
        if self.is_too_long(MAX_NOTE):
            return
        self.dismiss(WrittenMemory(self.typed_text, tuple(self.query_one(Input).value.split())))


class CorrectDialog(EditingDialog[WrittenMemory]):
    """The old text, a field for the new one, their difference while typing, and the source.

    ``proposed``: a suggested new text; ``typed``: the person typed it, so leaving asks first. ``depends``: what depends
    on the old one. ``warning``: why to look twice. ``title``: in place of the usual one.
    """

    wide = True
    hints = (("Enter", "save the correction"), LINE_HINT, CLEAR_HINT)

    def __init__(
        self, old: str, source: Content | None = None, *, proposed: str = "", typed: bool = False,
        depends: Dependents | None = None, warning: str = "", title: str = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self._old = old
        self._title = title
        self._source = source
        self.set_class(source is not None, "-sourced")
        self._proposed = proposed
        self._typed = typed
        self._depends = depends
        self._warning = warning

    def title_text(self) -> str:
        return self._title or "Correct: the old text is kept too"

    def body(self) -> ComposeResult:
        if self._source is not None:
            yield Static(
                assemble(("where it comes from\n", "$text-muted"), self._source), classes="dialog-source"
            )
        yield Static(assemble(("new text", "$text-muted")), classes="dialog-label")
        area = self.make_text_area(self._proposed or self._old)
        if self._typed:
            self._begun = self._old.strip()
        yield area
        yield Static(assemble(("what changes", "$text-muted")), classes="dialog-label")
        yield Static(classes="dialog-diff")
        if self._depends is not None:
            yield DependsView(self._depends.after(self._proposed or self._old), self.shell.clock())
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        area.move_cursor(area.document.end)
        if self._proposed:
            self._show_difference()
        else:
            self.query_one(".dialog-diff", Static).update(assemble(("nothing yet", "$text-muted")))

    @on(TextArea.Changed)
    def _show_difference(self) -> None:
        text = self.query_one(TextArea).text
        self.query_one(".dialog-diff", Static).update(mark_changed_parts(self._old, text))
        if self._depends is not None:
            self.query_one(DependsView).show_dependents(self._depends.after(text))
        self.show_warning(self._warning)

    def action_save(self) -> None:
        if not self.typed_text:
            self.show_warning("The new text is empty. To remove the memory, leave this and forget it.")
        elif self.typed_text == self._old.strip():
            self.show_warning("Old and new are the same: there is nothing to correct.")
        elif not self.is_too_long(MAX_NOTE):
            self.dismiss(WrittenMemory(self.typed_text, ()))


class TagDialog(Dialog[TagChange]):
    """``work -old`` adds work and removes old. For one memory, or for all marked ones."""

    hints = (("Enter", "save"),)

    def __init__(self, tags: Mapping[str, int], memories: int) -> None:
        """``tags``: how many of the memories have each tag."""
        super().__init__()
        self._tags = tags
        self._memories = memories

    def title_text(self) -> str:
        return "Tags" if self._memories == 1 else f"Tags of {plural(self._memories, 'memory')}"

    def body(self) -> ComposeResult:
        shared = [tag for tag, number in self._tags.items() if number == self._memories]
        some = [tag for tag, number in self._tags.items() if number < self._memories]
        rows = [("now" if self._memories == 1 else "on all of them", shared)]
        if some:
            rows.append(("on some of them", some))
        parts = [
            part
            for label, tags in rows
            for part in ((f"{label}  ", "$text-muted"), visible_text(" ".join(tags) or "none", 300), "\n")
        ]
        yield Static(assemble(*parts[:-1]), classes="dialog-text")
        yield Input(placeholder="work -old", compact=True)
        yield Static(assemble(("work adds a tag, -work removes it", "$text-muted")), classes="dialog-label")
        yield Static(classes="dialog-warning")

    @on(Input.Changed)
    def _show_preview(self, event: Input.Changed) -> None:
        change = tag_change(event.value)
        parts = [f"adds {', '.join(change.add)}"] if change.add else []
        parts += [f"takes {', '.join(change.remove)} away"] if change.remove else []
        self.query_one(".dialog-warning", Static).update(content("; ".join(parts), "$accent", limit=300))

    @on(Input.Submitted)
    def _submit_tags(self, event: Input.Submitted) -> None:
        change = tag_change(event.value)
        if change.add or change.remove:
            self.dismiss(change)
        else:
            self.dismiss(None)


class TopicDialog(Dialog[TopicChange]):
    """Topic and date of a fact: ``health``, ``plan 12 june``, ``none``. ``now``: the present ones."""

    hints = (("Enter", "save"),)

    def __init__(self, now: str, memories: int) -> None:
        super().__init__()
        self._now = now
        self._memories = memories

    def title_text(self) -> str:
        return (
            "Topic and date"
            if self._memories == 1
            else f"Topic and date of {plural(self._memories, 'memory')}"
        )

    def body(self) -> ComposeResult:
        yield Static(assemble(("now  ", "$text-muted"), visible_text(self._now, 300)), classes="dialog-text")
        yield Input(placeholder="plan 12 june", compact=True)
        yield Static(
            assemble((f"{', '.join(TOPICS)}; none removes the topic.", "$text-muted")),
            classes="dialog-label",
        )
        yield Static(
            assemble(("A date: 2026-06-12, 12 june, next friday; no date removes it.", "$text-muted")),
            classes="dialog-label",
        )
        yield Static(classes="dialog-warning")

    @on(Input.Changed)
    def _show_effect(self, event: Input.Changed) -> None:
        change = topic_change(event.value)
        parts = [f"topic: {change.topic}"] if change.topic else []
        parts += [f"date: {change.happens}"] if change.happens else []
        self.query_one(".dialog-warning", Static).update(content("; ".join(parts), "$accent", limit=300))

    @on(Input.Submitted)
    def _submit_topic(self, event: Input.Submitted) -> None:
        change = topic_change(event.value)
        self.dismiss(change if change.topic or change.happens else None)


def topic_change(text: str) -> TopicChange:
    """Reads ``plan 12 june``: the topic, if the first word is one, and the words of a date."""
    first, _, rest = text.strip().partition(" ")
    word = first.casefold().removeprefix("topic:").rstrip(",")
    topic = word if word in (*TOPICS, "none") else None
    day = " ".join((rest if topic else text).split())
    return TopicChange(topic, "none" if day.casefold() == "no date" else day or None)


def tag_change(text: str) -> TagChange:
    """Reads ``work -old +home``."""
    words = [word.removeprefix("tag:").removeprefix("#") for word in text.replace(",", " ").split()]
    add = dict.fromkeys(word.removeprefix("+") for word in words if not word.startswith("-"))
    remove = dict.fromkeys(word[1:] for word in words if word.startswith("-"))
    add.pop("", None)
    remove.pop("", None)
    return TagChange(tuple(add), tuple(remove))


_LONGEST_KEY = 200
_TITLES = {
    "finding": "Write down a finding: a fact that was discovered",
    "insight": "Write down an insight: a conclusion and its reason",
    "lesson": "Write down a lesson: what to do the next time",
}


class AddObservation(AddDialog):
    """A new observation of a category: text and tags."""

    def __init__(self, category: str) -> None:
        super().__init__()
        self._category = category

    def title_text(self) -> str:
        return _TITLES[self._category]


class NoteEntry(NamedTuple):
    """A key and its text, as typed."""

    key: str
    text: str


class NoteDialog(EditingDialog[NoteEntry]):
    """Edits the text of a key. If ``key`` is None, the key is typed too.

    ``warning`` is shown until something is typed: another program changed the text, and saving replaces it.
    """

    wide = True
    hints = (("Enter", "save"), LINE_HINT, CLEAR_HINT)

    def __init__(self, key: str | None = None, text: str = "", *, warning: str = "") -> None:
        super().__init__()
        self._key = key
        self._text = text
        self._warning = warning

    def title_text(self) -> str:
        return "Change a text of the scratchpad" if self._key is not None else "Write on the scratchpad"

    def body(self) -> ComposeResult:
        if self._key is None:
            yield Static(assemble(("key", "$text-muted")), classes="dialog-label")
            yield Input(placeholder="api.limit", max_length=_LONGEST_KEY, compact=True)
            yield Static(assemble(("text", "$text-muted")), classes="dialog-label")
        else:
            yield Static(content(self._key, "bold $accent"), classes="dialog-label")
        yield self.make_text_area(self._text)
        yield Static(assemble((self._warning, "$warning")), classes="dialog-warning")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        if self._key is None:
            self.query_one(Input).focus()
        else:
            area.focus()
            area.move_cursor(area.document.end)

    @on(Input.Submitted)
    def _focus_text(self) -> None:
        self.query_one(TextArea).focus()

    def action_save(self) -> None:
        key = self._key if self._key is not None else self.query_one(Input).value.strip()
        text = self.query_one(TextArea).text
        if not key:
            self.query_one(".dialog-warning", Static).update(line("! Give it a key first.", 60, "$warning"))
            self.query_one(Input).focus()
        elif not self.is_too_long(MAX_VALUE):
            self.dismiss(NoteEntry(key, text))
