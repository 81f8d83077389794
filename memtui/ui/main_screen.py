"""The main screen: title and tabs, a pane, status line and keys."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from memtui.ui.action_dispatch import action_method, node_or_app_unavailable_reason, offers_action
from memtui.ui.actions import (
    BY_ID,
    HELP_GROUPS,
    TYPING_CONTEXTS,
    Action,
    ActionContext,
    actions_at,
    footer_actions,
    typing_actions,
    typing_footer,
)
from memtui.ui.keymap import key_text
from memtui.ui.messages import PaneStatus
from memtui.ui.widgets.bars import FooterKey, KeyBar, StatusLine, TabBar, TabLabel, TitleBar

from .panes.pane import Pane
from .panes.registry import PANES, PaneSpec, spec_of
from .shell import shell_of

if TYPE_CHECKING:
    from memtui.engine.records import Changes, Stats

    from .dialogs.help import HelpLine
    from .shell import Shell

# A pane that does not exist yet is left out of help and palette.
_PANES_THERE = {spec.pane_id for spec in PANES}


class MainScreen(Screen[None]):
    """Holds the panes. Each is made when it is shown for the first time."""

    AUTO_FOCUS = ""

    def __init__(self, first: str) -> None:
        super().__init__()
        self.active = spec_of(first).pane_id
        self.opening = False
        """Whether a pane is still being made, so that keys must wait."""
        self._switching = asyncio.Lock()
        self._panes: dict[str, Pane] = {}
        self._stale: set[str] = set()
        self._pane_texts: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._stats: Stats | None = None

    def compose(self) -> ComposeResult:
        # Textual would add these after the first layout, and everything would be painted twice.
        sides = zip(
            self.app.size, (self.app.HORIZONTAL_BREAKPOINTS, self.app.VERTICAL_BREAKPOINTS), strict=True
        )
        self.add_class(
            *(max(one for one in points if one[0] <= cells)[1] for cells, points in sides if points)
        )
        yield TitleBar()
        yield TabBar(self.shell.glyphs.pending)
        with Container(id="panes"):
            yield self._make_pane(spec_of(self.active))
        yield StatusLine()
        yield KeyBar()

    def _make_pane(self, spec: PaneSpec) -> Pane:
        pane = self._panes[spec.pane_id] = spec.load()(id=f"pane-{spec.pane_id}")
        return pane

    def on_mount(self) -> None:
        self.query_one(TitleBar).memory_name = self.shell.memory_name
        self.query_one(TabBar).active = self.active
        self.show_stats(None)
        self.pane.take_focus()
        self.refresh_keys()
        self.call_after_refresh(self.shell.begin_opening)

    @property
    def shell(self) -> Shell:
        return shell_of(self)

    @property
    def pane(self) -> Pane:
        return self._panes[self.active]

    def set_focus(
        self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False
    ) -> None:
        """Focus a widget, unless it is in a pane that is not shown.

        ``Widget.focus`` takes effect in a later message. By then the person may have gone to another pane, and keys
        would go where nobody sees them.
        """
        panes = (one for one in widget.ancestors_with_self if isinstance(one, Pane)) if widget else ()
        if all(pane.display for pane in panes):
            super().set_focus(widget, scroll_visible, from_app_focus)

    def keep_focus(self) -> None:
        """Focus the first part of the pane if nothing has the focus. Textual removes it from hidden widgets.

        Keys reach a pane only through its focused part.
        """
        if self.focused is None and not self.opening:
            self.set_focus(next((part for part in self.pane.focus_parts() if part.focusable), None))

    # -- panes

    def pane_at(self, pane_id: str) -> Pane | None:
        """The pane of a place, or None if it was not shown yet."""
        return self._panes.get(pane_id)

    async def go_to(self, pane_id: str) -> Pane:
        """Show a pane. While another one is still being made, it waits for that."""
        async with self._switching:
            if pane_id != self.active:
                await self._switch_to(pane_id)
            self.pane.take_focus()
            self.refresh_keys()
            return self.pane

    async def _switch_to(self, pane_id: str) -> None:
        new = pane_id not in self._panes
        # A hidden widget with the focus would first pass it to a neighbour.
        self.set_focus(None)
        self.pane.display = False
        self.active = spec_of(pane_id).pane_id
        if new:
            self.opening = True
            try:
                await self.query_one("#panes").mount(self._make_pane(spec_of(pane_id)))
            finally:
                self.opening = False
        self.pane.display = True
        if new and self.shell.operations.memory is not None:
            self.pane.load()
        elif pane_id in self._stale:
            self.pane.reload()
        self._stale.discard(pane_id)
        self.query_one(TabBar).active = pane_id
        status = self.query_one(StatusLine)
        status.position_text = self._pane_texts.get(pane_id, "")
        # The last message is about the other pane.
        status.said = status.undo_hint = ""

    def memory_opened(self) -> None:
        for pane in self._panes.values():
            pane.load()
        self.refresh_keys()

    def memory_changed(self, changes: Changes) -> None:
        """Reload the panes that are concerned: the shown one now, the others when they are shown."""
        for pane_id, pane in self._panes.items():
            # A pane that is being made will read everything anyway.
            if pane.is_mounted and pane.is_affected_by(changes):
                if pane_id == self.active:
                    pane.reload()
                else:
                    self._stale.add(pane_id)
        if changes.operation is not None and changes.operation.kind == "undo":
            self.pane.select_restored(changes.ids)

    def show_count(self, pane_id: str, number: int) -> None:
        """Show the count of a tab that is not in the statistics."""
        if self._counts.get(pane_id) != number:
            self._counts[pane_id] = number
            self.show_stats(None)
            if self.pane.is_mounted:
                self.pane.stats_read()

    def tab_count(self, pane_id: str) -> int | None:
        """The count that ``show_count`` got."""
        return self._counts.get(pane_id)

    def _count_of(self, spec: PaneSpec) -> int | None:
        if spec.total is not None and self._stats is not None:
            return spec.total(self._stats)
        return self._counts.get(spec.pane_id)

    def show_stats(self, stats: Stats | None) -> None:
        """Show new counts in the tabs."""
        self._stats = stats or self._stats
        self.query_one(TabBar).tabs = tuple(
            TabLabel(
                spec.number,
                spec.pane_id,
                spec.label,
                spec.short,
                self._count_of(spec),
                spec.calls,
            )
            for spec in PANES
        )
        if stats is not None and self.pane.is_mounted:
            self.pane.stats_read()

    @on(PaneStatus)
    def _show_pane_status(self, event: PaneStatus) -> None:
        self._pane_texts[event.pane_id] = event.text
        if event.pane_id == self.active:
            self.query_one(StatusLine).position_text = event.text

    @on(TabBar.Chosen)
    async def _tab_chosen(self, event: TabBar.Chosen) -> None:
        await self.shell.navigation.begin_at(event.pane_id)

    # -- actions

    def performer_of(self, action: Action) -> DOMNode | None:
        """The node that runs an action now: the focused part, another part, the pane, or the app."""
        if action.id.startswith("pane_") and action.id.removeprefix("pane_") not in _PANES_THERE:
            return None
        focused = self.focused.ancestors_with_self if self.focused is not None else []
        for node in (*focused, *self.pane.focus_parts(), self.pane, self.app):
            if action_method(node, action.id) is not None:
                return node
        return None

    def offerer_of(self, action: Action) -> DOMNode | None:
        """The node that runs an action, if it is offered here."""
        node = self.performer_of(action)
        return node if node is not None and offers_action(node, action) else None

    @on(KeyBar.Pressed)
    def _key_clicked(self, event: KeyBar.Pressed) -> None:
        self.shell.action_perform(event.action_id)

    def _typing_context(self) -> ActionContext | None:
        """The place of the input while typing, because other keys work then. None otherwise."""
        part = getattr(self.focused, "part", None)
        return part if part in TYPING_CONTEXTS else None

    def on_descendant_focus(self) -> None:
        self.refresh_keys()

    def refresh_keys(self) -> None:
        """Draw the keys again: the possible actions may have changed."""
        if self.opening:  # the pane has no parts yet; its keys are drawn when it is ready
            return
        typing = self._typing_context()
        parts = self.pane.focus_parts()
        focused = next((one for one in parts if one.has_focus), parts[0] if parts else None)
        part: ActionContext = getattr(focused, "part", "list")
        preferred_actions = self.pane.preferred_actions()
        offered = typing_footer(typing) if typing else footer_actions(self.pane.action_context, part)
        if not typing and self.pane.in_mode:
            offered = (*offered, BY_ID["back"])
        keys: list[tuple[tuple[bool, bool, bool], FooterKey]] = []
        for action in offered:
            node = self.offerer_of(action)
            needed = action.needs is None or not self.shell.permissions.unavailable_reason(action.needs)
            if node is not None and needed and not (action.changes and self.shell.readonly):
                able = not node_or_app_unavailable_reason(node, action)
                if not able and action.id in self.pane.footer_if_able:
                    continue
                key = (
                    self.shell.keymap.key_label_while_typing(action)
                    if typing
                    else self.shell.keymap.key_label(action)
                )
                # Keys that cannot run go last, before the ones that are always at the end.
                order = (action.id in ("palette", "help"), not able, action.id not in preferred_actions)
                needed = able and action.id in self.pane.footer_needed
                keys.append((order, FooterKey(action.id, key, self.pane.label(action), able, needed)))
        keys.sort(key=lambda one: one[0])
        bar = self.query_one(KeyBar)
        bar.readonly = self.shell.readonly
        bar.keys = tuple(key for _, key in keys)

    def help_lines(self) -> tuple[str, list[HelpLine]]:
        """The help of the focused part: a title, and a line for each action."""
        from .dialogs.help import HelpLine

        part: ActionContext = getattr(self.focused, "part", "list")
        typing = self._typing_context()
        actions = (
            typing_actions(typing) if typing else actions_at("everywhere", part, self.pane.action_context)
        )
        groups = [
            [
                HelpLine(
                    group,
                    " ".join(map(key_text, self.shell.keymap.keys(action))),
                    self.pane.help(action),
                    node_or_app_unavailable_reason(node, action),
                )
                for action in actions
                if action.group == group and (node := self.offerer_of(action)) is not None
            ]
            for group in HELP_GROUPS
        ]
        # Keys that work now come first, in each group and among the groups.
        groups.sort(key=lambda those: all(one.reason for one in those))
        lines = [one for those in groups for one in sorted(those, key=lambda one: bool(one.reason))]
        lines += [HelpLine("What is shown", glyph, meaning) for glyph, meaning in self.pane.legend()]
        return f"Keys in {spec_of(self.active).label}", lines

    def move_focus(self, by: int) -> None:
        """Move the focus to the next part of the pane, or the one before."""
        parts: list[Widget] = self.pane.focus_parts()
        here = next(
            (index for index, part in enumerate(parts) if part.has_focus or part.has_focus_within), -1
        )
        if parts:
            parts[(here + by) % len(parts)].focus()
