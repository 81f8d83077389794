"""The scratchpad and its rows: keys with texts, shared by agents and the person. A tab of Observations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from memtui.engine.errors import InputError, NotFoundError
from memtui.present.format import local_time, plural, relative_time
from memtui.present.text import one_line
from memtui.ui.actions import Action
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import PaneStatus
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.safe import assemble, content, line
from memtui.ui.widgets.columns import Column, Order, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.saved import ScratchpadNote


ORDERS = (
    Order("time", True, "last written first", "first written first"),
    Order("key", False, "by key, Z to A", "by key, A to Z"),
)
# How much of each text is read for the list.
BEGINNING = 400


class NoteSource:
    """The entries that contain some words, in an order (see ``row_source``)."""

    def __init__(self, memory: Memory, words: str, order: tuple[str, bool]) -> None:
        self._memory = memory
        self._words = words
        self._sort, self._falling = order

    def count(self) -> int:
        return len(self._matching_notes())

    def page_rows(self, offset: int, limit: int) -> Sequence[ScratchpadNote]:
        return self._matching_notes()[offset : offset + limit]

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield [note.pad_id for note in self._matching_notes()]

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[ScratchpadNote]:
        ids = set(keys)
        return [note for note in self._matching_notes() if note.pad_id in ids]

    def row_key(self, row: ScratchpadNote) -> int:
        return row.pad_id

    def _matching_notes(self) -> list[ScratchpadNote]:
        notes = self._memory.scratchpad.search(self._words, beginning=BEGINNING)
        if self._sort == "key":
            return sorted(notes, key=lambda note: note.key.casefold(), reverse=self._falling)
        return notes if self._falling else notes[::-1]


def note_columns(now: Callable[[], float]) -> list[Column[ScratchpadNote]]:
    """Key, the beginning of the text, age."""

    def key_cell(row: ScratchpadNote, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.key, width), "accent")

    def value_cell(row: ScratchpadNote, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.value, width))

    def age_cell(row: ScratchpadNote, width: int) -> Iterable[StyledText]:
        yield StyledText(relative_time(row.updated_at, now()), "dim")

    return [
        Column("key", "key", key_cell, width=22, sort="key"),
        Column("value", "text", value_cell, least=16),
        Column("age", "age", age_cell, width=4, right=True, sort="time"),
    ]


_QUOTED = 80


class ScratchpadTab(ListPane["ScratchpadNote"]):
    """Keys at the left, the text at the right. Adding, changing and deleting each have an undo."""

    pane_id: ClassVar = "scratchpad"
    BINDINGS = [*bindings_at("scratchpad")]
    placeholder = "search in keys and texts"
    noun, noun_one = "keys", "key"
    markable = False
    orders = ORDERS
    status = ""

    def columns(self) -> Sequence[Column[ScratchpadNote]]:
        return note_columns(self.shell.clock)

    def source(self, filter: str, order: tuple[str, bool]) -> NoteSource:
        return NoteSource(self.shell.operations.require_memory(), filter, order)

    def show_status(self, text: str) -> None:
        self.status = text
        if self.display:
            self.post_message(PaneStatus("observations", text))

    # -- preview

    def preview_border_title(self, row: ScratchpadNote) -> Content:
        return assemble(" ", line(row.key, 60), " ")

    def quick_preview(self, row: ScratchpadNote) -> Content:
        return content(row.value)

    async def details(self, row: ScratchpadNote) -> Content:
        def read_note(memory: Memory) -> tuple[ScratchpadNote, str | None]:
            return memory.scratchpad.get(key), memory.scratchpad.writer(key)

        key = row.key
        note, writer = await self.ask(read_note)
        when = relative_time(note.updated_at, self.shell.clock())
        parts = [
            "written by you" if writer == "person" else f"written by {writer}" if writer else "written",
            f"{when} ago" if when != "now" else "now",
            local_time(note.updated_at, self.shell.clock()),
            plural(len(note.value), "character"),
        ]
        text = content(note.value) if note.value else assemble(("(no text)", "$text-muted"))
        return assemble(text, "\n\n", (f" {self.shell.glyphs.dot} ".join(parts), "$text-muted"))

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        if filter:
            return assemble(
                ("No key or text has this in it.\n\n", "bold"),
                unknown_term_note(filter),
                (key("back"), "bold $accent"),
                "  clear the search",
            )
        return assemble(
            ("The scratchpad is empty.\n\n", "bold"),
            "Agents keep what they need at hand here, under a key: a task, a limit, an address. You see each "
            "text, can change it, and undo what they wrote.\n\n",
            (key("add_note"), "bold $accent"), "  write one yourself\n",
            (key("observations"), "bold $accent"), "  back to the observations",
        )  # fmt: skip

    # -- actions

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("edit_note", "delete_note", "note_editor", "copy") and self.table.selected is None:
            return "There is no key here."
        return super().unavailable_reason(action)

    def do_query(self) -> None:
        self.type_into(self.filter_bar)

    async def do_add_note(self) -> None:
        from memtui.ui.dialogs.edit import NoteDialog

        entry = await self.shell.show_dialog(NoteDialog())
        if entry is None:
            self.show_message("Nothing was written.")
            return
        await self._write_entry(entry.key, entry.text, "")

    async def do_edit_note(self) -> None:
        from memtui.ui.dialogs.edit import NoteDialog

        note = await self._full_entry()
        if note is None:
            return
        entry = await self.shell.show_dialog(NoteDialog(note.key, note.value))
        if entry is None or entry.text == note.value:
            self.show_message("Nothing was changed.")
            return
        await self._write_entry(note.key, entry.text, note.value)

    async def do_note_editor(self) -> None:
        from memtui.ui.editor import edit_text

        note = await self._full_entry()
        if note is None:
            return
        text = edit_text(self.shell, note.value)
        if text == note.value:
            self.show_message("The text is as it was: nothing was changed.")
            return
        await self._write_entry(note.key, text, note.value)

    async def do_delete_note(self) -> None:
        note = self.table.selected
        if note is not None:
            key = note.key
            await self.change(lambda memory: memory.scratchpad.delete(key), "deleting")

    async def _full_entry(self) -> ScratchpadNote | None:
        """The selected entry with all of its text."""
        note = self.table.selected
        if note is None:
            return None
        key = note.key
        return await self.ask(lambda memory: memory.scratchpad.get(key))

    async def _write_entry(self, key: str, text: str, expected: str) -> None:
        """Write the text. If it was changed in the meantime, show both texts and let the person decide."""
        from memtui.ui.dialogs.edit import NoteDialog

        try:
            note = await self.change(
                lambda memory: memory.scratchpad.set(key, text, expected=expected), "writing"
            )
        except InputError:
            now = await self.ask(lambda memory: _read_value(memory, key))
            if now is None or now == expected:
                raise  # the key or the text cannot be used
            short = " ".join(now.split())[:_QUOTED]
            warning_text = f"! There is another text under this key now: “{short}”. Saving replaces it."
            entry = await self.shell.show_dialog(NoteDialog(key, text, warning=warning_text))
            if entry is None:
                self.show_message("Nothing was written.")
            else:
                await self._write_entry(key, entry.text, now)
        else:
            self.table.select_key(note.pad_id)

    async def do_copy(self) -> None:
        note = await self._full_entry()
        if note is not None:
            self.app.copy_to_clipboard(note.value)
            self.show_message("Copied the text.")


def _read_value(memory: Memory, key: str) -> str | None:
    """The text of a key. "" if it is gone, None if this is no valid key."""
    try:
        return memory.scratchpad.get(key).value
    except NotFoundError:
        return ""
    except InputError:
        return None
