"""Import the rows of memtui's own export: find what is new in a batch, and store it.

What another device decided about rows that are here waits until all rows are: then it meets what was decided here
(``curate.reconcile``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw
import msgspec
from msgspec import Raw
from msgspec.structs import replace

from memtui.engine import reconcile
from memtui.engine.errors import InputError
from memtui.engine.memories import validation
from memtui.engine.reconcile import Decided
from memtui.engine.records import ID_PREFIX, Options, Record, Stamp
from memtui.engine.store import export_rows, full_text, import_rows, proposals, stamps, tombstones
from memtui.engine.store.export_rows import (
    Alias,
    AnyLine,
    ConsolidatedLine,
    DeletedKeyLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    ProposalLine,
    ScratchpadLine,
    SessionLine,
)
from memtui.engine.store.sql import TemporaryTable, json_text, scalar

from . import lock, report
from .registry import BUILT_IN
from .report import CHARACTERS_AT_ONCE, MERGED_PAGES, ROWS_AT_ONCE, CountedRecord, ImportCounts
from .turns import TOO_LONG

# What other lines and rows know it by: it cannot be called otherwise.
_KNOWN_BY = frozenset(("id", "filter"))
# Every line has such ids; no secret looks like them.
_is_id = re.compile(rf"(?:{'|'.join(ID_PREFIX.values())}|ent_)[0-9a-f]{{12}}").fullmatch
_HEX = "[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_is_source_key = re.compile(
    rf"(?:{'|'.join(format.name for format in BUILT_IN)})(?::memory|:said)?(?::(?:{_HEX})){{1,2}}"
).fullmatch


def without_secrets(line: AnyLine, options: Options) -> AnyLine:
    """The line as it may be stored: as a turn or note that is recorded, and redacted in every other field.

    Raises InputError for a line that means something else without the secret.
    """
    changed: dict[str, Any] = {}
    if isinstance(line, MemoryLine):
        changed = _checked_text(line, options)
    elif isinstance(line, ScratchpadLine) and options.secrets.facts != "redact":
        changed = {"value": line.value}
    strict = isinstance(line, EntityLine | ProfileLine)
    for name in line.__struct_fields__:
        if name in changed:
            continue
        value = getattr(line, name)
        open_value = _redact_value(value)
        if open_value is value:
            continue
        if strict or name in _KNOWN_BY or (name == "key" and not isinstance(line, MemoryLine)):
            raise InputError(f"The {name.replace('_', ' ')} of a line holds a secret.", "Take it out.")
        changed[name] = open_value
    return replace(line, **changed) if changed else line


def _checked_text(line: MemoryLine, options: Options) -> dict[str, Any]:
    """What the policy for secrets makes of the text and the attributes; nothing where both stay."""
    attributes = msgspec.json.decode(line.attributes) if bytes(line.attributes) != b"{}" else {}
    if line.kind == "episode" and "secrets" in attributes:
        return {}
    marked = validation.apply_secret_policy(line.content, line.kind, options.secrets)
    if not marked.attributes:
        return {}
    return {
        "content": marked.content,
        "attributes": Raw(json_text({**_redact_value(attributes), **marked.attributes}).encode()),
    }


def _redact_value(value: Any) -> Any:
    """The value without secrets in its texts; the very same one where there are none."""
    match value:
        case str():
            redacted = value if _is_id(value) or _is_source_key(value) else validation.without_secrets(value)
            return value if redacted == value else redacted
        case Raw():
            text = bytes(value)
            if len(text) <= len(b"[]"):
                return value
            decoded = msgspec.json.decode(text)
            redacted = _redact_value(decoded)
            return value if redacted is decoded else Raw(json_text(redacted).encode())
        case Stamp():
            stamp = replace(value, aspect=_redact_value(value.aspect), actor=_redact_value(value.actor))
            return value if stamp == value else stamp
        case Alias():
            alias = Alias(key=_redact_value(value.key), alias=_redact_value(value.alias))
            return value if alias == value else alias
        case dict():
            made = {_redact_value(key): _redact_value(one) for key, one in value.items()}
            return value if made == value else made
        case list() | tuple():
            many = [_redact_value(one) for one in value]
            return value if many == list(value) else type(value)(many)
    return value


class PendingLines(TemporaryTable):
    """Lines whose decisions meet those of rows that are here, however many they are; and what corrects what."""

    def __init__(self) -> None:
        super().__init__("waiting(place INTEGER PRIMARY KEY, line BLOB)")
        self._database.execute("CREATE TABLE corrects(old TEXT PRIMARY KEY, new TEXT) WITHOUT ROWID")

    def add_line(self, line: Decided) -> None:
        self._database.execute("INSERT INTO waiting(line) VALUES (?)", (export_rows.encode(line),))

    def note_correction(self, line: MemoryLine) -> None:
        text = bytes(line.attributes)
        if b'"supersedes"' not in text and b'"merged"' not in text:
            return
        attributes = _attributes(line.attributes)
        for old, conflict in (
            (attributes.supersedes, "UPDATE SET new = excluded.new"),
            (attributes.merged, "NOTHING"),
        ):
            for one in (old,) if isinstance(old, str) else old or ():
                self._database.execute(
                    f"INSERT INTO corrects VALUES (?, ?) ON CONFLICT DO {conflict}", (one, line.id)
                )

    def successor_line(self, id: str) -> str | None:
        """The line of what corrects this one, or of what it was merged into."""
        successor: str | None = scalar(self._database, "SELECT new FROM corrects WHERE old = ?", (id,))
        return successor

    def lines(self) -> Iterator[Decided]:
        """In the order in which they came."""
        number = 0
        while row := self._database.execute(
            "SELECT place, line FROM waiting WHERE place > ? ORDER BY place LIMIT 1", (number,)
        ).fetchone():
            number = int(str(row[0]))
            yield _line(row[1])


class _LineAttributes(Record):
    supersedes: str | list[str] | None = None
    merged: str | list[str] | None = None


_attributes = msgspec.json.Decoder(_LineAttributes).decode
_line = msgspec.json.Decoder(Decided).decode


class RowImporter:
    """``others`` remembers, for the whole import, the ids of rows that are there under another one; ``waiting`` what is
    decided at its end."""

    def __init__(self, shared: ImportCounts, others: import_rows.OtherIds, pending: PendingLines) -> None:
        self._shared = shared
        self._others = others
        self._pending = pending

    def select_new(self, connection: apsw.Connection, lines: Sequence[AnyLine]) -> list[AnyLine]:
        shared, op_id = self._shared, self._shared.operation.op_id
        lines = self._check_lines(lines)
        keys = {id(line): import_rows.erased_keys(line) for line in lines}
        gone = tombstones.erased_among(connection, [key for some in keys.values() for key in some])
        new: list[AnyLine] = []
        for line in lines:
            if isinstance(line, MemoryLine):
                self._pending.note_correction(line)
            if isinstance(line, MemoryLine) and len(line.content) > validation.MAX_EPISODE:
                shared.skip(TOO_LONG, line.id)
            elif isinstance(line, ConsolidatedLine):
                new.append(line)  # of a session that may be in this batch
            elif isinstance(line, DeletedKeyLine) or _is_device_question(line):
                if isinstance(line, DeletedKeyLine):
                    self._pending.add_line(line)
            elif import_rows.is_there(connection, line, self._others, op_id):
                shared.already_there += 1
                self._defer_line(line)
                if isinstance(line, SessionLine) and not import_rows.session_covers(connection, line):
                    new.append(line)
            elif gone.intersection(keys[id(line)]):
                shared.skip(report.ERASED)
            elif isinstance(line, ScratchpadLine) and stamps.read_stamps(connection, stamps.PAD + line.key):
                self._pending.add_line(line)  # it was taken away here
            else:
                new.append(line)
        if all(isinstance(line, ConsolidatedLine) for line in new):
            new = [line for line in new if not import_rows.is_there(connection, line, self._others, op_id)]
        return new

    def _defer_line(self, line: AnyLine) -> None:
        if isinstance(line, ProposalLine):
            decided = line.state in ("accepted", "rejected")
        else:
            decided = isinstance(line, Decided) and bool(line.decided)
        if decided and isinstance(line, Decided):
            self._pending.add_line(line)

    def apply_deferred(self) -> None:
        """Once every row is here: take over what was decided elsewhere, and count it. Nothing is written by a dry run."""
        shared = self._shared
        now = int(shared.clock())
        for line in self._pending.lines():
            with shared.connections.read() as connection:
                plan = self._plan_decision(connection, line, now)
            if plan is None:
                continue
            if not shared.dry_run:
                with (
                    shared.operation.transaction()
                    if plan.changes
                    else shared.connections.write() as connection
                ):
                    plan = self._plan_decision(connection, line, now)  # as it is now
                    if plan is None:
                        continue
                    reconcile.carry_out(connection, plan, now)
            shared.decisions.update(plan.counts)
            if plan.cards:
                shared.decisions[lock.QUESTION] += len(plan.cards)

    def _plan_decision(self, connection: apsw.Connection, line: Decided, now: int) -> reconcile.Plan | None:
        successor = self._pending.successor_line(line.id) if isinstance(line, MemoryLine) else None
        return reconcile.plan(connection, line, self._others, successor, now)

    def _check_lines(self, lines: Iterable[AnyLine]) -> list[AnyLine]:
        """The lines without secrets; those that cannot be without are skipped."""
        problems = []
        for line in lines:
            try:
                problems.append(without_secrets(line, self._shared.options))
            except InputError as error:
                self._shared.skip(report.REFUSED, error.message)
        return problems

    def identities(self, line: AnyLine) -> tuple[str, ...]:
        return (f"line {line}",)

    def store_some(self, connection: apsw.Connection, new: Sequence[AnyLine]) -> tuple[int, list[AnyLine]]:
        until = time.monotonic() + report.SECONDS_PER_TRANSACTION
        op_id = self._shared.operation.begin_once()
        with stamps.carrying_stamps(connection):
            return self._store_until(connection, new, op_id, until)

    def _store_until(
        self, connection: apsw.Connection, new: Sequence[AnyLine], op_id: int, until: float
    ) -> tuple[int, list[AnyLine]]:
        added: list[AnyLine] = []
        stored = 0
        for some in _group_memories(new):
            added += self._store_statement(connection, some, op_id)
            stored += len(some)
            if time.monotonic() > until:
                break
        full_text.merge(connection, MERGED_PAGES)
        return stored, added

    def counted_record(self, line: AnyLine) -> CountedRecord:
        if isinstance(line, MemoryLine):
            episode = line.kind == "episode"
            return CountedRecord(
                "turn" if episode else line.kind,
                line.session_id if episode else None,
                redacted=b'"secrets"' in bytes(line.attributes),
            )
        return CountedRecord(import_rows.KINDS.get(type(line)))

    def _store_statement(
        self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int
    ) -> list[AnyLine]:
        """Of lines that share a statement, those that were added. One that is refused keeps no other out."""
        try:
            return self._add_lines(connection, lines, op_id)
        except InputError as error:
            if len(lines) == 1:
                self._shared.skip(report.REFUSED, error.message)
                return []
        return [added for line in lines for added in self._store_statement(connection, [line], op_id)]

    def _add_lines(self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int) -> list[AnyLine]:
        memories = [line for line in lines if isinstance(line, MemoryLine)]
        if memories:
            return list(import_rows.add_memories(connection, memories, self._others))
        (line,) = lines
        if isinstance(line, ConsolidatedLine) and import_rows.is_there(connection, line, self._others, op_id):
            return []
        if import_rows.add(connection, line, self._others):
            return [line]
        if isinstance(line, SessionLine):
            import_rows.widen_session(connection, line)
        return []


def _is_device_question(line: AnyLine) -> bool:
    """What the other device asks about two devices is asked here in its own words."""
    return (
        isinstance(line, ProposalLine)
        and line.kind == proposals.DEVICES
        and line.state in ("open", "snoozed")
    )


def _group_memories(lines: Iterable[AnyLine]) -> Iterator[list[AnyLine]]:
    """Memories that follow each other share a statement; every other line has one of its own."""
    batch: list[AnyLine] = []
    characters = 0
    for line in lines:
        if isinstance(line, MemoryLine) and len(batch) < ROWS_AT_ONCE and characters < CHARACTERS_AT_ONCE:
            batch.append(line)
            characters += len(line.content)
            continue
        if batch:
            yield batch
        batch, characters = [], 0
        if isinstance(line, MemoryLine):
            batch, characters = [line], len(line.content)
        else:
            yield [line]
    if batch:
        yield batch
