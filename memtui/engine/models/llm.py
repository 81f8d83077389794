"""One call to a language model at an OpenAI-compatible endpoint, made so that nothing it does can hurt.

A reply is worth having only when it is whole: everything else (refused, reset, redirected, too slow, too
large, cut off, not JSON, of another shape) is a DegradedError that says what happened and what to do. The
deadline is for the whole call, since a server that drips keeps every per-read timeout alive. Nothing is
retried here: who calls decides, and shows it. What a reply cost is noted before it is looked at.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.records import LlmOptions

from .spending import Spending

LARGEST_REPLY = 4 << 20
_MOST_TOKENS = 4_000
_LIKELY_TOKENS = 1_500
_BYTES_A_TOKEN = 4


class EndpointError(DegradedError):
    """Nobody is there, or not for this key: any other call would fare the same."""


class AddressError(InputError):
    """The settings name no endpoint that may be asked."""


UNUSABLE = (EndpointError, AddressError)
"""What is wrong with the endpoint as a whole: a run that meets it need not ask any further."""


class TooLongError(DegradedError):
    """Less text may do. ``refused``: the endpoint did not even try; else the answer was cut off."""

    def __init__(self, message: str, *, refused: bool) -> None:
        super().__init__(message, "Choose a model with a longer context.")
        self.refused = refused


class Reply(NamedTuple):
    """``data``: the parsed JSON object. ``tokens``: spent in all, estimated where the endpoint does not say."""

    data: dict[str, Any]
    tokens: int


def check_endpoint(options: LlmOptions, environ: Mapping[str, str] | None = None) -> str:
    """The key to use. Raises AddressError for an address that is not https (or on this machine), EndpointError without a key."""
    try:
        url = urlsplit(options.base_url)
        host, _ = url.hostname or "", url.port
    except ValueError:
        url, host = urlsplit(""), ""
    if url.scheme not in ("http", "https") or not host:
        # It may hold a key, so it is not repeated.
        raise AddressError(
            "llm.base_url is not the address of an endpoint.", "For example https://api.openai.com/v1."
        )
    if url.username or url.password or url.query or url.fragment:
        raise AddressError(
            "The address of the endpoint carries a name, a key or a query.",
            f"Put the key into the environment variable {options.key_env}.",
        )
    if url.scheme == "http" and not is_loopback(host):
        raise AddressError(
            f"{host} would be spoken to without encryption.", "Use https, or a server on this machine."
        )
    key = (os.environ if environ is None else environ).get(options.key_env, "").strip()
    if not key and not is_loopback(host):
        raise EndpointError(
            f"There is no key for {host}.", f"Set the environment variable {options.key_env}."
        )
    if not key.isascii() or any(character.isspace() for character in key):
        raise EndpointError(
            f"The key in {options.key_env} cannot be one.", "It has blanks or letters that no key has."
        )
    return key or "none"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def estimate_tokens(text: str) -> int:
    """By the bytes: scripts that say more with a character take more of them, and more tokens."""
    return len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN + 1


async def complete(
    options: LlmOptions, system: str, user: str, schema: Mapping[str, Any], *, name: str = "reply",
    spending: Spending | None = None, likely: int = _LIKELY_TOKENS,
    read: Callable[[str], dict[str, Any]] | None = None,
) -> Reply:  # fmt: skip
    """Ask for one JSON object of the given schema. ``likely``: tokens that the answer is expected to have.

    ``read`` makes the object of the text, ``strict_json`` if None; it raises DegradedError where there is none.

    Raises DegradedError (BudgetError where ``spending`` has too little left, TooLongError; InputError for an
    unusable address). What the call cost is in ``spending`` whatever becomes of it.
    """
    key = check_endpoint(options)
    spending = spending or Spending()
    expected = estimate_tokens(system + user) + likely
    spending.claim(expected)
    # Half a second the first time: neither the deadline's business nor the event loop's.
    await asyncio.to_thread(_warm_up)
    try:
        async with asyncio.timeout(options.timeout):
            answer = await _ask(options, key, system, user, schema, name)
    except BaseException as error:
        spending.unanswered(expected)
        if isinstance(error, TimeoutError):
            raise DegradedError(
                f"The model did not answer within {options.timeout:g} seconds.",
                "Try again, or raise llm.timeout.",
            ) from error
        if not isinstance(error, Exception) or isinstance(error, DegradedError):
            raise
        # By behaviour: a third of the faults raise something that is no OpenAIError.
        raise _explained(error, options) from error
    text = _text(answer)
    tokens = _spent(answer) or (estimate_tokens(system + user + text) if text else 0)
    if tokens:
        spending.paid(tokens)
    else:
        spending.unanswered(expected)
    return Reply((read or strict_json)(_whole(answer, text)), tokens)


def _warm_up() -> None:
    import_module("openai.resources.chat.completions")
    from .capped import certificates

    certificates()


async def _ask(
    options: LlmOptions, key: str, system: str, user: str, schema: Mapping[str, Any], name: str
) -> object:
    import httpx2
    import openai

    from .capped import CappedTransport

    host = urlsplit(options.base_url).hostname or ""
    extra: dict[str, Any] = {"repeat_penalty": 1.1} if is_loopback(host) else {}
    # Only OpenAI's own models insist on the newer name, and only they are sure to know it.
    newer = host.endswith((".openai.com", ".openai.azure.com"))
    limit = "max_completion_tokens" if newer else "max_tokens"
    async with httpx2.AsyncClient(
        transport=CappedTransport(LARGEST_REPLY), follow_redirects=False, trust_env=False, timeout=options.timeout,
        headers={"Accept-Encoding": "identity"},
    ) as http:  # fmt: skip
        client = openai.AsyncOpenAI(
            api_key=key, base_url=options.base_url, max_retries=0, timeout=options.timeout, http_client=http,
            default_headers={"Authorization": f"Bearer {key}"},
        )  # fmt: skip
        return await client.chat.completions.create(
            model=options.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            response_format={"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema)}},
            extra_body={limit: _MOST_TOKENS, **extra},
        )


_STATUS = {
    400: ("refused the request", "Does the model support json_schema replies? Check llm.model, or choose another one."),
    401: ("refused the key", "Check the key in {key_env}."),
    403: ("refused the key", "Check the key in {key_env} and what it may do."),
    404: ("does not know the model or the address", "Check llm.base_url (it usually ends in /v1) and llm.model."),
    422: ("refused the request", "Does the model support json_schema replies? Choose another one."),
    429: ("has too many requests, or the credit is used up", "Wait; the next try comes by itself."),
}  # fmt: skip
# The key, the address or the credit, not what was asked.
_FOR_ANY_CALL = frozenset({401, 402, 403, 404, 429})


def _explained(error: BaseException, options: LlmOptions) -> DegradedError:
    """What went wrong, without the text of the reply: it may repeat the key or the conversation."""
    from .capped import TooLargeError

    host = urlsplit(options.base_url).hostname or options.base_url
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and len(chain) < 10:
        chain.append(at)
        at = at.__cause__ or at.__context__
    for one in chain:
        if isinstance(one, DegradedError):
            return one
        if isinstance(one, TooLargeError):
            return DegradedError(f"{host} sent more than {LARGEST_REPLY >> 20} MB.", "Check llm.base_url.")
    statuses = [getattr(one, "status_code", None) for one in chain]
    status = next((one for one in statuses if isinstance(one, int)), None)
    if status is not None:
        if 300 <= status < 400:
            return EndpointError(
                f"{host} points to another address ({status}).", "Set llm.base_url to the right one."
            )
        if status == 413 or (status in (400, 422) and any(_says_too_long(one) for one in chain)):
            return TooLongError(f"{host} finds the conversation too long ({status}).", refused=True)
        said, hint = _STATUS.get(
            status, ("is out of order" if status >= 500 else "refused", "Try again later.")
        )
        told = EndpointError if status in _FOR_ANY_CALL else DegradedError
        return told(f"{host} {said} ({status}).", hint.format(key_env=options.key_env))
    kind = type(chain[-1]).__name__
    if any(type(one).__name__ in ("ConnectError", "ConnectTimeout") for one in chain):
        return EndpointError(f"{host} cannot be reached ({kind}).", "Is it running? Check llm.base_url.")
    if any("Connect" in type(one).__name__ or isinstance(one, OSError) for one in chain):
        return DegradedError(f"{host} broke off ({kind}).", "Is it running? Check llm.base_url.")
    return DegradedError(f"{host} gave no usable reply ({kind}).", "Try again, or choose another model.")


def _says_too_long(error: BaseException) -> bool:
    """Endpoints refuse what is beyond a model's context as a bad request, each in its own words."""
    words = (getattr(error, name, None) for name in ("code", "type", "message"))
    said = [word.casefold() for word in words if isinstance(word, str)]
    return any(sign in word for word in said for sign in ("context", "too long", "too many tokens"))


def _choice(answer: object) -> object:
    choices = getattr(answer, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _text(answer: object) -> str:
    """What a model wrote, "" if nothing; not looked at yet."""
    text = getattr(getattr(_choice(answer), "message", None), "content", None)
    return text if isinstance(text, str) else ""


def _spent(answer: object) -> int:
    """The tokens of a reply, as far as the endpoint says; else 0."""
    total = getattr(getattr(answer, "usage", None), "total_tokens", None)
    return total if isinstance(total, int) and 0 < total < 100_000_000 else 0


def _whole(answer: object, text: str) -> str:
    """The text of a complete reply. Raises DegradedError for any other."""
    choice = _choice(answer)
    if choice is None:
        raise DegradedError(
            "The endpoint's reply is no answer of a model.", "Check llm.base_url (it usually ends in /v1)."
        )
    if getattr(choice, "finish_reason", None) == "length":
        raise TooLongError("The model's answer was cut off.", refused=False)
    if getattr(getattr(choice, "message", None), "refusal", None):
        raise DegradedError(
            "The model refused to answer.", "Choose another model, or skip this conversation."
        )
    if not text.strip():
        raise DegradedError("The model answered nothing.", "Try again, or choose another model.")
    if len(text) > LARGEST_REPLY:
        raise DegradedError("The model's answer is too long.", "Choose another model.")
    return text


def strict_json(text: str) -> dict[str, Any]:
    """One JSON object: no duplicate keys, no NaN, nothing around it. Raises DegradedError."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key occurs twice")
        return found

    def no_constant(name: str) -> Any:
        raise ValueError(f"{name} is no number")

    try:
        data = json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DegradedError(
            f"The model's answer is not the JSON that was asked for: {reason}.", _OTHER_MODEL
        ) from None
    if not isinstance(data, dict):
        raise DegradedError("The model's answer is not the JSON object that was asked for.", _OTHER_MODEL)
    return data


_OTHER_MODEL = "Choose a model that supports json_schema replies."
