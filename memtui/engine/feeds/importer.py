"""Brings what feeds find into the memory: one named operation over many short transactions.

What is already there is recognised by its ``source_key``, so importing again adds nothing, and an import that
was killed or cancelled is simply run again. A dry run takes the same way up to the write and counts the same.
Neither a file nor the list of its sessions is ever held in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from memtui.engine.clock import Clock
from memtui.engine.curate import intake
from memtui.engine.curate.turns import NewTurn
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records import ImportProgress, ImportReport, Operation, Options, Skip, Turn
from memtui.engine.store import history
from memtui.engine.store.connection import Connections
from memtui.engine.store.portable import AnyLine, Line, MemoryLine

from . import alone, item_writing, writing
from .detect import Found, feed_named, find_sources
from .distinct import Distinct
from .item_writing import NewItem, NewNote
from .items import Item, Named, Note, PadEntry, ReadTalk
from .reading import Tally, read_all
from .rows import KINDS, Rows

_TURNS_PER_BATCH = 500
_CHARACTERS_PER_BATCH = 2_000_000
# Other writers wait no longer than this and the commit.
SECONDS_PER_TRANSACTION = 0.03
REFUSED = "cannot be stored"
ERASED = "erased for good"
TOO_LONG = f"longer than {intake.MAX_EPISODE:,} characters"
TOO_LONG_NOTE = "too long"


def import_paths(
    connections: Connections,
    paths: Sequence[Path],
    *,
    format: str | None = None,
    dry_run: bool = False,
    actor: str,
    clock: Clock,
    options: Options,
    progress: Callable[[ImportProgress], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    before_write: Callable[[], None] = lambda: None,
    ordering: Callable[[str], bool] = lambda text: True,
) -> ImportReport:
    """Import every conversation, and what other memories hold, in files, folders and archives.

    ``ordering`` tells whether a text talks to the assistant: such a one is not taken for confirmed.
    ``before_write`` is called once, when there is something new to store (a backup, for instance).
    ``progress`` is called in this thread after each batch; ``cancelled`` is asked between batches: what was
    imported until then stays, as an operation that can be undone. Raises InputError if a path holds nothing to
    import (see ``find_sources``), StoreError if the memory cannot be written or another import is running.
    """
    found = find_sources(paths, format, own=connections.path)
    with ExitStack() as stack:
        if not dry_run:
            stack.enter_context(alone.only_import(connections))
        run = _Import(
            connections, found, stack.enter_context(Distinct()), stack.enter_context(Rows()), dry_run, actor, clock,
            options, before_write, ordering,
        )  # fmt: skip
        return run.run(progress, cancelled)


class _Import:
    """One import under way: its counts and its operation (None until there is something new)."""

    def __init__(
        self, connections: Connections, found: Found, met: Distinct, rows: Rows, dry_run: bool, actor: str,
        clock: Clock, options: Options, before_write: Callable[[], None], ordering: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self.ordering = ordering
        self.before_write = before_write
        self.connections = connections
        self.found = found
        self.met = met
        self.rows = rows
        self.dry_run = dry_run
        self.actor = actor
        self.clock = clock
        self.options = options
        self.formats = tuple(dict.fromkeys(recognised.format for recognised in found.sources))
        self.labels = alone.listed([feed_named(name).label for name in self.formats])
        self.tally = Tally(found)
        self.kinds: Counter[str] = Counter()
        self.already_there = self.sessions = self.secrets = 0
        self.titles = writing.Titles()
        self.op_id: int | None = None
        self.started = time.monotonic()

    @property
    def imported(self) -> int:
        return self.kinds.total()

    def run(
        self, progress: Callable[[ImportProgress], None] | None, cancelled: Callable[[], bool]
    ) -> ImportReport:
        stopped = False
        try:
            for batch in _batches(read_all(self.found, self.tally)):
                if stopped := cancelled():
                    break
                self._take([found for found in batch if isinstance(found, Turn)])
                self._take_items([found for found in batch if not isinstance(found, Turn | Line | ReadTalk)])
                self._take_items([found for found in batch if isinstance(found, ReadTalk)])
                self._take_lines([found for found in batch if isinstance(found, Line)])
                if progress:
                    progress(self._progress())
        except BaseException:
            # What is committed stays; it must be possible to undo it. The first error is the one to tell.
            with suppress(MemtuiError):
                self._finish(" (interrupted)")
            raise
        operation = self._finish(" (cancelled)" if stopped else "")
        return self._report(operation, stopped)

    def _take(self, batch: list[Turn]) -> None:
        """Sort out what is new in a batch, and store it."""
        keys = [turn.source_key for turn in batch]
        with self.connections.read() as connection:
            there = writing.known_keys(connection, keys)
            erased = writing.erased_keys(connection, keys)
        new: dict[str, NewTurn] = {}
        for key, turn in zip(keys, batch, strict=True):
            if key in erased:
                self.tally.skip(Skip(reason=ERASED))
            elif key in there or key in new:
                self.already_there += 1
            elif len(turn.content) > intake.MAX_EPISODE:
                self.tally.skip(Skip(reason=TOO_LONG, place=f"{self.tally.place}: {key}"))
            elif checked := self._checked(turn):
                new[key] = checked
        with self.connections.read() as connection:
            for key in writing.said_live(connection, new):
                del new[key]
                self.already_there += 1
        self._count(self._dry(new) if self.dry_run else self._store(list(new.values())))

    def _checked(self, turn: Turn) -> NewTurn | None:
        """The turn as it will be stored, None where intake refuses it."""
        try:
            return NewTurn(
                session_id=intake.name(turn.session_id, "session id"),
                role=intake.name(turn.role, "role"),
                intake=intake.accept(turn.content, "episode", self.options.secrets),
                event_time=int((turn.event_time or 0.0) // 1),
                trust=turn.trust or intake.trust(turn.role, self.actor),
                source=turn.source,
                source_key=turn.source_key,
                project=turn.project,
                title=turn.session_title,
            )
        except InputError as error:
            self.tally.skip(Skip(reason=REFUSED, place=error.message))
            return None

    def _dry(self, new: dict[str, NewTurn]) -> list[NewTurn]:
        """What would be stored: what the memory does not know it must remember itself."""
        fresh = [turn for key, turn in new.items() if self.met.add(f"key {key}")]
        self.already_there += len(new) - len(fresh)
        return fresh

    def _store(self, turns: list[NewTurn]) -> list[NewTurn]:
        stored: list[NewTurn] = []
        while turns:
            with history.part(self.connections, self._operation()) as connection:
                taken, some = writing.store_some(
                    connection, turns, self.titles, now=int(self.clock()), seconds=SECONDS_PER_TRANSACTION
                )
            self.already_there += taken - len(some)
            stored += some
            turns = turns[taken:]
        return stored

    def _operation(self) -> int:
        """The operation of this import; begun when there is something to store."""
        if self.op_id is None:
            self.before_write()
            label = alone.running_label(self.labels)
            self.op_id = history.begin(self.connections, self.clock, self.actor, alone.KIND, label)
        return self.op_id

    def _take_items(self, items: list[Item]) -> None:
        """Sort out what is new in a batch of what is not turns, and store it."""
        keys = [item.source_key for item in items if isinstance(item, Note)]
        with self.connections.read() as connection:
            there = writing.known_keys(connection, keys)
            erased = writing.erased_keys(connection, keys)
        new: list[NewItem] = []
        for item in items:
            if isinstance(item, Note) and item.source_key in erased:
                self.tally.skip(Skip(reason=ERASED))
            elif isinstance(item, Note) and item.source_key in there:
                self.already_there += 1
            elif checked := self._checked_item(item):
                new.append(checked)
        now = int(self.clock())
        with self.connections.read() as connection:
            fresh = [item for item in new if not item_writing.is_there(connection, item, now)]
            taken_keys = sum(item_writing.other_value(connection, item) for item in new)
        for _ in range(taken_keys):
            self.tally.skip(Skip(reason=item_writing.KEY_IN_USE))
        there_now = sum(not isinstance(item, ReadTalk) for item in new)
        there_now -= sum(not isinstance(item, ReadTalk) for item in fresh)
        self.already_there += there_now - taken_keys
        self._count_items(self._dry_items(fresh) if self.dry_run else self._store_items(fresh))

    def _checked_item(self, item: Item) -> NewItem | None:
        try:
            return item_writing.checked(item, self.options, self.ordering)
        except InputError as error:
            reason = (
                TOO_LONG_NOTE if isinstance(item, Note) and len(item.content) > _longest(item) else REFUSED
            )
            self.tally.skip(Skip(reason=reason, place=error.message))
            return None

    def _dry_items(self, items: list[NewItem]) -> list[NewItem]:
        fresh = []
        for item in items:
            text = item_writing.same_text(item)
            if self.met.add(item_writing.identity(item)) and (text is None or self.met.add(text)):
                fresh.append(item)
            else:
                self.already_there += 1
        return fresh

    def _store_items(self, items: list[NewItem]) -> list[NewItem]:
        stored: list[NewItem] = []
        while items:
            with history.part(self.connections, self._operation()) as connection:
                taken, some = item_writing.store_some(
                    connection, items, now=int(self.clock()), seconds=SECONDS_PER_TRANSACTION
                )
            self.already_there += taken - len(some)
            stored += some
            items = items[taken:]
        return stored

    def _take_lines(self, lines: list[AnyLine]) -> None:
        """The same for the rows of memtui's own export."""
        if not lines:
            return
        with self.connections.read() as connection:
            new, there, skips = self.rows.sort_out(connection, lines, self.op_id)
        self.already_there += there
        if self.dry_run:
            self._count_lines([line for line in new if self.met.add(f"line {line}")])
            new = []
        while new:
            with history.part(self.connections, self._operation()) as connection:
                taken, added, refused = self.rows.store_some(
                    connection, new, self._operation(), seconds=SECONDS_PER_TRANSACTION
                )
            self._count_lines(added)
            skips += refused
            new = new[taken:]
        for skip in skips:
            self.tally.skip(skip)

    def _count_lines(self, lines: list[AnyLine]) -> None:
        for line in lines:
            if isinstance(line, MemoryLine):
                self.kinds["turn" if line.kind == "episode" else line.kind] += 1
                if line.kind == "episode" and line.session_id is not None:
                    self.sessions += self.met.add(f"session {line.session_id}")
            elif type(line) in KINDS:
                self.kinds[KINDS[type(line)]] += 1

    def _count_items(self, items: list[NewItem]) -> None:
        for item in items:
            if isinstance(item, NewNote):
                episode = item.note.kind == "episode"
                self.kinds["turn" if episode else item.note.kind] += 1
                self.secrets += "secrets" in item.intake.attributes
                if episode:
                    self.sessions += self.met.add(f"session {item.note.session_id}")
            elif not isinstance(item, ReadTalk):
                self.kinds["entity" if isinstance(item, Named) else "scratchpad entry"] += 1

    def _count(self, turns: list[NewTurn]) -> None:
        if turns:
            self.kinds["turn"] += len(turns)
        self.secrets += sum("secrets" in turn.intake.attributes for turn in turns)
        self.sessions += sum(self.met.add(f"session {name}") for name in {turn.session_id for turn in turns})

    def _finish(self, how: str) -> Operation | None:
        if self.op_id is None:
            return None
        label = alone.imported_label(self.kinds, self.labels) + how
        history.finish(self.connections, self.op_id, label)
        if not self.imported:
            return None
        with self.connections.read() as connection:
            return history.get_operation(connection, self.op_id)

    def _progress(self) -> ImportProgress:
        skipped = self.tally.reasons.total()
        looked_at = self.imported + self.already_there + skipped
        return ImportProgress(
            bytes_done=min(self.tally.bytes_done, self.found.size),
            bytes_total=self.found.size,
            files_done=self.tally.files_done,
            files=len(self.found.sources),
            imported=self.imported,
            already_there=self.already_there,
            skipped=skipped,
            rate=looked_at / max(time.monotonic() - self.started, 1e-6),
            place=self.tally.place,
            dry_run=self.dry_run,
        )

    def _report(self, operation: Operation | None, stopped: bool) -> ImportReport:
        return ImportReport(
            imported=self.imported,
            already_there=self.already_there,
            skipped=self.tally.reasons.total(),
            sessions=self.sessions,
            files=self.tally.files_done,
            seconds=time.monotonic() - self.started,
            dry_run=self.dry_run,
            formats=self.formats,
            kinds=dict(self.kinds),
            reasons=dict(self.tally.reasons.most_common()),
            redacted=self.secrets,
            warnings=self.tally.warnings(),
            cancelled=stopped,
            operation=operation,
        )


def _batches(found: Iterator[Turn | Item | AnyLine | None]) -> Iterator[list[Turn | Item | AnyLine]]:
    """Batches bounded in number and in characters; an empty one where there were only skips for a while."""
    batch: list[Turn | Item | AnyLine] = []
    characters = 0
    for item in found:
        if item is None:
            if not batch:
                yield []
            continue
        batch.append(item)
        characters += _characters(item)
        if len(batch) >= _TURNS_PER_BATCH or characters >= _CHARACTERS_PER_BATCH:
            yield batch
            batch, characters = [], 0
    yield batch


def _characters(item: Turn | Item | AnyLine) -> int:
    if isinstance(item, Turn | Note | MemoryLine):
        return len(item.content)
    return len(item.value) if isinstance(item, PadEntry) else 0


def _longest(note: Note) -> int:
    return intake.MAX_EPISODE if note.kind == "episode" else intake.MAX_NOTE
