"""Apply a batch of another device: its rows and decisions meet those here.

Every step gives the same on whichever device it is done, so a batch may come twice, or after a later one. Whatever is then
neither as it was here nor as it came is noted (``versions.merged``) and sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine import reconcile
from memtui.engine.errors import InputError
from memtui.engine.reconcile import meeting
from memtui.engine.records import Record, Stamp
from memtui.engine.store import (
    export_rows,
    full_text,
    history,
    import_rows,
    memories,
    stamps,
    sync_erased,
    sync_versions,
    tombstones,
)
from memtui.engine.store.export_rows import (
    Alias,
    AnyLine,
    DecisionLine,
    DeletedKeyLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    ProposalLine,
    QuestionLine,
    RowKeys,
    ScratchpadLine,
    SessionLine,
)
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.store.sql import scalar
from memtui.engine.store.sync_versions import ALIASES, READ, ROW, VALUE

from . import erased_references, erased_texts, lines, outgoing, state, versions
from .lines import ErasedLine, GoneLine, RowLine, TombstonesLine
from .versions import SESSION_PARTS

ROWS_AT_ONCE = 64
_MERGED_PAGES = 128


class _Named(Record):
    supersedes: str | list[str] | None = None
    merged: str | list[str] | None = None


_named = msgspec.json.Decoder(_Named).decode


class Incoming:
    """Lines of one batch on their way in. ``counts``: what changes by them, as people call it; ``questions``: cards."""

    def __init__(self, others: OtherIds, now: int) -> None:
        self._others = others
        self._now = now
        self.counts: Counter[str] = Counter()
        self.questions = 0
        self._successors: dict[str, str] = {}

    def learn(self, found: Iterable[lines.SyncLine]) -> None:
        """What corrects what on the other device: to be known before any of the lines is applied."""
        for one in found:
            if isinstance(one, RowLine) and isinstance(one.line, MemoryLine):
                self._note_successor(one.line)

    def _note_successor(self, line: MemoryLine) -> None:
        text = bytes(line.attributes)
        if b'"supersedes"' not in text and b'"merged"' not in text:
            return
        found = _named(line.attributes)
        for old in _as_list(found.supersedes):
            self._successors[old] = line.id
        for old in _as_list(found.merged):
            self._successors.setdefault(old, line.id)

    def apply(self, connection: apsw.Connection, found: Sequence[lines.SyncLine]) -> None:
        """Apply some of the lines, in the caller's operation, in which nothing is stamped."""
        for one in found:
            if isinstance(one, TombstonesLine):
                _note_tombstones(connection, one)
            elif isinstance(one, ErasedLine):
                _note_erased(connection, one)
        found = erased_references.without_erased(connection, found)
        rows = [one for one in found if isinstance(one, RowLine)]
        gone = [one for one in found if isinstance(one, GoneLine)]
        remembered = [one for one in rows if isinstance(one.line, MemoryLine)]
        before = [one for one in rows if isinstance(one.line, SessionLine | EntityLine)]
        after = [one for one in rows if not isinstance(one.line, SessionLine | EntityLine | MemoryLine)]
        for one in before:
            self._apply_row(connection, one)
        new = [one for one in remembered if self._is_new(connection, one)]
        known = {
            one.line.id: stamps.read_stamps(connection, one.line.id)
            for one in new
            if isinstance(one.line, MemoryLine)
        }
        self._add_memories(connection, new)
        for memory, had in known.items():
            _know_again(connection, memory, had)
        added = {id(one) for one in new}
        for one in remembered:
            if id(one) not in added:
                self._apply_decisions(connection, one.line)
        for one in after:
            self._apply_row(connection, one)
        for one in before:
            if isinstance(one.line, SessionLine):
                self._note_read(connection, one)
        _set_read(connection)
        # What was drawn from something goes before it.
        for line in sorted(gone, key=lambda one: one.thing.startswith(("epi", lines.SESSION, lines.ENTITY))):
            self._apply_removal(connection, line)
        for one in found:
            if isinstance(one, ErasedLine):
                erased_texts.forget_earlier(connection, one.covered)
        full_text.merge(connection, _MERGED_PAGES)

    # Memories

    def _is_new(self, connection: apsw.Connection, one: RowLine) -> bool:
        line = one.line
        assert isinstance(line, MemoryLine)
        here = self._others.local_id(line.id)
        theirs = {stamp.aspect: stamp for stamp in one.versions}.get(ROW)
        if scalar(connection, "SELECT 1 FROM memories WHERE id = ?", (here,)):
            if theirs is not None:
                versions.merge(connection, line.id, theirs)
            _agree_unstamped(connection, line)
            return False
        if tombstones.erased_among(connection, import_rows.erased_keys(line)):
            self.counts["erased for good"] += 1
            return False
        ours = sync_versions.read_versions(connection, line.id).get(ROW)
        if ours is None:
            if theirs is not None:
                sync_versions.write_version(connection, line.id, theirs)
            return True
        if theirs is not None and versions.merge(connection, line.id, theirs, present=True):
            return True
        # It was taken away here; what was decided about it elsewhere meanwhile brings it back.
        if self._is_unknown(connection, line.id, line.decided):
            self._decide_to_keep(connection, line.id, ROW, theirs)
            return True
        return False

    def _is_unknown(self, connection: apsw.Connection, thing: str, decided: Sequence[Stamp]) -> bool:
        """Whether somebody decided about it without that being known here."""
        ours = stamps.read_stamps(connection, thing)
        return any(_adds_knowledge(ours.get(stamp.aspect), stamp) for stamp in decided)

    def _decide_to_keep(
        self, connection: apsw.Connection, thing: str, aspect: str, knowing: Stamp | None
    ) -> None:
        """Decide here that it stays, against one that took it away and did not know why not."""
        sync_versions.decide(connection, thing, aspect, self._now, "scheduler", knowing=knowing)
        sync_versions.note_merged(connection, thing)

    def _add_memories(self, connection: apsw.Connection, new: Sequence[RowLine]) -> None:
        for start in range(0, len(new), ROWS_AT_ONCE):
            some = [one.line for one in new[start : start + ROWS_AT_ONCE] if isinstance(one.line, MemoryLine)]
            try:
                added = import_rows.add_memories(connection, some, self._others)
            except InputError:
                added = []
                for line in some:
                    try:
                        added += import_rows.add_memories(connection, [line], self._others)
                    except InputError:
                        self.counts["refused"] += 1
            for line in added:
                self.counts["turn" if line.kind == "episode" else line.kind] += 1
            if len(added) < len(some):
                self._note_others(connection, {line.id for line in some} - {line.id for line in added}, some)

    def _note_others(
        self, connection: apsw.Connection, missing: set[str], some: Sequence[MemoryLine]
    ) -> None:
        """Turns that are here under another id, as both devices imported them before they met."""
        for line in some:
            if line.id not in missing or line.source_key is None:
                continue
            here = scalar(connection, "SELECT id FROM memories WHERE source_key = ?", (line.source_key,))
            if here is not None and here != line.id:
                self._others.note_local_id(line.id, here)
                connection.execute(
                    "INSERT INTO sync_other_ids(id, here) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    (line.id, here),
                )

    # Decisions that reconcile merges

    def _apply_decisions(self, connection: apsw.Connection, line: AnyLine) -> None:
        assert isinstance(line, reconcile.Decided)
        successor = self._successors.get(line.id) if isinstance(line, MemoryLine) else None
        plan = reconcile.plan(connection, line, self._others, successor, self._now, agreed=True)
        if plan is None:
            return
        # Of what was erased meanwhile there is no question.
        cards = [
            card for card in plan.cards if not tombstones.erased_among(connection, card.payload["memories"])
        ]
        plan = plan._replace(cards=tuple(cards))
        before = self._stamps_of_successors(connection, plan.thing) if isinstance(line, MemoryLine) else {}
        reconcile.carry_out(connection, plan, self._now)
        came = {stamp.aspect: stamp for stamp in getattr(line, "decided", ())}
        if any(came.get(stamp.aspect) != stamp for stamp in plan.stamps):
            sync_versions.note_merged(connection, plan.thing)
        for thing, had in before.items():
            if stamps.read_stamps(connection, thing) != had:
                sync_versions.note_merged(connection, thing)
        for entry in plan.entries:
            if stamps.PAD + entry.key != plan.thing:
                sync_versions.note_merged(connection, stamps.PAD + entry.key)
        for card in plan.cards:
            assert card.stamp is not None
            thing = lines.CARD + card.id
            if VALUE not in sync_versions.read_versions(connection, thing):
                sync_versions.write_version(connection, thing, card.stamp)
                sync_versions.note_merged(connection, thing)
                self.questions += 1
        self.counts.update(plan.counts)

    def _stamps_of_successors(self, connection: apsw.Connection, id: str) -> dict[str, dict[str, Stamp]]:
        """The stamps of what replaced a memory, at any step: what one device said of the old text is carried there."""
        found: dict[str, dict[str, Stamp]] = {}
        step = [id]
        while step:
            rows = connection.execute(
                "SELECT from_id FROM memory_links WHERE to_id = ? AND rel IN ('supersedes', 'merged')",
                (step.pop(),),
            ).fetchall()
            for (later,) in rows:
                if str(later) not in found:
                    found[str(later)] = stamps.read_stamps(connection, str(later))
                    step.append(str(later))
        return found

    # Other rows

    def _apply_row(self, connection: apsw.Connection, one: RowLine) -> None:
        line = one.line
        stamped = {stamp.aspect: stamp for stamp in one.versions}
        if tombstones.erased_among(connection, import_rows.erased_keys(line)):
            return
        match line:
            case SessionLine():
                self._apply_session(connection, line, stamped)
            case EntityLine():
                self._apply_entity(connection, line, stamped)
            case ScratchpadLine() | DeletedKeyLine():
                if line.decided:
                    self._apply_decisions(connection, line)
                elif isinstance(line, ScratchpadLine):
                    import_rows.add(connection, line, self._others)
            case DecisionLine():
                self._apply_entity_decision(connection, line, stamped)
            case ProposalLine() | QuestionLine() | ProfileLine():
                self._apply_whole_row(connection, line, stamped)
            case _:
                return

    def _theirs_holds(
        self, connection: apsw.Connection, thing: str, theirs: Stamp | None, *, here: bool
    ) -> bool:
        """Whether a row that is one decision becomes as theirs, or comes in. ``here``: whether there is one."""
        if theirs is None:
            return not here and VALUE not in sync_versions.read_versions(connection, thing)
        return bool(versions.merge(connection, thing, theirs, present=None if here else True))

    def _apply_whole_row(
        self,
        connection: apsw.Connection,
        line: ProposalLine | QuestionLine | ProfileLine,
        stamped: dict[str, Stamp],
    ) -> None:
        table, key = _WHOLE[type(line)]
        name = getattr(line, key)
        here = scalar(connection, f"SELECT 1 FROM {table} WHERE {key} = ?", (name,)) is not None
        if not self._theirs_holds(connection, lines.thing_of(line), stamped.get(VALUE), here=here):
            return
        if not here:
            self.counts[import_rows.KINDS[type(line)]] += import_rows.add(connection, line, self._others)
            return
        values = {
            column: _as_stored(getattr(line, column)) for column in line.__struct_fields__ if column != key
        }
        if isinstance(line, QuestionLine):
            values["expected"] = self._others.local_ids_json(line.expected)
        assignments = ", ".join(f"{column} = ?" for column in values)
        differs = " OR ".join(f"{column} IS NOT ?" for column in values)
        connection.execute(
            f"UPDATE {table} SET {assignments} WHERE {key} = ? AND ({differs})",
            (*values.values(), name, *values.values()),
        )
        if connection.changes():
            self.counts[
                "review decision" if isinstance(line, ProposalLine) else import_rows.KINDS[type(line)]
            ] += 1

    def _apply_entity_decision(
        self, connection: apsw.Connection, line: DecisionLine, stamped: dict[str, Stamp]
    ) -> None:
        about = lines.thing_of(line)
        row = outgoing.decision_row(connection, about.removeprefix(lines.DECISION))
        if not self._theirs_holds(connection, about, stamped.get(VALUE), here=row is not None):
            return
        if row is not None:
            connection.execute(
                "UPDATE entity_decisions SET at = ?, actor = ? WHERE decision_id = ? AND (at <> ? OR actor <> ?)",
                (line.at, line.actor, row, line.at, line.actor),
            )
            return
        try:
            self.counts["naming decision"] += import_rows.add(connection, line, self._others)
        except InputError:
            self.counts["refused"] += 1  # of a turn that stays on its device

    def _apply_session(
        self, connection: apsw.Connection, line: SessionLine, stamped: dict[str, Stamp]
    ) -> None:
        thing = lines.thing_of(line)
        here = scalar(
            connection, "SELECT 1 FROM sessions_consolidations WHERE session_id = ?", (line.session_id,)
        )
        if here is None:
            known = sync_versions.read_versions(connection, thing)
            theirs = stamped.get(VALUE)
            back = theirs is None or VALUE not in known
            if not back and theirs is not None:
                back = bool(versions.merge(connection, thing, theirs, present=True))
            if not back:
                # Taken away here, and nothing is left of it; a turn that comes back brings it along.
                return
            import_rows.add(connection, line, self._others)
            for stamp in stamped.values():
                sync_versions.write_version(connection, thing, stamp)
            return
        if not import_rows.session_covers(connection, line):
            import_rows.widen_session(connection, line)
        for part, columns in SESSION_PARTS.items():
            theirs = stamped.get(part)
            if theirs is not None and versions.merge(connection, thing, theirs):
                assignments = ", ".join(f"{column} = ?" for column in columns)
                connection.execute(
                    f"UPDATE sessions_consolidations SET {assignments} WHERE session_id = ?",
                    (*(getattr(line, column) for column in columns), line.session_id),
                )

    def _note_read(self, connection: apsw.Connection, one: RowLine) -> None:
        """How far a session has been consolidated, for when its turns are here."""
        line = one.line
        assert isinstance(line, SessionLine)
        theirs = next((stamp for stamp in one.versions if stamp.aspect == READ), None)
        if theirs != sync_versions.read_versions(connection, lines.thing_of(line)).get(READ):
            return  # it was read otherwise here
        connection.execute("DELETE FROM sync_read WHERE session_id = ?", (line.session_id,))
        if one.through is not None:
            through = self._others.local_id(one.through)
            connection.execute(
                "INSERT INTO sync_read(session_id, through) VALUES (?, ?)", (line.session_id, through)
            )
        connection.execute(
            "UPDATE sessions_consolidations SET consolidated_through = NULL WHERE session_id = ?1 AND "
            "consolidated_through IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sync_read r JOIN memories m ON m.id = r.through "
            "WHERE r.session_id = ?1)",
            (line.session_id,),
        )

    def _apply_entity(self, connection: apsw.Connection, line: EntityLine, stamped: dict[str, Stamp]) -> None:
        if scalar(connection, "SELECT 1 FROM entities WHERE id = ?", (line.id,)) is None:
            ours, theirs = sync_versions.read_versions(connection, line.id).get(ROW), stamped.get(ROW)
            if ours is not None:
                back = theirs is not None and versions.merge(connection, line.id, theirs, present=True)
                if not back and not self._is_unknown(connection, line.id, line.decided):
                    return
                if not back:
                    self._decide_to_keep(connection, line.id, ROW, theirs)
            self.counts["entity"] += import_rows.add(connection, line, self._others)
            for stamp in stamped.values():
                sync_versions.write_version(connection, line.id, stamp)
            return
        if (theirs := stamped.get(ROW)) is not None:
            versions.merge(connection, line.id, theirs)
        if (theirs := stamped.get(ALIASES)) is not None and versions.merge(connection, line.id, theirs):
            _set_aliases(connection, line.id, line.aliases)
        if line.decided:
            self._apply_decisions(connection, line)

    # What went

    def _apply_removal(self, connection: apsw.Connection, line: GoneLine) -> None:
        aspect = ROW if lines.is_memory(line.thing) or line.thing.startswith(lines.ENTITY) else VALUE
        theirs = next((stamp for stamp in line.versions if stamp.aspect == aspect), None)
        if theirs is None:
            return
        thing = self._others.local_id(line.thing) or line.thing
        ours = sync_versions.read_versions(connection, line.thing).get(aspect)
        there = outgoing.Changed(connection)
        there.named(thing)
        here = not there.gone
        takes = versions.merge(connection, line.thing, theirs, present=False if here else None)
        for stamp in line.versions:
            if stamp.aspect != aspect:
                versions.merge(connection, line.thing, stamp)
        if not here:
            _keep_decisions(connection, thing, line.decided)
        if not here or not takes:
            return
        if self._is_needed(connection, thing, line.decided):
            self._decide_to_keep(connection, line.thing, aspect, theirs)
        else:
            _delete_rows(connection, there)
            _keep_decisions(connection, thing, line.decided)
            self.counts["taken back"] += ours is None or ours != theirs

    def _is_needed(self, connection: apsw.Connection, thing: str, decided: Sequence[Stamp]) -> bool:
        """Whether something was decided about it that was not known where it was taken away, or something rests on it."""
        if thing.startswith(lines.SESSION):
            return _has_memories(connection, thing.removeprefix(lines.SESSION))
        theirs = {stamp.aspect: stamp for stamp in decided}
        for aspect, stamp in stamps.read_stamps(connection, thing).items():
            if _adds_knowledge(theirs.get(aspect), stamp):
                return True
        if thing.startswith(lines.ENTITY):
            return (
                scalar(
                    connection,
                    "SELECT 1 FROM entities e JOIN entities g ON g.merged_into = e.eid WHERE e.id = ? LIMIT 1", (thing,),
                )
                is not None
            )  # fmt: skip
        if not lines.is_memory(thing):
            return False
        return scalar(connection, "SELECT 1 FROM memory_links WHERE to_id = ? LIMIT 1", (thing,)) is not None


_WHOLE: dict[type[Any], tuple[str, str]] = {
    ProposalLine: ("proposals", "id"), QuestionLine: ("saved_queries", "name"), ProfileLine: ("profiles", "name"),
}  # fmt: skip
_GONE = {
    "memories": ("memories", "rid"), "entities": ("entities", "eid"), "sessions": ("sessions_consolidations", "sid"),
    "decisions": ("entity_decisions", "decision_id"), "proposals": ("proposals", "proposal_id"),
    "questions": ("saved_queries", "query_id"), "profiles": ("profiles", "profile_id"),
}  # fmt: skip


def _adds_knowledge(ours: Stamp | None, theirs: Stamp) -> bool:
    """Whether a stamp, of somebody's decision, says more than is known."""
    if meeting.actor_rank(theirs.actor) == 0:
        return False
    return stamps.compare_stamps(ours.seen if ours else {}, theirs.seen) in ("older", "apart")


def _set_read(connection: apsw.Connection) -> None:
    """Say of sessions how far they have been consolidated, where the memory has come."""
    known = "FROM sync_read r JOIN memories m ON m.id = r.through WHERE r.session_id = s.session_id"
    connection.execute(
        f"""
        UPDATE sessions_consolidations AS s SET consolidated_through = (SELECT m.rid {known})
        WHERE s.session_id IN (SELECT session_id FROM sync_read) AND s.consolidated_through IS NOT (SELECT m.rid {known})
        AND EXISTS (SELECT 1 {known})
        """
    )
    connection.execute("DELETE FROM sync_read WHERE through IN (SELECT id FROM memories)")


def _agree_unstamped(connection: apsw.Connection, line: MemoryLine) -> None:
    """Two devices made the same memory, of the same turns or file: of what nobody decided about since, both take the same.

    The lower value does, so that it does not matter who hears first.
    """
    rid = scalar(connection, "SELECT rid FROM memories WHERE id = ?", (line.id,))
    if rid is None:
        return
    (mine,) = export_rows.rows_by_key(connection, RowKeys(memories=(rid,)))
    assert isinstance(mine, MemoryLine)
    fields = [
        name for name in export_rows.MEMORY_FIELDS if _decoded_value(mine, name) != _decoded_value(line, name)
    ]
    if not fields:
        return
    decided = {*stamps.read_stamps(connection, line.id), *(stamp.aspect for stamp in line.decided)}
    taken: dict[str, Any] = {}
    for aspect, columns in stamps.COLUMNS.items():
        if aspect in decided or not set(columns).intersection(fields):
            continue
        ours, theirs = ([_decoded_value(one, name) for name in columns] for one in (mine, line))
        if _order(theirs) < _order(ours):
            taken |= dict(zip(columns, theirs, strict=True))
    if not decided - set(stamps.COLUMNS) and not decided & {stamps.REST, "links", "topic"}:
        for name in ("tags", "attributes"):
            if name in fields and _order(_decoded_value(line, name)) < _order(_decoded_value(mine, name)):
                taken[name] = _decoded_value(line, name)
    if taken:
        memories.update(connection, rid, **taken)


def _decoded_value(line: MemoryLine, name: str) -> Any:
    value = getattr(line, name)
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


_order = msgspec.json.Encoder(order="deterministic").encode


def _note_erased(connection: apsw.Connection, line: ErasedLine) -> None:
    """What another device erased for good is erased here next (``Replica``), and comes back no more."""
    known = tombstones.erased_among(connection, line.names)
    names = [name for name in line.names if name not in known]
    beside = [
        *(sync_erased.COVERED + one for one in line.covered),
        *(sync_erased.CLEARED + one for one in line.cleared),
    ]
    connection.executemany(
        "INSERT INTO sync_erased(name, sent, todo) VALUES (?, 1, ?) ON CONFLICT DO NOTHING",
        [*((name, 1) for name in names), *((name, 0) for name in beside)],
    )
    if line.kept:
        state.set_to_keep(connection, {*state.to_keep(connection), *line.kept})
    entities = [name for name in names if name.startswith(lines.ENTITY)]
    tombstones.add(
        connection, [*(name for name in names if lines.is_memory(name)), *(f"entity:{id}" for id in entities)]
    )
    for id in entities:
        _erase_name(connection, id)
    erased_references.clear(connection, [name for name in names if lines.is_memory(name)])
    erased_texts.clear(connection, line.cleared)


def _note_tombstones(connection: apsw.Connection, line: TombstonesLine) -> None:
    """What another device knows as erased, and this one does not, is erased here next, and comes back no more."""
    salts, hashes = [bytes.fromhex(one) for one in line.salts], frozenset(map(bytes.fromhex, line.hashes))
    names = [
        name
        for name, key in _erasable(connection)
        if any(tombstones.keys_hash(key, salt) in hashes for salt in salts)
    ]
    _note_erased(connection, ErasedLine(names=tuple(names)))
    tombstones.add_hashes(connection, salts, hashes)


def _erasable(connection: apsw.Connection) -> list[tuple[str, str]]:
    """What is here, in history or named here, that another device may have erased: its name, and the key of its tombstone."""
    rows: Any = connection.execute(
        """
        SELECT id, id FROM memories
        UNION SELECT before ->> '$.id', before ->> '$.id' FROM changes WHERE tbl = 'memories' AND act = 'delete'
        UNION SELECT id, 'entity:' || id FROM entities
        UNION SELECT 'session:' || session_id, 'session:' || session_id FROM sessions_consolidations
        """
    ).fetchall()
    named = [(id, id) for id in erased_references.absent_ids(connection)]
    return [*((str(name), str(key)) for name, key in rows), *named]


def _erase_name(connection: apsw.Connection, id: str) -> None:
    """Delete a name that only an erased text had, unless a text here has it; no history keeps it."""
    eid = scalar(
        connection,
        "SELECT eid FROM entities e WHERE id = ? AND NOT EXISTS (SELECT 1 FROM memory_entities l WHERE l.eid = e.eid)",
        (id,),
    )
    if eid is None:
        return
    aliases = connection.execute("SELECT alias_id FROM entity_aliases WHERE entity_id = ?", (eid,)).fetchall()
    with history.paused_history(connection):
        connection.execute("UPDATE entities SET merged_into = NULL WHERE merged_into = ?", (eid,))
        connection.execute("DELETE FROM entities WHERE eid = ?", (eid,))
    connection.execute("DELETE FROM decided WHERE thing = ?", (id,))
    connection.execute("DELETE FROM changes WHERE tbl = 'entities' AND lo = ? AND act <> 'insert'", (eid,))
    connection.executemany(
        "DELETE FROM changes WHERE tbl = 'entity_aliases' AND lo = ? AND act <> 'insert'", list(aliases)
    )


def _as_list(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def _as_stored(value: Any) -> Any:
    return bytes(value).decode() if isinstance(value, msgspec.Raw) else value


def _has_memories(connection: apsw.Connection, session_id: str) -> bool:
    return (
        scalar(connection, "SELECT 1 FROM memories WHERE session_id = ? LIMIT 1", (session_id,)) is not None
    )


def _know_again(connection: apsw.Connection, id: str, had: dict[str, Stamp]) -> None:
    """A memory that was taken away here is back as another device has it, which knows of what had been decided here."""
    for aspect, ours in had.items():
        now = stamps.read_stamps(connection, id).get(aspect)
        if now is not None and now != ours:
            seen = stamps.join_stamps(ours.seen, now.seen)
            if seen != now.seen:
                stamps.write_stamp(connection, id, replace(now, seen=seen))
                sync_versions.note_merged(connection, id)
        elif now is not None:
            sync_versions.note_merged(connection, id)


def _keep_decisions(connection: apsw.Connection, thing: str, decided: Sequence[Stamp]) -> None:
    """Keep what was decided about something that is gone: who brings it back must know of it."""
    ours = stamps.read_stamps(connection, thing)
    for stamp in decided:
        met = meeting.agree(ours.get(stamp.aspect), stamp)
        if met is not None and met.stamp is not None:
            stamps.write_stamp(connection, thing, met.stamp)


def _delete_rows(connection: apsw.Connection, there: outgoing.Changed) -> None:
    for name, (table, column) in _GONE.items():
        for key in there.keys[name]:
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (key,))


def _set_aliases(connection: apsw.Connection, id: str, wanted: Sequence[Alias]) -> None:
    """Give an entity these names and no other; a name that another one has is left with it as well."""
    eid = scalar(connection, "SELECT eid FROM entities WHERE id = ?", (id,))
    keys = {one.key for one in wanted}
    for alias_id, key in connection.execute(
        "SELECT alias_id, key FROM entity_aliases WHERE entity_id = ?", (eid,)
    ).fetchall():
        if key not in keys:
            connection.execute("DELETE FROM entity_aliases WHERE alias_id = ?", (alias_id,))
    for one in wanted:
        connection.execute(
            "INSERT INTO entity_aliases(key, entity_id, alias) VALUES (?, ?, ?) ON CONFLICT(key, entity_id) DO NOTHING",
            (one.key, eid, one.alias),
        )
