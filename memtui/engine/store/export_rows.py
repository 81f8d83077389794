"""The lines of an export: one typed line for each row, with ids in place of row numbers.

Numbers of rows (rid, eid) mean nothing in another file, so none is in a line. What can be derived from the rest
(vectors, links that a program found, counts of mentions) is not in a line either. JSON columns are kept as the
text that they are. ``exporters/jsonl.py`` writes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import apsw
import msgspec
from msgspec import NODEFAULT, Meta, Raw
from msgspec.structs import replace

from memtui.engine.records import Kind, Record, Stamp

from .entities import NAME_DECIDED, TYPE_DECIDED, TYPE_DECIDED_BY_AGENT, entity_key
from .sql import as_json, scalar
from .stamps import ABOUT, PAD
from .tables import LIST, MEMORY, OBJECT, Count, Id, Time


class Line(Record, tag_field="line", omit_defaults=True):
    """One row. Times are Unix seconds; what is left out is empty, null or 0."""


class SessionLine(Line, tag="session"):
    session_id: Id
    first_seen_at: Time
    last_seen_at: Time
    consolidated_at: Time | None = None
    attempts: Count = 0
    next_attempt_at: Time | None = None
    last_error: str | None = None
    title: str | None = None
    summary: str | None = None
    source: str | None = None
    project: str | None = None
    begun_by: str | None = None
    read_by: str | None = None


class Alias(Record):
    """A name, and the form of it by which it is found (NFKC, casefolded)."""

    key: str
    alias: str


class EntityLine(Line, tag="entity"):
    id: Id
    canonical_name: str
    type: str
    created_at: Time
    summary: str | None = None
    protected: Count = 0
    hidden: Count = 0
    pinned: Count = 0
    merged_into: Id | None = None
    aliases: tuple[Alias, ...] = ()
    decided: tuple[Stamp, ...] = ()


if TYPE_CHECKING:

    class MemoryLine(Line, tag="memory"):
        """A memory. What is named of it somewhere; ``tables.MEMORY`` has all its fields."""

        id: str
        kind: Kind
        content: str
        event_time: int
        session_id: str | None
        source_role: str | None
        source_key: str | None
        confidence: float
        decay_rate: float
        source_ids: Raw
        tags: Raw
        attributes: Raw
        source: str | None
        project: str | None
        decided: tuple[Stamp, ...]

else:
    _EXPORTED = [column for column in MEMORY if column.exported]
    MemoryLine = msgspec.defstruct(
        "MemoryLine",
        # What has no default first: old exports have this order, and the content hash is made from it.
        [(column.name, column.type) for column in _EXPORTED if column.default is NODEFAULT]
        + [(column.name, column.type, column.default) for column in _EXPORTED if column.default is not NODEFAULT]
        + [("decided", tuple[Stamp, ...], ())],
        bases=(Line,), tag="memory", kw_only=True, module=__name__,
    )  # fmt: skip


class ConsolidatedLine(Line, tag="read"):
    """The last consolidated memory of a session; null if that memory is deleted."""

    session_id: Id
    through: Id | None = None


class DecisionLine(Line, tag="decision"):
    decision: Literal["link", "unlink", "not_entity", "distinct"]
    at: Time
    actor: str
    entity: Id | None = None
    other: Id | None = None
    memory: Id | None = None
    key: str | None = None
    decided: tuple[Stamp, ...] = ()


class ScratchpadLine(Line, tag="scratchpad"):
    key: str
    value: str
    updated_at: Time
    decided: tuple[Stamp, ...] = ()


class DeletedKeyLine(Line, tag="deleted_key"):
    """A deleted key of the scratchpad."""

    key: str
    decided: tuple[Stamp, ...]


class ProposalLine(Line, tag="proposal"):
    id: Id
    kind: str
    state: Literal["open", "snoozed", "accepted", "rejected"]
    created_at: Time
    snoozed_until: Time | None = None
    decided_at: Time | None = None
    payload: Raw = OBJECT


class QuestionLine(Line, tag="question"):
    name: str
    query: str
    created_at: Time
    filter: str = ""
    profile: str | None = None
    top: Annotated[int, Meta(ge=1, le=100)] = 10
    expected: Raw = LIST


class ProfileLine(Line, tag="profile"):
    name: str
    settings: Raw = OBJECT


AnyLine = (
    SessionLine | EntityLine | MemoryLine | ConsolidatedLine | DecisionLine | ScratchpadLine | DeletedKeyLine | ProposalLine
    | QuestionLine | ProfileLine
)  # fmt: skip

_RAW = frozenset({*(column.name for column in MEMORY if column.json), "payload", "expected", "settings"})
_UNDECIDED: dict[str, Any] = {
    column.name: column.default for column in MEMORY if column.exported and not column.history
}
_encode = msgspec.json.Encoder(order="deterministic").encode
_aliases = msgspec.json.Decoder(tuple[Alias, ...]).decode
_list = msgspec.json.Decoder(tuple[str, ...]).decode
_stamps = msgspec.json.Decoder(tuple[Stamp, ...]).decode
_STAMPED = (MemoryLine, EntityLine, DecisionLine, ScratchpadLine)


def encode(line: Record) -> bytes:
    """The line as JSON, without a line end."""
    return _encode(line)


class Selection(Record):
    """Which memories: a condition over a row called ``m``, and its bindings; everything unless ``narrowed``.

    A narrowed selection has the sessions of its memories and the entities that they are linked to, and nothing
    that belongs to no memory (scratchpad, saved questions, profiles, proposals).
    """

    where: str = "true"
    bindings: dict[str, Any] = {}
    narrowed: bool = False


ALL = Selection()


class _RowConditions(NamedTuple):
    """SQL: which rows of each kind. Each may use ``:keys``."""

    sessions: str = "true"
    entities: str = "true"
    memories: str = "true"
    decisions: str = "true"
    scratchpad: str = "true"
    proposals: str = "true"
    questions: str = "true"
    profiles: str = "true"


class RowKeys(NamedTuple):
    """Rows by the keys of their tables. Keys without a row are passed over."""

    sessions: Collection[int] = ()
    entities: Collection[int] = ()
    memories: Collection[int] = ()
    decisions: Collection[int] = ()
    scratchpad: Collection[int] = ()
    proposals: Collection[int] = ()
    questions: Collection[int] = ()
    profiles: Collection[int] = ()


_KEYED = {
    SessionLine: ("sessions", "s.sid"), EntityLine: ("entities", "e.eid"), MemoryLine: ("memories", "m.rid"),
    DecisionLine: ("decisions", "d.decision_id"), ScratchpadLine: ("scratchpad", "p.pad_id"),
    ProposalLine: ("proposals", "proposal_id"), QuestionLine: ("questions", "query_id"),
    ProfileLine: ("profiles", "profile_id"),
}  # fmt: skip
_BY_KEY = {name: f"{column} IN (SELECT value FROM json_each(:keys))" for name, column in _KEYED.values()}


def rows_by_key(connection: apsw.Connection, keys: RowKeys) -> Iterator[AnyLine]:
    """These rows as lines, in the order of ``rows``, for ``encode`` alone."""
    for type, sql in _select_where(_RowConditions(**_BY_KEY)):
        name, _ = _KEYED.get(type, ("", ""))
        chosen = sorted(getattr(keys, name)) if name else []
        columns = type.__struct_fields__
        for start in range(0, len(chosen), _KEYS_AT_ONCE):
            some = as_json(chosen[start : start + _KEYS_AT_ONCE])
            for row in connection.execute(sql, {"keys": some}):
                yield _make_line(type, dict(zip(columns, row, strict=True)), to_write=True)


_KEYS_AT_ONCE = 2_000


def rows(
    connection: apsw.Connection, selection: Selection = ALL, *, to_write: bool = False
) -> Iterator[AnyLine]:
    """Every row as a line, in an order in which each finds what it names; one snapshot, one row in memory.

    ``to_write``: for ``encode`` and ``Digest`` alone; stamps, which those do not read, stay the JSON that they are.
    """
    for type, sql in _select_statements(selection):
        columns = type.__struct_fields__
        for row in connection.execute(sql, selection.bindings):
            yield _make_line(type, dict(zip(columns, row, strict=True)), to_write=to_write)


def counts(connection: apsw.Connection, selection: Selection = ALL) -> dict[str, int]:
    """How many lines there are of each kind."""
    return {
        str(type.__struct_config__.tag): scalar(
            connection, f"SELECT count(*) FROM ({sql})", selection.bindings
        )
        for type, sql in _select_statements(selection)
    }


def content_hash(connection: apsw.Connection) -> str:
    """32 hex digits for all that somebody may have decided on, wherever its rows stand.

    Not in it: access counts, automatic links and the names that were only found by them, vectors, recalls, and history
    itself. So it does not matter which links are still to be made.
    """
    digest = Digest()
    for line in rows(connection, to_write=True):
        digest.add(line)
    return digest.text


def _is_only_detected(line: EntityLine) -> bool:
    """Whether a name is here only because a program met it in a text."""
    decided = line.protected or line.hidden or line.pinned or line.summary
    return not decided and line.merged_into is None and len(line.aliases) <= 1


class Digest:
    """The sum of the hashes of lines: in whatever order they come, it is the same."""

    def __init__(self) -> None:
        self._sum = 0
        # Older exports: their digest counts how a program wrote a name, before that the order of tags, and before that also
        # names without a decision.
        self._as_found = 0
        self._ordered = 0
        self._with_found = 0

    def add(self, line: AnyLine) -> None:
        if isinstance(line, DeletedKeyLine):
            return  # the same rows are the same, whoever decided so
        merged = isinstance(line, EntityLine) and _is_merge_decided(line)
        if isinstance(line, _STAMPED) and line.decided:
            line = replace(line, decided=())
        only_detected = isinstance(line, EntityLine) and _is_only_detected(line)
        if isinstance(line, MemoryLine):
            line = replace(line, **_UNDECIDED)
        elif isinstance(line, SessionLine):
            line = replace(line, first_seen_at=0, last_seen_at=0)
        value = ordered = _hash_line(line)
        if isinstance(line, MemoryLine) and (changed := _sort_unordered(line)):
            value = _hash_line(replace(line, **changed))
        self._with_found += ordered
        if not only_detected:
            self._ordered += ordered
            self._as_found += value
        if isinstance(line, EntityLine):
            decided = _decided_of(line, merged=merged)
            self._sum += 0 if _is_only_detected(decided) else _hash_line(decided)
        else:
            self._sum += value

    def fits(self, text: str) -> bool:
        """Whether an export that ends with ``text`` has these lines."""
        return text in map(_digest_text, (self._sum, self._as_found, self._ordered, self._with_found))

    @property
    def text(self) -> str:
        return _digest_text(self._sum)


def _is_merge_decided(line: EntityLine) -> bool:
    """Whether somebody decided what the name is another name of, or that it stands alone. A program may have found it."""
    stored = line.decided
    if isinstance(stored, Raw):
        return b'"merged"' in bytes(stored)
    return any(stamp.aspect == "merged" for stamp in stored)


def _decided_of(line: EntityLine, *, merged: bool) -> EntityLine:
    """A name as somebody decided: when a program met it, in which letters, and of which type it took it, say nothing."""
    named, typed = line.protected & NAME_DECIDED, line.protected & (TYPE_DECIDED | TYPE_DECIDED_BY_AGENT)
    return replace(
        line,
        created_at=0,
        canonical_name=line.canonical_name if named else entity_key(line.canonical_name),
        type=line.type if typed else "",
        merged_into=line.merged_into if merged else None,
        aliases=tuple(Alias(key=one.key, alias=one.key) for one in line.aliases),
    )


def _hash_line(line: AnyLine) -> int:
    return int.from_bytes(blake2b(encode(line), digest_size=16).digest())


def _digest_text(total: int) -> str:
    return f"{total % (1 << 128):032x}"


def _sort_unordered(line: MemoryLine) -> dict[str, Raw]:
    """The tags and sources that are not in order, sorted: two devices that add the same ones end alike."""
    unordered = {}
    for name in ("tags", "source_ids"):
        written = bytes(getattr(line, name))
        if b"," not in written:
            continue
        with suppress(
            msgspec.MsgspecError
        ):  # a line of a file that somebody changed: it is refused where it is stored
            if (in_order := _encode(sorted(_list(written)))) != written:
                unordered[name] = Raw(in_order)
    return unordered


def _stamps_condition(where: str) -> str:
    """SQL for the stamps of what a row is about."""
    stamp = "json_object('aspect', aspect, 'seen', json(seen), 'device', device, 'at', at, 'actor', actor)"
    return f"(SELECT json_group_array({stamp}) FROM (SELECT * FROM decided s WHERE {where} ORDER BY aspect))"


MEMORY_FIELDS = tuple(name for name in MemoryLine.__struct_fields__ if name != "decided")
"""The columns of a memory that a line has, in its order."""
_SELECTED = ", ".join(
    [
        *(f"json(m.{name})" if name in _RAW else f"m.{name}" for name in MEMORY_FIELDS),
        _stamps_condition("s.thing = m.id"),
    ]
)


_ABOUT_NAMES = f"""
    d.decision IN ('link', 'unlink') AND s.thing = (SELECT id FROM memories WHERE rid = d.rid)
        AND s.aspect = '{ABOUT}' || (SELECT id FROM entities WHERE eid = d.entity_id)
    OR d.decision = 'distinct' AND s.aspect = 'merged'
        AND s.thing IN (SELECT id FROM entities WHERE eid IN (d.entity_id, d.other_id))"""


def _make_line(type: type[AnyLine], values: dict[str, Any], *, to_write: bool) -> AnyLine:
    for name in _RAW & values.keys():
        values[name] = Raw(values[name].encode())
    if "aliases" in values:
        values["aliases"] = _aliases(values["aliases"])
    if "decided" in values:
        stored = values["decided"]
        values["decided"] = () if stored == "[]" else Raw(stored.encode()) if to_write else _stamps(stored)
    return type(**values)


def _select_statements(selection: Selection) -> list[tuple[type[AnyLine], str]]:
    """A SELECT for each kind of line, its columns in the order of the record's fields."""
    if not selection.narrowed:
        return _select_where(_RowConditions(memories=selection.where))
    some = f"SELECT m.rid FROM memories m WHERE {selection.where}"
    sessions = f"s.session_id IN (SELECT m.session_id FROM memories m WHERE {selection.where})"
    # A name with what it is merged into, else the name would stand for something else.
    linked = f"SELECT l.eid FROM memory_entities l WHERE l.rid IN ({some})"
    known = f"{linked} UNION SELECT g.merged_into FROM entities g WHERE g.eid IN ({linked})"
    entities = f"e.eid IN ({known})"
    decisions = (
        f"(d.rid IS NULL OR d.rid IN ({some})) AND (d.entity_id IS NULL OR d.entity_id IN ({known})) "
        f"AND (d.other_id IS NULL OR d.other_id IN ({known})) AND coalesce(d.rid, d.entity_id, d.other_id) IS NOT NULL"
    )
    where = _RowConditions(
        sessions=sessions, entities=entities, memories=selection.where, decisions=decisions
    )
    beside = ScratchpadLine | DeletedKeyLine | ProposalLine | QuestionLine | ProfileLine
    return [(type, sql) for type, sql in _select_where(where) if not issubclass(type, beside)]


def _select_where(where: _RowConditions) -> list[tuple[type[AnyLine], str]]:
    return [
        (SessionLine, f"""
            SELECT session_id, first_seen_at, last_seen_at, consolidated_at, attempts, next_attempt_at, last_error,
                   title, summary, source, project, begun_by, read_by
            FROM sessions_consolidations s WHERE {where.sessions} ORDER BY s.sid"""),
        (EntityLine, f"""
            SELECT e.id, e.canonical_name, e.type, e.created_at, e.summary, e.protected, e.hidden, e.pinned,
                   (SELECT id FROM entities t WHERE t.eid = e.merged_into),
                   (SELECT json_group_array(json_object('key', key, 'alias', alias)) FROM (
                        SELECT key, alias FROM entity_aliases a WHERE a.entity_id = e.eid ORDER BY key)),
                   {_stamps_condition("s.thing = e.id")}
            FROM entities e WHERE {where.entities} ORDER BY e.merged_into IS NOT NULL, e.eid"""),
        (MemoryLine, f"SELECT {_SELECTED} FROM memories m WHERE {where.memories} ORDER BY m.rid"),
        (ConsolidatedLine, f"""
            SELECT s.session_id, (
                SELECT m.id FROM memories m WHERE m.session_id = s.session_id AND m.rid <= s.consolidated_through
                AND {where.memories} ORDER BY m.rid DESC LIMIT 1)
            FROM sessions_consolidations s WHERE s.consolidated_through IS NOT NULL AND {where.sessions} ORDER BY s.sid"""),
        (DecisionLine, f"""
            SELECT d.decision, d.at, d.actor, (SELECT id FROM entities e WHERE e.eid = d.entity_id),
                   (SELECT id FROM entities e WHERE e.eid = d.other_id), (SELECT id FROM memories m WHERE m.rid = d.rid), d.key,
                   {_stamps_condition(_ABOUT_NAMES)}
            FROM entity_decisions d WHERE {where.decisions} ORDER BY d.decision_id"""),
        (ScratchpadLine, f"""
            SELECT key, value, updated_at, {_stamps_condition(f"s.thing = '{PAD}' || p.key")} FROM scratchpad p
            WHERE {where.scratchpad} ORDER BY pad_id"""),
        (DeletedKeyLine, f"""
            SELECT key, {_stamps_condition(f"s.thing = '{PAD}' || key")} FROM (
                SELECT DISTINCT substr(thing, {len(PAD) + 1}) AS key FROM decided WHERE thing GLOB '{PAD}*')
            WHERE key NOT IN (SELECT key FROM scratchpad) ORDER BY key"""),
        (ProposalLine, f"""
            SELECT id, kind, state, created_at, snoozed_until, decided_at, json(payload)
            FROM proposals WHERE {where.proposals} ORDER BY proposal_id"""),
        (QuestionLine, f"""
            SELECT name, query, created_at, filter, profile, top, json(expected)
            FROM saved_queries WHERE {where.questions} ORDER BY query_id"""),
        (ProfileLine, f"SELECT name, json(settings) FROM profiles WHERE {where.profiles} ORDER BY profile_id"),
    ]  # fmt: skip
