"""Settings as rows of a list: value, origin, meaning, and when a change takes effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from memtui.present.text import Role, one_line, visible
from memtui.ui.widgets.columns import Column, Piece

if TYPE_CHECKING:
    from memtui.config import Configuration, Setting, Settings

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
    def from_environment(self) -> bool:
        return self.origin == self.setting.variable or self.origin.startswith("NO_")

    @property
    def of_the_engine(self) -> bool:
        return self.setting.section in _OF_THE_ENGINE

    def counts_at_once(self, applies: bool) -> bool:
        """Whether a change takes effect now. ``applies``: the app can open the memory again."""
        return self.setting.name == "general.theme" or (applies and self.of_the_engine)

    @property
    def shown(self) -> str:
        if self.setting.is_table:
            return f"{len(self.value)} changed"
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        return str(self.value) if self.value != "" else "not set"


def setting_rows(configuration: Configuration) -> list[SettingRow]:
    """All settings in the order of the file."""
    from memtui.config import describe

    rows: list[SettingRow] = []
    before = ""
    for number, setting in enumerate(describe()):
        section = getattr(configuration.settings, setting.section)
        value = section if setting.is_table else getattr(section, setting.key)
        origin = configuration.origins.get(setting.name, "default")
        title = setting.heading
        heading = title if title != before else ""
        rows.append(
            SettingRow(number, setting, value, origin, heading, _idle(setting, configuration.settings))
        )
        before = title
    return rows


def _idle(setting: Setting, settings: Settings) -> str:
    of = "package" if setting.key == "package" else "endpoint"
    if setting.section == "embedder" and setting.key != "kind" and settings.embedder.kind != of:
        return f"not in use: vectors are made by {settings.embedder.kind}"
    if setting.section == "llm" and setting.key != "base_url" and not settings.llm.base_url:
        return "not in use: no address is set"
    return ""


def choices(row: SettingRow, themes: Sequence[str]) -> list[Any]:
    """The possible values, in order. Empty if the value is typed."""
    if row.setting.name == "general.theme":
        return list(themes)
    kind = row.setting.type
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    if bare is bool:
        return [False, True]
    return list(get_args(bare)) if get_origin(bare) is Literal else []


def typed(row: SettingRow, text: str) -> str | int | float:
    """The typed text as a value of the setting's type. Raises ValueError that says what is expected."""
    kind = row.setting.type
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    try:
        return int(text) if bare is int else float(text) if bare is float else text.strip()
    except ValueError:
        raise ValueError(f"It must be {row.setting.expected}.") from None


class SettingsInHand:
    """Settings as rows (see ``row_source``)."""

    def __init__(self, rows: Sequence[SettingRow]) -> None:
        self._rows = rows

    def count(self) -> int:
        return len(self._rows)

    def page(self, offset: int, limit: int) -> Sequence[SettingRow]:
        return self._rows[offset : offset + limit]

    def keys(self) -> Iterator[Sequence[int]]:
        yield range(len(self._rows))

    def rows(self, keys: Sequence[int]) -> Sequence[SettingRow]:
        return [self._rows[key] for key in keys]

    def key(self, row: SettingRow) -> int:
        return row.number


def setting_columns() -> list[Column[SettingRow]]:
    """Section, name, value, origin."""

    def section(row: SettingRow, width: int) -> Iterable[Piece]:
        yield Piece(visible(row.heading), "accent")

    def name(row: SettingRow, width: int) -> Iterable[Piece]:
        yield Piece(visible(row.setting.title), "text")

    def value(row: SettingRow, width: int) -> Iterable[Piece]:
        role: Role = "dim" if row.idle else "text" if row.origin == "default" else "accent"
        yield Piece(one_line(row.shown, width), role)

    def origin(row: SettingRow, width: int) -> Iterable[Piece]:
        yield Piece(one_line("" if row.origin == "default" else row.origin, width), "dim")

    return [
        Column("section", "", section, width=14, drop=1),
        Column("name", "", name, width=22),
        Column("value", "", value, least=16),
        Column("origin", "", origin, width=22, drop=2),
    ]
