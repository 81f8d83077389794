"""What is sent: the rows that changed here since a place in history, as they are now, with what they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.records import Stamp
from memtui.engine.store import export_rows, stamps, sync_erased, sync_versions, tombstones
from memtui.engine.store.export_rows import (
    AnyLine,
    ConsolidatedLine,
    DeletedKeyLine,
    MemoryLine,
    RowKeys,
    SessionLine,
)
from memtui.engine.store.sql import as_json, scalar

from . import lines, state, versions
from .batch import MOST_BYTES, MOST_LINES
from .lines import ErasedLine, GoneLine, RowLine, SyncLine, TombstonesLine

KeyedHash = Callable[[str], str]
"""``Sealer.keyed_hash``."""
_ERASED = 500
"""Names in a line."""
_TOMBSTONES = 20_000
"""In a line: who reads one looks through all its memories."""
_image = msgspec.json.Decoder(dict[str, Any]).decode
_stamps = msgspec.json.Decoder(tuple[Stamp, ...]).decode
_TABLES = {
    "sessions_consolidations": ("sessions", "sid"), "entities": ("entities", "eid"), "memories": ("memories", "rid"),
    "entity_decisions": ("decisions", "decision_id"), "scratchpad": ("scratchpad", "pad_id"),
    "proposals": ("proposals", "proposal_id"), "saved_queries": ("questions", "query_id"),
    "profiles": ("profiles", "profile_id"),
}  # fmt: skip


class Changed:
    """Rows that changed: by key those that are here, by name those that are not."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.keys: dict[str, set[int]] = {name: set() for name, _ in _TABLES.values()}
        self.gone: set[str] = set()

    def since(self, first: int, last: int) -> None:
        """What was changed here after the one change and up to the other; what sync took over is known elsewhere."""
        rows: Any = self._connection.execute(
            """
            SELECT c.tbl, c.act, c.lo, c.hi, c.before FROM changes c JOIN ops o USING (op_id)
            WHERE c.seq > ? AND c.seq <= ? AND o.kind <> ? ORDER BY c.seq
            """,
            (first, last, versions.KIND),
        )
        for table, act, low, high, before in rows:
            if table in ("decided", "entity_aliases"):
                self._note_part(table, low, before)
            elif act == "delete":
                self._note_gone(table, low, _image(before))
            else:
                self.keys[_TABLES[table][0]].update(range(low, high + 1))

    def _note_part(self, table: str, key: int, before: str | None) -> None:
        """A stamp, or a name of an entity: what it belongs to changed."""
        image = _image(before) if before else {}
        if table == "decided":
            thing = scalar(self._connection, "SELECT thing FROM decided WHERE decided_id = ?", (key,))
            if found := thing or image.get("thing"):
                self.named(str(found))
            return
        eid = scalar(self._connection, "SELECT entity_id FROM entity_aliases WHERE alias_id = ?", (key,))
        self.keys["entities"].update({eid, image.get("entity_id")} - {None})

    def _note_gone(self, table: str, key: int, image: dict[str, Any]) -> None:
        match table:
            case "memories" | "entities":
                self.named(str(image["id"]))
            case "sessions_consolidations":
                self.named(lines.SESSION + str(image["session_id"]))
            case "scratchpad":
                self.named(stamps.PAD + str(image["key"]))
            case "proposals":
                self.named(lines.CARD + str(image["id"]))
            case "saved_queries":
                self.named(lines.QUESTION + str(image["name"]))
            case "profiles":
                self.named(lines.PROFILE + str(image["name"]))
            case "entity_decisions":
                if thing := versions.decision_thing(self._connection, image):
                    self.named(thing)
                    # What it was about is stamped as well, and may have changed in nothing else.
                    for id in thing.removeprefix(lines.DECISION).split("\n")[1:4]:
                        if id:
                            self.named(id)

    def named(self, thing: str) -> None:
        """Something by its name: its row, or that there is none."""
        name, key = self._row_of(thing)
        if key is None:
            self.gone.add(thing)
        else:
            self.keys[name].add(key)

    def _row_of(self, thing: str) -> tuple[str, int | None]:
        prefix, _, rest = thing.partition(":")
        by_name = {
            "session": ("sessions", "SELECT sid FROM sessions_consolidations WHERE session_id = ?"),
            "pad": ("scratchpad", "SELECT pad_id FROM scratchpad WHERE key = ?"),
            "card": ("proposals", "SELECT proposal_id FROM proposals WHERE id = ?"),
            "question": ("questions", "SELECT query_id FROM saved_queries WHERE name = ?"),
            "profile": ("profiles", "SELECT profile_id FROM profiles WHERE name = ?"),
        }
        if prefix == "decision":
            return "decisions", decision_row(self._connection, rest)
        if prefix in by_name and rest:
            name, sql = by_name[prefix]
            return name, scalar(self._connection, sql, (rest,))
        if thing.startswith(lines.ENTITY):
            return "entities", scalar(self._connection, "SELECT eid FROM entities WHERE id = ?", (thing,))
        return "memories", scalar(self._connection, "SELECT rid FROM memories WHERE id = ?", (thing,))

    def complete(self) -> None:
        """Add what the rows name: the entities and memories of decisions, what a name is merged into, sessions."""
        decisions = as_json(self.keys["decisions"])
        for column, name in (("entity_id", "entities"), ("other_id", "entities"), ("rid", "memories")):
            found = self._connection.execute(
                f"SELECT DISTINCT {column} FROM entity_decisions WHERE {column} IS NOT NULL "
                "AND decision_id IN (SELECT value FROM json_each(?))",
                (decisions,),
            )
            self.keys[name].update(int(str(key)) for (key,) in found)
        for _ in range(2):  # what it is merged into is merged into nothing
            found = self._connection.execute(
                "SELECT DISTINCT merged_into FROM entities WHERE merged_into IS NOT NULL "
                "AND eid IN (SELECT value FROM json_each(?))",
                (as_json(self.keys["entities"]),),
            )
            self.keys["entities"].update(int(str(key)) for (key,) in found)
        memories = sorted(self.keys["memories"])
        for start in range(0, len(memories), 10_000):
            found = self._connection.execute(
                "SELECT DISTINCT s.sid FROM json_each(?) k JOIN memories m ON m.rid = k.value "
                "JOIN sessions_consolidations s ON s.session_id = m.session_id",
                (as_json(memories[start : start + 10_000]),),
            )
            self.keys["sessions"].update(int(str(key)) for (key,) in found)

    def lines(self) -> Iterator[AnyLine]:
        return export_rows.rows_by_key(self._connection, RowKeys(**self.keys))


def decision_row(connection: apsw.Connection, about: str) -> int | None:
    """The key of a decision about names, from the rest of its name."""
    decision, entity, other, memory, key = about.split("\n", 4)
    found: int | None = scalar(
        connection,
        """
        SELECT decision_id FROM entity_decisions d WHERE decision = ?1
        AND entity_id IS (SELECT eid FROM entities WHERE id = ?2) AND other_id IS (SELECT eid FROM entities WHERE id = ?3)
        AND rid IS (SELECT rid FROM memories WHERE id = ?4) AND coalesce(key, '') = ?5
        AND (?2 = '' OR entity_id IS NOT NULL) AND (?3 = '' OR other_id IS NOT NULL) AND (?4 = '' OR rid IS NOT NULL)
        """,
        (decision, entity, other, memory, key),
    )
    return found


def all_lines(connection: apsw.Connection, keyed: KeyedHash, *, facts_only: bool) -> Iterator[SyncLine]:
    """All rows, and what is known of those that went and of what was erased."""
    salts = tuple(salt.hex() for salt in tombstones.salts_of(connection))
    hashes = tombstones.all_hashes(connection)
    for start in range(0, len(hashes), _TOMBSTONES):
        some = hashes[start : start + _TOMBSTONES]
        yield TombstonesLine(salts=salts, hashes=tuple(one.hex() for one in some))
    erased = _ErasedNames.load(connection, only_new=False)
    yield from _erased_lines(connection, erased, keyed)
    yield from _row_lines(connection, export_rows.rows(connection, to_write=True), facts_only=facts_only)
    there = Changed(connection)
    for (thing,) in connection.execute("SELECT DISTINCT thing FROM sync_versions ORDER BY thing").fetchall():
        there.named(str(thing))
    yield from _removal_lines(connection, there.gone)
    yield from _covered_lines(erased)


class _ErasedNames(NamedTuple):
    """What was erased, and the rows that lost words by it, each in order: ``whole``, ``cleared`` and ``covered``."""

    whole: list[str]
    cleared: list[str]
    covered: list[str]

    @classmethod
    def load(cls, connection: apsw.Connection, *, only_new: bool) -> _ErasedNames:
        """``only_new``: those of which the batch that is written tells first."""
        where = "WHERE sent = 2" if only_new else ""
        found = cls([], [], [])
        for (noted,) in connection.execute(f"SELECT name FROM sync_erased {where} ORDER BY name"):
            name = str(noted)
            if name.startswith(sync_erased.CLEARED):
                found.cleared.append(name.removeprefix(sync_erased.CLEARED))
            elif name.startswith(sync_erased.COVERED):
                found.covered.append(name.removeprefix(sync_erased.COVERED))
            else:
                found.whole.append(name)
        return found


def _erased_lines(connection: apsw.Connection, erased: _ErasedNames, keyed: KeyedHash) -> Iterator[SyncLine]:
    kept = tuple(sorted(map(keyed, state.kept(connection)))) if erased.whole else ()
    for names in _in_parts(erased.whole):
        yield ErasedLine(names=names, kept=kept)
    for names in _in_parts(erased.cleared):
        yield ErasedLine(cleared=names)


def _covered_lines(erased: _ErasedNames) -> Iterator[SyncLine]:
    """Which rows were covered: after the rows as they are now, so that no history keeps what they were."""
    for names in _in_parts(erased.covered):
        yield ErasedLine(covered=names)


def _in_parts(names: list[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(names), _ERASED):
        yield tuple(names[start : start + _ERASED])


def changed_lines(
    connection: apsw.Connection, first: int, last: int, keyed: KeyedHash, *, facts_only: bool
) -> Iterator[SyncLine]:
    """What changed here between two places of history, what merges made anew, and what was erased and others do not know."""
    erased = _ErasedNames.load(connection, only_new=True)
    yield from _erased_lines(connection, erased, keyed)
    found = Changed(connection)
    found.since(first, last)
    for (thing,) in connection.execute("SELECT thing FROM sync_merged ORDER BY thing").fetchall():
        found.named(str(thing))
    found.complete()
    yield from _row_lines(connection, found.lines(), facts_only=facts_only)
    yield from _removal_lines(connection, found.gone)
    yield from _covered_lines(erased)


def _row_lines(
    connection: apsw.Connection, rows: Iterator[AnyLine], *, facts_only: bool
) -> Iterator[RowLine]:
    for line in rows:
        if isinstance(line, ConsolidatedLine):
            continue  # it goes with its session
        if facts_only and isinstance(line, MemoryLine) and line.kind == "episode":
            continue
        stamped = tuple(sync_versions.read_versions(connection, lines.thing_of(line)).values())
        through = (
            _last_consolidated_id(connection, line.session_id) if isinstance(line, SessionLine) else None
        )
        yield RowLine(line=line, versions=stamped, through=through)


def _last_consolidated_id(connection: apsw.Connection, session_id: str) -> str | None:
    found: str | None = scalar(
        connection,
        """
        SELECT m.id FROM sessions_consolidations s JOIN memories m ON m.session_id = s.session_id
        AND m.rid <= s.consolidated_through WHERE s.session_id = ? ORDER BY m.rid DESC LIMIT 1
        """,
        (session_id,),
    )
    return found


def _removal_lines(connection: apsw.Connection, things: set[str]) -> Iterator[SyncLine]:
    for thing in sorted(things):
        if thing.startswith(stamps.PAD):
            if decided := tuple(stamps.read_stamps(connection, thing).values()):
                yield RowLine(line=DeletedKeyLine(key=thing.removeprefix(stamps.PAD), decided=decided))
            continue
        if known := tuple(sync_versions.read_versions(connection, thing).values()):
            yield GoneLine(
                thing=thing, versions=known, decided=tuple(stamps.read_stamps(connection, thing).values())
            )


def in_batches(found: Iterator[SyncLine]) -> Iterator[tuple[list[bytes], bool]]:
    """Lines as JSON, in lists that a batch may hold, each with whether it is the last one. Nothing for no lines."""
    batch: list[bytes] = []
    size = 0
    for one in found:
        text = lines.encode(one)
        if batch and (len(batch) >= MOST_LINES or size + len(text) > MOST_BYTES):
            yield batch, False
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch, True
