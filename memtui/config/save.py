"""Save one setting in the file with the smallest edit of its text, so that comments stay.

The edited text is parsed first, and may differ only in that setting. The file is
replaced at once, with mode 0600; a symbolic link is not followed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from .. import operating_system, paths
from ..engine.errors import InputError
from .load import check_lists
from .schema import Settings, describe_settings

Value = str | bool | int | float


def write_setting(file: Path, name: str, value: Value) -> None:
    """Set ``name`` (``section.key``; in a table ``keymap.<action>``) in ``file`` to ``value``.

    Raises InputError for an unknown setting, an invalid value or a file that cannot be changed; DiskFullError.
    """
    import tomllib

    from . import toml_text

    section, key = _check_setting(name, value)
    try:
        new = toml_text.set_values(_read_text(file), (section,), {key: value})
    except ValueError as error:
        raise InputError(f"{name} cannot be changed in {file}: {error}.", "Edit the file by hand.") from error
    check_lists(file, msgspec.convert(tomllib.loads(new), Settings), {})
    _replace_file(file, new)


def _check_setting(name: str, value: Any) -> tuple[str, str]:
    """Section and key of a setting, after checking ``value``."""
    section, _, key = name.partition(".")
    for setting in describe_settings():
        if setting.name == (section if setting.is_table else name) and key:
            kind = str if setting.is_table else setting.type
            try:
                msgspec.convert(value, kind)
            except msgspec.ValidationError:
                raise InputError(f"{name} cannot be {value!r}.", f"It must be {setting.expected}.") from None
            return section, key
    raise InputError(f"There is no setting {name!r}.", "memtui doctor lists them all.")


def _read_text(file: Path) -> str:
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


def _replace_file(file: Path, text: str) -> None:
    import secrets  # imported late: it takes 7 ms, and reading settings does not need it

    paths.make_private_folder(file.parent)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(operating_system.create_private(draft), "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            operating_system.flush_descriptor(stream.fileno())
        operating_system.replace(draft, file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        hint = "Check its folder and the disk."
        raise paths.disk_full_error(error, file) or InputError(
            f"{file} cannot be written: {error.strerror}.", hint
        ) from error
