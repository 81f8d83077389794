"""``memory.sync``: one memory on several machines, over a store that others run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core import Core

if TYPE_CHECKING:
    from memtui.engine.records.sync import SyncReport
    from memtui.engine.sync.batch import Sealer
    from memtui.engine.sync.stores.base import SyncStore


class Sync:
    """What came from one device is one operation, signed by that device; undo takes it back here and everywhere."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def run_with(self, store: SyncStore, sealer: Sealer, *, facts_only: bool = False) -> SyncReport:
        """Send what changed here, read and merge what others sent. ``facts_only``: turns stay where they are."""
        raise NotImplementedError
