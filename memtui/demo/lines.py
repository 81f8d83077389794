"""The lines of ``demo.jsonl`` (see ``assets/README.md``), with times and dates around a given now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import msgspec

from memtui.engine.consolidation.plan import PlanAction
from memtui.engine.records import Category, Topic, Trust
from memtui.present.format import WHOLE_DAYS, WHOLE_MONTHS


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """``time`` is in Unix seconds (in the file: seconds from the demo's now)."""

    time: int
    content: str = ""


class TurnLine(Line, tag="turn", frozen=True, kw_only=True):
    session: str
    title: str
    role: str
    key: str | None = None
    project: str | None = None


class RecordedContradiction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One more known fact that a line contradicts, or may contradict, by its text."""

    known: str
    reason: str


class RecordedLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of a plan as the program made it. ``sources``: keys of turns; ``known``: the text of its target."""

    action: PlanAction
    content: str
    sources: tuple[str, ...] = ()
    reason: str = ""
    known: str | None = None
    confidence: float = 0.8
    trust: Trust = "user"
    tags: tuple[str, ...] = ()
    category: Category | None = None
    topic: Topic | None = None
    also: tuple[RecordedContradiction, ...] = ()
    meant: tuple[RecordedContradiction, ...] = ()
    weak: bool = False


class RecordedPlan(Line, tag="drawn", frozen=True, kw_only=True):
    """The plan of one consolidation: written by ``assets/make_demo.py``, which runs the program, never by hand."""

    session: str
    extractor: str
    lines: tuple[RecordedLine, ...]


class RecallLine(Line, tag="recall", frozen=True, kw_only=True):
    """What an agent was given at the start of a talk, by its texts; written by ``assets/make_demo.py``.

    ``content`` is the prompt.
    """

    session: str
    given: tuple[str, ...]


class DecisionLine(Line, tag="decision", frozen=True, kw_only=True):
    """What the person (or an agent) did with facts. ``of``: how the texts of the facts begin; each fits one active fact.

    ``content``: the new text of ``correct`` and ``remember``. ``keep`` and ``both`` settle the conflict that the fact
    is the newer side of (``beside``: how the other side begins, where there are several); ``review`` keeps all new facts
    that wait in Review.
    """

    verb: Literal["confirm", "correct", "forget", "remember", "tag", "classify", "keep", "both", "review"]
    by: str = "person"
    of: tuple[str, ...] = ()
    beside: str = ""
    tags: tuple[str, ...] = ()
    topic: Topic | None = None
    project: str | None = None


class ReflectionLine(Line, tag="reflection", frozen=True, kw_only=True):
    """``of``: how the texts of its facts begin."""

    of: tuple[str, ...]
    tags: tuple[str, ...]


class ObservationLine(Line, tag="observation", frozen=True, kw_only=True):
    category: Category
    source: str


class NoteLine(Line, tag="note", frozen=True, kw_only=True):
    """An entry of the scratchpad; ``pad`` is its key."""

    pad: str


AnyLine = TurnLine | RecordedPlan | RecallLine | DecisionLine | ReflectionLine | ObservationLine | NoteLine


def read_lines(now: float, data: bytes | None = None) -> list[AnyLine]:
    """All lines in the order of the file (or of ``data``); dates in their texts are local ones, as seen at ``now``."""
    decode = msgspec.json.Decoder().decode
    today = datetime.fromtimestamp(now)

    def with_dates(value: Any) -> Any:
        if isinstance(value, str):
            return fill_dates(value, today)
        if isinstance(value, list):
            return [with_dates(one) for one in value]
        return {key: with_dates(one) for key, one in value.items()} if isinstance(value, dict) else value

    lines = [
        msgspec.convert(with_dates(decode(line)), AnyLine)
        for line in (data or _read_demo_file()).splitlines()
    ]
    return [msgspec.structs.replace(line, time=int(now) + line.time) for line in lines]


def _read_demo_file() -> bytes:
    """In an installed package the file lies inside it, in a source tree beside it."""
    installed = resources.files("memtui").joinpath("assets", "demo.jsonl")
    if installed.is_file():
        return installed.read_bytes()
    return (Path(__file__).parents[2] / "assets" / "demo.jsonl").read_bytes()


DATE = re.compile(r"\{\{([+-]\d+)(?::(day|month|year))?\}\}")


def fill_dates(text: str, today: datetime) -> str:
    """``{{+6}}``: the date six days after ``today`` ("Tuesday 14 October"), or its ``:day``, ``:month``.

    ``:year`` is the date as the program writes it into a fact that needs its day ("14 October 2025").
    """

    def date_text(match: re.Match[str]) -> str:
        date = today + timedelta(days=int(match[1]))
        day, month = WHOLE_DAYS[date.weekday()], WHOLE_MONTHS[date.month - 1]
        match match[2]:
            case "day":
                return day
            case "month":
                return month
            case "year":
                return f"{date.day} {month} {date.year}"
            case _:
                return f"{day} {date.day} {month}"

    return DATE.sub(date_text, text)
