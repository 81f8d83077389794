"""What is to be known at a glance: what waits for the person, what agents were told today."""

from __future__ import annotations

from .base import Record
from .recording import Pause


class ServedToday(Record):
    """An agent with its numbers of recalls and of memories since midnight."""

    agent: str
    times: int
    memories: int


class Status(Record):
    """``review``: cards that were asked and wait: contradictions, texts held back, agents' wishes, what was drawn from a
    correction; not those that Review finds when it is opened. ``told``: the agents, the one that was told most first;
    ``memories``: how many were told to any of them today. ``pause``: nothing is recorded meanwhile.
    """

    review: int
    told: tuple[ServedToday, ...] = ()
    memories: int = 0
    pause: Pause | None = None
