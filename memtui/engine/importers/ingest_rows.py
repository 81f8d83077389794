"""The rows of memtui's own export: what of a batch is new, and storing it."""

from __future__ import annotations

from memtui.engine.store.portable import AnyLine, MemoryLine

from . import account
from .account import Account
from .rows import KINDS, Rows


class RowIngest:
    def __init__(self, shared: Account, rows: Rows) -> None:
        self._shared = shared
        self._rows = rows

    def take(self, lines: list[AnyLine]) -> None:
        """Sort out what is new in a batch, and store it."""
        if not lines:
            return
        shared = self._shared
        with shared.connections.read() as connection:
            new, there, skips = self._rows.sort_out(connection, lines, shared.operation.op_id)
        shared.already_there += there
        if shared.dry_run:
            self._count([line for line in new if shared.met.add(f"line {line}")])
            new = []
        while new:
            with shared.operation.part() as connection:
                taken, added, refused = self._rows.store_some(
                    connection, new, shared.operation.begin(), seconds=account.SECONDS_PER_TRANSACTION
                )
            self._count(added)
            skips += refused
            new = new[taken:]
        for skip in skips:
            shared.tally.skip(skip)

    def _count(self, lines: list[AnyLine]) -> None:
        shared = self._shared
        for line in lines:
            if isinstance(line, MemoryLine):
                shared.kinds["turn" if line.kind == "episode" else line.kind] += 1
                if line.kind == "episode" and line.session_id is not None:
                    shared.met_session(line.session_id)
            elif type(line) in KINDS:
                shared.kinds[KINDS[type(line)]] += 1
