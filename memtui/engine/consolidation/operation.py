"""The operation of a consolidation: begun by its first write, named after all that it wrote."""

from __future__ import annotations

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.records import Operation, Options, Session
from memtui.engine.store import history, operations
from memtui.engine.store.connections import Connections
from memtui.engine.wording import plural, quote_beginning

from . import apply
from .plan import OPERATION, Plan

_TITLE = 40


class RunOperation:
    """The operation of a run; it is opened by the first write."""

    def __init__(self, connections: Connections, clock: Clock, actor: str) -> None:
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self.sessions = 1
        """How many it is going to write, for the label as long as it is not finished."""
        self._op_id: int | None = None
        self._written: list[tuple[Plan, apply.Counts]] = []

    def write(self, plan: Plan, options: Options, *, seen: bool) -> apply.Counts:
        if self._op_id is None:
            with self._connections.read() as connection:
                apply.require_current_plan(
                    connection, plan, int(self._clock())
                )  # before there is an operation to regret
            what = session_name(plan.session) if self.sessions == 1 else f"{self.sessions:,} sessions"
            self._op_id = history.begin_long(
                self._connections, self._clock, self._actor, OPERATION, f"Consolidating {what}"
            )
        with history.continue_long(self._connections, self._op_id) as connection:
            counts = apply.write_plan(connection, plan, options, int(self._clock()), seen=seen)
        self._written.append((plan, counts))
        return counts

    def finish(self) -> Operation | None:
        if self._op_id is None:
            return None
        history.finish_long(self._connections, self._op_id, self._operation_label())
        with self._connections.read() as connection:
            try:
                return operations.get(connection, self._op_id)
            except InputError:
                return None  # nothing changed

    def _operation_label(self) -> str:
        what = {
            "added": 0, "observation": 0, "reinforced": 0, "superseded": 0, "conflict": 0, "quarantined": 0,
            "reworded": 0, "retired": 0, "unchanged": 0,
        }  # fmt: skip
        for _, counts in self._written:
            for action, count in counts.items():
                what[action] = what.get(action, 0) + count
        facts = what["added"] + what["superseded"] + what["conflict"]
        again = all(plan.again for plan, _ in self._written)
        parts = [f"{facts} new" if again else plural(facts, "fact")] + [
            text
            for count, text in (
                (what["observation"], plural(what["observation"], "observation")),
                (what["reinforced"], f"{what['reinforced']} known"),
                (what["superseded"], f"{what['superseded']} superseded"),
                (what["reworded"], f"{what['reworded']} reworded"),
                (what["retired"], f"{what['retired']} removed"),
                (what["unchanged"], f"{what['unchanged']} unchanged"),
                (
                    what["conflict"] + what["quarantined"],
                    f"{what['conflict'] + what['quarantined']} to review",
                ),
            )
            if count
        ]
        one = len(self._written) == 1
        name = session_name(self._written[0][0].session) if one else f"{len(self._written):,} sessions"
        return f"{f'Read {name} again' if again else f'Consolidated {name}'}: {', '.join(parts)}"


def session_name(session: Session) -> str:
    """As the labels of operations have it, in quotes."""
    return quote_beginning(session.name, _TITLE)
