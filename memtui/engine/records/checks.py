"""What a check of the file found, and what a repair mended."""

from __future__ import annotations

from typing import Literal

from .base import Record

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
