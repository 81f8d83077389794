"""Card and account numbers: the shape and the check digits must both be right."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .tokens import Span

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
        if _card_issuers.fullmatch(digits) and _luhn(digits):
            yield "card number", match.start(), match.end()
    for match in _iban.finditer(text):
        iban = match[0].replace(" ", "")
        # What follows after a blank may be the next word: "... 00 AND".
        iban = iban[: _IBAN_LENGTHS.get(iban[:2], 0)]
        if iban and _iban_checks(iban):
            end = match.start() + _place_of(match[0], len(iban))
            yield "iban", match.start(), end


def _place_of(text: str, letters: int) -> int:
    """Where the given number of non-blanks ends."""
    at = 0
    while letters:
        letters -= text[at] != " "
        at += 1
    return at


def _luhn(digits: str) -> bool:
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0 and len(set(digits)) > 1


def _iban_checks(iban: str) -> bool:
    if len(iban) != _IBAN_LENGTHS.get(iban[:2]):
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1
