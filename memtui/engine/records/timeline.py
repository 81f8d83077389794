"""How many memories there are of each topic, person or project in each period of the calendar."""

from __future__ import annotations

from typing import Literal, get_args

from .base import Record

Unit = Literal["year", "quarter", "month", "week", "day", "hour"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Layer = Literal["learned", "changed", "forgotten", "faded", "recalled"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
# The layers of the Trash, and what is in them.
ENDED: dict[Layer, str] = {"forgotten": "is:forgotten", "faded": "is:faded"}
RowsBy = Literal["topic", "person", "project"]
ROWS_BY: tuple[RowsBy, ...] = get_args(RowsBy)


class TimelineRow(Record):
    """``name``: the topic, person or project; None for what has none. ``term``: the filter term that passes exactly
    this row's memories, empty for the row of everything. ``counts``: of each layer, a number for each period.
    """

    name: str | None
    term: str
    counts: dict[Layer, tuple[int, ...]]

    def total(self, layer: Layer) -> int:
        return sum(self.counts.get(layer, ()))


class Timeline(Record):
    """Counts of the memories that pass a filter.

    ``bounds``: when each period begins (Unix seconds, local calendar), and last when the last one ends. ``terms``: each
    period as a date of the filter language. ``all``: the
    row of everything; a memory may be in the rows of several persons. ``left_out``: how many rows there are beyond
    these. ``earliest``, ``latest``: the times between which there is anything at all, None without. A layer counts
    ``learned``: active memories by when they were said; ``changed``: active ones that took the place
    of another one, by when; ``forgotten``, ``faded``: those in the Trash by when they went there; ``recalled``: active
    ones in each period in which an agent was told them.
    """

    by: RowsBy
    unit: Unit
    bounds: tuple[int, ...]
    terms: tuple[str, ...]
    all: TimelineRow
    rows: tuple[TimelineRow, ...] = ()
    left_out: int = 0
    earliest: int | None = None
    latest: int | None = None

    def cell_filter(self, filter: str, row: TimelineRow, layer: Layer, at: int) -> str:
        """The filter that passes exactly the memories of a cell; ``filter``: that of the timeline."""
        key = {"learned": "on:", "changed": "changed:", "recalled": "recalled:"}.get(
            layer
        ) or f"{ENDED[layer]} ended:"
        return " ".join(part for part in (filter, row.term, f"{key}{self.terms[at]}") if part)

    @property
    def periods(self) -> int:
        return len(self.bounds) - 1

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Those that were counted."""
        return tuple(layer for layer in LAYERS if layer in self.all.counts)
