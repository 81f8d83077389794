"""Base classes for views that draw their own lines: theme colours of each role, and scrolling by pages.

The colours come from the variables of the theme. A component class for each role and state would need forty
style rules, which would slow every start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rich.style import Style
from textual.color import Color
from textual.scroll_view import ScrollView

from memtui.present.text import Role

State = Literal["plain", "cursor", "cursor-blurred", "marked"]

_VARIABLE: Mapping[Role, str] = {"strong": "text", "dim": "text-muted", "faint": "frame"}
_SURFACE: Mapping[State, str] = {
    "plain": "surface",
    "cursor": "row-cursor",
    "cursor-blurred": "row-cursor-blurred",
    "marked": "row-marked",
}


def line_style(variables: Mapping[str, str], state: State, role: Role) -> Style:
    """The style of text in ``role`` on a row in ``state``, from ``App.theme_variables``."""
    base = _resolve_color(variables, "background", Color(0, 0, 0))
    surface = _resolve_color(variables, _SURFACE[state], _resolve_color(variables, "surface", base))
    color = _resolve_color(variables, _VARIABLE.get(role, role), surface)
    return Style.from_color(color.rich_color, surface.rich_color if surface.a else None) + Style(
        bold=role == "strong" or None
    )


def _resolve_color(variables: Mapping[str, str], name: str, over: Color) -> Color:
    """A variable as a colour. ``auto`` and a percentage are mixed with the colour below."""
    value, _, percent = variables[name].partition(" ")
    color = Color.parse(variables["foreground"].split(" ")[0] if value == "auto" else value)
    if percent:
        color = color.multiply_alpha(float(percent.rstrip("%")) / 100)
    if color.ansi is not None or over.ansi is not None or not color.a:
        return color
    return over.blend(color, color.a, alpha=1.0)


class LineView(ScrollView):
    """Caches the style of each state and role until the theme changes."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._styles: dict[tuple[State, Role], Style] = {}

    def _role_style(self, state: State, role: Role) -> Style:
        style = self._styles.get((state, role))
        if style is None:
            style = self._styles[state, role] = line_style(self.app.theme_variables, state, role)
        return style

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()


class PagedView(LineView):
    """Scrolls by pages and half pages. A subclass moves its cursor in ``_scroll_with_cursor``."""

    def _scroll_with_cursor(self, by: int) -> None:
        """Scroll by lines, and move the cursor with the text."""
        raise NotImplementedError

    def do_page_up(self) -> None:
        self._scroll_with_cursor(-max(self.size.height - 1, 1))

    def do_page_down(self) -> None:
        self._scroll_with_cursor(max(self.size.height - 1, 1))

    def do_half_up(self) -> None:
        self._scroll_with_cursor(-max(self.size.height // 2, 1))

    def do_half_down(self) -> None:
        self._scroll_with_cursor(max(self.size.height // 2, 1))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
