"""The lines of ``demo.jsonl`` (see ``assets/README.md``), with times and dates around a given now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path

import msgspec

from memtui.engine.records import Category, Topic


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """``time`` is in Unix seconds (in the file: seconds from the demo's now)."""

    time: int
    content: str


class Turn(Line, tag="turn", frozen=True, kw_only=True):
    session: str
    title: str
    role: str
    key: str | None = None
    project: str | None = None


class Fact(Line, tag="fact", frozen=True, kw_only=True):
    """``by``: person, consolidation or agent:<name>; ``recalled_days``: on how many an agent recalled it."""

    key: str
    confidence: float
    topic: Topic
    tags: tuple[str, ...]
    sources: tuple[str, ...]
    by: str
    confirmed: bool
    recalled_days: int
    supersedes: str | None
    forgotten: bool


class Reflection(Line, tag="reflection", frozen=True, kw_only=True):
    key: str
    tags: tuple[str, ...]
    sources: tuple[str, ...]


class Observation(Line, tag="observation", frozen=True, kw_only=True):
    category: Category
    source: str


class Note(Line, tag="note", frozen=True, kw_only=True):
    """An entry of the scratchpad; ``pad`` is its key."""

    pad: str


AnyLine = Turn | Fact | Reflection | Observation | Note


def read_lines(now: float) -> list[AnyLine]:
    """All lines in the order of the file; dates in their texts are local ones, as seen at ``now``."""
    decode = msgspec.json.Decoder(AnyLine).decode
    today = datetime.fromtimestamp(now)
    return [
        msgspec.structs.replace(line, time=int(now) + line.time, content=fill_dates(line.content, today))
        for line in map(decode, _asset().splitlines())
    ]


def _asset() -> bytes:
    """In an installed package the file lies inside it, in a source tree beside it."""
    installed = resources.files("memtui").joinpath("assets", "demo.jsonl")
    if installed.is_file():
        return installed.read_bytes()
    return (Path(__file__).parents[2] / "assets" / "demo.jsonl").read_bytes()


_DATE = re.compile(r"\{\{([+-]\d+)(?::(day|month))?\}\}")
# English whatever the locale is: so are the texts around them.
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def fill_dates(text: str, today: datetime) -> str:
    """``{{+6}}``: the date six days after ``today`` ("Tuesday 14 October"), or its ``:day``, ``:month``."""

    def fill(found: re.Match[str]) -> str:
        date = today + timedelta(days=int(found[1]))
        day, month = _DAYS[date.weekday()], _MONTHS[date.month - 1]
        match found[2]:
            case "day":
                return day
            case "month":
                return month
            case _:
                return f"{day} {date.day} {month}"

    return _DATE.sub(fill, text)
