"""Find settings in the text of a TOML file: line numbers for errors, places for small edits.

Only what people write is understood (headers, one key a line). That is enough: a line number that is
missing is shown as "?", and an edit is checked by parsing its result.
"""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")
_TOP_KEY = re.compile(r"""\s*([A-Za-z0-9_-]+)\s*[.=]""")


def section_at(text: str, section: str) -> int | None:
    """The index of the line that opens ``[section]`` (or a table in it), else of ``section = ...``."""
    inner: int | None = None
    for index, line in enumerate(text.split("\n")):
        header = _HEADER.match(line)
        if header and _plain(header[1]) == section:
            return index
        top = None if header else _TOP_KEY.match(line)
        table_in_it = header and _plain(header[1]).startswith(section + ".")
        if inner is None and (table_in_it or (top and top[1] == section)):
            inner = index
    return inner


def key_at(text: str, section: str, key: str) -> int | None:
    """The index of the line ``key = ...`` in ``[section]``, else of the table ``[section.key]``."""
    current = ""
    for index, line in enumerate(text.split("\n")):
        header = _HEADER.match(line)
        if header:
            current = _plain(header[1])
            if current == f"{section}.{key}":
                return index
        elif current == section and (found := _KEY.match(line)) and _plain(found[1]) == key:
            return index
    return None


def section_line(text: str, section: str) -> str:
    """The number, from 1, of the section's line, or "?"."""
    index = section_at(text, section)
    return "?" if index is None else str(index + 1)


def key_line(text: str, section: str, key: str) -> str:
    """The number, from 1, of the key's line, else of its section's, or "?"."""
    index = key_at(text, section, key)
    return section_line(text, section) if index is None else str(index + 1)


def _plain(name: str) -> str:
    """A key without its quotes and the spaces around its dots."""
    if name[:1] in "\"'":
        return name[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return re.sub(r"\s*\.\s*", ".", name)
