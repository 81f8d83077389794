"""Brings the turns that feeds find into the memory: one named operation over many short transactions.

What is already there is recognised by its ``source_key``, so importing again adds nothing, and an import that
was killed or cancelled is simply run again. A dry run takes the same way up to the write and counts the same.
Neither a file nor the list of its sessions is ever held in memory.
"""

from __future__ import annotations

import time
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

from . import alone, writing
from .detect import Found, feed_named, find_sources
from .distinct import Distinct
from .reading import Tally, read_all

_TURNS_PER_BATCH = 500
_CHARACTERS_PER_BATCH = 2_000_000
# Other writers wait no longer than this and the commit.
SECONDS_PER_TRANSACTION = 0.03
REFUSED = "cannot be stored"
ERASED = "erased for good"
TOO_LONG = f"longer than {intake.MAX_EPISODE:,} characters"


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
) -> ImportReport:
    """Import every conversation in files, folders and archives.

    ``before_write`` is called once, when there is something new to store (a backup, for instance).
    ``progress`` is called in this thread after each batch; ``cancelled`` is asked between batches: what was
    imported until then stays, as an operation that can be undone. Raises InputError if a path holds nothing to
    import (see ``find_sources``), StoreError if the memory cannot be written or another import is running.
    """
    found = find_sources(paths, format)
    with ExitStack() as stack:
        if not dry_run:
            stack.enter_context(alone.only_import(connections))
        run = _Import(
            connections, found, stack.enter_context(Distinct()), dry_run, actor, clock, options, before_write
        )
        return run.run(progress, cancelled)


class _Import:
    """One import under way: its counts and its operation (None until there is something new)."""

    def __init__(
        self, connections: Connections, found: Found, met: Distinct, dry_run: bool, actor: str, clock: Clock,
        options: Options, before_write: Callable[[], None],
    ) -> None:  # fmt: skip
        self.before_write = before_write
        self.connections = connections
        self.found = found
        self.met = met
        self.dry_run = dry_run
        self.actor = actor
        self.clock = clock
        self.options = options
        self.formats = tuple(dict.fromkeys(recognised.format for recognised in found.sources))
        self.labels = _listed([feed_named(name).label for name in self.formats])
        self.tally = Tally(found)
        self.imported = self.already_there = self.sessions = self.secrets = 0
        self.titles = writing.Titles()
        self.op_id: int | None = None
        self.started = time.monotonic()

    def run(
        self, progress: Callable[[ImportProgress], None] | None, cancelled: Callable[[], bool]
    ) -> ImportReport:
        stopped = False
        try:
            for batch in _batches(read_all(self.found, self.tally)):
                if stopped := cancelled():
                    break
                self._take(batch)
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
            if self.op_id is None:
                self.before_write()
                label = alone.running_label(self.labels)
                self.op_id = history.begin(self.connections, self.clock, self.actor, alone.KIND, label)
            with history.part(self.connections, self.op_id) as connection:
                taken, some = writing.store_some(
                    connection, turns, self.titles, now=int(self.clock()), seconds=SECONDS_PER_TRANSACTION
                )
            self.already_there += taken - len(some)
            stored += some
            turns = turns[taken:]
        return stored

    def _count(self, turns: list[NewTurn]) -> None:
        self.imported += len(turns)
        self.secrets += sum("secrets" in turn.intake.attributes for turn in turns)
        self.sessions += sum(self.met.add(f"session {name}") for name in {turn.session_id for turn in turns})

    def _finish(self, how: str) -> Operation | None:
        if self.op_id is None:
            return None
        label = alone.imported_label(self.imported, self.labels) + how
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
            reasons=dict(self.tally.reasons.most_common()),
            redacted=self.secrets,
            warnings=self.tally.warnings(),
            cancelled=stopped,
            operation=operation,
        )


def _batches(turns: Iterator[Turn | None]) -> Iterator[list[Turn]]:
    """Batches bounded in number and in characters; an empty one where there were only skips for a while."""
    batch: list[Turn] = []
    characters = 0
    for turn in turns:
        if turn is None:
            if not batch:
                yield []
            continue
        batch.append(turn)
        characters += len(turn.content)
        if len(batch) >= _TURNS_PER_BATCH or characters >= _CHARACTERS_PER_BATCH:
            yield batch
            batch, characters = [], 0
    yield batch


def _listed(names: list[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
