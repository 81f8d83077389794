"""The filter language: what is shown in every list, and what a search looks through.

    filter  = { space | term } ;
    term    = [ "-" ] ( field | compare | span | words ) ;    (* "-" negates, terms are joined by and *)
    field   = key ":" value { "," value } ;                   (* a comma is or *)
    compare = "conf" ( "<" | "<=" | ">" | ">=" | "=" ) number ;
    span    = [ date ] ".." [ date ] ;
    words   = value { "," value } ;
    value   = ( text | '"' quoted '"' ) [ "*" ] ;             (* "*": anything that begins so *)
    key     = "kind" | "tag" | "entity" | "session" | "project" | "role" | "source" | "category" | "trust"
            | "topic" | "id" | "text" | "conf" | "is" | "after" | "before" | "on" | "added" | "happens"
            | "learned" | "changed" | "ended" | "recalled" | "withheld" ;
    date    = yyyy [ "-" mm [ "-" dd [ "T" hour ] ] ]
            | "today" | "yesterday" | "tomorrow" | digits ( "m" | "h" | "d" | "w" | "mo" | "y" )
            | "+" digits ( "d" | "w" | "mo" | "y" ) ;                (* with "+": on from now, for happens *)

Words are looked up in the full text of the content; words in quotes must stand there as written
(a quote inside quotes is written \\", a backslash \\\\).
``AND``, ``OR``, ``NOT`` in capitals and a term that begins with a parenthesis are refused: there are no such
operators, and taken as words they would find nothing. In quotes, or in small letters, they are words.
A text with a colon whose left side is no word (``10:30``, ``std::vector``, ``https://...``) is a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtui.engine.errors import FilterError
from memtui.engine.records import Record

from . import dates

KEYS = (
    "kind", "tag", "entity", "session", "project", "role", "source", "category", "trust",
    "topic", "id", "text", "conf", "is", "after", "before", "on", "added", "happens", "learned", "changed", "ended", "recalled",
    "withheld",
)  # fmt: skip
# A value may be looked for in the text of every memory: without a bound, a filter of 10 kB takes a minute among
# 10,000. Ids are looked up, so more of them may be named; findings are listed by them.
MAX_TERMS = 50
MAX_VALUES = 50
MAX_IDS = 200
MAX_LENGTH = 2_000
_MAX_WITH_IDS = 20_000

# What people write instead.
_MEANT = {
    "confidence": "conf", "type": "kind", "person": "entity", "since": "after", "until": "before",
    "date": "on", "time": "on", "label": "tag", "content": "text", "who": "role", "speaker": "role",
    "state": "is", "has": "is", "due": "happens", "created": "added", "new": "learned",
    "when": "happens", "moved": "changed", "updated": "changed", "corrected": "changed",
    "deleted": "ended", "removed": "ended", "told": "recalled", "served": "recalled", "about": "topic", "subject": "topic",
}  # fmt: skip
_HEAD = re.compile(r"([^\W\d_][\w-]*)(:|<=|>=|<|>|=)")
# Operators of other query languages.
_FOREIGN = re.compile(r"(?:AND|OR|NOT)(?=[\s()]|$)|[()]")
_OPERATORS = ("<=", ">=", "<", ">", "=")


class Value(Record):
    """One alternative of a term; ``position`` and ``length`` are its place in the expression."""

    text: str
    quoted: bool = False
    prefix: bool = False
    position: int = 0
    length: int = 0

    def __str__(self) -> str:
        escaped = self.text.replace("\\", "\\\\").replace('"', '\\"')
        return (f'"{escaped}"' if self.quoted else self.text) + "*" * self.prefix


class Term(Record):
    """One term. ``key`` is ``text`` for bare words, ``on`` for a bare span of dates."""

    key: str
    values: tuple[Value, ...]
    operator: str = ":"
    negated: bool = False
    position: int = 0
    length: int = 0

    def __str__(self) -> str:
        """The term as one would write it; parsing it gives the same term."""
        values = ",".join(map(str, self.values))
        bare = self.key == "text" and not values.startswith("-") and not _reads_otherwise(values)
        return "-" * self.negated + (values if bare else f"{self.key}{self.operator}{values}")


def parse_filter(expression: str) -> tuple[Term, ...]:
    """The terms of a filter, in order; none for an empty one.

    Raises FilterError, which points at the place and says what would be right.
    """
    return _Parser(expression).terms()


def reads_as_filter(word: str) -> bool:
    """Whether a word of a question looks like a term of a filter: ``is:pinned``, ``-tag:work``."""
    key, _, value = word.removeprefix("-").partition(":")
    return key in KEYS and bool(value)


def filter_error(expression: str, position: int, length: int, message: str, hint: str) -> FilterError:
    return FilterError(message, hint, expression=expression, position=position, length=length)


def suggest_word(word: str, known: tuple[str, ...]) -> str:
    """``Did you mean fact?`` when a known word is near, else the list of them."""
    near = close_matches(word.casefold(), known)
    return f"Did you mean {near[0]}?" if near else f"It can be {', '.join(known)}."


def close_matches(word: str, known: Sequence[str]) -> list[str]:
    """The one of ``known`` that ``word`` was probably meant to be, or none."""
    import difflib  # only for mistakes

    return difflib.get_close_matches(word, known, 1, 0.6)


def _reads_otherwise(text: str) -> bool:
    return bool(_HEAD.match(text) or _FOREIGN.match(text)) or dates.is_date_range(text)


class _Parser:
    def __init__(self, expression: str) -> None:
        # The same length, so that positions hold: SQLite can store neither of these.
        self.text = re.sub("[\ud800-\udfff]", "\ufffd", expression.replace("\0", " "))
        self.expression = expression
        self.at = 0
        if len(expression) > _MAX_WITH_IDS:
            raise self.make_error(
                _MAX_WITH_IDS,
                1,
                f"A filter may have {_MAX_WITH_IDS:,} characters with its ids.",
                "Shorten it.",
            )

    def make_error(self, position: int, length: int, message: str, hint: str) -> FilterError:
        return filter_error(self.expression, position, length, message, hint)

    def terms(self) -> tuple[Term, ...]:
        found: list[Term] = []
        while self.skip_space():
            term = self.term()
            if term is not None:
                found.append(term)
        self.refuse_too_much(found)
        return tuple(found)

    def refuse_too_much(self, terms: Sequence[Term]) -> None:
        """Raise at the term with which the filter becomes more than can be answered soon."""
        ids = values = length = 0
        for count, term in enumerate(terms, 1):
            if term.key == "id":
                ids += len(term.values)
            else:
                values += len(term.values)
                length += term.length
            for much, limit, what in (
                (count, MAX_TERMS, "terms"),
                (ids, MAX_IDS, "ids"),
                (values, MAX_VALUES, "values, apart from ids"),
                (length, MAX_LENGTH, "characters, apart from ids"),
            ):
                if much > limit:
                    message = f"A filter may have {limit:,} {what}."
                    raise self.make_error(term.position, term.length, message, "Leave some out.")

    def refuse_foreign(self, start: int) -> None:
        """Raise for an operator of another query language where a term begins."""
        if match := _FOREIGN.match(self.text, start):
            raise self.make_error(
                start,
                len(match[0]),
                f"{match[0]} is no operator here.",
                "Use kind:a,b for or, - for not; words are joined by and. "
                f'To look for it as a word, put it in quotes: "{match[0]}"',
            )

    def skip_space(self) -> bool:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at < len(self.text)

    def term(self) -> Term | None:
        start = self.at
        negated = self.text[start] == "-"
        if negated:
            self.at += 1
            if self.at == len(self.text) or self.text[self.at].isspace():
                raise self.make_error(
                    start,
                    1,
                    "There is nothing after the -.",
                    "Write it straight before what to leave out: -lisbon",
                )
        self.refuse_foreign(self.at)
        key, operator = self.head()
        values = self.values()
        length = self.at - start
        if not values:
            if key is None:
                return None  # a lone comma
            raise self.make_error(
                start, length, f"There is no value after {key}{operator}", f"For example {_EXAMPLE[key]}"
            )
        if key is None:
            [first, *more] = values
            span = not more and not first.quoted and not first.prefix and dates.is_date_range(first.text)
            key = "on" if span else "text"
        return Term(key=key, values=values, operator=operator, negated=negated, position=start, length=length)

    def head(self) -> tuple[str | None, str]:
        """The key and operator here, passed over; None where a word begins."""
        match = _HEAD.match(self.text, self.at)
        if match is None:
            return None, ":"
        name, operator = match[1], match[2]
        key = name.casefold()
        after = self.text[match.end() : match.end() + 2]
        if key in KEYS:
            if operator in _OPERATORS and key != "conf":
                raise self.make_error(
                    match.start(2),
                    len(operator),
                    f"{key} is followed by a colon.",
                    f"For example {_EXAMPLE[key]}",
                )
            self.at = match.end()
            return key, operator
        if operator != ":" or after[:1] in ("", ":", "\\", ",") or after == "//" or after[:1].isspace():
            return None, ":"
        meant = _MEANT.get(key) or next(iter(close_matches(key, KEYS)), None)
        raise self.make_error(
            match.start(1), len(name), f"There is no key {name!r}.",
            (f"Did you mean {meant}:?" if meant else f"The keys are {', '.join(KEYS)}.")
            + f' To look for these words, put them in quotes: "{name}:..."',
        )  # fmt: skip

    def values(self) -> tuple[Value, ...]:
        found: list[Value] = []
        more = True
        while more and self.at < len(self.text) and not self.text[self.at].isspace():
            start = self.at
            if self.text[start] != ",":
                found.append(self.quoted() if self.text[start] == '"' else self.bare())
            more = self.text[self.at : self.at + 1] == ","
            self.at += more
        return tuple(value for value in found if value.text.strip() or value.prefix)

    def bare(self) -> Value:
        start = self.at
        while self.at < len(self.text) and not self.text[self.at].isspace() and self.text[self.at] != ",":
            self.at += 1
        text = self.text[start : self.at]
        return Value(text=text.rstrip("*"), prefix=text.endswith("*"), position=start, length=self.at - start)

    def quoted(self) -> Value:
        start = self.at
        characters: list[str] = []
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\"):
                self.at += 1
            characters.append(self.text[self.at])
            self.at += 1
        if self.at == len(self.text):
            raise self.make_error(
                start, self.at - start, "This quote is not closed.", 'Put another " at its end.'
            )
        self.at += 1
        prefix = self.text[self.at : self.at + 1] == "*"
        self.at += prefix
        return Value(
            text="".join(characters), quoted=True, prefix=prefix, position=start, length=self.at - start
        )


_EXAMPLE = {
    "kind": "kind:fact,reflection", "tag": "tag:work", "entity": 'entity:"Ada Lovelace"',
    "session": "session:trip*", "project": "project:garden", "role": "role:user",
    "source": "source:import", "category": "category:lesson", "trust": "trust:agent", "id": "id:fact_3f",
    "text": 'text:"exact words"', "conf": "conf<0.5 or conf:.2...5", "is": "is:protected",
    "topic": "topic:health,rule", "withheld": "withheld:claude-code", "happens": "happens:today..+1mo",
    "after": "after:2026-01 or after:7d", "before": "before:2026-03", "on": "on:2026-01..2026-03",
    "added": "added:7d", "learned": "learned:7d", "changed": "changed:7d", "ended": "ended:2026-03", "recalled": "recalled:7d",
}  # fmt: skip
