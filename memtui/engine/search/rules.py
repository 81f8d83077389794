"""Rules for assistants in the context block: those of the agent's project are told first, whatever is asked."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories
from memtui.engine.store.tokens import fold

from .filters.terms import Term
from .scope import Scope

RULES = 5
"""So many rules of a project are told, those said last."""


def project_of(terms: Sequence[Term]) -> str | None:
    """The one project that a filter is about; None where it is about none or several."""
    named = [term for term in terms if term.key == "project" and not term.negated]
    if len(named) != 1 or len(named[0].values) != 1 or named[0].values[0].prefix:
        return None
    return named[0].values[0].text


def of_project(connection: apsw.Connection, project: str, within: Scope, now: float) -> list[MemoryRecord]:
    """The rules that the person gave in this project or confirmed for it, those said last first."""
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m
        WHERE m.kind <> 'episode' AND m.kind = 'fact' AND m.topic = 'rule' AND m.valid_until IS NULL
          AND (m.trust = 'user' OR m.confirmed_at IS NOT NULL) AND fold(m.project) = :rules_of AND {within.where}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT {RULES * 4}
        """,
        {**within.bindings, "rules_of": fold(project)},
    )
    return memories.by_rid(connection, [rid for (rid,) in rows], now)
