"""Find entities by their form: addresses, links, @handles, #tags, absolute dates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .span import NameSpan
from .words import BESIDE_DATES, CALENDAR

_LOCAL = frozenset("._%+-")
_domain = re.compile(r"\w(?:[\w-]{0,61}\w)?(?:\.\w(?:[\w-]{0,61}\w)?){1,8}(?![\w@])")
_url = re.compile(r"(?:[Hh][Tt][Tt][Pp][Ss]?://|[Ww][Ww][Ww]\.(?=\w))[^\s<>\"`{}|\\^“”「」]+")
_URL_TAIL = ".,;:!?…'’*_~。，"
_BRACKETS = {")": "(", "]": "[", "）": "（"}
_authority = re.compile(r"((?:[A-Za-z]+://)?[^/?#]*)(/?$)?")
_handle = re.compile(r"\w(?:[\w.-]{0,62}\w)?(?![\w@])")
_EVERYONE = frozenset({"all", "channel", "everyone", "here", "me", "team"})
_tag = re.compile(r"#(?<![\w#&/]#)(?=[\w-]{0,63}[^\W\d_])(\w(?:[\w-]{0,62}\w)?)")
_colour = re.compile(r"(?:[0-9a-f]{3}){1,2}|[0-9a-f]{8}", re.IGNORECASE)

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MONTH = "(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in map(str.lower, MONTHS)) + r"|sept)\.?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_YEAR = r"(?P<year>1[89]\d\d|20\d\d|21\d\d)"
# In small letters; what comes before is looked at after.
_dates = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_YEAR}-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\d-])",
        rf"{_DAY}\.(?P<month>0?[1-9]|1[0-2])\.{_YEAR}(?!\.?\d)",
        rf"{_DAY}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?(?!\w)",
        rf"{_MONTH} (?:{_DAY}(?:st|nd|rd|th)?(?![\w:]|[.,]\d)(?:,? {_YEAR})?|(?P<year_only>(?:1[89]|20|21)\d\d))(?!\w)",
    )
)
_digit = re.compile(r"\d")
_BEFORE_DATE = frozenset("_.,:/-")


def find_marked(text: str) -> list[NameSpan]:
    """The marked entities of ``text``; they may overlap (an address in a link)."""
    spans: list[NameSpan] = []
    if "://" in text or "www." in text:
        spans += _find_urls(text)
    if "@" in text:
        spans += _find_addresses(text)
    if "#" in text:
        for match in _tag.finditer(text):
            if not _is_colour(match[1]):
                spans.append(_make_span(text, match.start(), match.end(), "project", match[1]))
    if _digit.search(text) is not None:
        spans += _absolute_dates(text)
    return spans


def is_date(name: str) -> bool:
    """Whether what a model took for a name is a date: ``12 May``, ``Tuesday``, ``early March``.

    ``May`` and ``June`` may be persons.
    """
    if _digit.search(name) is not None and any(len(span.text) == len(name) for span in _absolute_dates(name)):
        return True
    parts = [part.rstrip(".,") for part in name.lower().split()]
    return any(part in CALENDAR for part in parts) and all(
        part in CALENDAR or part in BESIDE_DATES or part[:1].isdigit() for part in parts
    )


def _make_span(text: str, start: int, end: int, type: str, name: str) -> NameSpan:
    return NameSpan(
        text=text[start:end],
        start=start,
        end=end,
        type=type,
        confidence=1.0,
        provider="regex",
        name=name,
    )


def _find_addresses(text: str) -> Iterator[NameSpan]:
    """Addresses and handles, distinguished by what comes before the sign."""
    at = text.find("@")
    while at >= 0:
        start = at
        while start > max(0, at - 64) and (text[start - 1].isalnum() or text[start - 1] in _LOCAL):
            start -= 1
        while start < at and text[start] == ".":
            start += 1
        if start < at:
            if text[at - 1] != "." and (domain := _domain.match(text, at + 1)) is not None:
                yield _make_span(text, start, domain.end(), "email", text[start : domain.end()].lower())
        elif text[at - 1 : at] not in ("@", "/"):
            handle = _handle.match(text, at + 1)
            if handle is not None and handle[0].lower() not in _EVERYONE:
                yield _make_span(text, at, handle.end(), "person", handle[0])
        at = text.find("@", at + 1)


def _find_urls(text: str) -> Iterator[NameSpan]:
    for match in _url.finditer(text):
        start, url = match.start(), match[0]
        before = text[start - 1 : start]
        if before.isalnum() or before in ("@", "_"):
            continue
        # A sentence's full stop and the bracket around the link are not part of it; the link's own brackets are.
        while url and (url[-1] in _URL_TAIL or _closes_nothing(url)):
            url = url[:-1]
        if "." in url or "localhost" in url:
            yield _make_span(text, start, start + len(url), "url", _url_name(url))


def _closes_nothing(url: str) -> bool:
    opening = _BRACKETS.get(url[-1])
    return opening is not None and url.count(url[-1]) > url.count(opening)


def _url_name(url: str) -> str:
    """Scheme and host in small letters, the rest as it is; a bare host without its slash."""
    authority = _authority.match(url)
    assert authority is not None
    host, only = authority.groups()
    return host.lower() if only is not None else host.lower() + url[len(host) :]


def _is_colour(name: str) -> bool:
    return _colour.fullmatch(name) is not None and (not name.isalpha() or len(set(name.lower())) == 1)


def _absolute_dates(text: str) -> Iterator[NameSpan]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small form is longer would shift every place
        lowered = "".join(character.lower()[0] for character in text)
    for pattern in _dates:
        for match in pattern.finditer(lowered):
            start, end = match.span()
            end -= (
                text[end - 1] == "."
            )  # the sentence's, or that of "Jun.", without which it is the same name
            before = text[start - 1 : start]
            if before.isalnum() or before in _BEFORE_DATE:
                continue
            parts = match.groupdict()
            day, month, year = parts["day"], parts["month"], parts["year"] or parts.get("year_only")
            # "you may 8 times out of ten"
            if month in ("may", "march", "mar") and not year and text[match.start("month")].islower():
                continue
            number = int(month) if month.isdigit() else _month_number(month)
            yield _make_span(text, start, end, "date", _date_name(year, number, day))


def _month_number(name: str) -> int:
    return next(at for at, month in enumerate(MONTHS, 1) if month[:3].lower() == name[:3])


def _date_name(year: str | None, month: int, day: str | None) -> str:
    if year is None:
        return f"{int(day or 0)} {MONTHS[month - 1]}"
    return f"{year}-{month:02}" + (f"-{int(day):02}" if day else "")
