"""The plan of an erase: all rows and backups that contain the texts, listed before anything is erased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records.erase import Carrier, ErasePlan, EraseRequest
from memtui.engine.store.connections import Connections

from .backups import backups_of
from .closure import Closure
from .records import title_of
from .rows import Step, survey
from .selection import closure

EXPORTS = "Exports and copies elsewhere are not looked at: delete those yourself."


def make_plan(connections: Connections, request: EraseRequest) -> ErasePlan:
    """Everything that carries what is to go. Raises NotFoundError, InputError."""
    with connections.read() as connection:
        found = closure(connection, request)
        steps = survey(connection, found)
    carriers = _carriers(found, steps)
    counts: Counter[str] = Counter(
        one.place for one in carriers if one.place != "memory" and one.fate != "kept"
    )
    there = backups_of(connections, found.ids)
    path = connections.path
    size = path.stat().st_size if path is not None and path.exists() else 0
    return ErasePlan(
        request=request, memories=len(found.ids), carriers=carriers, counts=dict(counts), backups=there,
        ids=tuple(sorted(found.ids)), notes=(*_not_listed(len(found.unlisted)), *(() if path is None else (EXPORTS,))),
        bytes=size + sum(one.size for one in there),
    )  # fmt: skip


def assert_same(connections: Connections, plan: ErasePlan) -> None:
    """Raise InputError when the memory has changed since the plan was made."""
    now = make_plan(connections, plan.request)
    if now.ids != plan.ids or _fates(now) != _fates(plan):
        raise changed()


def changed() -> MemtuiError:
    return InputError(
        "The memory has changed since this was shown: other rows carry the text now.",
        "Nothing was erased from the memory. Look at the list again.",
    )


def _fates(plan: ErasePlan) -> list[tuple[str, str]]:
    return [(carrier.key, carrier.fate) for carrier in plan.carriers]


def _not_listed(count: int) -> tuple[str, ...]:
    """What is said of offers beyond those that are listed."""
    if not count:
        return ()
    more = (
        "1 more memory that would stay is" if count == 1 else f"{count:,} more memories that would stay are"
    )
    return (f"{more} not listed. A search for the words finds them.",)


def _carriers(found: Closure, steps: Sequence[Step]) -> tuple[Carrier, ...]:
    """What is chosen first, then what goes with it, then what stays and could go."""
    listed = [
        Carrier(
            key=row.id, place="memory", title=title_of(row.content), why=row.why, fate="erased", kind=row.kind,
            choice=not row.chosen, chosen=row.chosen,
        )
        for row in sorted(found.rows.values(), key=lambda row: (not row.chosen, row.rid))
    ]  # fmt: skip
    listed += [
        Carrier(
            key=row.id, place="history", title=title_of(row.content), why=row.why, fate="erased", choice=not row.chosen,
            chosen=row.chosen,
        )
        for row in sorted(found.gone.values(), key=lambda row: (not row.chosen, row.rid))
        if row.id not in found.rows
    ]  # fmt: skip
    listed += [
        Carrier(
            key=f"session:{session}", place="session", title=title_of(title or session), why="nothing is left of it",
            fate="erased",
        )
        for session, title in sorted(found.sessions.items())
    ]  # fmt: skip
    listed += [
        Carrier(key=f"entity:{id}", place="entity", title=title_of(name), why="named nowhere else", fate="erased", choice=True)
        for id, name in sorted(found.entities.values(), key=lambda entity: entity[1])
    ]  # fmt: skip
    listed += [step.carrier for step in steps if step.carrier is not None]
    return (*listed, *found.offered.values())
