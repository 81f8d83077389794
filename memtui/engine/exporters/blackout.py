"""Blacks out the secrets in the lines of an export."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memtui.engine.guards import secrets
from memtui.engine.records import Record

R = TypeVar("R", bound=Record)

# Ids and hashes look like keys; nobody puts a secret into them.
_IDENTITIES = ("id", "ids", "source_key", "decided", "seen", "hash", "line", "act")


def without_secrets(line: R) -> R:
    """The line with ``[redacted: kind]`` in place of every secret."""
    changed = {}
    for name in line.__struct_fields__:
        value = getattr(line, name)
        new = _raw(value) if isinstance(value, msgspec.Raw) else _texts(value)
        if not _is_identity(name) and new != value:
            changed[name] = new
    return replace(line, **changed) if changed else line


def json_without_secrets(text: str) -> str:
    """JSON with every text in it blacked out."""
    if not secrets.find_secrets(text):
        return text
    return msgspec.json.encode(_texts(msgspec.json.decode(text))).decode()


def _raw(value: msgspec.Raw) -> msgspec.Raw:
    text = bytes(value).decode()
    new = json_without_secrets(text)
    return value if new == text else msgspec.Raw(new.encode())


def _texts(value: object) -> object:
    if isinstance(value, str):
        return secrets.redact(value)[0]
    if isinstance(value, list):
        return [_texts(item) for item in value]
    if isinstance(value, dict):
        return {name: item if _is_identity(str(name)) else _texts(item) for name, item in value.items()}
    return value


def _is_identity(name: str) -> bool:
    return name in _IDENTITIES or name.endswith(("_id", "_ids"))
