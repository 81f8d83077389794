"""Erasing for good, from the plan to the proof. The one act that no undo takes back.

The backups come first: until the file itself is written all of it can be worked out again, so an erase that was
killed is begun anew; afterwards only pages and late backups are left, for which the ids are enough. A row of
``memory_metadata`` says how far it has come, without a word of what is erased.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import msgspec
from filelock import FileLock, Timeout
from msgspec.structs import replace

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError, NotFoundError, ReadOnlyError, StoreError
from memtui.engine.records import Record
from memtui.engine.store import backup, metadata, operations
from memtui.engine.store.connecting import BUSY_SECONDS
from memtui.engine.store.connection import Connections
from memtui.engine.store.erased import UNFINISHED, salt_of
from memtui.engine.store.sql import json_text, scalar

from . import copies, pages, proving
from .closure import closure
from .going import Closure
from .records import (
    BackupState,
    Carrier,
    EraseProgress,
    ErasurePlan,
    ErasureProof,
    Request,
    UnfinishedErase,
)
from .scrub import scrub, settle_indexes
from .survey import Step, survey
from .traces import Trace, traces_of

_ROUNDS = 5
_LOCKS = ((".erase", "another erase"), (".import", "an import"), (".jobs", "a maintenance job"))
TOO_SHORT = "What was erased is too short to be told from other bytes: looked for the memories only."
EXPORTS = "Exports and copies elsewhere are not looked at: delete those yourself."

Tell = Callable[[EraseProgress], None]


class Mark(Record):
    """How far an erase has come. ``ids`` once the file no longer holds them; until then ``request`` finds them.

    ``traces``: of what to look for in the files, when nobody knows it any more.
    """

    request: Request
    memories: int
    at: int
    ids: tuple[str, ...] = ()
    traces: tuple[Trace, ...] = ()


class Eraser:
    """Erases in one memory file. ``on_erased`` is called when the rows have gone."""

    def __init__(
        self, connections: Connections, clock: Clock, actor: str, *, on_erased: Callable[[], None] = lambda: None,
        wait: float = BUSY_SECONDS,
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self._on_erased = on_erased
        self._wait = wait

    def plan(self, request: Request) -> ErasurePlan:
        """Everything that carries what is to go. Raises NotFoundError, InputError."""
        with self._connections.read() as connection:
            found = closure(connection, request)
            steps = survey(connection, found)
        return self._plan(found, steps)

    def _plan(self, found: Closure, steps: Sequence[Step]) -> ErasurePlan:
        carriers = _carriers(found, steps)
        counts: dict[str, int] = {}
        for carrier in carriers:
            if carrier.place != "memory" and carrier.fate != "kept":
                counts[carrier.place] = counts.get(carrier.place, 0) + 1
        there = self._backups(found.ids)
        path = self._connections.path
        size = path.stat().st_size if path is not None and path.exists() else 0
        return ErasurePlan(
            request=found.request, memories=len(found.ids), carriers=carriers, counts=counts, backups=there,
            ids=tuple(sorted(found.ids)), notes=(*_not_listed(len(found.unlisted)), *(() if path is None else (EXPORTS,))),
            bytes=size + sum(one.size for one in there),
        )  # fmt: skip

    def _backups(self, ids: frozenset[str]) -> tuple[BackupState, ...]:
        path = self._connections.path
        return () if path is None else tuple(copies.state_of(one, ids) for one in backup.find_backups(path))

    def unfinished(self) -> UnfinishedErase | None:
        """An erase that was interrupted, by this process or another."""
        mark = self._mark()
        if mark is None:
            return None
        return UnfinishedErase(memories=mark.memories, at=mark.at, begun=bool(mark.ids))

    def _mark(self) -> Mark | None:
        with self._connections.read() as connection:
            text = metadata.get(connection, UNFINISHED)
        return msgspec.json.decode(text, type=Mark) if text else None

    def run(
        self, plan: ErasurePlan, *, delete_damaged: bool = False, tell: Tell = lambda progress: None
    ) -> ErasureProof:
        """Erase what the plan says, and prove it. Raises InputError when the memory has changed since it was made."""
        self._assert_may()
        began = time.perf_counter()
        with self._alone(tell):
            self._assert_same(plan)
            return self._run(plan.request, plan.ids, began, delete_damaged, tell)

    def resume(
        self, *, delete_damaged: bool = False, tell: Tell = lambda progress: None
    ) -> ErasureProof | None:
        """Finish what was interrupted; None when nothing was."""
        self._assert_may()
        began = time.perf_counter()
        with self._alone(tell):
            mark = self._mark()
            if mark is None:
                return None
            if mark.ids:
                return self._finish(mark, [], [], 0, began, delete_damaged, tell, resumed=True)
            try:
                plan = self.plan(mark.request)
            except NotFoundError:  # it went from the memory meanwhile, which says nothing of the backups
                gone = replace(mark, ids=mark.request.ids)
                return self._finish(gone, [], [], 0, began, delete_damaged, tell, resumed=True)
            return self._run(plan.request, plan.ids, began, delete_damaged, tell)

    def _run(
        self, request: Request, ids: Sequence[str], began: float, delete_damaged: bool, tell: Tell
    ) -> ErasureProof:
        now = int(self._clock())
        mark = Mark(request=request, memories=len(ids), at=now)
        with self._connections.read() as connection:
            found = closure(connection, request)
            texts = list(found.contents)
        with self._connections.write() as connection:
            _put(connection, mark)
        try:
            texts += self._clean_backups(set(ids), request, texts, now, delete_damaged, tell)
        except MemtuiError as error:
            error.hint = (
                f"{self._written} backups are without it, the memory still holds all of it. "
                f"memtui erase --resume goes on. {error.hint}".strip()
            )
            raise
        tell(EraseProgress(doing="erasing in the memory", done=0, total=1))
        with self._connections.write() as connection:
            found = closure(connection, request)
            if found.ids != frozenset(ids):
                raise _changed()
            pieces = proving.known_pieces(connection, found, texts)
            op_id = scrub(connection, found, actor=self._actor, now=now, count=len(ids))
            settle_indexes(connection, found, vec0=not self._connections.vectors_missing)
            pieces += proving.rare_pieces(connection, texts)
            known = traces_of(pieces, salt_of(connection))
            mark = replace(mark, ids=tuple(sorted(found.ids)), traces=known)
            _put(connection, mark)
        self._on_erased()
        return self._finish(mark, texts, pieces, op_id, began, delete_damaged, tell)

    def _finish(
        self, mark: Mark, texts: list[str], pieces: list[proving.Piece], op_id: int, began: float, delete_damaged: bool,
        tell: Tell, *, resumed: bool = False,
    ) -> ErasureProof:  # fmt: skip
        """What comes after the rows have gone: pages, the log, backups that were made meanwhile, the proof."""
        tell(EraseProgress(doing="writing the file anew", done=0, total=1))
        problem = pages.compact(self._connections, wait=self._wait)
        late = self._clean_backups(set(mark.ids), mark.request, texts, mark.at, delete_damaged, tell)
        pieces = [*pieces, *proving.pieces_of(late)]
        problems = [problem] if problem else []
        problems += [
            f"{one.path.name} cannot be written anew ({one.problem}): memtui erase --resume --delete-damaged deletes it"
            for one in self._backups(frozenset(mark.ids))
            if one.problem
        ]
        path = self._connections.path
        if path is not None:
            problems += [f"{place.name} is being written just now" for place in copies.sweep(path)]
        tell(EraseProgress(doing="looking for it in every file", done=0, total=1))
        traces = mark.traces if resumed else ()
        proof = proving.prove(self._connections, mark.ids, pieces, problems, traces)
        if path is not None and not proof.pieces:
            proof = replace(proof, notes=(*proof.notes, TOO_SHORT))
        with self._connections.write() as connection:
            if proof.complete:
                _unmark(connection)
            elif late:
                more = traces_of(proving.pieces_of(late), salt_of(connection))
                _put(connection, replace(mark, traces=(*mark.traces, *more)))
            if not op_id:
                op_id = scalar(connection, "SELECT coalesce(max(op_id), 0) FROM ops WHERE kind = 'erase'")
        with self._connections.read() as connection:
            operation = operations.get(connection, op_id) if op_id else None
        return replace(
            proof, memories=mark.memories, operation=operation, backups_written=self._written,
            seconds=time.perf_counter() - began,
        )  # fmt: skip

    _written = 0

    def _clean_backups(
        self,
        ids: set[str],
        request: Request,
        texts: Sequence[str],
        now: int,
        delete_damaged: bool,
        tell: Tell,
    ) -> list[str]:
        """Write every backup anew that may hold any of it; returns the texts that only backups had."""
        path = self._connections.path
        if path is None:
            return []
        copies.sweep(path)
        more: list[str] = []
        for _ in range(_ROUNDS):  # somebody may make one meanwhile
            waiting = [
                one
                for one in self._backups(frozenset(ids))
                if (one.path, _signature(one.path)) not in self._cleaned
            ]
            if not waiting:
                break
            for number, one in enumerate(waiting):
                tell(EraseProgress(doing=f"backup {one.path.name}", done=number, total=len(waiting)))
                if one.problem:
                    if delete_damaged:
                        copies.delete(one.path)
                    else:
                        self._cleaned.add((one.path, _signature(one.path)))
                    continue
                more += self._clean(one.path, ids, request, texts, now)
                self._written += 1
                self._cleaned.add((one.path, _signature(one.path)))
        return more

    def _clean(
        self, path: Path, ids: set[str], request: Request, texts: Sequence[str], now: int
    ) -> list[str]:
        with self._connections.read() as live:

            def stays(id: str) -> bool:
                return id not in ids and bool(scalar(live, "SELECT 1 FROM memories WHERE id = ?", (id,)))

            asked = replace(request, ids=tuple(ids), also=())
            found = copies.rewrite(
                path,
                lambda copy: closure(copy, asked, stays=stays, elsewhere=texts, backup=True),
                actor=self._actor, now=now, count=len(ids),
            )  # fmt: skip
        known = set(texts)
        return [text for text in found.contents if text not in known]

    def _assert_may(self) -> None:
        if self._connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to erase in it."
            )
        if self._actor != "person":
            raise InputError(
                "Only the person erases for good.", "Ask them; you may ask to forget it (a wish)."
            )

    def _assert_same(self, plan: ErasurePlan) -> None:
        now = self.plan(plan.request)
        same = now.ids == plan.ids and [(c.key, c.fate) for c in now.carriers] == [
            (c.key, c.fate) for c in plan.carriers
        ]
        if not same:
            raise _changed()

    @contextmanager
    def _alone(self, tell: Tell) -> Iterator[None]:
        """No import, job or other erase runs meanwhile: they would write again, or back up, what is to go."""
        path = self._connections.path
        self._cleaned: set[tuple[Path, tuple[int, int]]] = set()
        self._written = 0
        with ExitStack() as held:
            for suffix, who in _LOCKS if path is not None else ():
                assert path is not None
                lock = FileLock(path.with_name(path.name + suffix), mode=0o600, thread_local=False)
                try:
                    held.enter_context(lock.acquire(timeout=0))
                    continue
                except Timeout:
                    tell(EraseProgress(doing=f"waiting for {who} to end", done=0, total=1))
                try:
                    held.enter_context(lock.acquire(timeout=self._wait))
                except Timeout:
                    raise StoreError(
                        f"In this memory {who} is running.",
                        "Wait for it to end, and try again. Nothing was erased.",
                    ) from None
            yield


def _not_listed(count: int) -> tuple[str, ...]:
    """What is said of offers beyond those that are listed."""
    if not count:
        return ()
    more = (
        "1 more memory that would stay is" if count == 1 else f"{count:,} more memories that would stay are"
    )
    return (f"{more} not listed. A search for the words finds them.",)


def _changed() -> MemtuiError:
    return InputError(
        "The memory has changed since this was shown: other rows carry the text now.",
        "Nothing was erased from the memory. Look at the list again.",
    )


def _signature(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _put(connection: apsw.Connection, mark: Mark) -> None:
    metadata.put(connection, UNFINISHED, json_text(mark))


def _unmark(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM memory_metadata WHERE key = ?", (UNFINISHED,))


def _carriers(found: Closure, steps: Sequence[Step]) -> tuple[Carrier, ...]:
    """What is chosen first, then what goes with it, then what stays and could go."""
    listed = [
        Carrier(
            key=row.id, place="memory", title=row.content, why=row.why, fate="erased", kind=row.kind,
            choice=not row.chosen, chosen=row.chosen,
        )
        for row in sorted(found.rows.values(), key=lambda row: (not row.chosen, row.rid))
    ]  # fmt: skip
    listed += [
        Carrier(
            key=row.id, place="history", title=row.content, why=row.why, fate="erased", choice=not row.chosen,
            chosen=row.chosen,
        )
        for row in sorted(found.gone.values(), key=lambda row: (not row.chosen, row.rid))
        if row.id not in found.rows
    ]  # fmt: skip
    listed += [
        Carrier(key=f"session:{session}", place="session", title=title or session, why="nothing is left of it", fate="erased")
        for session, title in sorted(found.sessions.items())
    ]  # fmt: skip
    listed += [
        Carrier(
            key=f"entity:{id}",
            place="entity",
            title=name,
            why="named nowhere else",
            fate="erased",
            choice=True,
        )
        for id, name in sorted(found.entities.values(), key=lambda entity: entity[1])
    ]
    listed += [step.carrier for step in steps if step.carrier is not None]
    return (*listed, *found.offered.values())
