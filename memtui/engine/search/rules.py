"""Rules for assistants in the context block. They come first, whatever the prompt is: those of the agent's project, and
those that say how all answers shall be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories
from memtui.engine.store.tokens import fold_text, text_words

from . import lexicon
from .filters.terms import Term
from .scope import Scope

RULES = 5
"""So many rules of a project are in a block, those said last; and so many about answers."""
_LOOKED_AT = 100
# A rule that speaks of them holds where they are asked for, and not for every answer.
_NOT_OF_ALL = frozenset({"food", "travel"})


def project_in_filter(terms: Sequence[Term]) -> str | None:
    """The one project that a filter is about; None where it is about none or several."""
    named = [term for term in terms if term.key == "project" and not term.negated]
    if len(named) != 1 or len(named[0].values) != 1 or named[0].values[0].prefix:
        return None
    return named[0].values[0].text


def project_rules(connection: apsw.Connection, project: str, scope: Scope, now: float) -> list[MemoryRecord]:
    """The rules that the person gave in this project or confirmed for it, those said last first."""
    return _standing_rules_where(
        connection, "fold(m.project) = :rules_of", {"rules_of": fold_text(project)}, scope, now, RULES * 4
    )


def answer_rules(connection: apsw.Connection, scope: Scope, now: float) -> list[MemoryRecord]:
    """The rules of no project that say how answers shall be ("keep it short", "no emojis"); the surest first, then the newest."""
    given = _standing_rules_where(connection, "m.project IS NULL", {}, scope, now, _LOOKED_AT)
    found = [one for one in given if _is_about_answers(one.content)]
    return sorted(found, key=lambda one: -one.effective)


def _is_about_answers(rule: str) -> bool:
    """Whether a rule holds for all answers, and not only where recipes or journeys are asked for."""
    if not lexicon.compiled_pattern("how answers shall be").search(rule):
        return False
    return _NOT_OF_ALL.isdisjoint(lexicon.topics_asked_about(text_words(rule)))


def _standing_rules_where(
    connection: apsw.Connection, where: str, bindings: Mapping[str, str], scope: Scope, now: float, most: int
) -> list[MemoryRecord]:
    """The rules of the person, those said last first."""
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m INDEXED BY memories_rules
        WHERE m.kind = 'fact' AND m.topic = 'rule' AND m.valid_until IS NULL
          AND (m.trust = 'user' OR m.confirmed_at IS NOT NULL) AND {where} AND {scope.where}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT {most}
        """,
        {**scope.bindings, **bindings},
    )
    return memories.by_rid(connection, [rid for (rid,) in rows], now)
