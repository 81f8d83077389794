"""Validate texts, tags, numbers and scratchpad entries, and find secrets, before anything is stored."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from memtui.engine.errors import InputError
from memtui.engine.records import TOPICS, TRUST_ORDER, Kind, MemoryRecord, SecretPolicy, Topic, Trust
from memtui.engine.store.sql import storable_text

MAX_EPISODE = 500_000
MAX_NOTE = 20_000
MAX_TAG = 64
MAX_NAME = 500


class CheckedText(NamedTuple):
    """A text as it will be stored, and what to note about it in ``attributes``."""

    content: str
    attributes: dict[str, Any]

    @property
    def quarantined(self) -> bool:
        """Carries a secret: it gets no vector and is never sent to a model."""
        return "secrets" in self.attributes and "redacted" not in self.attributes


def check_is_text(value: object, what: str) -> None:
    """Raises InputError for what a program passed in place of a text."""
    if not isinstance(value, str):
        raise InputError(f"A {what} is text, not {type(value).__name__}.", "Pass a string.")


def check_text(content: str, kind: Kind, policy: SecretPolicy) -> CheckedText:
    """Check a text and apply the policy for secrets.

    ``redact`` replaces the secret, ``quarantine`` keeps the text away from vectors and models,
    ``keep`` stores it as it is. Raises InputError for empty and over-long texts.
    """
    check_is_text(content, "memory")
    content = storable_text(content)
    if not content.strip():
        raise InputError("There is no text to remember.", "Give at least one word.")
    limit = MAX_EPISODE if kind == "episode" else MAX_NOTE
    if len(content) > limit:
        raise InputError(
            f"The text has {len(content):,} characters; a{'n' if kind == 'episode' else ''} {kind} may have {limit:,}.",
            "Shorten it, or split it into several.",
        )
    if kind != "episode" and "\0" in content:
        raise InputError("The text contains NUL characters: it looks like binary data.", "Give plain text.")
    return apply_secret_policy(content, kind, policy)


def apply_secret_policy(content: str, kind: Kind, policy: SecretPolicy) -> CheckedText:
    """A text that may be stored, after the policy for secrets."""
    mode = policy.episodes if kind == "episode" else policy.facts
    if mode == "keep":
        return CheckedText(content, {})
    from memtui.engine.guards import secrets  # its patterns take 40 ms, and reading needs none

    if mode == "redact":
        redacted, kinds = secrets.redact_secrets(content)
        return (
            CheckedText(redacted, {"secrets": list(kinds), "redacted": True})
            if kinds
            else CheckedText(content, {})
        )
    secrets_found = secrets.find_secrets(content)
    if not secrets_found:
        return CheckedText(content, {})
    return CheckedText(content, {"secrets": sorted({match.kind for match in secrets_found})})


def check_confidence(value: float) -> float:
    """Raises InputError for what is no number from 0 to 1."""
    if not (isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= 1.0):
        raise InputError(f"A confidence is between 0 and 1, not {value!r}.", "For example 0.8.")
    return float(value)


def normalise_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags without their sign, in the order given, each once (compared without case)."""
    tags_by_name: dict[str, str] = {}
    for value in [values] if isinstance(values, str) else values:
        tag = _normalise_tag(value)
        tags_by_name.setdefault(tag.casefold(), tag)
    return tuple(tags_by_name.values())


@functools.lru_cache(maxsize=256)  # a bulk change checks the same one for each memory
def _normalise_tag(value: str) -> str:
    tag = unicodedata.normalize("NFC", value).strip().lstrip("#")
    if not tag or len(tag) > MAX_TAG or any(c.isspace() or c in ',"' or not c.isprintable() for c in tag):
        raise InputError(
            f"{_quote_for_error(value)} is not a usable tag.",
            f"A tag is one word of at most {MAX_TAG} characters, without spaces, commas, quotes.",
        )
    return _in_brackets.sub(lambda match: "redacted-" + match[1].replace(" ", "-"), without_secrets(tag))


_in_brackets = re.compile(r"\[redacted: ([^\]]+)\]")


def check_topic(value: str | None) -> Topic | None:
    """One of the known topics, in any case; None for none. Raises InputError for another one."""
    if value is None:
        return None
    topic = next((one for one in TOPICS if one == value.strip().casefold()), None)
    if topic is None:
        raise InputError(f"{_quote_for_error(value)} is not a topic.", f"It can be {', '.join(TOPICS)}.")
    return topic


def check_name(value: str, what: str) -> str:
    """A session id, role, source or project: short printable text; a secret in it is redacted."""
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise InputError(
            f"{_quote_for_error(value)} is not a usable {what}.", f"Give 1 to {MAX_NAME} characters."
        )
    return without_secrets(storable_text(value))


def without_secrets(text: str) -> str:
    """A text beside a memory (a name, title or question) as it may be stored: secrets are redacted, whatever the
    policy for memories says, since it is shown, logged and served everywhere."""
    return _redacted_name(text) if len(text) <= _SHORT else _redact_text(text)


def open_text(memory: MemoryRecord) -> str:
    """The text of a memory as a label or card may tell it: without the secret of a quarantined turn."""
    return without_secrets(memory.content) if "secrets" in memory.attributes else memory.content


def _redact_text(text: str) -> str:
    from memtui.engine.guards import secrets  # its rules are read when the first text comes

    return secrets.redact_secrets(text)[0]


# The names of sessions, roles and projects come with every turn.
_SHORT = 200
_redacted_name = functools.lru_cache(256)(_redact_text)


def _quote_for_error(value: object) -> str:
    """A refused value for an error message."""
    return repr(without_secrets(str(value))[:100])


def require_actor(actor: str) -> None:
    """Raises InputError for a name that cannot sign a change."""
    if actor in ("person", "scheduler", "import"):
        return
    if not actor.startswith("agent:") or len(actor) == len("agent:"):
        raise InputError(
            f"{_quote_for_error(actor)} is not an actor.", "Use person, agent:<name>, scheduler or import."
        )
    if without_secrets(actor) != actor:
        raise InputError("The name of the agent holds a secret.", "Give another name.")


def check_scope(value: str | None, what: str) -> None:
    """Raise InputError for a filter or project that was meant to confine somebody and is empty. None confines nothing."""
    if value is not None and not value.strip():
        raise InputError(
            f"The {what} is empty, so it would limit nothing.",
            f"Give a {what}, or leave it out for all of the memory.",
        )


_ROLE_TRUST: dict[str, Trust] = {
    "user": "user", "human": "user",
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "chatbot", "model", "llm", "chatgpt", "gpt", "claude",
                     "gemini", "copilot", "openai", "anthropic"), "agent"),
    **dict.fromkeys(("tool", "tools", "function", "system", "developer"), "tool"),
}  # fmt: skip
# Long enough that a slip of the finger still tells which was meant.
_OFTEN_MISTYPED = ("assistant", "function", "system", "developer")


def role_trust(role: str) -> Trust | None:
    """How far the words of a known role go; None for other roles, which are names of speakers.

    A mistyped role of a machine ("asistant", "claude-3", "system_prompt") counts as that machine's, never
    as the person's.
    """
    name = role.strip().casefold()
    if known := _ROLE_TRUST.get(name):
        return known
    head = re.split(r"[^a-z]", name, maxsplit=1)[0] if " " not in name else name
    from difflib import get_close_matches

    close = _ROLE_TRUST.get(head) or next(
        map(_ROLE_TRUST.get, get_close_matches(name, _OFTEN_MISTYPED, 1, 0.85)), None
    )
    return None if close == "user" else close


def trust_of_role(role: str, actor: str, *, claimed: bool = False) -> Trust:
    """How far the words of a role go: the known roles speak for themselves, other speakers as the actor does.

    ``claimed``: no further than the actor, who only says that they were said.
    """
    of_role, of_actor = role_trust(role), actor_trust(actor)
    if claimed and of_role:
        return max(of_role, of_actor, key=TRUST_ORDER.index)
    return of_role or of_actor


def is_claim(role: str | None, trust: Trust) -> bool:
    """Whether a turn is the person's only by the word of somebody who is trusted less."""
    return trust != "user" and role_trust(role or "") == "user"


def actor_trust(actor: str) -> Trust:
    """How far what ``actor`` says is trusted."""
    if actor == "person":
        return "user"
    if actor.startswith("agent:"):
        return "agent"
    return "model" if actor == "scheduler" else "tool"


MAX_KEY = 200
MAX_VALUE = 100_000


def usable_key(key: str) -> str:
    """What a new key may be. Raises InputError."""
    if not key or len(key) > MAX_KEY or not key.isprintable():
        raise InputError(
            "This is not a usable key.",
            f"Give 1 to {MAX_KEY} printable characters on one line, as in api.limit.",
        )
    if without_secrets(key) != key:
        raise InputError("The key holds a secret.", "Put it into the value, where it is redacted.")
    return key


def accept_note(value: str, policy: SecretPolicy) -> str:
    """A value as it will be stored; the policy is that for facts. Raises InputError."""
    if not isinstance(value, str):
        raise InputError(f"A value is text, not {type(value).__name__}.", "Pass a string.")
    value = storable_text(value)
    if len(value) > MAX_VALUE:
        raise InputError(
            f"The value has {len(value):,} characters; it may have {MAX_VALUE:,}.", "Shorten it."
        )
    if "\0" in value:
        raise InputError("The value contains NUL characters: it looks like binary data.", "Give plain text.")
    if policy.facts != "redact" or not value.strip():
        return value
    from memtui.engine.guards import secrets  # its patterns take 40 ms

    return secrets.redact_secrets(value)[0]
