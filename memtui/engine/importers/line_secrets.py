"""Secrets in lines of memtui's own export, which another policy, or another program, may have written.

A line of a memory that has none, or is marked as having one, comes in as it is: the content hash stays.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from memtui.engine.errors import InputError
from memtui.engine.memories import validation
from memtui.engine.records import ID_PREFIX, Options, Stamp
from memtui.engine.store.export_rows import (
    Alias,
    AnyLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    ScratchpadLine,
)
from memtui.engine.store.sql import json_text

from .registry import BUILT_IN

# What other lines and rows know it by: it cannot be called otherwise.
_KNOWN_BY = frozenset(("id", "filter"))
# Every line has such ids; no secret looks like them.
_is_id = re.compile(rf"(?:{'|'.join(ID_PREFIX.values())}|ent_)[0-9a-f]{{12}}").fullmatch
_HEX = "[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_is_source_key = re.compile(
    rf"(?:{'|'.join(format.name for format in BUILT_IN)})(?::memory|:said)?(?::(?:{_HEX})){{1,2}}"
).fullmatch


def without_secrets(line: AnyLine, options: Options) -> AnyLine:
    """The line as it may be stored: as a turn or note that is recorded, and redacted in every other field.

    Raises InputError for a line that means something else without the secret.
    """
    changed: dict[str, Any] = {}
    if isinstance(line, MemoryLine):
        changed = _text_of(line, options)
    elif isinstance(line, ScratchpadLine) and options.secrets.facts != "redact":
        changed = {"value": line.value}
    strict = isinstance(line, EntityLine | ProfileLine)
    for name in line.__struct_fields__:
        if name in changed:
            continue
        value = getattr(line, name)
        open_value = _open(value)
        if open_value is value:
            continue
        if strict or name in _KNOWN_BY or (name == "key" and not isinstance(line, MemoryLine)):
            raise InputError(f"The {name.replace('_', ' ')} of a line holds a secret.", "Take it out.")
        changed[name] = open_value
    return replace(line, **changed) if changed else line


def _text_of(line: MemoryLine, options: Options) -> dict[str, Any]:
    """What the policy for secrets makes of the text and the attributes; nothing where both stay."""
    attributes = msgspec.json.decode(line.attributes) if bytes(line.attributes) != b"{}" else {}
    if line.kind == "episode" and "secrets" in attributes:
        return {}
    marked = validation.marked(line.content, line.kind, options.secrets)
    if not marked.attributes:
        return {}
    return {
        "content": marked.content,
        "attributes": Raw(json_text({**_open(attributes), **marked.attributes}).encode()),
    }


def _open(value: Any) -> Any:
    """The value without secrets in its texts; the very same one where there are none."""
    match value:
        case str():
            redacted = value if _is_id(value) or _is_source_key(value) else validation.without_secrets(value)
            return value if redacted == value else redacted
        case Raw():
            text = bytes(value)
            if len(text) <= len(b"[]"):
                return value
            decoded = msgspec.json.decode(text)
            redacted = _open(decoded)
            return value if redacted is decoded else Raw(json_text(redacted).encode())
        case Stamp():
            stamp = replace(value, aspect=_open(value.aspect), actor=_open(value.actor))
            return value if stamp == value else stamp
        case Alias():
            alias = Alias(key=_open(value.key), alias=_open(value.alias))
            return value if alias == value else alias
        case dict():
            made = {_open(key): _open(one) for key, one in value.items()}
            return value if made == value else made
        case list() | tuple():
            many = [_open(one) for one in value]
            return value if many == list(value) else type(value)(many)
    return value
