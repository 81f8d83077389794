"""Preview of a restore: what it brings back, changes and loses, by comparing the backup with the file.

One connection reads both, so that nothing is copied. Rows are one and the same by their id, as people know them; a
backup of this very file has them under the same key as well, which is what makes looking through a million quick.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from memtui.engine.records import KINDS
from memtui.engine.records.backups import KIND_LABELS, RestoreChange, RestoreCount, RestorePreview
from memtui.engine.store import tombstones
from memtui.engine.store.sql import scalar
from memtui.engine.store.tables import COVERED

MAX_EXAMPLES = 200
_VERSIONS = 100
_JOBS = "SELECT key, value FROM {base}.memory_metadata WHERE key GLOB 'job_disabled:*' AND value = '1'"
# What people know a table by, and its rows.
_OTHERS = (
    ("sessions", "sessions_consolidations", "session_id"),
    ("entities", "entities", "id"),
    ("notes of the scratchpad", "scratchpad", "key"),
    ("pinned questions and saved filters", "saved_queries", "name"),
    ("ranking profiles", "profiles", "name"),
    ("cards of Review", "proposals", "id"),
)


def preview(source: apsw.Connection, live: Path, *, at: int, reason: str, shown: Path) -> RestorePreview:
    """``source``: the backup, open for reading; ``live``: the file; ``shown``: where the backup is. Blocks."""
    source.execute("ATTACH ? AS live", (str(live),))
    source.execute("BEGIN")  # one state of each
    try:
        differences = _MemoryDifferences(source)
        counts = [
            *differences.counts(),
            *(_count_differences(source, *one) for one in _OTHERS),
            _disabled_jobs(source),
        ]
        back = differences.list_examples("back")
        return RestorePreview(
            path=str(shown), at=at, reason=reason, size=shown.stat().st_size,
            counts=tuple(one for one in counts if one.now or one.then),
            back=back, changed=differences.list_examples("changed"), lost=differences.list_examples("lost"),
            erased=len(tombstones.erased_among(source, [one.id for one in back], "live")),
            operations=int(scalar(
                source, "SELECT count(*) FROM live.ops WHERE op_id > (SELECT coalesce(max(op_id), 0) FROM main.ops)"
            )),
        )  # fmt: skip
    finally:
        source.execute("ROLLBACK")
        source.execute("DETACH live")


class _DifferingMemory(NamedTuple):
    """A memory that differs: its keys in the backup and in the file."""

    turn: bool
    then: int | None
    now: int | None


class _MemoryDifferences:
    """The memories that differ, by what a restore does to them (``back``, ``changed``, ``lost``)."""

    def __init__(self, source: apsw.Connection) -> None:
        self._source = source
        self._pairs: dict[str, list[_DifferingMemory]] = {"back": [], "changed": [], "lost": []}
        self._tally: Counter[tuple[str, str]] = Counter()
        columns = [name for name in COVERED["memories"].columns if name not in ("id", "reviewed_at")]
        then, now = (", ".join(f"{row}.{name}" for name in columns) for row in ("t", "n"))
        differ = f"(t.valid_until IS NULL OR n.valid_until IS NULL) AND ({then}) IS NOT ({now})"
        rows = self._sql_in_both("n.rid = t.rid AND n.id = t.id", differ)
        if self._may_be_other_file():
            rows += self._sql_in_both("n.id = t.id AND n.rid <> t.rid", differ)
        for direction, here, there in (("back", "main", "live"), ("lost", "live", "main")):
            rows += self._sql_notes_on_one_side(here, there)
            self._add_turns_on_one_side(direction, here, there)
        self._sort_differences(rows)

    def _sql_in_both(self, same: str, differ: str) -> list[Any]:
        return self._source.execute(
            f"""
            SELECT n.rid, t.rid, t.kind, n.valid_until IS NULL, t.valid_until IS NULL, n.id,
                   json_extract(n.attributes, '$.supersedes')
            FROM main.memories t JOIN live.memories n ON {same} WHERE {differ}
            """
        ).fetchall()

    def _sql_notes_on_one_side(self, here: str, there: str) -> list[Any]:
        values = "NULL, h.rid, h.kind, 0, 1" if here == "main" else "h.rid, NULL, h.kind, 1, 0"
        return self._source.execute(
            f"SELECT {values}, h.id, json_extract(h.attributes, '$.supersedes') "
            f"FROM {self._sql_on_one_side(here, there)} AND h.kind <> 'episode'"
        ).fetchall()

    def _add_turns_on_one_side(self, direction: str, here: str, there: str) -> None:
        """They may be very many: they are counted, and the latest looked at."""
        turns = f"{self._sql_on_one_side(here, there)} AND h.kind = 'episode'"
        self._tally[direction, "episode"] += int(scalar(self._source, f"SELECT count(*) FROM {turns}"))
        for (rid,) in self._source.execute(
            f"SELECT h.rid FROM {turns} ORDER BY h.rid DESC LIMIT {MAX_EXAMPLES}"
        ):
            keys = (rid, None) if here == "main" else (None, rid)
            self._pairs[direction].append(_DifferingMemory(True, *keys))

    @staticmethod
    def _sql_on_one_side(here: str, there: str) -> str:
        """SQL for the active rows of one side whose id the other side does not have."""
        return (
            f"{here}.memories h LEFT JOIN {there}.memories o ON o.rid = h.rid AND o.id = h.id "
            f"WHERE o.rid IS NULL AND h.valid_until IS NULL "
            f"AND NOT EXISTS (SELECT 1 FROM {there}.memories x WHERE x.id = h.id)"
        )

    def _may_be_other_file(self) -> bool:
        """Whether a memory may have another key here: not in a backup of this very file."""
        ours = "SELECT value FROM {}.memory_metadata WHERE key = 'file_id'"
        return bool(scalar(self._source, ours.format("main")) != scalar(self._source, ours.format("live")))

    def _sort_differences(self, rows: Iterable[Any]) -> None:
        """A correction since is one change, and not one memory lost and another that comes back."""
        back: dict[str, tuple[_DifferingMemory, str | None]] = {}
        lost: dict[str, tuple[_DifferingMemory, str | None]] = {}
        kinds: dict[str, str] = {}
        for now, then, kind, active_now, active_then, id, supersedes in rows:
            pair, kinds[id] = _DifferingMemory(kind == "episode", then, now), kind
            if active_now and active_then:
                self._add_difference("changed", kind, pair)
            else:
                (back if active_then else lost)[id] = pair, supersedes
        # Corrected since the backup; and where an older one was restored, corrected in the backup.
        for later, earlier, base in ((lost, back, "live"), (back, lost, "main")):
            for id, (pair, supersedes) in list(later.items()):
                first = self._first_version(supersedes, earlier, base)
                if first is not None:
                    other = earlier.pop(first)[0]
                    del later[id]
                    then, now = (other.then, pair.now) if base == "live" else (pair.then, other.now)
                    self._add_difference("changed", kinds[id], _DifferingMemory(pair.turn, then, now))
        for direction, left in (("back", back), ("lost", lost)):
            for id, (pair, _) in left.items():
                self._add_difference(direction, kinds[id], pair)

    def _add_difference(self, direction: str, kind: str, pair: _DifferingMemory) -> None:
        self._pairs[direction].append(pair)
        self._tally[direction, kind] += 1

    def _first_version(self, id: str | None, known: Container[str], base: str) -> str | None:
        """Which of the ``known`` ones a memory is a later version of, by what it supersedes."""
        for _ in range(_VERSIONS):
            if id is None or id in known:
                return id
            id = scalar(
                self._source,
                f"SELECT json_extract(attributes, '$.supersedes') FROM {base}.memories WHERE id = ?",
                (id,),
            )
        return None

    def counts(self) -> Iterator[RestoreCount]:
        now, then = self._active_rows("live"), self._active_rows("main")
        for kind in KINDS:
            what = KIND_LABELS[kind]
            directions = {direction: self._tally[direction, kind] for direction in self._pairs}
            yield RestoreCount(what=what, now=now.get(kind, 0), then=then.get(kind, 0), **directions)

    def _active_rows(self, base: str) -> dict[str, int]:
        notes: Any = self._source.execute(
            f"SELECT kind, count(*) FROM {base}.memories WHERE valid_until IS NULL AND kind <> 'episode' GROUP BY kind"
        )
        rows = dict(notes)
        every = scalar(self._source, f"SELECT count(*) FROM {base}.memories WHERE valid_until IS NULL")
        return {**rows, "episode": int(every) - sum(rows.values())}

    def list_examples(self, direction: str) -> tuple[RestoreChange, ...]:
        pairs = sorted(self._pairs[direction], key=lambda pair: (pair.turn, -(pair.now or pair.then or 0)))
        examples = []
        for pair in pairs[:MAX_EXAMPLES]:
            was, is_now = self._load_row("main", pair.then), self._load_row("live", pair.now)
            row = was if was is not None and direction != "lost" else is_now
            examples.append(
                RestoreChange(
                    id=row[0], kind=row[1],
                    now=None if is_now is None or direction == "back" else is_now[2],
                    then=None if was is None or direction == "lost" else was[2],
                )
            )  # fmt: skip
        return tuple(examples)

    def _load_row(self, base: str, rid: int | None) -> Any:
        if rid is None:
            return None
        return self._source.execute(
            f"SELECT id, kind, content FROM {base}.memories WHERE rid = ?", (rid,)
        ).fetchone()


def _count_differences(source: apsw.Connection, what: str, table: str, key: str) -> RestoreCount:
    columns = [name for name in COVERED[table].columns if name not in ("id", key)]
    then, now = (", ".join(f"{row}.{name}" for name in columns) for row in ("t", "n"))
    lost, back = (
        f"SELECT count(*) FROM {here}.{table} h WHERE NOT EXISTS (SELECT 1 FROM {there}.{table} o WHERE o.{key} = h.{key})"
        for here, there in (("live", "main"), ("main", "live"))
    )
    changed = f"SELECT count(*) FROM main.{table} t JOIN live.{table} n ON n.{key} = t.{key} WHERE ({then}) IS NOT ({now})"
    return RestoreCount(
        what=what,
        now=scalar(source, f"SELECT count(*) FROM live.{table}"),
        then=scalar(source, f"SELECT count(*) FROM main.{table}"),
        back=scalar(source, back),
        changed=scalar(source, changed),
        lost=scalar(source, lost),
    )


def _disabled_jobs(source: apsw.Connection) -> RestoreCount:
    """Jobs that are switched off; a restore switches them as they were."""
    then, now = (
        {str(key) for key, _ in source.execute(_JOBS.format(base=base))} for base in ("main", "live")
    )
    return RestoreCount(
        what="jobs switched off", now=len(now), then=len(then), back=len(then - now), lost=len(now - then)
    )
