"""Settings: the value, origin, meaning and effect of each. Each change is saved at once.

The effect is counted in the memory, or tested.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, Static

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.models.endpoint import host_of
from memtui.present.format import format_count, plural
from memtui.present.reembedding import better_ranking_note, model_change_note
from memtui.present.text import Role, one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.configuration import save_setting
from memtui.ui.presenters.text_layout import labelled_block, stack_lines
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowHighlighted, RowOpened, RowTable

from .choice import Question
from .dialog import Dialog

if TYPE_CHECKING:
    from textual.content import Content
    from textual.worker import Worker

    from memtui.config import Configuration, Setting, Settings
    from memtui.engine.memory import Memory
    from memtui.engine.records import LlmOptions, Options

# The width of the labels below the list.
_ABOUT_LABEL = 9


def effect_of_setting(memory: Memory, name: str) -> str:
    """One line about the effect of a setting. Blocks."""
    section, _, key = name.partition(".")
    match section, key:
        case "general", "db":
            return str(memory.path) if memory.path is not None else "in this process only"
        case "embedder", _:
            stats = memory.stats()
            waiting = f", {format_count(stats.unembedded)} waiting" if stats.unembedded else ""
            vectors = plural(stats.embedded, "memory has a vector", "memories have vectors")
            model_change = (
                f"; {model_change_note(stats)} (in Maintenance, Models)" if stats.vectors_wanted else ""
            )
            ranking = f"; {better_ranking_note(stats)}" if stats.better_ranking and not model_change else ""
            return f"{vectors}{waiting} ({stats.vectors}){model_change}{ranking}"
        case "search", "profile":
            stats = memory.stats()
            note = stats.ranking_note or better_ranking_note(stats)
            names = ", ".join(profile.name for profile in memory.questions.profiles())
            return f"{names}; {note}" if note else names
        case "decay", _:
            fading = memory.view.count("is:fading")
            return f"{plural(fading, 'fact')} will fade within a week, {format_count(memory.view.count('is:faded'))} did"
        case "retention", "days":
            run = memory.jobs.run_now("retention", dry_run=True)
            return run.report.summary if run.report else "as set"
        case "secrets", _:
            return f"{plural(memory.stats().quarantined, 'text holds', 'texts hold')} a secret: no vector, no model"
        case "llm", _:
            llm = memory.options.llm
            return (
                f"{llm.model} at {llm.base_url}" if llm.configured else "no model; memtui works without one"
            )
        case _:
            return "as set"


def test_embedder(options: Options) -> str:
    """Make a vector with the chosen model, and report the result. Blocks. Raises InputError, DegradedError."""
    from memtui.engine.models.embedder_choice import EmbedderFactory

    started = time.perf_counter()
    embedder = EmbedderFactory(options).configured_embedder()
    numbers = embedder.embed(["a test"]).shape[1]
    took = time.perf_counter() - started
    where = f" at {embedder.sends_to}" if embedder.sends_to else ""
    return f"{embedder.model_id} works{where}: {numbers} numbers a text, ready in {took:.1f} s."


async def test_llm(options: LlmOptions) -> str:
    """Ask the model one small question, and report the result. Raises InputError, DegradedError."""
    from memtui.engine.models.llm import complete_json

    started = time.perf_counter()
    schema = {
        "type": "object", "properties": {"works": {"type": "boolean"}}, "required": ["works"],
        "additionalProperties": False,
    }  # fmt: skip
    reply = await complete_json(options, "Answer with JSON.", "Say that this works.", schema, name="test")
    took = time.perf_counter() - started
    if not isinstance(reply.data.get("works"), bool):
        return f"{options.model} answers, but not in the requested format: choose another model."
    return f"{options.model} works: {format_count(reply.tokens)} tokens, {took:.1f} s."


# Settings of these sections take effect when the memory is opened again. The app does that by itself.
_OF_THE_ENGINE = frozenset({"embedder", "search", "decay", "retention", "secrets", "llm", "feeds", "quotas"})


class SettingRow(NamedTuple):
    """``origin``: ``default``, ``line 12`` of the file, or the environment variable that sets it.

    ``heading``: the name of its section, on the first row only. ``idle``: why it has no effect with the other
    settings as they are; empty if it has one.
    """

    number: int
    setting: Setting
    value: Any
    origin: str
    heading: str = ""
    idle: str = ""

    @property
    def is_from_environment(self) -> bool:
        return self.origin == self.setting.variable or self.origin.startswith("NO_")

    @property
    def is_engine_setting(self) -> bool:
        return self.setting.section in _OF_THE_ENGINE

    def takes_effect_at_once(self, applies: bool) -> bool:
        """Whether a change takes effect now. ``applies``: the app can open the memory again."""
        return self.setting.name == "general.theme" or (applies and self.is_engine_setting)

    @property
    def shown_value(self) -> str:
        if self.setting.is_table:
            return f"{len(self.value)} changed"
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        return str(self.value) if self.value != "" else "not set"


def setting_rows(configuration: Configuration) -> list[SettingRow]:
    """All settings in the order of the file."""
    from memtui.config import describe_settings

    rows: list[SettingRow] = []
    before = ""
    for number, setting in enumerate(describe_settings()):
        section = getattr(configuration.settings, setting.section)
        value = section if setting.is_table else getattr(section, setting.key)
        origin = configuration.origins.get(setting.name, "default")
        title = setting.heading
        heading = title if title != before else ""
        rows.append(
            SettingRow(number, setting, value, origin, heading, _why_idle(setting, configuration.settings))
        )
        before = title
    return rows


def _why_idle(setting: Setting, settings: Settings) -> str:
    needed_kind = "package" if setting.key == "package" else "endpoint"
    if setting.section == "embedder" and setting.key != "kind" and settings.embedder.kind != needed_kind:
        return f"not in use: vectors are made by {settings.embedder.kind}"
    if setting.section == "llm" and setting.key != "base_url" and not settings.llm.base_url:
        return "not in use: no address is set"
    return ""


def setting_choices(row: SettingRow, themes: Sequence[str]) -> list[Any]:
    """The possible values, in order. Empty if the value is typed."""
    if row.setting.name == "general.theme":
        return list(themes)
    kind = row.setting.type
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    if bare is bool:
        return [False, True]
    return list(get_args(bare)) if get_origin(bare) is Literal else []


def parse_setting(row: SettingRow, text: str) -> str | int | float:
    """The typed text as a value of the setting's type. Raises ValueError that says what is expected."""
    kind = row.setting.type
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    try:
        return int(text) if bare is int else float(text) if bare is float else text.strip()
    except ValueError:
        raise ValueError(f"It must be {row.setting.expected}.") from None


class SettingSource:
    """Settings as rows (see ``row_source``)."""

    def __init__(self, rows: Sequence[SettingRow]) -> None:
        self._rows = rows

    def count(self) -> int:
        return len(self._rows)

    def page_rows(self, offset: int, limit: int) -> Sequence[SettingRow]:
        return self._rows[offset : offset + limit]

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield range(len(self._rows))

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[SettingRow]:
        return [self._rows[key] for key in keys]

    def row_key(self, row: SettingRow) -> int:
        return row.number


def setting_columns() -> list[Column[SettingRow]]:
    """Section, name, value, origin."""

    def section_cell(row: SettingRow, width: int) -> Iterable[StyledText]:
        yield StyledText(visible_text(row.heading), "accent")

    def name_cell(row: SettingRow, width: int) -> Iterable[StyledText]:
        yield StyledText(visible_text(row.setting.title), "text")

    def value_cell(row: SettingRow, width: int) -> Iterable[StyledText]:
        role: Role = "dim" if row.idle else "text" if row.origin == "default" else "accent"
        yield StyledText(one_line(row.shown_value, width), role)

    def origin_cell(row: SettingRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line("" if row.origin == "default" else row.origin, width), "dim")

    return [
        Column("section", "", section_cell, width=14, drop=1),
        Column("name", "", name_cell, width=22),
        Column("value", "", value_cell, least=16),
        Column("origin", "", origin_cell, width=22, drop=2),
    ]


Parts = "list[Content | str | tuple[str, str]]"


class SettingsDialog(Dialog[None]):
    """Enter changes the selected setting: to the next choice, or to a typed text."""

    wide = True
    hints = (("Enter", "change"), ("t", "test"))
    BINDINGS = [
        Binding("t", "test", show=False),
        Binding("space", "change", show=False),
        Binding("comma", "leave", show=False),
    ]

    def title_text(self) -> str:
        return "Settings"

    def body(self) -> ComposeResult:
        yield RowTable(setting_columns(), id="setting-rows", glyphs=self.shell.glyphs, markable=False)
        box = Input(compact=True)
        box.display = False
        yield box
        yield Static(classes="dialog-text setting-about")
        yield Static(classes="dialog-warning")

    def hint_line(self) -> Content:
        """The keys of what is permitted."""
        return super().hint_line() if self.shell.permissions.settings else self.fitting_hints(())

    def on_mount(self) -> None:
        table = self.table
        table.show_header(False)
        table.focus()
        self._show_rows()
        if reason := self.shell.permissions.unavailable_reason("settings"):
            self._show_warning(reason)

    @property
    def table(self) -> RowTable[SettingRow]:
        return self.query_one(RowTable)

    def _show_rows(self, *, top: bool = True) -> None:
        configuration = self.shell.configuration
        if configuration is None:
            self._show_warning("This app was opened without a configuration: settings cannot be changed.")
            return
        self.table.show_source(
            SettingSource(setting_rows(configuration)), self.shell.operations.readers, top=top
        )

    def _show_warning(self, text: str, style: str = "$warning") -> None:
        self.query_one(".dialog-warning", Static).update(assemble((text, style)))

    # -- the selected one

    @on(RowHighlighted)
    def _show_selected(self) -> None:
        row = self.table.selected
        if row is not None:
            self._show_about(row, "")
            start_worker(self, partial(self._show_state, row), "state")

    async def _show_state(self, row: SettingRow) -> None:
        if self.shell.operations.memory is not None:
            name = row.setting.name
            self._show_about(
                row, await self.shell.operations.ask(lambda memory: effect_of_setting(memory, name))
            )

    def _show_about(self, row: SettingRow, state: str) -> None:
        setting = row.setting
        default = "none" if setting.is_table or setting.default == "" else str(setting.default)
        if isinstance(setting.default, bool):
            default = default.lower()  # as the file writes it
        takes_effect = "now" if row.takes_effect_at_once(self.shell.applies_settings) else "at the next start"
        configuration = self.shell.configuration
        labelled = {
            "now": row.idle or state or "…",
            "can be": f"{setting.expected}; {default} if not set",
            "comes": f"{_origin_text(row)}; a change takes effect {takes_effect}",
            "file": str(configuration.file) if configuration is not None else "",
        }
        about = self.query_one(".setting-about", Static)
        lines = [
            assemble((f"{setting.heading}: {setting.title}", "bold"), (f"  {setting.name}", "$text-muted")),
            assemble(setting.description),
            *(
                line
                for label, text in labelled.items()
                if text
                for line in labelled_block(
                    label, assemble(text), about.content_size.width or self.app.size.width, _ABOUT_LABEL
                )
            ),
        ]
        about.update(stack_lines(lines))

    # -- changing

    @on(RowOpened)
    def action_change(self) -> None:
        row = self.table.selected
        if row is None:
            return
        if reason := self.shell.permissions.unavailable_reason("settings"):
            self._show_warning(reason)
            return
        if row.is_from_environment:
            self._show_warning(f"{row.origin} in the environment sets this one: change it there.")
            return
        if row.setting.key == "key_confirmed":
            self._show_warning("Change the address, or the variable: then you are asked where the key goes.")
            return
        if row.setting.is_table:
            self._show_warning(
                f"This is set in the file, under [{row.setting.name}]. {row.setting.description}"
            )
            return
        offered = setting_choices(row, sorted(self.app.available_themes))
        if offered:
            at = offered.index(row.value) if row.value in offered else -1
            self._save_value(row, offered[(at + 1) % len(offered)])
            return
        box = self.query_one(Input)
        box.value = str(row.value)
        box.display = True
        box.focus()

    @on(Input.Submitted)
    def _value_submitted(self, event: Input.Submitted) -> None:
        row = self.table.selected
        if row is None:
            return
        try:
            value = parse_setting(row, event.value)
        except ValueError as error:
            self._show_warning(f"! {error}")
            return
        if self._save_value(row, value):
            self._end_typing()

    def _end_typing(self) -> None:
        self.query_one(Input).display = False
        self.table.focus()

    async def _confirm_key(self, row: SettingRow, value: str) -> None:
        """Send a key to another host only after the person agreed; otherwise change nothing."""
        section = getattr(self.shell.configuration and self.shell.configuration.settings, row.setting.section)
        address, variable = (
            (value, section.key_env) if row.setting.key == "base_url" else (section.base_url, value)
        )
        host = host_of(address)
        question = Question(
            "Send the key there?",
            f"The value of the environment variable {variable} will be sent to {host} from now on.",
            yes="send it",
        )
        if host and not await self.shell.show_dialog(question):
            self._show_warning("Nothing was changed: the key goes to the same host as before.")
            return
        try:
            save_setting(self.shell, f"{row.setting.section}.key_confirmed", host)
        except InputError as error:
            self._show_warning(f"! {error.message} {error.hint}")
            return
        if self._save_value(row, value, confirmed=True):
            self._end_typing()

    def _moves_key(self, row: SettingRow, value: str | bool | int | float) -> bool:
        """Whether this value would send a key to another host, or another key to the same host."""
        key, settings = row.setting.key, self.shell.configuration and self.shell.configuration.settings
        if key not in ("base_url", "key_env") or settings is None or value == row.value:
            return False
        section = getattr(settings, row.setting.section)
        before = section.key_confirmed or host_of(section.base_url)
        return key == "key_env" or host_of(str(value)) != before

    def _save_value(
        self, row: SettingRow, value: str | bool | int | float, *, confirmed: bool = False
    ) -> bool:
        """Write it to the file and read all settings again. False if that failed, or if the person must agree first."""
        if not confirmed and self._moves_key(row, value):
            start_worker(self, partial(self._confirm_key, row, str(value)), "confirm")
            return False
        try:
            save_setting(self.shell, row.setting.name, value)
        except InputError as error:
            self._show_warning(f"! {error.message} {error.hint}")
            return False
        if row.setting.name == "general.theme" and value in self.app.available_themes:
            self.app.theme = str(value)
        at_once = row.takes_effect_at_once(self.shell.applies_settings)
        if at_once and row.is_engine_setting:
            applied = start_worker(self.app, self.shell.apply_settings, "settings", exclusive=False)
            start_worker(self, partial(self._report_applied, applied), "applied")
        counts = "it takes effect now" if at_once else "it takes effect at the next start"
        self._show_warning(f"Saved in the file; {counts}.", "$success")
        self._show_rows(top=False)
        return True

    async def _report_applied(self, applied: Worker[None]) -> None:
        """Show the effect again once the setting is applied."""
        await applied.wait()
        self._show_selected()

    def action_test(self) -> None:
        row = self.table.selected
        if row is not None and row.setting.section == "llm":
            self._show_warning("Asking the model", "$text-muted")
            start_worker(self, self._test_llm, "test")
        else:
            self._show_warning("Testing the embedder", "$text-muted")
            start_worker(self, self._test_embedder, "test")

    async def _test_embedder(self) -> None:
        configuration = self.shell.configuration
        if configuration is None:
            return
        try:
            options = self.shell.permissions.limit_options(configuration.settings.options())
            result = await asyncio.to_thread(lambda: test_embedder(options))
        except (DegradedError, InputError) as error:
            self._show_warning(f"! {error.message} {error.hint}")
        else:
            self._show_warning(result, "$success")

    async def _test_llm(self) -> None:
        configuration = self.shell.configuration
        if configuration is None:
            return
        if reason := self.shell.permissions.unavailable_reason("network"):
            self._show_warning(reason)
            return
        options = await asyncio.to_thread(lambda: configuration.settings.options().llm)
        if not options.configured:
            self._show_warning("There is no model to ask: set llm.base_url and llm.model.")
            return
        try:
            result = await test_llm(options)
        except (DegradedError, InputError) as error:
            self._show_warning(f"! {error.message} {error.hint}")
        else:
            self._show_warning(result, "$success")

    def action_leave(self) -> None:
        if self.query_one(Input).display:
            self._end_typing()
        else:
            self.dismiss(None)


def _origin_text(row: SettingRow) -> str:
    if row.is_from_environment:
        return f"from {row.origin} in the environment"
    return "from the program" if row.origin == "default" else f"from {row.origin} of the file"
