"""Secrets announced by a word: ``password: ...``, ``api_key=...``, ``https://user:...@host``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from .tokens import Span

T = TypeVar("T")
_PASSWORD_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "mot de passe"),
    *("contraseña", "senha", "пароль", "密码", "パスワード"),
)
_KEY_WORDS = ("secret", "token", "key", "credential", "credentials")
_KEY_OWNERS = (
    *("api", "access", "private", "secret", "auth", "account", "signing", "encryption", "master", "license"),
    *("admin", "subscription", "service", "deploy", "webhook"),
)
_VALUE = r"(?P<value>[^\s\"'`,;<>\[\]{}()|\\]{%d,200})"
_ASSIGNED = r"[\"'`*]{0,3}[ \t]{0,3}(?::=|=>|==?|->|→|：|:)[ \t*\"'`]{0,5}"
# "the password for the guest network is ...": said, not assigned.
_SAID = (
    r"(?P<said>(?: (?:for|to|of|on) [^\n.:=?!]{1,40}?)?(?: is now| is| was| changed to| to)"
    r"[ \t]{1,3}[\"'`“]?)"
)


def _group_by_word(
    rules: Iterable[T], word: Callable[[T], str], parts: Sequence[str]
) -> tuple[tuple[str, list[T]], ...]:
    """By the first of ``parts`` that the word of each has, else by the word: a text without that has none of them."""
    groups: dict[str, list[T]] = {}
    for one in rules:
        groups.setdefault(next((part for part in parts if part in word(one)), word(one)), []).append(one)
    return tuple(groups.items())


# Compiled when their word is met: all of them take 10 ms.
_PASSWORDS = _group_by_word(
    [(word, f"{word}(?:{_ASSIGNED}|{_SAID}){_VALUE % 6}") for word in _PASSWORD_WORDS],
    lambda one: one[0],
    ["pass"],
)
_KEYS = tuple((word, f"{word}(?:{_ASSIGNED}| is ){_VALUE % 12}") for word in _KEY_WORDS)
_HEADERS = (
    ("token", "bearer", "bearer[ \t:]{1,3}" + _VALUE % 16),
    ("password", "basic", r"basic(?<=authorization[:=] basic)[ \t]{1,3}" + _VALUE % 8),
)
_pin = re.compile(r"pin(?<![a-z]pin)(?: number)?(?: is |: ?| ?= ?)(?P<value>\d{4,8})(?![\d.,:/-]\d|\d)")

# What is in the place of a value in documentation and code.
_placeholder = re.compile(
    r"(?-i:\$[A-Z_{(])|%[(sd{]|[&<{/~.]|\*{3}|x{3,}|your[_-]|my[_-]|example|placeholder|change_?me|redacted"
    r"|os\.|process\.|env\.|self\.",
    re.IGNORECASE,
)
_PLACEHOLDER_WORDS = frozenset({"pass", "password", "passwd", "pwd", "secret", "token", "port", "pw"})
_words = re.compile(r"(?:[A-Za-z]+|\d+)(?:[-_.:/+]+(?:[A-Za-z]+|\d+))*")
_amount = re.compile(r"\d+(?:st|nd|rd|th|[a-z]{1,5})|\w+\.\w{1,4}")
_strong_symbols = re.compile(r"[!@#$%^&*+=?~]")


def find_assignments(text: str, lowered: str) -> Iterator[Span]:
    for word, pattern in (one for part, those in _PASSWORDS if part in lowered for one in those):
        if word in lowered:
            for match in re.finditer(pattern, lowered):
                start, end = _value_span(text, match)
                if _looks_like_password(text[start:end], match["said"] or ""):
                    yield "password", start, end
    for word, pattern in _KEYS:
        if word in lowered:
            for match in re.finditer(pattern, lowered):
                owner = lowered[max(match.start() - 14, 0) : match.start()].rstrip("_- .")
                start, end = _value_span(text, match)
                if (word != "key" or owner.endswith(_KEY_OWNERS)) and _looks_random(text[start:end]):
                    yield word, start, end
    for kind, word, pattern in _HEADERS:
        if word in lowered:
            for match in re.finditer(pattern, lowered):
                start, end = _value_span(text, match)
                if _looks_random(text[start:end]):
                    yield kind, start, end
    if "pin" in lowered:
        for match in _pin.finditer(lowered):
            yield "pin", match.start("value"), match.end("value")


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    start, end = match.span("value")
    return start, start + len(text[start:end].rstrip(".,;:”’*"))


def _looks_like_password(value: str, word: str) -> bool:
    """``word``: the words that led to it; empty when a sign did."""
    if len(value) < 6 or _placeholder.match(value) or value.lower() in _PLACEHOLDER_WORDS or "://" in value:
        return False
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    strong = _strong_symbols.search(value) is not None
    if " to" in word and "changed" not in word:
        return digits and (strong or value not in (value.lower(), value.upper()))
    if word:
        return digits and not _amount.fullmatch(value)
    return (digits and not (letters and _looks_like_name(value))) or (letters and strong)


def _looks_like_name(value: str) -> bool:
    """Words and numbers held together by signs: ``feature-branch-2``, ``settings.password_2``."""
    return _words.fullmatch(value) is not None and not value.isalnum() and not value.isdigit()


def _looks_random(value: str) -> bool:
    """Digits among the letters, no name, at least 2.5 bits a character over 8 kinds of them."""
    if len(value) < 8 or _placeholder.match(value) or _looks_like_name(value):
        return False
    if not any(character.isdigit() for character in value) and (
        len(value) < 20 or value in (value.lower(), value.upper())
    ):
        return False
    counts = Counter(value)
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    return len(counts) >= 8 and bits >= 2.5 and not value.isdigit()


_url = re.compile(r"://(?P<user>[^\s/:@?#]{0,100}):(?P<value>[^\s/@?#]{3,200})@[\w\[]")


def find_in_urls(text: str) -> Iterator[Span]:
    if "://" not in text or "@" not in text:
        return
    for match in _url.finditer(text):
        value = match["value"]
        if value.lower() not in _PLACEHOLDER_WORDS and not _placeholder.match(value):
            yield "password", match.start("value"), match.end("value")
