"""Calls of a language model at an OpenAI-compatible endpoint, with limits and a checked JSON reply.

A reply is worth having only when it is whole: everything else (refused, reset, redirected, too slow, too
large, cut off, not JSON, of another shape) is a DegradedError that says what happened and what to do. The
deadline is for the whole call, since a server that drips keeps every per-read timeout alive. Nothing is
retried here: who calls decides, and shows it. Only a form of reply that the endpoint refuses is replaced by
the next weaker one (a JSON schema, any JSON object, plain text). What a reply cost is noted before it is looked at.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from memtui.engine.errors import DegradedError
from memtui.engine.records import LlmOptions

from .budget import TokenBudget
from .endpoint import (
    LARGEST_REPLY,
    TOO_LONG,
    UNUSABLE,
    TooLongError,
    check_endpoint,
    client_for,
    explain_error,
    http_status,
    is_loopback,
    preload_module,
    refusal_mentions,
)

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
    decoded: dict[str, Any] = data
    return decoded


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a key occurs twice")
    return unique


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_require_unique_keys, parse_constant=_no_constant)


__all__ = [
    "UNUSABLE",
    "LlmReply",
    "TooLongError",
    "check_endpoint",
    "complete_json",
    "convert_reply",
    "estimate_tokens",
]

T = TypeVar("T")

_MOST_TOKENS = 4_000
_LIKELY_TOKENS = 1_500
_BYTES_A_TOKEN = 4
_REFUSED = "Check llm.model, or choose another one."
_FORMS = ("json_schema", "json_object", "text")
_NO_SUCH_FORM = ("response_format", "json_schema", "json_object", "schema", "grammar")
_understood: dict[tuple[str, str], int] = {}
"""The strongest of ``_FORMS`` that an endpoint and model took in this process."""


class LlmReply(NamedTuple):
    """``data``: the parsed JSON object. ``tokens``: spent in all, estimated where the endpoint does not say."""

    data: dict[str, Any]
    tokens: int


def convert_reply(data: dict[str, Any], shape: type[T]) -> T:
    """A reply as the type that its schema was made for. Raises DegradedError when it is something else."""
    try:
        return msgspec.convert(data, shape)
    except msgspec.ValidationError as error:
        raise DegradedError(
            f"The model's answer has another shape than asked for: {error}.", "Choose another model."
        ) from None


def estimate_tokens(text: str) -> int:
    """By the bytes: scripts that say more with a character take more of them, and more tokens."""
    return len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN + 1


async def complete_json(
    options: LlmOptions, system: str, user: str, schema: Mapping[str, Any], *, name: str = "reply",
    spending: TokenBudget | None = None, likely: int = _LIKELY_TOKENS,
    read: Callable[[str], dict[str, Any]] | None = None,
) -> LlmReply:  # fmt: skip
    """Ask for one JSON object of the given schema. ``likely``: tokens that the answer is expected to have.

    ``read`` makes the object of the text, ``json_object`` if None; it raises DegradedError where there is none.

    Raises DegradedError (BudgetError where ``spending`` has too little left, TooLongError; InputError for an
    unusable address). What the call cost is in ``spending`` whatever becomes of it.
    """
    key = check_endpoint(options)
    spending = spending or TokenBudget()
    expected = estimate_tokens(system + user) + likely
    spending.reserve(expected)
    # Half a second the first time: neither the deadline's business nor the event loop's.
    await asyncio.to_thread(preload_module, "openai.resources.chat.completions")
    try:
        async with asyncio.timeout(options.timeout):
            answer = await _ask_endpoint(options, key, system, user, schema, name, spending)
    except BaseException as error:
        spending.charge_unanswered(expected)
        if isinstance(error, TimeoutError):
            raise DegradedError(
                f"The model did not answer within {options.timeout:g} seconds.",
                "Try again, or raise llm.timeout.",
            ) from error
        if not isinstance(error, Exception) or isinstance(error, DegradedError):
            raise
        # By behaviour: a third of the faults raise something that is no OpenAIError.
        raise explain_error(error, options, _REFUSED) from error
    text = _reply_text(answer)
    tokens = _tokens_spent(answer) or (estimate_tokens(system + user + text) if text else 0)
    if tokens:
        spending.add_call(tokens)
    else:
        spending.charge_unanswered(expected)
    return LlmReply((read or json_object)(_complete_text(answer, text)), tokens)


async def _ask_endpoint(
    options: LlmOptions,
    key: str,
    system: str,
    user: str,
    schema: Mapping[str, Any],
    name: str,
    spending: TokenBudget,
) -> object:
    model = (options.base_url, options.model)
    async with client_for(options, key, options.timeout) as client:
        for form in range(_understood.get(model, 0), len(_FORMS)):
            try:
                answer = await client.chat.completions.create(
                    **_request_body(options, system, user, schema, name, _FORMS[form])
                )
            except Exception as error:
                if _FORMS[form] == "text" or not _refuses_the_form(error):
                    raise
                spending.add_call(0)
            else:
                _understood[model] = form
                return answer
    raise AssertionError("the last form is returned or raises")


def _refuses_the_form(error: Exception) -> bool:
    return (
        http_status(error) in (400, 422)
        and refusal_mentions(error, *_NO_SUCH_FORM)
        and not refusal_mentions(error, *TOO_LONG)
    )


def _request_body(
    options: LlmOptions, system: str, user: str, schema: Mapping[str, Any], name: str, form: str
) -> dict[str, Any]:
    host = urlsplit(options.base_url).hostname or ""
    extra: dict[str, Any] = {"repeat_penalty": 1.1} if is_loopback(host) else {}
    # Only OpenAI's own models insist on the newer name, and only they are sure to know it.
    newer = host.endswith((".openai.com", ".openai.azure.com"))
    extra["max_completion_tokens" if newer else "max_tokens"] = _MOST_TOKENS
    if form != "json_schema":
        system += (
            f"\n\nAnswer with one JSON object of this JSON Schema, and nothing else:\n{json.dumps(schema)}"
        )
    request: dict[str, Any] = {
        "model": options.model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        "extra_body": extra,
    }
    if form == "json_schema":
        request["response_format"] = {"type": form, "json_schema": {"name": name, "schema": dict(schema)}}
    elif form == "json_object":
        request["response_format"] = {"type": form}
    return request


def _first_choice(answer: object) -> object:
    choices = getattr(answer, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _reply_text(answer: object) -> str:
    """What a model wrote, "" if nothing; not looked at yet."""
    text = getattr(getattr(_first_choice(answer), "message", None), "content", None)
    return text if isinstance(text, str) else ""


def _tokens_spent(answer: object) -> int:
    """The tokens of a reply, as far as the endpoint says; else 0."""
    total = getattr(getattr(answer, "usage", None), "total_tokens", None)
    return total if isinstance(total, int) and 0 < total < 100_000_000 else 0


def _complete_text(answer: object, text: str) -> str:
    """The text of a complete reply. Raises DegradedError for any other."""
    choice = _first_choice(answer)
    if choice is None:
        raise DegradedError(
            "The endpoint's reply contains no answer of a model.",
            "Check llm.base_url (it usually ends in /v1).",
        )
    if getattr(choice, "finish_reason", None) == "length":
        raise TooLongError("The model's answer was cut off.", refused=False)
    if getattr(getattr(choice, "message", None), "refusal", None):
        raise DegradedError(
            "The model refused to answer.", "Choose another model, or skip this conversation."
        )
    if not text.strip():
        raise DegradedError("The model's answer is empty.", "Try again, or choose another model.")
    if len(text) > LARGEST_REPLY:
        raise DegradedError("The model's answer is too long.", "Choose another model.")
    return text
