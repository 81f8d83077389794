"""What each term of a filter means in SQL: a condition over a row of memories called ``m``.

Values travel as bindings, never inside the SQL; only words from fixed lists (kinds, states) are in it.
A condition may be NULL where a column is; whoever negates it says ``IS NOT TRUE``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any, get_args

from memtui.engine.confidence import EFFECTIVE_SQL
from memtui.engine.records import KINDS, TOPICS, TRUST_ORDER, Category
from memtui.engine.store import recalls, withheld
from memtui.engine.store.replacements import LEARNED_AT, REPLACED_AT
from memtui.engine.store.tokens import fold_text

from . import dates
from . import text as filter_text
from .terms import Term, Value, filter_error, suggest_word

FADING_DAYS = 7
"""A fact is fading when it will be below the threshold within so many days."""

TRASH_STATES = ("trash", "forgotten", "faded", "superseded", "merged")
CATEGORIES = get_args(Category)

_EFFECTIVE_SOON = EFFECTIVE_SQL.replace(":now", f"(:now + {FADING_DAYS} * 86400.0)")

STALE_DAYS, PASSED_DAYS = 365, 14
_PASSING = '"tomorrow" OR "tonight" OR "next week" OR "next month" OR "next weekend" OR "this week" OR "this weekend"'
# A plan whose day is over: happens_at is noon of it.
_PAST = "m.kind <> 'episode' AND m.topic = 'plan' AND m.happens_at < :now - 43200"
AHEAD = "m.happens_at >= :now - 43200"
"""SQL: whether the memory ``m`` names a day from today on, as ``happens:today..`` of a filter."""
# A plan, or what has a day from today on.
_PLANNED = f"m.kind = 'fact' AND (m.topic IS 'plan' OR {AHEAD})"
# Not recalled or confirmed in a year; its day is over; or it says "tomorrow" without a date and is old.
_STALE = f"""m.kind <> 'episode' AND m.kind = 'fact' AND m.valid_until IS NULL AND (
    max(m.created_at, coalesce(m.last_accessed, 0), coalesce(m.confirmed_at, 0), coalesce(m.reviewed_at, 0),
        coalesce(m.happens_at, 0)) < :now - {STALE_DAYS} * 86400
    OR ({_PAST})
    OR (coalesce(m.happens_at, m.event_time) < :now - {PASSED_DAYS} * 86400 AND m.content NOT LIKE '% (said %)'
        AND m.rid IN (SELECT rowid FROM facts_fts WHERE facts_fts MATCH 'content : ({_PASSING})')))"""
# Not what has no words that a model could know, nor what is kept from models.
_VECTORLESS = """m.rid IN (SELECT rid FROM index_queue WHERE vector = 1) OR (
    json_remove(m.attributes, '$.topic_said', '$.withheld_from') = '{}' AND length(m.content) > 20
    AND m.content GLOB '*[a-z][a-z][a-z]*' AND NOT EXISTS (
        SELECT 1 FROM embeddings e WHERE e.rid = m.rid
        AND e.model_id = (SELECT value FROM memory_metadata WHERE key = 'embedding_model')))"""

EXPOSED = (
    "m.attributes <> '{}' AND json_type(m.attributes, '$.secrets') = 'array' "
    "AND json_type(m.attributes, '$.redacted') IS NULL"
)
"""The text shows a secret."""

STATES: Mapping[str, str] = {
    "active": "m.valid_until IS NULL",
    "trash": "m.valid_until IS NOT NULL",
    "forgotten": "m.ended_by = 'forgotten'",
    "faded": "m.ended_by = 'faded'",
    "superseded": "m.ended_by = 'superseded'",
    "merged": "m.ended_by = 'merged'",
    "protected": "m.confirmed_at IS NOT NULL",
    "confirmed": "m.confirmed_at IS NOT NULL",
    "pinned": "m.attributes <> '{}' AND json_type(m.attributes, '$.pinned_at') IS NOT NULL",
    "fading": "m.kind <> 'episode' AND m.kind = 'fact' AND m.confirmed_at IS NULL AND m.decay_rate > 0 "
    "AND json_type(m.attributes, '$.pinned_at') IS NULL "
    f"AND {_EFFECTIVE_SOON} < :fade_threshold",
    "correction": "m.attributes <> '{}' AND json_type(m.attributes, '$.supersedes') IN ('text', 'array')",
    "changed": f"({REPLACED_AT}) IS NOT NULL",
    "secret": "m.attributes <> '{}' AND json_type(m.attributes, '$.secrets') = 'array'",
    "reviewed": "coalesce(m.reviewed_at, m.confirmed_at) IS NOT NULL",
    "unreviewed": "m.kind <> 'episode' AND m.reviewed_at IS NULL AND m.confirmed_at IS NULL",
    "recalled": "m.access_count > 0",
    "exposed": EXPOSED,
    "withheld": withheld.CONDITION,
    "past": _PAST,
    "planned": _PLANNED,
    "stale": _STALE,
    "vectorless": _VECTORLESS,
    "unembedded": "m.rid IN (SELECT rid FROM index_queue WHERE vector = 1)",
}

_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_RANGE = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?")


class Translator:
    """Turns terms into conditions and gathers their bindings (``:now``, ``:fade_threshold``, ``:f2``...)."""

    def __init__(self, expression: str, now: float, fade_threshold: float, tz: tzinfo | None) -> None:
        self.expression = expression
        self.bindings: dict[str, Any] = {"now": now, "fade_threshold": fade_threshold}
        self.full_text = "memories_fts"
        self._now = now
        self._tz = tz
        self._translate: Mapping[str, Callable[[Term, Value], str]] = {
            "kind": lambda term, value: f"m.kind = '{self.known(term, value, KINDS)}'",
            "trust": lambda term, value: f"m.trust = '{self.known(term, value, TRUST_ORDER)}'",
            "category": self.category,
            "topic": self.topic,
            "is": lambda term, value: STATES[self.known(term, value, tuple(STATES))],
            "tag": self.tag,
            "entity": self.entity,
            "session": self.session,
            "project": lambda _, value: self.same("m.project", value),
            "role": lambda _, value: self.same("m.source_role", value),
            "source": self.source,
            "id": self.identity,
            "conf": self.confidence,
            "after": self.date,
            "before": self.date,
            "on": self.date,
            "added": lambda _, value: self.span("added", value, "m.created_at"),
            "learned": lambda _, value: self.span("learned", value, f"({LEARNED_AT})"),
            "happens": self.happens,
            "changed": self.changed,
            "ended": lambda _, value: self.span("ended", value, "m.valid_until"),
            "recalled": lambda _, value: recalls.served_condition(self.span("recalled", value, "r.at")),
            "withheld": lambda _, value: withheld.withheld_sql(self.same("a.value", value)),
            "text": lambda _, value: filter_text.text_condition(value, self.full_text, self.bind),
        }

    def bind(self, value: Any) -> str:
        """Keep a value and return its placeholder."""
        name = f"f{len(self.bindings)}"
        self.bindings[name] = value
        return f":{name}"

    def condition(self, term: Term) -> str:
        """The term's condition, its negation included. Raises FilterError where a value makes no sense."""
        alternatives = [f"({self._translate[term.key](term, value)})" for value in term.values]
        either = f"({' OR '.join(alternatives)})"
        return f"({either} IS NOT TRUE)" if term.negated else either

    def known(self, term: Term, value: Value, words: tuple[str, ...]) -> str:
        """The word of a fixed list that the value is."""
        word = value.text.casefold()
        if word not in words or value.prefix:
            raise filter_error(
                self.expression, value.position, value.length,
                f"{term.key}: has no value {value.text!r}.", suggest_word(value.text, words),
            )  # fmt: skip
        return word

    def same(self, column: str, value: Value) -> str:
        """Equal but for case and Unicode form, or beginning so."""
        folded = fold_text(value.text)
        if value.prefix:
            return f"instr(fold({column}), {self.bind(folded)}) = 1" if folded else f"{column} IS NOT NULL"
        if folded.isascii():
            return f"{column} = {self.bind(folded)} COLLATE NOCASE"
        return f"fold({column}) = {self.bind(folded)}"

    def category(self, term: Term, value: Value) -> str:
        if value.prefix and not value.text:
            return "m.category IS NOT NULL"
        return f"m.category = '{self.known(term, value, CATEGORIES)}'"

    def topic(self, term: Term, value: Value) -> str:
        if value.prefix and not value.text:
            return "m.kind <> 'episode' AND m.topic IS NOT NULL"
        return f"m.kind <> 'episode' AND m.topic = '{self.known(term, value, TOPICS)}'"

    def tag(self, _: Term, value: Value) -> str:
        """A topic is found as a tag too: what ``-tag:health`` keeps from an agent may have only the topic."""
        same = self.same("t.value", value)
        tagged = f"m.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(m.tags) t WHERE {same})"
        folded = fold_text(value.text)
        topics = [
            one for one in TOPICS if folded and (one.startswith(folded) if value.prefix else one == folded)
        ]
        if not topics:
            return tagged
        named = ", ".join(f"'{topic}'" for topic in topics)
        return f"({tagged} OR m.kind <> 'episode' AND coalesce(m.topic, '') IN ({named}))"

    def entity(self, _: Term, value: Value) -> str:
        """Linked to an entity of that name or alias; entities that were merged are one."""
        if value.prefix and not value.text:
            return "m.rid IN (SELECT rid FROM memory_entities)"
        key = self.bind(fold_text(value.text))
        named = f"substr(a.key, 1, length({key})) = {key}" if value.prefix else f"a.key = {key}"
        return f"""m.rid IN (
            SELECT me.rid FROM memory_entities me WHERE me.eid IN (
                SELECT linked.eid FROM entities linked
                WHERE NOT linked.hidden AND coalesce(linked.merged_into, linked.eid) IN (
                    SELECT coalesce(e.merged_into, e.eid) FROM entities e
                    LEFT JOIN entity_aliases a ON a.entity_id = e.eid
                    WHERE NOT e.hidden AND ({named} OR e.id = {key}))))"""

    def session(self, _: Term, value: Value) -> str:
        if value.prefix and not value.text:
            return "m.session_id IS NOT NULL"
        same = f"{self.same('s.session_id', value)} OR {self.same('s.title', value)}"
        return f"m.session_id IN (SELECT s.session_id FROM sessions_consolidations s WHERE {same})"

    def source(self, _: Term, value: Value) -> str:
        """Equal, or the part before its colon: ``source:import`` is ``import:chatgpt`` too."""
        same = self.same("m.source", value)
        if value.prefix or not value.text:
            return same
        folded = fold_text(value.text) + ":"
        return f"{same} OR substr(m.source, 1, {len(folded)}) = {self.bind(folded)} COLLATE NOCASE"

    def identity(self, _: Term, value: Value) -> str:
        start = self.bind(value.text.casefold())
        return f"m.id >= {start} AND m.id < {start} || char(1114111)"

    def confidence(self, term: Term, value: Value) -> str:
        match = _RANGE.fullmatch(value.text) if term.operator == ":" else None
        if match and (match[1] or match[2]) and not value.prefix:
            low, high = float(match[1] or 0.0), float(match[2] or 1.0)
            return f"{EFFECTIVE_SQL} BETWEEN {self.bind(low)} AND {self.bind(high)}"
        if value.prefix or not re.fullmatch(_NUMBER, value.text) or float(value.text) > 1.0:
            raise filter_error(
                self.expression, value.position, value.length, f"{value.text!r} is no confidence.",
                "It lies between 0 and 1: conf<0.5, conf:0.8, conf:.2...5",
            )  # fmt: skip
        number = self.bind(float(value.text))
        if term.operator in (":", "="):  # as it is shown, with two digits
            return f"abs({EFFECTIVE_SQL} - {number}) < 0.005"
        return f"{EFFECTIVE_SQL} {term.operator} {number}"

    def happens(self, term: Term, value: Value) -> str:
        if value.prefix and not value.text:
            return "m.kind <> 'episode' AND m.happens_at IS NOT NULL"
        return f"m.kind <> 'episode' AND {self.span('happens', value, 'm.happens_at')}"

    def changed(self, _: Term, value: Value) -> str:
        """When it took the place of another one."""
        if value.prefix and not value.text:
            return STATES["changed"]
        return self.span("changed", value, f"({REPLACED_AT})")

    def date(self, term: Term, value: Value) -> str:
        first, dots, _ = value.text.partition("..")
        if dots and term.key != "on":
            raise filter_error(
                self.expression, value.position, value.length, f"{term.key}: takes one date, not a span.",
                f"For a span: on:{value.text}",
            )  # fmt: skip
        if term.key == "on":
            return self.span("on", value, "m.event_time")
        start = self.period(term.key, value, first)[0]
        return f"m.event_time {'>=' if term.key == 'after' else '<'} {self.bind(start)}"

    def span(self, key: str, value: Value, column: str) -> str:
        """Within a period, or from one to another; either end may be open."""
        first, dots, last = value.text.partition("..")
        start = self.period(key, value, first)[0] if first or not last else None
        end = self.period(key, value, last if dots else first)[1] if last or not dots else None
        if start is not None and end is not None and end <= start:
            raise filter_error(
                self.expression,
                value.position,
                value.length,
                "This span ends before it begins.",
                f"{key}:{last}..{first}",
            )
        bounds = [
            f"{column} {operator} {self.bind(bound)}"
            for operator, bound in ((">=", start), ("<", end))
            if bound is not None
        ]
        return " AND ".join(bounds)

    def period(self, key: str, value: Value, text: str) -> dates.Period:
        # The days that texts name lie ahead as well.
        nearest = key == "happens"
        period = None if value.prefix else dates.parse_period(text, self._now, self._tz, nearest=nearest)
        if period is None:
            raise filter_error(
                self.expression, value.position, value.length,
                f"{text or value.text!r} is no date.", f"Dates are written {dates.EXAMPLES}.",
            )  # fmt: skip
        return period
