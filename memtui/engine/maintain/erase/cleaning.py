"""An erase in all backups of a memory, those included that somebody makes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from memtui.engine.store.connection import Connections
from memtui.engine.store.sql import scalar

from . import copies
from .closure import closure
from .planning import backups_of
from .records import BackupState, EraseProgress, Request

_ROUNDS = 5

Tell = Callable[[EraseProgress], None]


class BackupCleaner:
    """Writes backups anew without what one erase takes. ``written``: how many so far.

    ``delete_damaged``: delete those that cannot be written anew. ``at``: when the erase was begun, Unix seconds.
    """

    def __init__(
        self, connections: Connections, request: Request, ids: Sequence[str], *, actor: str, at: int,
        delete_damaged: bool, tell: Tell,
    ) -> None:  # fmt: skip
        self.written = 0
        self._connections = connections
        self._request = replace(request, ids=tuple(ids), also=())
        self._ids = frozenset(ids)
        self._actor = actor
        self._at = at
        self._delete_damaged = delete_damaged
        self._tell = tell
        self._done: set[tuple[Path, int, int]] = set()

    def clean(self, texts: Sequence[str]) -> list[str]:
        """Write every backup anew that may hold any of it; returns the texts that only backups had.

        ``texts``: what is known to go. Raises as ``copies.rewrite``.
        """
        path = self._connections.path
        if path is None:
            return []
        copies.sweep(path)
        more: list[str] = []
        for _ in range(_ROUNDS):  # somebody may make one meanwhile
            waiting = [one for one in self.states() if _signature(one.path) not in self._done]
            if not waiting:
                break
            for number, one in enumerate(waiting):
                self._tell(EraseProgress(doing=f"backup {one.path.name}", done=number, total=len(waiting)))
                if one.problem and self._delete_damaged:
                    copies.delete(one.path)
                    continue
                if not one.problem:
                    more += self._rewrite(one.path, texts)
                    self.written += 1
                self._done.add(_signature(one.path))
        return more

    def states(self) -> tuple[BackupState, ...]:
        """How the backups are now."""
        return backups_of(self._connections, self._ids)

    def _rewrite(self, path: Path, texts: Sequence[str]) -> list[str]:
        with self._connections.read() as live:

            def stays(id: str) -> bool:
                return id not in self._ids and bool(
                    scalar(live, "SELECT 1 FROM memories WHERE id = ?", (id,))
                )

            found = copies.rewrite(
                path,
                lambda copy: closure(copy, self._request, stays=stays, elsewhere=texts, backup=True),
                actor=self._actor, now=self._at, count=len(self._ids),
            )  # fmt: skip
        known = set(texts)
        return [text for text in found.contents if text not in known]


def _signature(path: Path) -> tuple[Path, int, int]:
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size
