"""What the views that draw their own lines have in common: the styles of their roles, and going by pages."""

from __future__ import annotations

from rich.style import Style
from textual.scroll_view import ScrollView

from memtui.present.lines import Role
from memtui.ui.theme_colours import State, line_style


class LineView(ScrollView):
    """A style is worked out once for each state and role, and again when the theme changes."""

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
    """Scrolls by pages and half pages; how the cursor comes along is for the view to say (``_scroll_on``)."""

    def _scroll_on(self, by: int) -> None:
        """Scroll by lines, and take the cursor along."""
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
