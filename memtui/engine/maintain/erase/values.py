"""JSON values of rows that stay: without the ids that go, and whether they quote what goes."""

from __future__ import annotations

from typing import Any

from .going import Closure
from .matching import LONG_ENOUGH

NOTHING = object()
"""What ``without`` returns where nothing is left."""


def without(value: Any, ids: frozenset[str]) -> Any:
    """A JSON value without these ids: out of lists they are taken; ``NOTHING`` where nothing would be left."""
    if isinstance(value, str):
        return NOTHING if value in ids else value
    if isinstance(value, list):
        left = [new for one in value if (new := without(one, ids)) is not NOTHING]
        return NOTHING if value and not left else left
    if isinstance(value, dict):
        parts = {key: without(one, ids) for key, one in value.items()}
        return NOTHING if NOTHING in parts.values() else parts
    return value


def says(value: Any, closure: Closure) -> bool:
    """Whether a JSON value has words of the texts in it."""
    if isinstance(value, str):
        return closure.texts.touches(value)
    if isinstance(value, dict):
        return any(says(one, closure) for pair in value.items() for one in pair)
    return isinstance(value, list) and any(says(one, closure) for one in value)


def about(attributes: dict[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    """The attributes of a memory without these ids, and without the reason for replacing one of them."""
    left = {key: rest for key, value in attributes.items() if (rest := without(value, ids)) is not NOTHING}
    if "supersedes" not in left and "supersedes" in attributes:
        left.pop("conflict_reason", None)
    return left


def quoting_notes(noted: dict[str, Any], closure: Closure) -> dict[str, Any]:
    """Those of the attributes of a memory that have the texts in them."""
    return {
        key: value
        for key, value in noted.items()
        if carries(key, closure)
        or carries(value, closure)
        or (key == "conflict_reason" and _quotes(str(value), closure))
    }


def _quotes(reason: str, closure: Closure) -> bool:
    return closure.texts.touches(reason) or closure.texts.unquoted(reason) != reason


def is_a_tag(text: str) -> bool:
    """Whether a tag, which is one word, can have so much of a text in it."""
    return text.strip() in text.split() or any(
        len(word.encode("utf-8", "surrogatepass")) >= LONG_ENOUGH for word in text.split()
    )


def carries(value: Any, closure: Closure) -> bool:
    """As ``says``, but a sentence of a text is no quotation of it: whole texts, long runs, words that are rare."""
    if isinstance(value, dict):
        return any(carries(one, closure) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return any(carries(one, closure) for one in value)
    return isinstance(value, str) and (closure.texts.carried_by(value) or closure.texts.tells(value))


def censored(value: Any, closure: Closure) -> Any:
    """A JSON value in which what carries the texts is covered."""
    if isinstance(value, str):
        return closure.texts.censored(value) if carries(value, closure) else value
    if isinstance(value, list):
        return [censored(one, closure) for one in value]
    if isinstance(value, dict):
        return {str(censored(key, closure)): censored(one, closure) for key, one in value.items()}
    return value
