"""The text that a command is given: on its line, or on standard input with ``-``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from memtui.engine.errors import InputError

_MOST_BYTES = 1 << 20
_CONVERT = "Convert it first, for example with iconv."


def given_text(words: Sequence[str]) -> str:
    """``words`` joined, or what standard input holds when they are just ``-``.

    Raises InputError for what is no text: other encodings, more than a memory can be.
    """
    if tuple(words) == ("-",):
        return _standard_input()
    text = " ".join(words)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("The text is not valid UTF-8.", _CONVERT) from None
    return text


def _standard_input() -> str:
    raw = sys.stdin.buffer.read(_MOST_BYTES + 1) if sys.stdin is not None else b""
    if len(raw) > _MOST_BYTES:
        raise InputError(
            "Standard input holds more than 1 MiB: too much for one memory.",
            "Whole conversations are brought in with memtui import PATH.",
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"Standard input is not valid UTF-8 (byte {error.start}).", _CONVERT) from None
