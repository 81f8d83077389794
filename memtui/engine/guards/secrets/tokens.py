"""Keys with a known prefix or a vendor's name before them, private key blocks, card and account numbers.

The rules are data: those of gitleaks (``gitleaks.txt``) and more of the same form (``more.txt``). A rule runs only around the
places of its words, so that the time stays linear whatever the text is.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

Span = tuple[str, int, int]
"""Kind, start, end."""

SHORTEST = 14
"""No key is shorter: a text of short words has none."""
_FILES = ("more.txt", "gitleaks.txt")
# Around the word of a rule: how far before it a key may begin, and how far after it end.
_BEFORE, _AFTER, _NEAR = 200, 2_200, 420
_BLANKS = r"[\s'\"`*=]"
# From the name of a vendor to the value: a word for what it is, then a sign, "is" or a blank.
_TO_VALUE = (
    r"[\w .'-]{0,30}?(?i:key|token|secret|pass(?:word)?|auth|api|cred(?:ential)?s?|pat|login|logging)[\w .-]{0,24}?"
    rf"{_BLANKS}{{0,4}}(?:=>|->|:=|=|:|>|,|\bis\b|(?<=[\w-])[ \t]){_BLANKS}{{0,5}}(?<![A-Za-z0-9])"
)
_END = r"(?![A-Za-z0-9])"
_ESCAPE = re.compile(r"\\[nrtf]|%[0-9A-Fa-f]{2}")


class _TokenRule(NamedTuple):
    kind: str
    words: tuple[str, ...]
    bits: float
    source: str

    @property
    def follows_vendor_name(self) -> bool:
        """The value follows the name of its vendor."""
        return "NEAR" in self.source

    @property
    def starts_with_word(self) -> bool:
        """Begins with its word, which stands at the beginning of the key."""
        start = re.sub(r"\\b|\(\?i\)|\\|\((?!\?)", "", self.source).lower()
        return all(start.startswith(word) for word in self.words)


@functools.cache
def _load_rules() -> tuple[_TokenRule, ...]:
    rules = []
    for name in _FILES:
        for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                kind, words, bits, source = line.split("\t")
                rules.append(_TokenRule(kind, tuple(words.split(",")), float(bits), source))
    return tuple(rules)


@functools.cache
def _compile_pattern(source: str) -> re.Pattern[str]:
    return re.compile(source.replace("NEAR", _TO_VALUE).replace("END", _END))


@functools.cache
def _rules_by_word() -> tuple[tuple[str, tuple[_TokenRule, ...]], ...]:
    """Each word with its rules."""
    by_word: dict[str, list[_TokenRule]] = {}
    for rule in _load_rules():
        for word in rule.words:
            by_word.setdefault(word, []).append(rule)
    return tuple((word, tuple(rules)) for word, rules in by_word.items())


def find_tokens(text: str, lowered: str) -> Iterator[Span]:
    """``lowered`` has the characters of ``text`` at the same places."""
    if not _has_long_word(text):
        return
    for word, rules in _rules_by_word():
        if word in lowered:
            for rule in rules:
                yield from (
                    _match_anchored(rule, word, text, lowered)
                    if rule.starts_with_word
                    else _match_near_word(rule, word, text, lowered)
                )


def _has_long_word(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= SHORTEST


def _match_anchored(rule: _TokenRule, word: str, text: str, lowered: str) -> Iterator[Span]:
    whole = rule.source.removeprefix("(?i)").startswith("\\b")
    pattern = _compile_pattern(rule.source.replace("\\b", "", 1) if whole else rule.source)
    at = lowered.find(word)
    while at >= 0:
        if (not whole or _is_word_start(text, at)) and (match := pattern.match(text, at)):
            if _entropy_per_character(match[0]) >= rule.bits:
                yield rule.kind, match.start(), match.end()
            at = lowered.find(word, match.end())
        else:
            at = lowered.find(word, at + 1)


def _is_word_start(text: str, at: int) -> bool:
    """Whether a word may begin there: no letter before it, but that of an escaped line end or sign."""
    before = text[at - 1 : at]
    return not (before.isascii() and before.isalnum()) or any(
        _ESCAPE.fullmatch(text, at - length, at) for length in (2, 3) if at >= length
    )


def _match_near_word(rule: _TokenRule, word: str, text: str, lowered: str) -> Iterator[Span]:
    pattern = _compile_pattern(rule.source)
    before, after = (0, _NEAR) if rule.follows_vendor_name else (_BEFORE, _AFTER)
    for start, end in _windows_around(word, lowered, before, after):
        for match in pattern.finditer(text, start, end):
            group = match.lastindex and 1
            first, last = (
                match.span(group) if rule.follows_vendor_name and group and match[group] else match.span()
            )
            value = text[first:last]
            if _entropy_per_character(value) >= rule.bits and (
                not rule.follows_vendor_name or _looks_generated(value)
            ):
                yield rule.kind, first, last


def _windows_around(word: str, lowered: str, before: int, after: int) -> Iterator[tuple[int, int]]:
    """The stretches around the places of a word, none overlapping."""
    at = lowered.find(word)
    while at >= 0:
        start = last = at
        while 0 <= (at := lowered.find(word, last + 1)) <= last + before + after:
            last = at
        yield max(start - before, 0), last + after


def _looks_generated(value: str) -> bool:
    """No word: digits in several places, and many different signs."""
    return sum(c.isdigit() for c in value) >= 2 and len(set(value)) >= 8


def _entropy_per_character(value: str) -> float:
    """Shannon's entropy of a character."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


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


_card = re.compile(
    r"[2-6](?<![\w./-][2-6])(?<!\d [2-6])"
    r"(?:\d{13,15}|\d{3}([ -])(?:\d{4}\1\d{4}\1\d{4}|\d{6}\1\d{4,5}))(?!\w|[.-]\d| \d{4})"
)
_card_issuers = re.compile(
    r"4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}"
)
_iban = re.compile(
    r"[A-Z](?<![A-Za-z0-9][A-Z])[A-Z]\d\d"
    r"(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?![A-Za-z0-9])"
)
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG DE GB GE IE ME RS",
        23: "AE GI IL",
        24: "AD CZ ES MD PK RO SA SE SK TN",
        25: "PT",
        26: "IS TR",
        27: "FR GR IT MC SM",
        28: "AL AZ CY DO GT HU LB PL",
        29: "BR PS QA UA",
        30: "JO KW MU",
        31: "MT",
    }.items()
    for country in countries.split()
}


def find_numbers(text: str) -> Iterator[Span]:
    if text.isascii() and not any(map(text.__contains__, "0123456789")):
        return  # ten quick looks, where each pattern would try every letter
    for match in _card.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _card_issuers.fullmatch(digits) and _passes_luhn(digits):
            yield "card number", match.start(), match.end()
    for match in _iban.finditer(text):
        iban = match[0].replace(" ", "")
        # What follows after a blank may be the next word: "... 00 AND".
        iban = iban[: _IBAN_LENGTHS.get(iban[:2], 0)]
        if iban and _iban_checks(iban):
            end = match.start() + _offset_of_letter(match[0], len(iban))
            yield "iban", match.start(), end


def _offset_of_letter(text: str, letters: int) -> int:
    """Where the given number of non-blanks ends."""
    at = 0
    while letters:
        letters -= text[at] != " "
        at += 1
    return at


def _passes_luhn(digits: str) -> bool:
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0 and len(set(digits)) > 1


def _iban_checks(iban: str) -> bool:
    if len(iban) != _IBAN_LENGTHS.get(iban[:2]):
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1
