"""A filter, ready to be asked: the SQL of an expression of the filter language (filter_terms.py).

Unless a term asks for the Trash (``is:forgotten``, ``is:trash``, ``ended:``, ...) only active memories pass.
"""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import apsw

from memtui.engine.records import KINDS, Kind, Record

from . import text as filter_text
from .sql import TRASH_STATES, Translator
from .terms import Term, parse_filter

ACTIVE = "m.valid_until IS NULL"


class CompiledFilter(Record):
    """``where`` is a condition over a row of memories called ``m``; it needs ``bindings``.

    ``conditions``: the condition of each of ``terms`` by itself. ``kinds``: those that can pass.
    ``trash``: whether a term asks for memories in the Trash; otherwise only active ones pass.
    """

    expression: str
    terms: tuple[Term, ...]
    where: str
    conditions: tuple[str, ...]
    bindings: dict[str, Any]
    kinds: frozenset[Kind]
    trash: bool

    @property
    def text(self) -> str:
        """The expression in its normal form."""
        return " ".join(map(str, self.terms))


class EmptyingTerm(Record):
    """The term that leaves nothing: ``alone``, or together with the terms before it.

    ``in_trash``: how many memories would pass if the Trash were looked through as well.
    """

    term: Term
    alone: bool
    in_trash: int


def compile_filter(
    expression: str, now: float, *, fade_threshold: float = 0.05, tz: tzinfo | None = None
) -> CompiledFilter:
    """Read a filter and translate it. ``now`` in Unix seconds; ``tz`` None is the local time zone.

    Raises FilterError, which points at the place of the mistake.
    """
    terms = parse_filter(expression)
    translator = Translator(expression, now, fade_threshold, tz)
    kinds = _kinds_of_terms(terms)
    if kinds == {"fact"}:
        translator.full_text = "facts_fts"
    conditions = tuple(translator.condition(term) for term in terms)
    trash = any(map(_names_trash, terms))
    parts = [] if trash else [ACTIVE]
    if "episode" not in kinds and kinds:
        parts.append("m.kind <> 'episode'")  # lets SQLite use the index of notes
    if len(kinds) < len(KINDS) and kinds != set(KINDS) - {"episode"}:
        parts.append(f"m.kind IN ({', '.join(repr(kind) for kind in KINDS if kind in kinds)})")
    joined = [_plain_match(term) for term in terms]
    if any(joined):
        match = translator.bind(filter_text.content_query(" AND ".join(filter(None, joined))))
        table = translator.full_text
        parts.append(f"m.rid IN (SELECT rowid FROM {table} WHERE {table} MATCH {match})")
    parts += [
        condition
        for term, match, condition in zip(terms, joined, conditions, strict=True)
        if not match and term.key != "kind"
    ]
    return CompiledFilter(
        expression=expression, terms=terms, where=" AND ".join(parts) or "true", conditions=conditions,
        bindings=translator.bindings, kinds=kinds, trash=trash,
    )  # fmt: skip


def which_term_removes_all(connection: apsw.Connection, filter: CompiledFilter) -> EmptyingTerm | None:
    """The first term that lets nothing pass: by itself, else together with the terms before it.

    None when something passes, or when there is nothing to filter.
    """
    active = "true" if filter.trash else ACTIVE

    def any_passes(*conditions: str) -> bool:
        [(some,)] = connection.execute(
            f"SELECT EXISTS (SELECT 1 FROM memories m WHERE {' AND '.join([active, *conditions])})",
            filter.bindings,
        )
        return bool(some)

    if not filter.terms or not any_passes() or any_passes(filter.where):
        return None
    alone = [index for index, condition in enumerate(filter.conditions) if not any_passes(condition)]
    together = (
        index for index in range(len(filter.terms)) if not any_passes(*filter.conditions[: index + 1])
    )
    everything = " AND ".join(filter.conditions)
    [(in_trash,)] = connection.execute(
        f"SELECT count(*) FROM memories m WHERE m.valid_until IS NOT NULL AND {everything}", filter.bindings
    )
    index = alone[0] if alone else next(together)
    return EmptyingTerm(term=filter.terms[index], alone=bool(alone), in_trash=in_trash)


def _names_trash(term: Term) -> bool:
    states = term.key == "is" and any(value.text.casefold() in TRASH_STATES for value in term.values)
    return not term.negated and (states or term.key == "ended")


def _kinds_of_terms(terms: tuple[Term, ...]) -> frozenset[Kind]:
    kinds = set(KINDS)
    for term in terms:
        if term.key == "kind":
            named = {value.text.casefold() for value in term.values}
            kinds = {kind for kind in kinds if (kind in named) != term.negated}
    return frozenset(kinds)


def _plain_match(term: Term) -> str | None:
    """The FTS5 query of a term that the full-text index decides alone."""
    if term.key != "text" or term.negated:
        return None
    matches = [filter_text.plain_match(value) for value in term.values]
    return f"({' OR '.join(map(str, matches))})" if all(matches) else None
