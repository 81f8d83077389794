"""A tour of the demo in seven steps: what is on screen, and the key that goes on.

A step is over when the person has done what it names, or pressed the key for the next step, which does it for
them. The tour changes nothing. It ends at the import into the person's own memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.content import Content
from textual.widget import Widget

from memtui.engine.installation import runnable_text
from memtui.present.text import max_cells, visible_text

from .presenters.text_layout import wrap_text
from .safe import assemble

if TYPE_CHECKING:
    from .main_screen import MainScreen
    from .navigation import Navigation
    from .panes.list_pane import ListPane
    from .shell import Shell

# How often a step checks whether it is done.
_LOOK_SECONDS = 0.1
# The demo has an answer to this one.
QUESTION = "what is Ada allergic to?"


class TourStep(NamedTuple):
    """``text``: what is on screen now. ``key``: the action of the key to press. ``does``: what it does here."""

    text: str
    key: str
    does: str


STEPS = (
    TourStep("What assistants know about a person, by topic.", "pane_memories", "lists all of it"),
    TourStep("There is more to a memory than its line in the list.", "open", "opens it in full"),
    TourStep(
        "Where it comes from: who said it and when, and what was done to it.", "pane_search", "goes to Search"
    ),
    TourStep(
        "Search finds what an assistant would be told. Enter ends what you type.",
        "query",
        f"asks: {QUESTION}",
    ),
    TourStep("Each hit says why it ranks there: words, meaning, names.", "pane_review", "goes to Review"),
    TourStep("Review asks what only you can decide, one card at a time.", "pane_history", "goes to History"),
    TourStep(
        "Every change is here, and can be undone. Now your own memory:",
        "import",
        "leaves the demo and imports",
    ),
)


class Tour:
    """Handles its own keys while it runs (see ``perform_action``). ``over`` is called when it ends."""

    def __init__(
        self, shell: Shell, window: Callable[[], MainScreen], navigation: Navigation, over: Callable[[], None]
    ) -> None:
        self._shell = shell
        self._window = window
        self._navigation = navigation
        self._over = over
        self._number = 0
        self._strip = TourStrip(shell)

    async def begin(self) -> None:
        """Show the first step, on its pane."""
        window = self._window()
        await self._navigation.begin_at("you")
        await window.mount(self._strip, before=window.query_one("StatusLine"))
        self._show_step(0)
        self._strip.set_interval(_LOOK_SECONDS, self._check_progress)

    def end(self) -> None:
        self._strip.remove()
        self._over()

    # -- keys

    def do_tour_next(self) -> None:
        """Do what the step names, for the person."""
        action = STEPS[self._number].key
        if action == "query" and self._window().active == "search":
            self._search_pane.filter_bar.set_filter(QUESTION)
            self._search_pane.table.focus()
        else:
            self._shell.action_perform(action)
        if action == "open":
            self._show_step(self._number + 1)

    async def do_back(self) -> None:
        """Go one step back. Without one, the tour ends."""
        if not await self._navigation.go_back():
            self.end()
            self._shell.show_message(runnable_text("The tour is over: memtui --demo --tour begins it again."))

    def do_import(self) -> None:
        """Import into the person's own memory, never into the demo."""
        self._shell.own_wanted = True
        self._shell.app.exit()

    # -- steps

    @property
    def _search_pane(self) -> ListPane[object]:
        return cast("ListPane[object]", self._window().pane)

    def _show_step(self, number: int) -> None:
        self._number = number
        self._strip.number = number
        self._strip.refresh(layout=True)

    def _check_progress(self) -> None:
        """Go to the next step if the person did what this one names, or went further."""
        if self._shell.app.screen is self._window() and self._is_step_done():
            self._show_step(self._number + 1)

    def _is_step_done(self) -> bool:
        window = self._window()
        match STEPS[self._number].key:
            case "open":
                return window.active == "memories" and self._search_pane.in_mode
            case "query":
                return (
                    window.active == "search"
                    and bool(self._search_pane.filter_text)
                    and self._search_pane.table.has_focus
                )
            case "import":
                return False
            case pane:
                return window.active == pane.removeprefix("pane_")


class TourStrip(Widget):
    """The step in two lines, or three in a narrow window. It is below the pane, so that it covers nothing."""

    DEFAULT_CSS = "TourStrip { height: auto; padding: 0 1; background: $panel; }"

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell
        self.number = 0

    def render(self) -> Content:
        width = self.size.width or self.app.size.width - 2
        step, keymap = STEPS[self.number], self._shell.keymap_shown
        number = f"{self.number + 1}/{len(STEPS)}  "
        text_width = max(width - len(number), 20)
        lines = wrap_text(visible_text(step.text), text_width)
        text = ("\n" + " " * len(number)).join(lines)
        key = keymap(step.key)
        ways = [(keymap("tour_next"), "next"), (keymap("back"), "end")]
        left = max_cells(visible_text(key)) + 1 + max_cells(visible_text(step.does))
        right = sum(max_cells(visible_text(name)) + len(what) + 1 for name, what in ways) + 3
        gap = text_width - left - right
        between = " " * gap if gap >= 2 else "\n" + " " * len(number)
        return assemble(
            (number, "bold $accent"), (text, "$text"), "\n", " " * len(number), (key, "bold $accent"), f" {step.does}", between,
            (ways[0][0], "bold $accent"), (f" {ways[0][1]}   ", "$text-muted"),
            (ways[1][0], "bold $accent"), (f" {ways[1][1]}", "$text-muted"),
        )  # fmt: skip
