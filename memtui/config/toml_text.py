"""Set keys of one table in the text of a TOML file; comments and everything else stay as they are."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

Value = str | bool | int | float | Sequence[str]


def set_values(text: str, table: Sequence[str], values: Mapping[str, Value]) -> str:
    """``text`` with ``values`` in the table of that path, which is created if missing.

    Raises ValueError if the text is not TOML, if there is no table at the path, or if other text would change.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    plain = {
        key: value if isinstance(value, str | int | float) else list(value) for key, value in values.items()
    }
    expected = _with(tomllib.loads(text), table, plain)
    if tomllib.loads(text) == expected:
        return text
    try:
        document = tomlkit.parse(text)
        parent, missing = _deepest(document, table)
        if missing and not isinstance(parent, tomlkit.items.InlineTable):
            edited = _appended(text, table, plain)
        else:
            for name in missing:
                parent[name] = tomlkit.inline_table()
                parent = parent[name]
            for key, value in plain.items():
                parent[key] = value
            edited = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
    if tomllib.loads(edited) != expected:
        raise ValueError("it cannot be changed there without touching more")
    return edited


def _with(document: dict[str, Any], table: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    inner = document
    for depth, name in enumerate(table, 1):
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{'.'.join(table[:depth])} is no table there")
    inner.update(values)
    return document


def _deepest(document: Any, table: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The innermost existing table on the path, and the missing names."""
    inner = document
    for depth, name in enumerate(table):
        if name not in inner:
            return inner, table[depth:]
        inner = inner[name]
    return inner, ()


def _appended(text: str, table: Sequence[str], values: Mapping[str, Any]) -> str:
    """``text`` with the table at its end."""
    import tomlkit

    section = tomlkit.table()
    section.update(values)
    header = ".".join(tomlkit.key(name).as_string() for name in table)
    begun = text if not text or text.endswith("\n") else f"{text}\n"
    gap = "\n" if begun and begun.splitlines()[-1].strip() else ""
    return f"{begun}{gap}[{header}]\n{section.as_string()}"
