"""Settings: the value, origin, meaning and effect of each. Each change is saved at once."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, Static

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.models.endpoint import host_of
from memtui.ui.action_dispatch import start
from memtui.ui.configuration import save_setting
from memtui.ui.safe import assemble
from memtui.ui.widgets.row_events import RowHighlighted, RowOpened
from memtui.ui.widgets.row_table import RowTable

from .confirmation import Question
from .dialog import Dialog
from .setting_rows import SettingRow, SettingsInHand, choices, setting_columns, setting_rows, typed
from .setting_state import state_of, test_embedder, test_llm

if TYPE_CHECKING:
    from textual.content import Content
    from textual.worker import Worker

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
        return super().hint_line() if self.shell.permissions.settings else self.hints_of(())

    def on_mount(self) -> None:
        table = self.table
        table.show_header(False)
        table.focus()
        self._show_rows()
        if reason := self.shell.permissions.why_not("settings"):
            self._warn(reason)

    @property
    def table(self) -> RowTable[SettingRow]:
        return self.query_one(RowTable)

    def _show_rows(self, *, top: bool = True) -> None:
        configuration = self.shell.configuration
        if configuration is None:
            self._warn("This app was opened without a configuration: settings cannot be changed.")
            return
        self.table.show(SettingsInHand(setting_rows(configuration)), self.shell.operations.readers, top=top)

    def _warn(self, text: str, style: str = "$warning") -> None:
        self.query_one(".dialog-warning", Static).update(assemble((text, style)))

    # -- the selected one

    @on(RowHighlighted)
    def _highlighted(self) -> None:
        row = self.table.selected
        if row is not None:
            self._show_about(row, "")
            start(self, partial(self._show_state, row), "state")

    async def _show_state(self, row: SettingRow) -> None:
        if self.shell.operations.memory is not None:
            name = row.setting.name
            self._show_about(row, await self.shell.operations.ask(lambda memory: state_of(memory, name)))

    def _show_about(self, row: SettingRow, state: str) -> None:
        setting = row.setting
        default = "none" if setting.is_table or setting.default == "" else str(setting.default)
        if isinstance(setting.default, bool):
            default = default.lower()  # as the file writes it
        parts: list[Content | str | tuple[str, str]] = [
            (f"{setting.heading}: {setting.title}", "bold"), (f"  {setting.name}\n", "$text-muted"),
            setting.description, "\n",
            ("now      ", "$text-muted"), row.idle or state or "…", "\n",
            ("can be   ", "$text-muted"), f"{setting.expected}; {default} if not set\n",
            ("comes    ", "$text-muted"), _from(row), "; a change takes effect ",
            "now" if row.counts_at_once(self.shell.applies_settings) else "at the next start",
        ]  # fmt: skip
        configuration = self.shell.configuration
        if configuration is not None:
            parts += ["\n", ("file     ", "$text-muted"), str(configuration.file)]
        self.query_one(".setting-about", Static).update(assemble(*parts))

    # -- changing

    @on(RowOpened)
    def action_change(self) -> None:
        row = self.table.selected
        if row is None:
            return
        if reason := self.shell.permissions.why_not("settings"):
            self._warn(reason)
            return
        if row.from_environment:
            self._warn(f"{row.origin} in the environment sets this one: change it there.")
            return
        if row.setting.key == "key_confirmed":
            self._warn("Change the address, or the variable: then you are asked where the key goes.")
            return
        if row.setting.is_table:
            self._warn(f"This is set in the file, under [{row.setting.name}]. {row.setting.description}")
            return
        offered = choices(row, sorted(self.app.available_themes))
        if offered:
            at = offered.index(row.value) if row.value in offered else -1
            self._save(row, offered[(at + 1) % len(offered)])
            return
        box = self.query_one(Input)
        box.value = str(row.value)
        box.display = True
        box.focus()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        row = self.table.selected
        if row is None:
            return
        try:
            value = typed(row, event.value)
        except ValueError as error:
            self._warn(f"! {error}")
            return
        if self._save(row, value):
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
        if host and not await self.shell.ask_person(question):
            self._warn("Nothing was changed: the key goes to the same host as before.")
            return
        try:
            save_setting(self.shell, f"{row.setting.section}.key_confirmed", host)
        except InputError as error:
            self._warn(f"! {error.message} {error.hint}")
            return
        if self._save(row, value, confirmed=True):
            self._end_typing()

    def _moves_key(self, row: SettingRow, value: str | bool | int | float) -> bool:
        """Whether this value would send a key to another host, or another key to the same host."""
        key, settings = row.setting.key, self.shell.configuration and self.shell.configuration.settings
        if key not in ("base_url", "key_env") or settings is None or value == row.value:
            return False
        section = getattr(settings, row.setting.section)
        before = section.key_confirmed or host_of(section.base_url)
        return key == "key_env" or host_of(str(value)) != before

    def _save(self, row: SettingRow, value: str | bool | int | float, *, confirmed: bool = False) -> bool:
        """Write it to the file and read all settings again. False if that failed, or if the person must agree first."""
        if not confirmed and self._moves_key(row, value):
            start(self, partial(self._confirm_key, row, str(value)), "confirm")
            return False
        try:
            save_setting(self.shell, row.setting.name, value)
        except InputError as error:
            self._warn(f"! {error.message} {error.hint}")
            return False
        if row.setting.name == "general.theme" and value in self.app.available_themes:
            self.app.theme = str(value)
        at_once = row.counts_at_once(self.shell.applies_settings)
        if at_once and row.of_the_engine:
            applied = start(self.app, self.shell.apply_settings, "settings", exclusive=False)
            start(self, partial(self._report_applied, applied), "applied")
        counts = "it takes effect now" if at_once else "it takes effect at the next start"
        self._warn(f"Saved in the file; {counts}.", "$success")
        self._show_rows(top=False)
        return True

    async def _report_applied(self, applied: Worker[None]) -> None:
        """Show the effect again once the setting is applied."""
        await applied.wait()
        self._highlighted()

    def action_test(self) -> None:
        row = self.table.selected
        if row is not None and row.setting.section == "llm":
            self._warn("Asking the model", "$text-muted")
            start(self, self._test_llm, "test")
        else:
            self._warn("Testing the embedder", "$text-muted")
            start(self, self._test_embedder, "test")

    async def _test_embedder(self) -> None:
        configuration = self.shell.configuration
        if configuration is None:
            return
        try:
            options = self.shell.permissions.options(configuration.settings.options())
            result = await asyncio.to_thread(lambda: test_embedder(options))
        except (DegradedError, InputError) as error:
            self._warn(f"! {error.message} {error.hint}")
        else:
            self._warn(result, "$success")

    async def _test_llm(self) -> None:
        configuration = self.shell.configuration
        if configuration is None:
            return
        if reason := self.shell.permissions.why_not("network"):
            self._warn(reason)
            return
        options = await asyncio.to_thread(lambda: configuration.settings.options().llm)
        if not options.configured:
            self._warn("There is no model to ask: set llm.base_url and llm.model.")
            return
        try:
            result = await test_llm(options)
        except (DegradedError, InputError) as error:
            self._warn(f"! {error.message} {error.hint}")
        else:
            self._warn(result, "$success")

    def action_leave(self) -> None:
        if self.query_one(Input).display:
            self._end_typing()
        else:
            self.dismiss(None)


def _from(row: SettingRow) -> str:
    if row.from_environment:
        return f"from {row.origin} in the environment"
    return "from the program" if row.origin == "default" else f"from {row.origin} of the file"
