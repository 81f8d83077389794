"""The input of a check, and functions that build its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import apsw

from memtui.engine.records import Finding, RowsOf
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import scalar

SHOWN = 200
"""Rows that a finding names; beyond it only their number is given."""


class CheckContext(NamedTuple):
    """``connection`` is the writer, or a reader where the memory is read-only."""

    connection: apsw.Connection
    connections: Connections
    now: float
    deep: bool


Check = Callable[[CheckContext], Iterator[Finding]]


class FoundRows(NamedTuple):
    """The first of the rows that break a rule, by their public names, and how many do."""

    ids: tuple[str, ...]
    total: int

    def __bool__(self) -> bool:
        return self.total > 0


def select_rows(context: CheckContext, sql: str, *values: apsw.SQLiteValue) -> FoundRows:
    """What a SELECT of one column finds. It is read to its end: a count costs no second scan."""
    ids: list[str] = []
    total = 0
    for (id,) in context.connection.execute(sql, values):
        total += 1
        if total <= SHOWN:
            ids.append(str(id))
    return FoundRows(tuple(ids), total)


def rows_of_ids(ids: list[str]) -> FoundRows:
    return FoundRows(tuple(ids[:SHOWN]), len(ids))


def count_rows(context: CheckContext, sql: str, *values: apsw.SQLiteValue) -> int:
    return int(scalar(context.connection, sql, values))


def make_finding(
    check: str,
    message: str,
    rows: FoundRows = FoundRows((), 0),  # noqa: B008 - immutable
    *,
    about: RowsOf = "memories",
    repairable: bool = False,
    warning: bool = False,
    remedy: str = "",
) -> Finding:
    """``remedy``: the next step where repair cannot help; repairable ones have theirs."""
    severity: Literal["error", "warning"] = "warning" if warning else "error"
    return Finding(
        check=check, severity=severity, message=message, repairable=repairable, ids=rows.ids, total=rows.total,
        about=about if rows else "file", remedy="memtui check --repair mends it." if repairable else remedy,
    )  # fmt: skip
