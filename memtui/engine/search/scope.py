"""What a search may find at all: the filter, less what the caller leaves out. Every retriever asks here first."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import apsw
import msgspec

from memtui.engine.records import KINDS, Kind, Record
from memtui.engine.store.sql import as_json

from .filters.compiler import CompiledFilter
from .filters.terms import Term
from .term_statistics import FACTS, MEMORIES, FullTextIndex


class Scope(Record):
    """``where`` is a condition over a row of memories called ``m``.

    ``broad``: only a few memories of the chosen kinds are out of it, so that an retriever does better to find first
    and look at the scope then. ``alone``: what is out of it has no part in any number: words are counted in the
    scope only, however much it holds.
    """

    filter: CompiledFilter
    where: str
    bindings: dict[str, Any]
    broad: bool
    alone: bool = False

    @property
    def kinds(self) -> frozenset[Kind]:
        return self.filter.kinds

    def only(self, rids: Collection[int]) -> Scope:
        """The same scope, of which it is known what is in it: nothing is filtered again."""
        where = "m.rid IN (SELECT value FROM json_each(:only))"
        return msgspec.structs.replace(self, where=where, bindings={"only": as_json(rids)})

    @property
    def index(self) -> FullTextIndex:
        """The full-text index that holds everything in the scope."""
        return FACTS if self.kinds == {"fact"} else MEMORIES

    @property
    def all_kinds(self) -> bool:
        return len(self.kinds) == len(KINDS)


def make_scope(filter: CompiledFilter, *, exclude_session: str | None = None, alone: bool = False) -> Scope:
    """Everything that passes the filter, but for one session."""
    where, bindings = filter.where, dict(filter.bindings)
    if exclude_session is not None:
        where += " AND m.session_id IS NOT :exclude_session"
        bindings["exclude_session"] = exclude_session
    broad = all(term.key == "kind" or _lets_active_pass(term) for term in filter.terms)
    return Scope(filter=filter, where=where, bindings=bindings, broad=broad and not alone, alone=alone)


def _lets_active_pass(term: Term) -> bool:
    return term.key == "is" and not term.negated and any(v.text.casefold() == "active" for v in term.values)


def rids_in_scope(connection: apsw.Connection, scope: Scope, rids: Iterable[int]) -> set[int]:
    """Those of the rids that are in the scope."""
    rows = connection.execute(
        f"SELECT m.rid FROM memories m WHERE m.rid IN (SELECT value FROM json_each(:rids)) AND {scope.where}",
        {**scope.bindings, "rids": as_json(rids)},
    )
    return {rid for (rid,) in rows}


def newest_facts(connection: apsw.Connection, scope: Scope, match: str, limit: int) -> list[int]:
    """The facts in use (rids) within a scope whose words match a full text query, the newest first."""
    rows = connection.execute(
        f"""
        SELECT f.rowid FROM facts_fts f CROSS JOIN memories m ON m.rid = f.rowid
        WHERE facts_fts MATCH :match AND m.valid_until IS NULL AND {scope.where}
        ORDER BY f.rowid DESC LIMIT :limit
        """,
        {**scope.bindings, "match": match, "limit": limit},
    )
    return [int(rid) for (rid,) in rows]
