"""Keys that show what they are by their first letters, and blocks of private keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
Span = tuple[str, int, int]
"""Kind, start, end."""


def _token(kind: str, start: str, rest: str) -> tuple[str, str, str]:
    # A pattern that begins with a literal is searched for fast; what stands before it is looked at after.
    return kind, start, rf"{re.escape(start)}(?<![A-Za-z0-9_-]{re.escape(start)}){rest}"


_TOKENS = (
    _token("aws key", "AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("aws key", "ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("github token", "gh", r"[opusr]_[A-Za-z0-9]{36,255}"),
    _token("github token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _token("gitlab token", "gl", r"(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,255}"),
    _token("slack token", "xox", r"[abeoprs]-[A-Za-z0-9-]{10,255}"),
    _token("slack token", "xapp-", r"\d-[A-Za-z0-9-]{10,255}"),
    _token("slack webhook", "hooks.slack.com/", r"(?:services|workflows)/[A-Za-z0-9/_-]{20,255}"),
    _token("stripe key", "sk_", r"(?:live|test)_[A-Za-z0-9]{16,255}"),
    _token("stripe key", "rk_", r"(?:live|test)_[A-Za-z0-9]{16,255}"),
    _token("stripe key", "whsec_", r"[A-Za-z0-9+/]{24,255}"),
    # Names of packages and branches begin with sk- too: 16 letters in a row with a digit, or 32 without.
    _token(
        "api key",
        "sk-",
        r"(?=[A-Za-z0-9_-]{20})(?:[A-Za-z0-9]{0,20}[_-]){0,12}"
        r"(?:(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{16}|[A-Za-z]{32})[A-Za-z0-9_-]{0,255}",
    ),
    _token("google key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _token("google key", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    _token("google token", "ya29.", r"[A-Za-z0-9_-]{30,1000}"),
    _token("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    _token("pypi token", "pypi-", r"AgE[A-Za-z0-9_-]{50,1000}"),
    _token("hugging face token", "hf_", r"[A-Za-z0-9]{34}"),
    _token("docker token", "dckr_pat_", r"[A-Za-z0-9_-]{27}"),
    _token("sendgrid key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _token("digitalocean token", "do", r"[opr]_v1_[0-9a-f]{64}"),
    _token("shopify token", "shp", r"(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _token("vault token", "hvs.", r"[A-Za-z0-9_-]{24,255}"),
    _token("api key", "gsk_", r"[A-Za-z0-9]{40,255}"),
    _token("api key", "xai-", r"[A-Za-z0-9]{40,255}"),
    _token("api key", "lin_api_", r"[A-Za-z0-9]{32,255}"),
    _token("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    _token("jwt", "eyJ", r"[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"),
    _token("account key", "AccountKey=", r"[A-Za-z0-9+/]{80,100}={0,2}"),
    ("bot token", ":AA", r":AA(?<=\d{8}:AA)[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
)


def grouped(
    found: Iterable[T], word: Callable[[T], str], parts: Sequence[str]
) -> tuple[tuple[str, list[T]], ...]:
    """By the first of ``parts`` that the word of each has, else by the word: a text without that has none of them."""
    groups: dict[str, list[T]] = {}
    for one in found:
        groups.setdefault(next((part for part in parts if part in word(one)), word(one)), []).append(one)
    return tuple(groups.items())


_BY_SIGN = grouped(_TOKENS, lambda token: token[1], "_-.A")


def find_tokens(text: str) -> Iterator[Span]:
    for sign, tokens in _BY_SIGN:
        if sign in text:
            for kind, start, pattern in tokens:
                if start in text:
                    for match in re.finditer(pattern, text):
                        yield kind, match.start(), match.end()


_private_key = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")


def find_private_keys(text: str) -> Iterator[Span]:
    if "PRIVATE KEY" not in text:
        return
    end = 0
    for match in _private_key.finditer(text):
        if match.start() < end:
            continue
        closing = f"-----END {match[1]}-----"
        at = text.find(closing, match.end())
        # Cut off before its end, the rest of the text belongs to it.
        end = len(text) if at < 0 else at + len(closing)
        if end - match.end() > 40:
            yield "private key", match.start(), end
