"""How much an agent may do in an hour."""

from __future__ import annotations

from typing import Literal

from .base import Record

QuotaName = Literal["writes", "bytes", "calls"]


class Quota(Record):
    """A limit for each clock hour, agent and scope; 0 is none. ``unit``: what is counted, in words."""

    name: QuotaName
    limit: int
    unit: str


QUOTAS = (
    Quota(name="writes", limit=2_000, unit="writes"),
    Quota(name="bytes", limit=20_000_000, unit="bytes of text"),
    Quota(name="calls", limit=20_000, unit="calls"),
)


class Usage(Record):
    """What an agent did in one hour."""

    agent: str
    writes: int = 0
    bytes: int = 0
    calls: int = 0

    def of(self, quota: Quota) -> int:
        counted: int = getattr(self, quota.name)
        return counted
