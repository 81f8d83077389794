"""The first run: import from this machine, a demo, or an empty start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from memtui.present import import_sources
from memtui.present.format import format_count
from memtui.present.text import one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowOpened, RowsCounted, RowTable

from .dialog import Dialog
from .import_text import FoundSource, found_sources

What = Literal["import", "demo", "empty"]


class WelcomeChoice(NamedTuple):
    """A way to begin. ``paths``: what to import."""

    number: int
    what: What
    label: str
    about: str
    paths: tuple[Path, ...] = ()
    urgent: bool = False


class WelcomeChoices:
    """The choices as rows (see ``row_source``)."""

    def __init__(self, rows: Sequence[WelcomeChoice]) -> None:
        self._rows = rows

    def count(self) -> int:
        return len(self._rows)

    def page_rows(self, offset: int, limit: int) -> Sequence[WelcomeChoice]:
        return self._rows[offset : offset + limit]

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield [row.number for row in self._rows]

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[WelcomeChoice]:
        return [row for row in self._rows if row.number in keys]

    def row_key(self, row: WelcomeChoice) -> int:
        return row.number


_LOW = 20
_ABOUT = (
    "See, understand and correct what your assistants remember about you.\n",
    ("All of it is kept in one file on this computer.\n\n", "$text-muted"),
)
# The choices wait this many seconds for the search. What is found later is added below, so that numbers stay.
_PATIENCE = 1.5
_LOOKING = "Looking for conversations on this computer…"
_NONE_FOUND = (
    "Looked for conversations of Claude Code, Codex and others on this computer: none are here. An export that you"
    " asked ChatGPT or Claude.ai for can be imported."
)


class WelcomeDialog(Dialog[WelcomeChoice]):
    """Returns the choice, or None if it was closed."""

    wide = True
    hints = (("Enter", "choose"), ("1-9", "choose that number"))
    BINDINGS = [Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)]

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home
        self._choices: list[WelcomeChoice] = []

    def title_text(self) -> str:
        return "Welcome to memtui"

    def body(self) -> ComposeResult:
        # A low window has room for the choices only.
        yield Static(
            assemble(
                *(() if self.app.size.height < _LOW else _ABOUT),
                ("This memory is empty. How to begin?", "bold"),
            ),
            classes="dialog-text",
        )
        yield RowTable(self._choice_columns(), id="welcome-rows", glyphs=self.shell.glyphs, markable=False)
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        table: RowTable[WelcomeChoice] = self.query_one(RowTable)
        table.show_header(False)
        table.focus()
        self._show_note(assemble((_LOOKING, "$text-muted")))
        start_worker(self, self._detect_sources, "detect")

    def _choice_columns(self) -> list[Column[WelcomeChoice]]:
        def number_cell(row: WelcomeChoice, width: int) -> Iterable[StyledText]:
            yield StyledText(visible_text(f"{row.number}"), "accent")

        def label_cell(row: WelcomeChoice, width: int) -> Iterable[StyledText]:
            yield StyledText(one_line(row.label, width), "strong")

        def about_cell(row: WelcomeChoice, width: int) -> Iterable[StyledText]:
            yield StyledText(one_line(row.about, width), "warning" if row.urgent else "dim")

        return [
            Column("number", "", number_cell, width=1),
            Column("label", "", label_cell, width=26, gap=1),
            Column("about", "", about_cell, least=20, drop=1),
        ]

    async def _detect_sources(self) -> None:
        from memtui.engine.importers.known_places import known_sources

        looking = asyncio.ensure_future(asyncio.to_thread(known_sources, self._home, clock=self.shell.clock))
        in_time, _ = await asyncio.wait({looking}, timeout=_PATIENCE)
        if not in_time:
            self._offer_sources((), late=True)
        sources = await looking
        late = not in_time
        self._offer_sources(found_sources(sources), late=late)
        self._show_note(assemble("" if sources else (_NONE_FOUND, "$text-muted")))
        going = sum(source.expiring for source in sources)
        if going:
            days = next(source.kept_days for source in sources if source.expiring)
            self._show_note(
                assemble(
                    (f"! {format_count(going)} session files are about to be deleted by the program that wrote them,"
                     f" which keeps them for {days} days. Importing keeps their words.", "$warning")
                )
            )  # fmt: skip
        if sources:
            memory = self.shell.operations.require_memory()
            probed = await asyncio.to_thread(lambda: list(memory.files.probe(sources)))
            self._offer_sources(found_sources(sources, probed), late=late)

    def _show_note(self, text: Content) -> None:
        self.query_one(".dialog-warning", Static).update(text)

    def _offer_sources(self, places: Sequence[FoundSource], *, late: bool) -> None:
        """``late``: other choices were shown before these sources were found."""
        now = self.shell.clock()
        ways: list[tuple[What, str, str, tuple[Path, ...], bool]] = [
            (
                "import", f"Import {place.source.label}",
                import_sources.source_summary(place.source, place.probed, now), (place.source.path,), place.is_urgent,
            )
            for place in places
        ]  # fmt: skip
        if len(places) > 1:
            every = tuple(place.source.path for place in places)
            ways.append(("import", "Import all of these", "each conversation once", every, False))
        other = "Import something else" if places and not late else "Import conversations"
        always: list[tuple[What, str, str, tuple[Path, ...], bool]] = [
            (
                "import",
                other,
                "ChatGPT, Claude, Markdown, …",
                (),
                False,
            ),
            ("demo", "Look around in a demo", "a tour; nothing is kept", (), False),
            ("empty", "Start empty", "you write, or your agents do", (), False),
        ]
        ways = [*always, *ways] if late else [*ways, *always]
        self._choices = [WelcomeChoice(number, *way) for number, way in enumerate(ways, 1)]
        table: RowTable[WelcomeChoice] = self.query_one(RowTable)
        table.show_source(WelcomeChoices(self._choices), self.shell.operations.readers)

    @on(RowsCounted)
    def _rows_counted(self, event: RowsCounted) -> None:
        self.query_one(RowTable).styles.height = event.count

    @on(RowOpened)
    def _choose_row(self, event: RowOpened) -> None:
        self.action_choose(event.key)

    def action_choose(self, number: int) -> None:
        chosen = next((choice for choice in self._choices if choice.number == number), None)
        if chosen is not None:
            self.dismiss(chosen)
