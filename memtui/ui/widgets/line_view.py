"""Base classes for views that draw their own lines: styles of roles, and scrolling by pages."""

from __future__ import annotations

from rich.style import Style
from textual.scroll_view import ScrollView

from memtui.present.text import Role
from memtui.ui.theme_colours import State, line_style


class LineView(ScrollView):
    """Caches the style of each state and role until the theme changes."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._styles: dict[tuple[State, Role], Style] = {}

    def _style_of(self, state: State, role: Role) -> Style:
        style = self._styles.get((state, role))
        if style is None:
            style = self._styles[state, role] = line_style(self.app.theme_variables, state, role)
        return style

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()


class PagedView(LineView):
    """Scrolls by pages and half pages. A subclass moves its cursor in ``_scroll_on``."""

    def _scroll_on(self, by: int) -> None:
        """Scroll by lines, and move the cursor with the text."""
        raise NotImplementedError

    def do_page_up(self) -> None:
        self._scroll_on(-max(self.size.height - 1, 1))

    def do_page_down(self) -> None:
        self._scroll_on(max(self.size.height - 1, 1))

    def do_half_up(self) -> None:
        self._scroll_on(-max(self.size.height // 2, 1))

    def do_half_down(self) -> None:
        self._scroll_on(max(self.size.height // 2, 1))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
