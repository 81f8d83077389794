"""Read the settings: defaults, then the file, then the environment. The origin of each value is kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from .. import paths
from ..engine.errors import InputError
from ..engine.records import Record
from ..engine.strategies import STRATEGIES, check_strategy, require_known
from .schema import Setting, Settings, describe_settings

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")
_TOP_KEY = re.compile(r"""\s*([A-Za-z0-9_-]+)\s*[.=]""")


def line_of_section(text: str, section: str) -> int | None:
    """The index of the line that opens ``[section]`` (or a table in it), else of ``section = ...``."""
    inner: int | None = None
    for index, line in enumerate(text.split("\n")):
        header = _HEADER.match(line)
        if header and _normalise_key(header[1]) == section:
            return index
        top = None if header else _TOP_KEY.match(line)
        table_in_it = header and _normalise_key(header[1]).startswith(section + ".")
        if inner is None and (table_in_it or (top and top[1] == section)):
            inner = index
    return inner


def line_of_key(text: str, section: str, key: str) -> int | None:
    """The index of the line ``key = ...`` in ``[section]``, else of the table ``[section.key]``."""
    current = ""
    for index, line in enumerate(text.split("\n")):
        header = _HEADER.match(line)
        if header:
            current = _normalise_key(header[1])
            if current == f"{section}.{key}":
                return index
        elif current == section and (match := _KEY.match(line)) and _normalise_key(match[1]) == key:
            return index
    return None


def section_line(text: str, section: str) -> str:
    """The number, from 1, of the section's line, or "?"."""
    index = line_of_section(text, section)
    return "?" if index is None else str(index + 1)


def key_line(text: str, section: str, key: str) -> str:
    """The number, from 1, of the key's line, else of its section's, or "?"."""
    index = line_of_key(text, section, key)
    return section_line(text, section) if index is None else str(index + 1)


def _normalise_key(name: str) -> str:
    """A key without its quotes and the spaces around its dots."""
    if name[:1] in "\"'":
        return name[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return re.sub(r"\s*\.\s*", ".", name)


FILE_NAME = paths.CONFIG_NAME
_LARGEST = 1 << 20
# Our variables that are not settings.
_OTHER_VARIABLES = frozenset({"MEMTUI_CONFIG"})


class Configuration(Record):
    """The settings in force and where each came from.

    ``origins`` maps the name of every setting that is not at its default to "line 12" (of ``file``) or to
    the variable's name. ``unknown_variables``: unknown MEMTUI_* variables in the environment.
    """

    settings: Settings
    file: Path
    exists: bool
    origins: dict[str, str] = {}
    unknown_variables: tuple[str, ...] = ()

    def variable_of(self, name: str) -> str:
        """The environment variable that overrides a setting of the file; empty if none does."""
        origin = self.origins.get(name, "")
        return "" if origin.startswith("line ") else origin


def load(file: Path | None = None, environ: Mapping[str, str] | None = None) -> Configuration:
    """The configuration from ``file``, else MEMTUI_CONFIG, else the platform's config folder.

    A named file must exist; the other two may be missing. Raises InputError with file, line, setting and the expected
    value.
    """
    environ = os.environ if environ is None else environ
    path = file or config_file(environ)
    text = _read_file(path, must_exist=file is not None)
    data = _parse_toml(path, text or "")
    origins: dict[str, str] = {}
    known = {setting.name: setting for setting in describe_settings()}
    for section, body in data.items():
        _check_section(path, text or "", section, body, known, origins)
    unknown = _apply_environment(data, environ, known, origins)
    settings = msgspec.convert(data, Settings)
    check_lists(path, settings, origins)
    return Configuration(
        settings=settings,
        file=path,
        exists=text is not None,
        origins=origins,
        unknown_variables=unknown,
    )


def config_file(environ: Mapping[str, str] | None = None) -> Path:
    """MEMTUI_CONFIG, else config.toml in the platform's config folder."""
    named = (os.environ if environ is None else environ).get("MEMTUI_CONFIG")
    return Path(named).expanduser() if named else paths.config_folder() / FILE_NAME


def _read_file(path: Path, *, must_exist: bool) -> str | None:
    try:
        with path.open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise InputError(f"{path} is larger than a configuration can be.", "Is it the right file?")
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        if not must_exist:
            return None
        raise InputError(f"There is no {path}.", "Check the path after --config.") from None
    except OSError as error:
        hint = "Correct that, or name another file with --config."
        raise InputError(f"{path} cannot be read: {error.strerror}.", hint) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from error


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    if not text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        hint = "Correct that line; text goes in quotes."
        raise InputError(f"{path} is not valid TOML: {error}.", hint) from error


def _check_section(
    path: Path, text: str, section: str, body: Any, known: Mapping[str, Setting], origins: dict[str, str]
) -> None:
    """Raise InputError for an unknown key of ``[section]``; store the origin of the others."""
    where = f"{path}, line {section_line(text, section)}"
    names = list(dict.fromkeys(setting.section for setting in known.values()))
    if section not in names:
        raise InputError(f"{where}: [{section}] is not a section.", _nearest_word(section, names))
    if not isinstance(body, dict):
        hint = f"Write [{section}] on a line of its own."
        raise InputError(f"{where}: {section} is a section, not a value.", hint)
    if section in known:
        _check_value(where, known[section], body)
        origins.update({f"{section}.{key}": f"line {key_line(text, section, key)}" for key in body})
        return
    keys = [setting.key for setting in known.values() if setting.section == section]
    for key, value in body.items():
        line = key_line(text, section, key)
        where = f"{path}, line {line}"
        if key not in keys:
            raise InputError(f"{where}: [{section}] has no {key!r}.", _nearest_word(key, keys))
        _check_value(where, known[f"{section}.{key}"], value)
        origins[f"{section}.{key}"] = f"line {line}"


def check_lists(path: Path, settings: Settings, origins: Mapping[str, str]) -> None:
    """Raise InputError for an invalid or missing strategy, and for an unknown topic."""
    known = dict(STRATEGIES)
    for name, providers in settings.strategies.items():
        with _naming_origin(path, origins.get(f"strategies.{name}")):
            known[name] = check_strategy(name, providers.split())
    with _naming_origin(path, origins.get("names.enrichment")):
        require_known(settings.names.enrichment, known)
    with _naming_origin(path, origins.get("decay.lasting")):
        settings.decay.topics()


@contextmanager
def _naming_origin(path: Path, origin: str | None) -> Iterator[None]:
    """Raise InputError with the place of a setting that has a wrong value."""
    try:
        yield
    except InputError as error:
        where = f"{path}, {origin}" if origin and origin.startswith("line ") else origin or str(path)
        raise InputError(f"{where}: {error.message}", error.hint) from None


def _apply_environment(
    data: dict[str, Any], environ: Mapping[str, str], known: Mapping[str, Setting], origins: dict[str, str]
) -> tuple[str, ...]:
    """Let the environment override the file. Returns the unknown variables."""
    variables = {setting.variable: setting for setting in known.values() if setting.variable}
    if environ.get("NO_MOTION"):
        data.setdefault("general", {})["motion"] = False
        origins["general.motion"] = "NO_MOTION"
    for name, setting in variables.items():
        # In a shell, an empty variable means "not set" for one command.
        if environ.get(name):
            value = _check_value(name, setting, environ[name], strict=False)
            data.setdefault(setting.section, {})[setting.key] = value
            origins[setting.name] = name
    ours = {name for name in environ if name.startswith("MEMTUI_")}
    return tuple(sorted(ours - variables.keys() - _OTHER_VARIABLES))


def _check_value(where: str, setting: Setting, value: Any, *, strict: bool = True) -> Any:
    try:
        return msgspec.convert(value, setting.type, strict=strict)
    except msgspec.ValidationError:
        shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
        hint = f"It must be {setting.expected}. {setting.description}"
        raise InputError(f"{where}: {setting.name} cannot be {shown}.", hint) from None


def _nearest_word(word: str, choices: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, choices, 1, 0.6)
    return f"Did you mean {close[0]!r}?" if close else f"Choose one of {', '.join(choices)}."
