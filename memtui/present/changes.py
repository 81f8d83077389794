"""Changes of rows as text: the table, the columns, and their values before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from memtui.engine.wording import cut_text

from .format import is_time, local_date, local_time

_COLUMNS = {
    "content": "text", "valid_until": "in Trash since", "ended_by": "in Trash because",
    "confirmed_at": "confirmed", "decay_rate": "fading rate", "source_ids": "sources",
    "consolidated_at": "consolidated", "reviewed_at": "reviewed", "attributes": "links",
    "happens_at": "date", "op_id": "operation", "payload": "about",
}  # fmt: skip
# Labels for the attributes of a memory.
_ATTRIBUTES = {
    "pinned_at": "pinned", "supersedes": "replaces", "conflict_reason": "because", "secrets": "secret",
    "withheld_from": "not for",
    "redacted": "blacked out", "merged": "merged with", "extractor": "drawn by", "retired": "removed when read again by",
}  # fmt: skip
_TIMES = ("_at", "_until", "_time", "_accessed")
# Columns that follow from others, or mean nothing to a person.
LEFT_OUT = frozenset({"content_hash", "consolidated_through", "source_key"})
_TABLES = {
    "memories": "memory", "sessions_consolidations": "session", "entities": "entity", "entity_aliases": "alias",
    "entity_decisions": "decision about names", "scratchpad": "note", "proposals": "card of Review",
    "saved_queries": "saved question or filter", "profiles": "profile",
}  # fmt: skip
# The columns that name a row of a table other than memories.
_NAMES = ("title", "name", "canonical_name", "alias", "key", "session_id", "id")
_BARE = str.maketrans(dict.fromkeys('{}[]"') | {":": " ", ",": ", "})
_LONGEST = 400


class ColumnChange(NamedTuple):
    """A column's label and its value before and after. ``text``: the values are texts of a memory."""

    label: str
    was: str
    now: str
    text: bool = False


def column_changes(before: Mapping[str, Any], after: Mapping[str, Any], now: float) -> Iterator[ColumnChange]:
    """The columns that differ, without those that mean nothing to a person. Texts are not shortened."""
    for column, value in after.items():
        was = before.get(column)
        if was == value or column in LEFT_OUT:
            continue
        if column == "attributes":
            yield from _attribute_changes(_changed_attributes(was), _changed_attributes(value), now)
        elif column == "content":
            yield ColumnChange(column_label(column), str(was), str(value), text=True)
        else:
            yield ColumnChange(
                column_label(column), column_value(column, was, now), column_value(column, value, now)
            )


def attribute_values(attributes: Mapping[str, Any], now: float) -> Iterator[tuple[str, str]]:
    """The label and the value of each attribute of a memory."""
    for name, value in attributes.items():
        yield _ATTRIBUTES.get(name, name.replace("_", " ")), _attribute_text(name, value, now)


def column_label(column: str) -> str:
    """The label of a column, for people."""
    return _COLUMNS.get(column, column.replace("_", " "))


def column_value(column: str, value: object, now: float) -> str:
    """A value of that column. Times are local; lists and objects have no JSON brackets."""
    if value is None or value in ("", "[]", "{}"):
        return "none"
    if column == "happens_at" and is_time(value):
        return local_date(value, now)
    if column.endswith(_TIMES) and is_time(value):
        return local_time(value, now)
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(value)
    bare = text.translate(_BARE) if text[0] in "[{" and text[-1] in "]}" else text
    return cut_text(bare, _LONGEST)


def _attribute_changes(before: dict[str, Any], after: dict[str, Any], now: float) -> Iterator[ColumnChange]:
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            was, row_effect = (_attribute_text(name, side.get(name), now) for side in (before, after))
            yield ColumnChange(_ATTRIBUTES.get(name, name.replace("_", " ")), was, row_effect)


def _attribute_text(name: str, value: object, now: float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith(_TIMES) and is_time(value):
        return f"since {local_date(value, now)}"
    if value is None and name.endswith(_TIMES):
        return "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _changed_attributes(stored: object) -> dict[str, Any]:
    try:
        attributes = msgspec.json.decode(stored) if isinstance(stored, str | bytes) else stored
    except msgspec.DecodeError:
        return {"attributes": stored}
    return attributes if isinstance(attributes, dict) else {}


def table_label(table: str) -> str:
    """The name of one row of a table: ``memory``, ``session``, ``alias``."""
    return _TABLES.get(table, table)


def row_name(image: Mapping[str, Any]) -> str:
    """The name of a row, from its columns; empty if none of them says it: its number would say nothing."""
    return next((str(image[name]) for name in _NAMES if image.get(name)), "")


def row_effect(before: object, after: object) -> str:
    """``added``, ``removed`` or ``changed``. None stands for a row that does not exist."""
    return "added" if before is None else "removed" if after is None else "changed"
