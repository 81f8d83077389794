"""Write one setting back into the file: the smallest edit of its text, so that comments stay.

The edited text is parsed before it replaces the file and must differ in nothing but that setting;
where a small edit cannot do that (a value over several lines, inline tables) the person is asked to
edit by hand. The file is replaced at once, with mode 0600; a symbolic link is not followed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec

from .. import paths
from ..engine.errors import InputError
from .lines import key_at, section_at
from .load import check_strategies
from .schema import Settings, describe, to_toml

# A value that ends on its line, and the comment after it.
_TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*')"""
_LINE = re.compile(rf"""(\s*(?:{_TEXT}|[\w-]+)\s*=\s*)({_TEXT}|[^\s"'\[{{#]+)(\s*(?:\#.*)?)$""")
Value = str | bool | int | float


def save(file: Path, name: str, value: Value) -> None:
    """Set ``name`` (``section.key``; in a table ``keymap.<action>``) in ``file`` to ``value``.

    Raises InputError: no such setting, a value it cannot have, or a file that cannot be changed; DiskFullError.
    """
    import tomllib

    section, key = _checked(name, value)
    old = _text(file)
    new = edited(old, section, key, to_toml(value))
    try:
        expected = tomllib.loads(old)
        expected.setdefault(section, {})[key] = value
        same = tomllib.loads(new) == expected
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        same = False
    if not same:
        hint = "Edit the file by hand."
        raise InputError(f"{name} cannot be changed in {file} without touching more.", hint)
    check_strategies(file, msgspec.convert(expected, Settings), {})
    _replace(file, new)


def edited(text: str, section: str, key: str, value: str) -> str:
    """``text`` with ``key = value`` in ``[section]``; the rest of it is kept as it is."""
    lines = text.removesuffix("\n").split("\n") if text else []
    shown = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else to_toml(key)
    at = key_at(text, section, key)
    if at is not None and (match := _LINE.match(lines[at])):
        lines[at] = f"{match[1]}{value}{match[3]}"
    elif (header := section_at(text, section)) is not None:
        lines.insert(header + 1, f"{shown} = {value}")
    else:
        lines += [*([""] if lines and lines[-1].strip() else []), f"[{section}]", f"{shown} = {value}"]
    return "\n".join(lines) + "\n"


def _checked(name: str, value: Any) -> tuple[str, str]:
    """Section and key of a setting that may have ``value``."""
    section, _, key = name.partition(".")
    for setting in describe():
        if setting.name == (section if setting.is_table else name) and key:
            kind = str if setting.is_table else setting.type
            try:
                msgspec.convert(value, kind)
            except msgspec.ValidationError:
                raise InputError(f"{name} cannot be {value!r}.", f"It must be {setting.expected}.") from None
            return section, key
    raise InputError(f"There is no setting {name!r}.", "memtui doctor lists them all.")


def _text(file: Path) -> str:
    import tomllib

    if file.is_symlink():
        raise InputError(f"{file} is a symbolic link; memtui does not write through it.", "Edit its target.")
    try:
        text = file.read_text("utf-8-sig")
        tomllib.loads(text)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be changed: {error}.", "Correct the file first.") from error
    return text


def _replace(file: Path, text: str) -> None:
    import secrets  # 7 ms that reading the settings does not pay

    paths.private_folder(file.parent)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(draft, flags, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        hint = "Check its folder and the disk."
        raise paths.no_room(error, file) or InputError(
            f"{file} cannot be written: {error.strerror}.", hint
        ) from error
