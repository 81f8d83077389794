"""The JSON object in a model's answer: alone, in a fence, after thoughts, or with prose around it.

Only one whole object counts. What could be read in two ways, or was cut off, is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

from memtui.engine.errors import DegradedError

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_BRACKET = re.compile(r"[{\[]")
_OTHER_MODEL = "Try again, or choose another model."


def json_object(text: str) -> dict[str, Any]:
    """The one object in an answer; no duplicate keys, no NaN. Raises DegradedError where there is none, or several."""
    body = text.strip()
    if not body.startswith("{"):
        # Some models think aloud first; the opening tag may be part of their template.
        body = _THOUGHT_ENDS.split(body)[-1]
        fenced = _FENCED.findall(body)
        body = fenced[-1] if fenced else body
    begins = _BRACKET.search(body)
    if begins is None or begins.group() != "{":
        raise DegradedError("The model's answer has no JSON object.", _OTHER_MODEL)
    try:
        data, end = _DECODER.raw_decode(body, begins.start())
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DegradedError(
            f"The model's answer is not the JSON that was asked for: {reason}.", _OTHER_MODEL
        ) from None
    if "{" in body[end:]:
        raise DegradedError("The model's answer has more than one JSON object.", _OTHER_MODEL)
    found: dict[str, Any] = data
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
