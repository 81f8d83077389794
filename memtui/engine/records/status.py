"""The state of a memory: what waits, whether it records, its growth, the findings of a check."""

from __future__ import annotations

from typing import Literal

from .base import Record


class Pause(Record):
    """A span in which nothing is recorded, in Unix seconds; ``until`` None: until the person ends it."""

    since: int
    until: int | None = None


NeverKind = Literal["client", "project", "folder", "subject"]


class Never(Record):
    """What is never recorded: the client (agent) of a name, a project, what is said in a folder and those in it, or what
    has all words of a ``subject`` in one sentence.
    """

    kind: NeverKind
    name: str


class Recording(Record):
    """What holds now: ``pause`` None where it goes on; ``turned_away`` counts what came since the latest pause began.

    ``never``: what is not recorded with or without a pause.
    """

    pause: Pause | None = None
    turned_away: int = 0
    never: tuple[Never, ...] = ()


class ServedToday(Record):
    """An agent with its numbers of recalls and of memories since midnight."""

    agent: str
    times: int
    memories: int


class Status(Record):
    """``review``: cards that wait as proposals: contradictions, quarantined texts, agents' change requests, what was
    drawn from a corrected fact. Cards that Review finds when it is opened are not counted. ``served``: the agents, the
    one that got most first. ``memories``: how many any of them got today. ``pause``: nothing is recorded meanwhile.
    """

    review: int
    served: tuple[ServedToday, ...] = ()
    memories: int = 0
    pause: Pause | None = None


class Growth(Record):
    """Numbers of active ``facts`` (notes of any kind) and ``turns`` at the end of each step.

    The steps cover ``start`` to ``end`` (Unix seconds) evenly; all are empty for an empty memory.
    """

    start: int
    end: int
    facts: tuple[int, ...]
    turns: tuple[int, ...]


RowsOf = Literal["file", "memories", "entities", "sessions", "operations"]


class Finding(Record):
    """One broken invariant: which check, how bad, what, and the rows that it is about.

    ``ids``: the first 200 of ``total`` rows ``about`` whose table they are, by the names that ``memtui show``,
    ``entity``, ``sessions`` and ``history`` take; none where it is about the file. ``remedy``: the next step.
    """

    check: str
    severity: Literal["error", "warning"]
    message: str
    repairable: bool
    ids: tuple[str, ...] = ()
    total: int = 0
    about: RowsOf = "file"
    remedy: str = ""


class Repair(Record):
    """What ``memtui check --repair`` mended: the check that had complained, and what was done."""

    check: str
    did: str


class CheckReport(Record):
    """The outcome of ``memtui check``. ``ok`` when no finding is an error.

    ``findings``: after a repair those that are left. ``backup``: the copy made before anything was repaired.
    """

    ok: bool
    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    repaired: tuple[Repair, ...] = ()
    seconds: float = 0.0
    backup: str = ""
