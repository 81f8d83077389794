"""Cautions as text: what of a memory is no longer true. ``corrected on 12 Mar: The user works at Globex``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .format import local_date
from .memory import without_secrets
from .text import LabelledLine, Line, one_line

if TYPE_CHECKING:
    from memtui.engine.records import Caution, MemoryRecord

LABEL = "caution"
_MOST = 5
_AGENT = 40


def caution_label(caution: Caution, of: MemoryRecord | None = None) -> str:
    """``corrected``, ``replaced``, ``forgotten``, ``disputed`` where only an agent says otherwise, or ``withheld`` if agents
    do not get the turn.

    ``of``: the memory that it is beside. Of a turn, a statement was forgotten, not all that was said.
    """
    if caution.withheld:
        return "withheld"
    if caution.by:
        return "disputed"
    return (
        "part forgotten"
        if of is not None and of.kind == "episode" and caution.how == "forgotten"
        else caution.what
    )


def caution_line(caution: Caution, now: float) -> Line:
    """What happened to the statement, when, and what is true now. For a forgotten one: what it said."""
    day = f"{caution.said} on {local_date(caution.at, now)}"
    if caution.by:
        day = f"an agent ({one_line(caution.by, _AGENT)}) says otherwise since {local_date(caution.at, now)}"
    if caution.how == "disputed":
        day = "not decided yet between this and"
    if caution.successor is not None:
        return ((f"{day}: ", "warning"), (" ".join(without_secrets(caution.successor).split()), "text"))
    text = " ".join(without_secrets(caution.old).split())
    kept = ", withheld from agents" if caution.withheld else ""
    return ((f"{day}{kept}: ", "warning"), (text, "dim"))


def caution_lines(cautions: Sequence[Caution], now: float) -> Iterator[LabelledLine]:
    """The cautions of a memory. The first has the label."""
    for index, caution in enumerate(cautions[:_MOST]):
        yield LabelledLine("" if index else LABEL, caution_line(caution, now))
