"""What may stand on the scratchpad: usable keys, bounded texts, secrets blacked out."""

from __future__ import annotations

from memtui.engine.errors import InputError
from memtui.engine.records import SecretPolicy
from memtui.engine.store.sql import storable

from . import validation

MAX_KEY = 200
MAX_VALUE = 100_000


def usable_key(key: str) -> str:
    """What a new key may be. Raises InputError."""
    if not key or len(key) > MAX_KEY or not key.isprintable():
        raise InputError(
            "This is not a usable key.",
            f"Give 1 to {MAX_KEY} printable characters on one line, as in api.limit.",
        )
    if validation.without_secrets(key) != key:
        raise InputError("The key holds a secret.", "Put it into the value, where it is redacted.")
    return key


def accept(value: str, policy: SecretPolicy) -> str:
    """A value as it will be stored; the policy is that for facts. Raises InputError."""
    if not isinstance(value, str):
        raise InputError(f"A value is text, not {type(value).__name__}.", "Pass a string.")
    value = storable(value)
    if len(value) > MAX_VALUE:
        raise InputError(
            f"The value has {len(value):,} characters; it may have {MAX_VALUE:,}.", "Shorten it."
        )
    if "\0" in value:
        raise InputError("The value contains NUL characters: it looks like binary data.", "Give plain text.")
    if policy.facts != "redact" or not value.strip():
        return value
    from memtui.engine.guards import secrets  # its patterns take 40 ms

    return secrets.redact(value)[0]
