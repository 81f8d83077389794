"""Set keys of one table in the text of a TOML file; comments and everything else stay as they are."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

from memtui.config.lines import key_at, section_at
from memtui.config.schema import to_toml

Value = str | Sequence[str]


def put(text: str, table: str, values: Mapping[str, Value]) -> str:
    """``text`` with ``values`` in ``[table]`` (a dotted name), which is appended where it is missing.

    Raises ValueError for what is no TOML, and where a small edit cannot do it (an inline table, say).
    """
    expected = tomllib.loads(text)
    inner = expected
    for name in table.split("."):
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{table} is no table there")
    if all(inner.get(key) == value for key, value in values.items()):
        return text
    known = bool(inner)
    inner.update({key: value if isinstance(value, str) else list(value) for key, value in values.items()})
    lines = text.removesuffix("\n").split("\n") if text else []
    if known:
        for key, value in values.items():
            _put_key(lines, table, key, value)
    else:
        lines += [*([""] if lines and lines[-1].strip() else []), f"[{table}]"]
        lines += [_line(key, value) for key, value in values.items()]
    edited = "\n".join(lines) + "\n"
    if tomllib.loads(edited) != expected:
        raise ValueError("it cannot be changed there without touching more")
    return edited


def _put_key(lines: list[str], table: str, key: str, value: Value) -> None:
    text = "\n".join(lines)
    at = key_at(text, table, key)
    if at is not None:
        lines[at : at + _height(lines, at)] = [_line(key, value)]
        return
    header = section_at(text, table)
    if header is None:
        raise ValueError(f"[{table}] is not on a line of its own")
    lines.insert(header + 1, _line(key, value))


def _height(lines: list[str], at: int) -> int:
    """How many lines the value takes that begins on line ``at``."""
    for height in range(1, len(lines) - at + 1):
        try:
            tomllib.loads("\n".join(lines[at : at + height]))
        except tomllib.TOMLDecodeError:
            continue
        return height
    raise ValueError("a value has no end")


def _line(key: str, value: Value) -> str:
    if isinstance(value, str):
        return f"{key} = {to_toml(value)}"
    return f"{key} = [{', '.join(map(to_toml, value))}]"
