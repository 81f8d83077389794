"""The bars above and below the panes: title, tabs, status line and keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from memtui.present.format import format_count as full_count
from memtui.present.format import short_count
from memtui.present.text import VisibleText, max_cells, one_line, visible_text
from memtui.ui.messages import message_type
from memtui.ui.safe import assemble, line

# Shown before the keys if the memory is read only.
_READ_ONLY = "read-only   "


class TitleBar(Widget):
    """The program, the memory's name, and facts about it."""

    memory_name: reactive[str] = reactive("")
    facts: reactive[tuple[str, ...]] = reactive(())

    def render(self) -> Content:
        width = self.size.width
        right = one_line("   ".join(self.facts), max(width // 2, 1))
        name_width = max(width - len("memtui   ") - max_cells(right) - 2, 1)
        name = one_line(self.memory_name, name_width)
        gap = " " * max(width - len("memtui   ") - max_cells(name) - max_cells(right), 1)
        return assemble(("memtui", "bold $accent"), "   ", name, gap, (right, "$text-muted"))


class TabLabel(NamedTuple):
    """``counted`` None: no count. ``calls``: the count is work for the person."""

    number: int
    pane_id: str
    label: str
    short: str
    counted: int | None
    calls: bool


class _TabText(NamedTuple):
    """What a tab shows: its name, full or short, its count, and the blanks after both."""

    tab: TabLabel
    name: VisibleText
    counted: VisibleText
    after: int

    @property
    def width(self) -> int:
        return 1 + len(str(self.tab.number)) + max_cells(self.name) + max_cells(self.counted) + self.after


class TabBar(Widget):
    """The panes as tabs. A click goes to a pane. ``waits``: the sign of work whose count has no room."""

    tabs: reactive[tuple[TabLabel, ...]] = reactive(())
    active: reactive[str] = reactive("")

    @message_type
    class Chosen(Message):
        """A tab was clicked."""

        pane_id: str

    def __init__(self, waits: str) -> None:
        super().__init__()
        self._waits = waits

    def render(self) -> Content:
        first, texts, more = self._visible_tabs()
        parts: list[Content | str] = ["…"] if first else []
        for tab, name, count, after in texts:
            here = tab.pane_id == self.active
            style = "bold $text on $row-cursor" if here else "$text-muted"
            background = " on $row-cursor" if here else ""
            called = "bold $accent" if tab.calls and tab.counted else "$text-muted"
            parts += [
                assemble(
                    (" ", style), (str(tab.number), ("bold $accent" if here else "$text-muted") + background)
                ),
                assemble(
                    (name, style),
                    (count, called + background),
                    (" " * min(after, 1), style),
                    " " * (after - 1),
                ),
            ]
        return assemble(*parts, "…" if more else "")

    def _visible_tabs(self) -> tuple[int, list[_TabText], bool]:
        """The first tab that is drawn, the tabs that fit, and whether more follow.

        Tabs at the left are left out if the active one needs the room.
        """
        texts, width = self._tab_texts(), self.size.width
        here = next((index for index, text in enumerate(texts) if text.tab.pane_id == self.active), 0)
        first, last = 0, len(texts)

        def tabs_fit(first: int, last: int) -> bool:
            # The blanks after the last tab may be cut off. After another tab, the sign for more tabs needs a cell.
            end = 1 if last < len(texts) else -texts[-1].after
            return sum(text.width for text in texts[first:last]) + bool(first) + end <= width

        while first < here and not tabs_fit(first, here + 1):
            first += 1
        while last > here + 1 and not tabs_fit(first, last):
            last -= 1
        return first, texts[first:last], last < len(texts)

    def _tab_texts(self) -> list[_TabText]:
        """The longest texts that fit: counts are dropped before blanks, and both before names.

        If names must be cut anyway, those that save most are cut first, and work is counted again.
        """
        texts: list[_TabText] = []
        full = self._full_text
        for texts in (
            [_TabText(tab, full(tab), self._text_with_count(tab, full_count), 2) for tab in self.tabs],
            [_TabText(tab, full(tab), self._text_with_count(tab, short_count), 2) for tab in self.tabs],
            [_TabText(tab, full(tab), self._work_count_text(tab), 2) for tab in self.tabs],
            [_TabText(tab, full(tab), self._work_count_text(tab), 1) for tab in self.tabs],
            [_TabText(tab, full(tab), self._work_sign_text(tab), 1) for tab in self.tabs],
            [_TabText(tab, full(tab), self._work_sign_text(tab), 0) for tab in self.tabs],
            *(self._shorten_names(number) for number in range(1, len(self.tabs) + 1)),
            [_TabText(tab, visible_text(tab.short), self._work_count_text(tab), 1) for tab in self.tabs],
            [_TabText(tab, visible_text(tab.short), self._work_sign_text(tab), 1) for tab in self.tabs],
        ):
            if texts and sum(text.width for text in texts) - texts[-1].after <= self.size.width:
                break
        return texts

    def _shorten_names(self, number: int) -> list[_TabText]:
        """Short names for so many tabs, those first that save most."""
        longest = sorted(self.tabs, key=lambda tab: max_cells(tab.short) - max_cells(tab.label))[:number]
        return [
            _TabText(
                tab,
                visible_text(f" {tab.short}") if tab in longest else self._full_text(tab),
                self._work_count_text(tab),
                1,
            )
            for tab in self.tabs
        ]

    @staticmethod
    def _full_text(tab: TabLabel) -> VisibleText:
        return visible_text(f" {tab.label}")

    @staticmethod
    def _text_with_count(tab: TabLabel, counted: Callable[[int], str]) -> VisibleText:
        return visible_text("" if tab.counted is None else f" {counted(tab.counted)}")

    def _work_count_text(self, tab: TabLabel) -> VisibleText:
        """The count of a tab that calls the person; totals are left out."""
        return self._text_with_count(tab, short_count) if tab.calls and tab.counted else visible_text("")

    def _work_sign_text(self, tab: TabLabel) -> VisibleText:
        return visible_text(self._waits if tab.calls and tab.counted else "")

    def on_click(self, event: events.Click) -> None:
        first, texts, _ = self._visible_tabs()
        left = 1 if first else 0
        for text in texts:
            left += text.width
            if event.x < left:
                self.post_message(self.Chosen(text.tab.pane_id))
                return


# The shortest useful beginning of the pane's text.
_LEAST_PLACE = 12


class StatusLine(Widget):
    """The pane's text, the last message with its undo key, and running work at the right."""

    position_text: reactive[str] = reactive("")
    said: reactive[str] = reactive("")
    severity: reactive[str] = reactive("information")
    undo_hint: reactive[str] = reactive("")
    running: reactive[tuple[str, ...]] = reactive(())
    spinner: reactive[str] = reactive("")

    def has_room_for(self, text: str) -> bool:
        """Whether there is room for the whole message."""
        width = self.size.width
        return max_cells(one_line(text, width + 1)) + len("! ") < width

    def render(self) -> Content:
        width = max(self.size.width, 1)
        busy = self.running[-1] if self.running else ""
        hint = one_line(self.undo_hint, 24) if self.said else VisibleText("")
        right = line(f"{self.spinner} {busy}…" if busy else "", width // 3, "$accent")
        text_width = width - right.cell_length - 1
        needed = max_cells(one_line(self.said, width)) + max_cells(hint) + 9 if self.said else 0
        shown = max_cells(one_line(self.position_text, width))
        if self.said and busy and needed > text_width - shown:
            # The message comes first. The work is reduced to its sign, and the pane's text to the rest of the room.
            right = line(self.spinner, 2, "$accent")
            text_width = width - right.cell_length - 1
        left_over = text_width - needed
        position = line(
            self.position_text if left_over >= min(shown, _LEAST_PLACE) else "",
            max(left_over, 0),
            "$text-muted",
        )
        text_width -= position.cell_length
        said = (
            one_line(self.said, max(text_width - max_cells(hint) - 9, 0))
            if self.said and text_width > 12
            else VisibleText("")
        )
        colour = {"warning": "$warning", "error": "$error"}.get(self.severity, "$text")
        sign = "! " if said and self.severity != "information" else ""
        parts: list[Content | str | tuple[str, str]] = [position]
        if said:
            separator = "  ·  " if position.cell_length else ""
            parts += [(separator, "$text-muted"), (sign, colour), (said, colour)]
            if hint:
                parts += ["  ", (hint, "$accent")]
        left = assemble(*parts).truncate(width - right.cell_length - 1, ellipsis=True)
        return assemble(left, " " * (width - left.cell_length - right.cell_length), right)


class FooterKey(NamedTuple):
    """One key of the footer. ``able`` False: it cannot run now, and pressing it shows why.

    ``needed``: the way to the commands gives its room to such keys, but not in a tiny window.
    """

    action_id: str
    key: str
    label: str
    able: bool
    needed: bool = False


class KeyBar(Widget):
    """The keys that work here: as many as fit, and always the last one."""

    keys: reactive[tuple[FooterKey, ...]] = reactive(())
    readonly: reactive[bool] = reactive(False)
    # How many keys have their place at the end: commands and help.
    KEPT = 2
    _GAP = 3
    # A narrower footer has room for a few keys only: then all the others are in the commands.
    _LEAST_WIDTH = 60

    @message_type
    class Pressed(Message):
        """An entry was clicked."""

        action_id: str

    def render(self) -> Content:
        parts: list[Content | str] = [assemble((_READ_ONLY, "$warning"))] if self.readonly else []
        for key in self.fitting_keys():
            style = "$text" if key.able else "$text-disabled"
            parts += [
                assemble((key.key, "bold $accent" if key.able else "$text-disabled"), " "),
                line(key.label, 20, style),
                " " * self._GAP,
            ]
        return assemble(*parts)

    def fitting_keys(self) -> Sequence[FooterKey]:
        """The keys that are shown, in order."""
        first, last = self.keys[: -self.KEPT], self.keys[-self.KEPT :]
        needed = {key for key in first if key.needed}
        shown = self._keys_that_fit(first, last)
        if needed.issubset(shown) or self.size.width < self._LEAST_WIDTH:
            return shown
        others = self._keys_that_fit([key for key in first if key not in needed], (*needed, *last[1:]))
        return tuple(key for key in self.keys if key in others)

    def _keys_that_fit(self, some: Sequence[FooterKey], kept: Sequence[FooterKey]) -> Sequence[FooterKey]:
        """The first of ``some`` that have room beside those which are kept, and these."""
        width_left = self.size.width + self._GAP - (len(_READ_ONLY) if self.readonly else 0)
        width_left -= sum(map(self._width_of_key, kept))
        shown = []
        for key in some:
            width_left -= self._width_of_key(key)
            if width_left < 0:
                break
            shown.append(key)
        return (*shown, *kept)

    def on_click(self, event: events.Click) -> None:
        left = len(_READ_ONLY) if self.readonly else 0
        for key in self.fitting_keys():
            left += self._width_of_key(key)
            if event.x < left:
                self.post_message(self.Pressed(key.action_id))
                return

    @staticmethod
    def _width_of_key(key: FooterKey) -> int:
        return max_cells(one_line(key.key, 20)) + max_cells(one_line(key.label, 20)) + 1 + KeyBar._GAP
