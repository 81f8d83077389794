"""The columns of a row in words, for what changed and for what an undo left alone."""

from __future__ import annotations

from memtui.present.format import local_time

_COLUMNS = {
    "content": "text", "valid_until": "in Trash since", "ended_by": "in Trash because",
    "confirmed_at": "confirmed", "decay_rate": "fading rate", "source_ids": "sources",
    "consolidated_at": "consolidated", "reviewed_at": "reviewed",
}  # fmt: skip
_TIMES = frozenset({
    "valid_until", "confirmed_at", "reviewed_at", "consolidated_at", "created_at", "event_time", "next_attempt_at",
    "first_seen_at", "last_seen_at", "decided_at", "snoozed_until", "updated_at",
})  # fmt: skip
# Follow from the others, or mean nothing to a person.
LEFT_OUT = frozenset({"content_hash", "consolidated_through", "attributes", "source_key"})


def label_of(column: str) -> str:
    """What a person calls it."""
    return _COLUMNS.get(column, column.replace("_", " "))


def value_of(column: str, value: object, now: float) -> str:
    """A value of that column: times as local time, lists without brackets."""
    if value is None or value in ("", "[]", "{}"):
        return "none"
    if column in _TIMES and isinstance(value, int | float):
        return local_time(value, now)
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(value)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].replace('"', "").replace(",", ", ")
    return text[:400]
