"""The command palette: every action that lives here, what the pane adds, and the themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from .actions import actions_at
from .safe import assemble
from .text import Visible, visible

if TYPE_CHECKING:
    from .app import MemtuiApp


class Palette(CommandPalette):
    """The palette in our clothes."""

    CSS_PATH = "styles/palette.tcss"


class Entry(NamedTuple):
    """One command: its name to match, how it is shown, what it runs, and whether an empty query lists it."""

    name: Visible
    palette_text: Content
    run: Callable[[], object]
    listed: bool


class Commands(Provider):
    """Names are matched fuzzily; an action that cannot run now is there with the reason."""

    async def discover(self) -> Hits:
        for entry in self._entries():
            if entry.listed:
                yield DiscoveryHit(entry.palette_text, entry.run, text=entry.name)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._entries():
            score = matcher.match(entry.name)
            if score > 0:
                yield Hit(score, entry.palette_text, entry.run, text=entry.name)

    def _entries(self) -> Iterator[Entry]:
        app = cast("MemtuiApp", self.app)
        main = app.main
        for action in actions_at("everywhere", "list", main.pane.here):
            node = main.performer(action)
            if action.group == "Move" or action.id == "palette" or node is None:
                continue
            reason = node.refusal(action)
            help = f"not now: {reason}" if reason else action.help
            name = visible(f"{action.label[0].upper()}{action.label[1:]}")
            run = partial(app.action_perform, action.id)
            yield Entry(name, _shown(name, app.keymap.shown(action), help), run, True)
        for command in main.pane.commands():
            name = visible(command.name)
            yield Entry(name, _shown(name, "", command.help), command.run, False)
        for theme in sorted(app.available_themes):
            name = visible(f"Theme: {theme}")
            yield Entry(
                name, _shown(name, "", "Change the colours."), partial(app.choose_theme, theme), False
            )


def _shown(name: Visible, key: str, help: str) -> Content:
    return assemble((name, "bold"), "  ", (key, "$accent"), "\n", (help, "$text-muted"))
