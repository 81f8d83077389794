"""Times, days, dates, amounts and numbers in a statement, each in one spelling.

"half past nine", "9:30" and "halb zehn" become "9:30"; "the 3rd of May" and "3. Mai" become "3/5".
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from .change_words import day_names, hour_names, month_names, says_change, words_under
from .similarity import tokens_as_written, word_shape
from .vocabulary import NUMBER_WORDS

_taken_back = re.compile(
    r"\b(?:not|no longer|no more|from|instead of|rather than|nicht(?: mehr)?|statt|von|pas|au lieu d[eu]|"
    r"plutôt que|no(?: era| es)?|ya no|en vez de|earlier)"
    r"(?! (?:\w+ )?(?:than|als|only|just|nur) )(?= ((?:[^\s,;]+ ?){1,3}))"
)
_gone_to = re.compile(
    r"(?:^|\bthe )((?:\w+[:.]?\w*)) (?:went|goes|has gone|is going|changed|moved) (?:up |down |back )?to\b"
)
_over = re.compile(
    r"((?:[\w:.]+,? ){1,4})(?:is|are|was|were|fällt|ist|sind|est) (?:gone|off|aus|weg|too (?:low|little|much))\b"
)
# What a statement says of a value that was true: "10 December" of "the 31st and no longer 10 December"; "not" alone only says
# so beside a word for a change.
_said_over = re.compile(
    r"(?:\b(?:no longer|no more|instead of|nicht mehr|(?:an)?statt|au lieu d[eu]|ya no(?: es)?|en vez de|en lugar de)"
    r"|(?P<weak>\b(?:but |and )?(?:not|nicht|pas)(?! (?:only|just|nur|que)\b)))(?= ([^,;]{1,40}))"
)
_moved_from = re.compile(
    r"\b(?:moved?|moves|shift(?:ed|s)|push(?:ed|es)|chang(?:ed|es)|rescheduled|postponed|went|goes|gone|rais(?:ed|es)|increased|"
    r"reduced|cut|dropped)(?: (?:up|down|back|forward|out))? from (?=([^,;]{1,40}?) to\b)"
)
_BEFORE_VALUE = 12  # characters: "on the", "from"
_BETWEEN = 2
_PRECISE_FIRST = ("dates", "times", "amounts", "days", "numbers")
# "from 9 to 10": what follows is the new one.
_then = re.compile(r"(?:^| )(?:to|until|till|but|sondern|auf|bis|à|a|al|now)(?= |$)")
_money = re.compile(
    r"[€$£] ?(?P<a>\d[\d.,]*)|\b(?P<b>\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d[\d.,]*) ?"
    r"(?:€|\$|£|euros?|dollars?|pounds?|quid|k\b|lakhs?|lpa|grand|cents|pesos|mil\b)"
)
# "21 500" and "1.900.000" are one number, as "21,500" is.
_number = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)*")
_thousands = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")


class ValueSets(NamedTuple):
    """The values that a statement mentions, by kind."""

    times: frozenset[str]
    days: frozenset[str]
    dates: frozenset[str]
    amounts: frozenset[str]
    numbers: frozenset[str]


class ReadValues(NamedTuple):
    """The values of a text. ``words``: those that are nothing but a value; ``spans``: kind, value, start and end of each."""

    values: ValueSets
    words: set[str]
    spans: list[tuple[str, str, int, int]]


def read_values(plain: str, lowered: Sequence[str]) -> ReadValues:
    """The values of a text in small letters (``plain``) with the words ``lowered``."""
    spans: list[tuple[str, str, int, int]] = []
    month_numbers, hour_words, day_numbers = month_names(), words_under("hours"), day_names()
    date, time = _moment_shapes()
    rest = plain

    def note(kind: str, value: str, match: re.Match[str]) -> None:
        spans.append((kind, value, *match.span()))

    for match in _money.finditer(rest):
        note("amounts", _plain_number(match["a"] or match["b"]), match)
        rest = _blank_match(rest, match)
    for match in date.finditer(rest):
        month = next((match[name] for name in ("mo", "mo2", "mo6") if match[name]), "")
        number = str(month_numbers[month]) if month else match["mo4"] or ""
        for name in ("d", "d0", "d2", "d3", "d4", "d5", "d6", "d7", "d8"):
            if match[name]:
                note("dates", f"{int(match[name])}/{number}", match)
        if match["mo6"]:
            note("dates", f"/{number}", match)
        rest = _blank_match(rest, match)
    for match in time.finditer(rest):
        hour = next((match[name] for name in ("h", "h2", "h3", "h4", "h5") if match[name]), "")
        if hour:
            later = ("p" in (match["half"], match["half2"]) or match["half3"]) and int(hour) < 12
            note("times", f"{int(hour) + 12 * bool(later)}:{match['m'] or '00'}", match)
        elif match["word"] and not (match["word"] in hour_words or match["word"].isdigit()):
            continue
        else:
            note(
                "times", _parse_spoken_time(match["part"], match["word"]) if match["word"] else "12:00", match
            )
        rest = _blank_match(rest, match)
    for match in _number.finditer(rest):
        note("numbers", _plain_number(match[0]), match)
    for match in word_shape.finditer(rest):
        if match[0] in NUMBER_WORDS:
            note("numbers", NUMBER_WORDS[match[0]], match)
        elif match[0] in day_numbers:
            note("days", day_numbers[match[0]], match)
    value_words = {
        word
        for word in lowered
        if word[0].isdigit() or word in day_numbers or word in month_numbers or word in NUMBER_WORDS
    }
    return ReadValues(
        ValueSets(
            *(frozenset(value for kind, value, _, _ in spans if kind == name) for name in ValueSets._fields)
        ),
        value_words,
        spans,
    )


def _parse_spoken_time(part: str, word: str) -> str:
    """ "half past nine" as 9:30, "quarter to seven" as 6:45, "halb neun" as 8:30."""
    said = word if word.isdigit() else NUMBER_WORDS.get(word) or hour_names().get(word, "")
    if not said:
        return f"{part}{word}"
    hour = int(said) - (part.endswith(("to ", "vor ")) or part == "halb ")
    minute = "30" if part.startswith("hal") else "45" if part.endswith(("to ", "vor ")) else "15"
    return f"{hour or 12}:{minute}"


def _plain_number(written: str) -> str:
    """A number without what groups its thousands: "21 500", "21,500" and "21.500" are 21500, "3.5" stays."""
    plain = re.sub(r"[,\s]", "", written.strip(".,"))
    return plain.replace(".", "") if _thousands.fullmatch(plain) else plain


def _blank_match(text: str, match: re.Match[str]) -> str:
    start, end = match.span()
    return text[:start] + " " * (end - start) + text[end:]


@functools.cache
def _moment_shapes() -> tuple[re.Pattern[str], re.Pattern[str]]:
    month = "|".join(sorted(month_names(), key=len, reverse=True))
    day = r"(?:st|nd|rd|th|er)?\.?"
    date = re.compile(
        rf"\b(?:(?P<d0>\d{{1,2}}){day} ?(?:to|bis|-|–|au|al|and|und|et|y) ?)?"
        rf"(?P<d>\d{{1,2}}){day}(?: (?:of|de))? (?P<mo>{month})\b|"
        rf"\b(?P<mo2>{month})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)"
        rf"(?: ?(?:to|-|–|and) ?(?P<d6>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d))?|"
        rf"\bthe (?P<d7>\d{{1,2}}) ?[-–] ?(?P<d8>\d{{1,2}})\b(?! ?%)|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)\b|"
        rf"\b(?P<d4>\d{{1,2}})\.(?P<mo4>\d{{1,2}})\.|\b(?:am|den|bis|zum) (?P<d5>\d{{1,2}})\.(?!\d| (?:{month})\b)|"
        rf"\b(?:in|until|by|im|en|bis|hasta|till|next) (?P<mo6>{month})\b(?! \d)"
    )
    time = re.compile(
        r"\b(?P<h>\d{1,2})[:.h](?P<m>[0-5]\d)(?!\d|\.\d)(?: ?(?P<half>[ap])\.?m\b)?|\b(?P<h2>\d{1,2}) ?(?P<half2>[ap])\.?m\b|"
        r"\b(?:um|at|à|a las|las) (?P<h3>\d{1,2})(?: (?:uhr|h))?\b(?![.:\d]| \d{3}\b| ?[ap]\.?m\b)|"
        r"\b(?P<h4>\d{1,2}) ?(?:uhr|h|o'? ?clock)\b|"
        r"\b(?P<part>half (?:past )?|quarter (?:past|to|after) |viertel (?:nach|vor) |halb )(?P<word>\w+)\b|"
        r"\b(?P<h5>\d{1,2}) (?:in the (?:morning|(?P<half3>afternoon|evening))|du matin|de la mañana|morgens|abends)\b|"
        r"\b(?:noon|midday|midi)\b"
    )
    return date, time


def spoken_forms(values: ValueSets) -> frozenset[str]:
    """The values as they may be said beside another: "not the 9th" of 9 May, "not at 4" of 4:00."""
    found = {value for kind in values for value in kind}
    for date in values.dates:
        day = date.partition("/")[0]
        found |= {day, f"{day}/"} if day else set()
    for time in values.times:
        hour, _, minute = time.partition(":")
        if minute == "00" and hour.isdigit():
            found |= {hour, str((int(hour) - 1) % 12 + 1)}
    return frozenset(found)


def values_named(text: str) -> frozenset[str]:
    """The values of a text, as another one may say them."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    return spoken_forms(read_values(plain, tokens_as_written(plain)).values)


def negated_values(plain: str) -> frozenset[str]:
    """The values that a text in small letters says are no longer so: "the 12th, not the 9th"."""
    found: set[str] = set()
    for match in _taken_back.finditer(plain):
        spans = _value_spans(_then.split(match[1], maxsplit=1)[0])
        found |= {value for _, value, start, _ in spans if start == min(span[2] for span in spans)}
    for shape in (_gone_to, _over):
        for match in shape.finditer(plain):
            spans = _value_spans(match[1])
            found |= {value for _, value, _, end in spans if end == max(span[3] for span in spans)}
    return frozenset(found)


@functools.lru_cache(maxsize=2048)
def _value_spans(part: str) -> list[tuple[str, str, int, int]]:
    return read_values(part, tokens_as_written(part)).spans


def value_said_over(text: str) -> str:
    """The value that a statement says is over, in its words, where it gives another one of the same kind: "10 December" of "the
    go-live is 31 December and no longer 10 December". Empty where it does not."""
    written = " ".join(text.split())
    plain = written.lower().replace("’", "'")
    if len(plain) != len(written):
        return ""
    spans = read_values(plain, tokens_as_written(plain)).spans
    for match in (*_said_over.finditer(plain), *_moved_from.finditer(plain)):
        if match.re is _said_over and match["weak"] and not says_change(text):
            continue
        first, last = match.span(match.lastindex or 0)
        inside = sorted((one for one in spans if first <= one[2] and one[3] <= last), key=lambda one: one[2])
        if not inside or inside[0][2] - first > _BEFORE_VALUE:
            continue
        run = [inside[0]]
        for one in inside[1:]:
            if one[2] <= max(end for *_, end in run) + _BETWEEN:
                run.append(one)
        kind = next(name for name in _PRECISE_FIRST if any(one[0] == name for one in run))
        over = {value for name, value, *_ in run if name == kind}
        now = {
            value for name, value, start, end in spans if name == kind and (end <= first or start >= max(one[3] for one in run))
        } - over  # fmt: skip
        if now:
            return written[run[0][2] : max(end for *_, end in run)]
    return ""
