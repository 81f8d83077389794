"""The timeline: how many memories of each topic, person or project there are in each period.

Everything is counted by SQL in the caller's snapshot. Facts by topic are counted as ranges of an index, if the filter
is about kinds only. Otherwise rows are grouped, and the period of each is found by comparing with literal bounds:
SQLite's own calendar takes ten times as long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import tzinfo
from itertools import pairwise
from typing import Any, NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.clock import EARLIEST, LATEST
from memtui.engine.records import KINDS, TOPICS, Kind, Options
from memtui.engine.records.timeline import ENDED, LAYERS, Layer, RowsBy, Timeline, TimelineRow, Unit
from memtui.engine.search.filters.compiler import CompiledFilter, compile_filter
from memtui.engine.search.filters.terms import Value
from memtui.engine.store.replacements import CANDIDATES, REPLACED_AT
from memtui.engine.store.sql import as_json, scalar
from memtui.engine.store.tokens import fold_text

from . import periods

MOST_PERIODS = 1_000
MOST_ROWS = 200
# A filter is at most 2,000 characters long.
_LONGEST_NAME = 200
_ENDED: dict[str, Layer] = {"forgotten": "forgotten", "faded": "faded"}
_TRASH = "is:forgotten,faded"
_TOPIC = "iif(m.kind <> 'episode', m.topic, NULL)"
_LINKS = """
    CROSS JOIN memory_entities l ON l.rid = m.rid
    CROSS JOIN entities e ON e.eid = l.eid AND NOT e.hidden"""


class _Subject(NamedTuple):
    """What a row is about. ``keys``: the values of the rows' SQL expression that belong to it."""

    name: str | None
    term: str
    keys: tuple[object, ...]


class _TimelineRowsSql(NamedTuple):
    """The rows. ``expression``: SQL for the row of a memory. ``joins``: a memory may be in several rows.

    ``topics``: they are topics, which an index has.
    """

    subjects: Sequence[_Subject]
    expression: str
    joins: str = ""
    condition: str = "true"
    left_out: int = 0
    topics: bool = False


class _FilteredMemories(NamedTuple):
    """What is counted: the active memories that pass the filter, and with ``trash`` those there that would pass."""

    active: CompiledFilter
    ended: CompiledFilter
    trash: bool

    @property
    def kinds_only(self) -> bool:
        """Whether the filter is about kinds only, so that an index can count."""
        return all(term.key == "kind" for term in self.active.terms)

    @property
    def notes_only(self) -> bool:
        return self.kinds_only and "episode" not in self.active.kinds

    @property
    def source(self) -> str:
        """The table of active memories, with the index that has all that is needed."""
        return f"memories m {'INDEXED BY notes_by_topic' if self.notes_only else ''}"


def make_timeline(
    connection: apsw.Connection,
    filter: str,
    options: Options,
    now: float,
    *,
    by: RowsBy = "topic",
    unit: Unit | None = None,
    middle: float | None = None,
    most: int = 60,
    rows: int = 40,
    layers: Sequence[Layer] = LAYERS,
    tz: tzinfo | None = None,
) -> Timeline:
    """The timeline of what passes a filter: at most ``most`` periods and ``rows`` rows. Raises FilterError.

    ``unit`` None: the finest of which all periods fit. ``middle``: a time in the middle of them; None: the latest periods.
    """

    def compiled(expression: str) -> CompiledFilter:
        return compile_filter(expression, now, fade_threshold=options.fade_threshold, tz=tz)

    ended = compiled(f"{filter} {_TRASH}")
    ended = replace(
        ended, where=f"m.valid_until IS NOT NULL AND {ended.where}"
    )  # as the index of the Trash has it
    filtered = _FilteredMemories(compiled(filter), ended, trash=not ENDED.keys().isdisjoint(layers))
    changes = _read_changes(connection, filtered.active) if "changed" in layers else ()
    earliest, latest = _time_extent(connection, filtered, changes, now)
    first, last = (int(now), int(now)) if earliest is None or latest is None else (earliest, latest)
    unit, bounds = periods.choose_window(unit, first, last, middle, most, tz)
    timeline_rows = _ROWS_BY[by](connection, filtered, rows)
    whole = bounds[0] <= first and last < bounds[-1]
    counter = _Counter(connection, bounds, timeline_rows, filtered, changes, whole=whole)
    for layer in layers:
        counter.count_layer(layer)
    return Timeline(
        by=by, unit=unit, bounds=bounds, earliest=earliest, latest=latest, left_out=timeline_rows.left_out,
        terms=tuple(periods.filter_term_of_period(unit, one, tz) for one in bounds[:-1]),
        all=TimelineRow(name=None, term="", counts=counter.total_counts()),
        rows=tuple(
            TimelineRow(name=one.name, term=one.term, counts=counter.counts_of(one)) for one in timeline_rows.subjects
        ),
    )  # fmt: skip


def _time_extent(
    connection: apsw.Connection, filtered: _FilteredMemories, changes: Sequence[_Change], now: float
) -> tuple[int | None, int | None]:
    """The first and the last time of anything; the last is now where nothing is later.

    A fact may have taken the place of another one before its own time, and that one need not pass the filter.
    """

    def edge(compiled: CompiledFilter, column: str, direction: str) -> int | None:
        where = f"SELECT m.{column} FROM memories m WHERE {compiled.where} AND m.{column} IS NOT NULL"
        moment = scalar(connection, f"{where} ORDER BY m.{column} {direction} LIMIT 1", compiled.bindings)
        return None if moment is None else int(moment)

    active = filtered.active
    changed = [at for _, at in changes]
    moments = edge(active, "event_time", ""), edge(filtered.ended, "valid_until", ""), *changed
    known = [one for one in moments if one is not None]
    if not known:
        return None, None
    last = edge(active, "event_time", "DESC")
    return min(known), max(int(now), *known, *(() if last is None else (last,)))


class _Change(NamedTuple):
    """A note (by its key) that took the place of another one, and when."""

    rid: int
    at: int


_Cells = dict[object, list[int]]


class _Counter:
    """Counts layer by layer. A cell is found by its row's key and the number of its period.

    ``whole``: the periods are all that there is.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        bounds: Sequence[int],
        rows: _TimelineRowsSql,
        filtered: _FilteredMemories,
        changes: Sequence[_Change],
        *,
        whole: bool,
    ) -> None:
        self._connection = connection
        self._bounds = bounds
        self._rows = rows
        self._within = filtered
        self._changes = changes
        self._whole = whole
        self._of_row: dict[Layer, _Cells] = {}
        self._all: dict[Layer, list[int]] = {}

    def _zero_counts(self) -> list[int]:
        return [0] * (len(self._bounds) - 1)

    def count_layer(self, layer: Layer) -> None:
        if layer in self._of_row:
            return
        if layer == "learned":
            self._count_learned()
        elif layer == "changed":
            # They were found by the filter: it is not asked again.
            selection = replace(
                self._within.active, where="true", bindings={"changes": as_json(self._changes)}
            )
            self._count_groups(
                {"": layer}, "''", "c.at", f"{_CHANGED} CROSS JOIN memories m ON m.rid = c.rid", selection
            )
        elif layer == "recalled":
            recalls = "recalls r CROSS JOIN json_each(r.memory_ids) j CROSS JOIN memories m ON m.id = j.value"
            self._count_groups({"": layer}, "''", "r.at", recalls, self._within.active, distinct=True)
        else:
            self._count_groups(_ENDED, "m.ended_by", "m.valid_until", "memories m", self._within.ended)

    def _count_learned(self) -> None:
        filtered = self._within
        indexed = (
            _by_index(self._connection, self._bounds, filtered.active.kinds) if filtered.kinds_only else None
        )
        if indexed is not None and self._rows.topics:
            self._of_row["learned"] = indexed
        else:
            self._count_groups(
                {"": "learned"}, "''", "m.event_time", filtered.source, filtered.active, known=indexed
            )
        if indexed is not None:
            self._all["learned"] = [sum(those) for those in zip(*indexed.values(), strict=True)]

    def _count_groups(
        self,
        layers: dict[str, Layer],
        layer: str,
        time: str,
        source: str,
        compiled: CompiledFilter,
        *,
        distinct: bool = False,
        known: _Cells | None = None,
    ) -> None:
        """Group the rows. ``layer``, ``time``: SQL for what decides the layer and the period. ``known``: the sums are."""
        for one in layers.values():
            self._of_row[one], self._all[one] = {}, self._zero_counts()
        period = periods.period_sql(time, self._bounds)
        inside = f"{time} >= {self._bounds[0]} AND {time} < {self._bounds[-1]}"
        if self._whole and time == "m.event_time":
            inside = "true"  # a range would make SQLite prefer an index that has the times only

        def counts(row: str, joins: str, condition: str, number: str) -> Any:
            return self._connection.execute(
                f"""
                SELECT {layer}, {row}, {period}, {number} FROM {source} {joins}
                WHERE {compiled.where} AND {inside} AND {condition} GROUP BY 1, 2, 3
                """,
                compiled.bindings,
            )

        rows = self._rows
        number = "count(DISTINCT m.rid)" if distinct or rows.joins else "count(*)"
        for state, key, at, number_found in counts(rows.expression, rows.joins, rows.condition, number):
            self._of_row[layers[state]].setdefault(key, self._zero_counts())[at] += number_found
            if not rows.joins:
                self._all[layers[state]][at] += number_found
        if rows.joins and known is None:
            number = "count(DISTINCT m.rid)" if distinct else "count(*)"
            for state, _, at, number_found in counts("''", "", "true", number):
                self._all[layers[state]][at] += number_found

    def total_counts(self) -> dict[Layer, tuple[int, ...]]:
        return {layer: tuple(cells) for layer, cells in self._all.items()}

    def counts_of(self, subject: _Subject) -> dict[Layer, tuple[int, ...]]:
        return {
            layer: tuple(
                map(sum, zip(self._zero_counts(), *(cells[key] for key in subject.keys if key in cells), strict=True))
            )
            for layer, cells in self._of_row.items()
        }  # fmt: skip


_CHANGED = "(SELECT value ->> 0 AS rid, value ->> 1 AS at FROM json_each(:changes)) c"


def _read_changes(connection: apsw.Connection, active: CompiledFilter) -> Sequence[_Change]:
    """The notes that pass and took the place of another one.

    A limit keeps SQLite from working the time out again at each comparison.
    """
    rows: Any = connection.execute(
        f"""
        SELECT rid, at FROM (
            SELECT m.rid, ({REPLACED_AT}) AS at FROM ({CANDIDATES}) candidate CROSS JOIN memories m ON m.rid = candidate.rid
            WHERE m.kind <> 'episode' AND {active.where} LIMIT -1)
        WHERE at IS NOT NULL
        """,
        active.bindings,
    ).fetchall()
    return [_Change(*row) for row in rows]


_NOTE = "m.valid_until IS NULL AND m.kind <> 'episode'"


def _by_index(connection: apsw.Connection, bounds: Sequence[int], kinds: Collection[Kind]) -> _Cells:
    """Active memories of some kinds by topic: each cell is a range of ``notes_by_topic``. Turns have no topic."""
    spans = ", ".join(f"({at}, {lo}, {hi})" for at, (lo, hi) in enumerate(pairwise(bounds)))
    topics = ", ".join(f"('{topic}')" for topic in TOPICS)
    named = ", ".join(repr(kind) for kind in KINDS if kind in kinds)
    inside = "m.event_time >= p.lo AND m.event_time < p.hi"
    cells: _Cells = {topic: [0] * (len(bounds) - 1) for topic in (*TOPICS, None)}
    rows_by_index: Any = connection.execute(
        f"""
        WITH p(at, lo, hi) AS (VALUES {spans}), t(topic) AS (VALUES {topics}, (NULL))
        SELECT t.topic, p.at, (SELECT count(*) FROM memories m INDEXED BY notes_by_topic
            WHERE {_NOTE} AND m.kind IN ({named}) AND m.topic IS t.topic AND {inside}) FROM t, p
        """
    )
    for topic, at, number in rows_by_index:
        cells[topic][at] = number
    if "episode" in kinds:
        rows_by_index = connection.execute(
            f"""
            WITH p(at, lo, hi) AS (VALUES {spans})
            SELECT p.at,
                (SELECT count(*) FROM memories m INDEXED BY memories_by_time WHERE m.valid_until IS NULL AND {inside})
                - (SELECT count(*) FROM memories m INDEXED BY notes_by_time WHERE {_NOTE} AND {inside}) FROM p
            """
        )
        for at, turns in rows_by_index:
            cells[None][at] += turns
    return cells


def _topic_rows(connection: apsw.Connection, filtered: _FilteredMemories, most: int) -> _TimelineRowsSql:
    """The topics of which there is anything."""
    if filtered.kinds_only:
        everything = (EARLIEST, LATEST + 1)
        topic_counts = _by_index(connection, everything, filtered.active.kinds)
        topics: set[object] = {topic for topic, [number] in topic_counts.items() if number}
    else:
        topics = set(_count_values(connection, filtered.active, _TOPIC))
    if filtered.trash:
        topics.update(_count_values(connection, filtered.ended, _TOPIC))
    subjects = [_Subject(topic, f"topic:{topic}", (topic,)) for topic in TOPICS if topic in topics]
    if None in topics:
        subjects.append(_Subject(None, "-topic:*", (None,)))
    return _TimelineRowsSql(subjects, _TOPIC, topics=True)


def _count_values(
    connection: apsw.Connection, compiled: CompiledFilter, expression: str, source: str = "memories m"
) -> dict[object, int]:
    """The values of an expression, each with the number of its memories."""
    rows: Any = connection.execute(
        f"SELECT {expression}, count(*) FROM {source} WHERE {compiled.where} GROUP BY 1", compiled.bindings
    )
    return dict(rows)


def _project_rows(connection: apsw.Connection, filtered: _FilteredMemories, most: int) -> _TimelineRowsSql:
    """The projects of the most memories. Names that the filter language takes for the same are one."""
    counted = Counter(_count_values(connection, filtered.active, "m.project", filtered.source))
    if filtered.trash:
        counted.update(_count_values(connection, filtered.ended, "m.project"))
    groups: dict[str, list[str]] = {}
    for project in counted:
        if project is not None:
            groups.setdefault(fold_text(str(project))[:_LONGEST_NAME], []).append(str(project))
    order = sorted(groups, key=lambda key: (-sum(counted[one] for one in groups[key]), key))
    subjects = [
        _Subject(names[0], f"project:{_filter_value(names[0])}", tuple(names))
        for names in (sorted(groups[key], key=lambda name: (-counted[name], name)) for key in order[:most])
    ]
    if None in counted:
        subjects.append(_Subject(None, "-project:*", (None,)))
    return _TimelineRowsSql(subjects, "m.project", left_out=max(len(order) - most, 0))


def _people_rows(connection: apsw.Connection, filtered: _FilteredMemories, most: int) -> _TimelineRowsSql:
    """The persons that most memories mention; with a filter: most of those that pass it."""
    if filtered.kinds_only:
        mentioned: Any = connection.execute(
            """
            SELECT eid FROM entities e WHERE mention_count > 0 AND type = 'person' AND NOT hidden AND merged_into IS NULL
            ORDER BY pinned DESC, mention_count DESC, eid
            """
        )
    else:
        mentioned = connection.execute(
            f"""
            SELECT coalesce(e.merged_into, e.eid) AS person FROM memories m {_LINKS}
            WHERE {filtered.active.where} GROUP BY person ORDER BY count(DISTINCT m.rid) DESC, person
            """,
            filtered.active.bindings,
        )
    eids = [eid for (eid,) in mentioned]
    known: Any = connection.execute(
        """
        SELECT e.eid, e.canonical_name, e.id FROM json_each(?) given CROSS JOIN entities e ON e.eid = given.value
        WHERE e.type = 'person' AND NOT e.hidden AND e.merged_into IS NULL ORDER BY given.key
        """,
        (as_json(eids),),
    ).fetchall()
    shown = known[:most]
    subjects = [
        _Subject(str(name), f"entity:{_name_or_id(connection, eid, str(name), str(id))}", (eid,))
        for eid, name, id in shown
    ]
    wanted = ", ".join(str(eid) for eid, *_ in shown)
    group = f"l.eid IN (SELECT eid FROM entities WHERE eid IN ({wanted}) OR merged_into IN ({wanted}))"
    return _TimelineRowsSql(
        subjects, "coalesce(e.merged_into, e.eid)", _LINKS, group, left_out=max(len(known) - most, 0)
    )


def _name_or_id(connection: apsw.Connection, eid: int, name: str, id: str) -> str:
    """The name in quotes, if it can be typed and means nobody else; else the id."""
    if not (name.isprintable() and name.strip() and len(name) <= _LONGEST_NAME):
        return id
    rows: Any = connection.execute(
        """
        SELECT DISTINCT coalesce(e.merged_into, e.eid) FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        WHERE a.key = ? AND NOT e.hidden LIMIT 2
        """,
        (fold_text(name),),
    ).fetchall()
    return _filter_value(name) if rows == [(eid,)] else id


def _filter_value(name: str) -> str:
    """A name as a value of the filter language; of a very long one the beginning."""
    return str(Value(text=name[:_LONGEST_NAME], quoted=True, prefix=len(name) > _LONGEST_NAME))


_ROWS_BY = {"topic": _topic_rows, "person": _people_rows, "project": _project_rows}
