"""Set keys of one table in the text of a TOML file, or remove it; comments and everything else stay as they are."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

Value = str | bool | int | float | Sequence[str]


def load(text: str) -> dict[str, Any]:
    """The document. Raises ValueError if the text is not TOML."""
    return tomllib.loads(text)


def set_values(text: str, table: Sequence[str], values: Mapping[str, Value]) -> str:
    """``text`` with ``values`` in the table of that path, which is created if missing.

    Raises ValueError if the text is not TOML, if there is no table at the path, or if other text would change.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    toml_values = {
        key: value if isinstance(value, str | int | float) else list(value) for key, value in values.items()
    }
    expected = _document_with(tomllib.loads(text), table, toml_values)
    if tomllib.loads(text) == expected:
        return text
    try:
        document = tomlkit.parse(text)
        parent, missing = _deepest_table(document, table)
        if missing and not isinstance(parent, tomlkit.items.InlineTable):
            edited = _append_table(text, table, toml_values)
        else:
            for name in missing:
                parent[name] = tomlkit.inline_table()
                parent = parent[name]
            for key, value in toml_values.items():
                parent[key] = value
            edited = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
    if tomllib.loads(edited) != expected:
        raise ValueError("it cannot be changed there without touching more")
    return edited


def remove(text: str, table: Sequence[str], *, prune: bool = True) -> str:
    """``text`` without the table of that path and the tables in it, and with ``prune`` without tables that are empty
    then around it.

    The text itself if there is no such table. Raises ValueError if the text is not TOML, or if other text would change.
    """
    outer: Any = tomllib.loads(text)
    for name in table:
        outer = outer.get(name) if isinstance(outer, dict) else None
    if outer is None:
        return text
    wanted = [_document_without(tomllib.loads(text), table, prune=pruned) for pruned in (prune, False)]
    for edited in (_cut_table(text, table), _delete_from_document(text, table, prune=prune)):
        if edited is not None and tomllib.loads(edited) in wanted:
            return edited
    raise ValueError("it cannot be changed there without touching more")


def _document_without(document: dict[str, Any], table: Sequence[str], *, prune: bool) -> dict[str, Any]:
    """The document without the table. A header makes the tables around it, so they go with it: ``prune``."""
    outers = [document]
    for name in table[:-1]:
        outers.append(outers[-1][name])
    del outers[-1][table[-1]]
    for outer, name in zip(reversed(outers[:-1]), reversed(table[:-1]), strict=True):
        if prune and not outer[name]:
            del outer[name]
    return document


def _cut_table(text: str, table: Sequence[str]) -> str | None:
    """``text`` without the lines from the header of the table to the next one. None if it has no header."""
    lines = text.splitlines(keepends=True)
    headers = [(at, _parse_header(line)) for at, line in enumerate(lines)]
    ours = [at for at, path in headers if path[: len(table)] == tuple(table)]
    if not ours:
        return None
    begin = ours[0]
    end = next((at for at, path in headers if at > ours[-1] and path), len(lines))
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1  # what stands before the next header belongs to that
    if begin and not lines[begin - 1].strip() and not "".join(lines[end : end + 1]).strip():
        begin -= 1
    cut = "".join(lines[:begin] + lines[end:])
    try:
        tomllib.loads(cut)
    except tomllib.TOMLDecodeError:  # the line of a text looked like a header
        return None
    return cut


def _parse_header(line: str) -> tuple[str, ...]:
    """The path of a header, () for another line."""
    if not line.startswith("["):
        return ()
    try:
        header: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while header and isinstance(header, dict | list):
        if isinstance(header, list):
            header = header[0]
            continue
        name, header = next(iter(header.items()))
        path.append(name)
    return tuple(path)


def _delete_from_document(text: str, table: Sequence[str], *, prune: bool) -> str:
    """The same by the parsed document, for tables that are written within a line or in dotted keys."""
    import tomlkit

    return tomlkit.dumps(_document_without(tomlkit.parse(text), table, prune=prune))


def _document_with(
    document: dict[str, Any], table: Sequence[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    inner = document
    for depth, name in enumerate(table, 1):
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{'.'.join(table[:depth])} is no table there")
    inner.update(values)
    return document


def _deepest_table(document: Any, table: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The innermost existing table on the path, and the missing names."""
    inner = document
    for depth, name in enumerate(table):
        if name not in inner:
            return inner, table[depth:]
        inner = inner[name]
    return inner, ()


def _append_table(text: str, table: Sequence[str], values: Mapping[str, Any]) -> str:
    """``text`` with the table at its end."""
    import tomlkit

    section = tomlkit.table()
    section.update(values)
    header = ".".join(tomlkit.key(name).as_string() for name in table)
    begun = text if not text or text.endswith("\n") else f"{text}\n"
    gap = "\n" if begun and begun.splitlines()[-1].strip() else ""
    return f"{begun}{gap}[{header}]\n{section.as_string()}"
