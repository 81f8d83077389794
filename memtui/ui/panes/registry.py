"""All panes: number, names, module, and the count in their tab.

The code of a pane is imported when it is shown for the first time. Its number never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from memtui.ui.actions import ActionContext

if TYPE_CHECKING:
    from memtui.engine.records import Stats

    from .pane import Pane


class PaneSpec(NamedTuple):
    """One pane.

    ``total``: the count in its tab, unless the pane shows it itself (``MainScreen.show_count``).
    ``calls``: the count is work for the person, not a total.
    """

    number: int
    pane_id: ActionContext
    label: str
    short: str
    code: str
    total: Callable[[Stats], int] | None = None
    calls: bool = False

    def load(self) -> type[Pane]:
        module, _, name = self.code.partition(":")
        pane: type[Pane] = getattr(import_module(module), name)
        return pane


def _memory_count(stats: Stats) -> int:
    return stats.active - stats.by_kind.get("episode", 0)


# fmt: off
PANES: tuple[PaneSpec, ...] = (
    PaneSpec(0, "you", "You", "You", "memtui.ui.panes.you.pane:YouPane"),
    PaneSpec(1, "review", "Review", "Rev", "memtui.ui.panes.review.pane:ReviewPane", calls=True),
    PaneSpec(2, "memories", "Memories", "Mem", "memtui.ui.panes.memories.pane:MemoriesPane", _memory_count),
    PaneSpec(3, "search", "Search", "Find", "memtui.ui.panes.search.pane:SearchPane"),
    PaneSpec(
        4, "entities", "Entities", "Ents", "memtui.ui.panes.entities.pane:EntitiesPane",
        lambda stats: stats.entities,
    ),
    PaneSpec(
        5, "sessions", "Sessions", "Ses", "memtui.ui.panes.sessions.pane:SessionsPane",
        lambda stats: stats.pending_sessions, calls=True,
    ),
    PaneSpec(
        6, "observations", "Observations", "Obs", "memtui.ui.panes.observations.pane:ObservationsPane",
        lambda stats: stats.by_kind.get("observation", 0),
    ),
    PaneSpec(7, "maintenance", "Maintenance", "Maint", "memtui.ui.panes.maintenance.pane:MaintenancePane"),
    PaneSpec(8, "history", "History", "His", "memtui.ui.panes.history.pane:HistoryPane"),
)
# fmt: on


# The first pane that the app shows, and the one that it shows while there are no facts.
FIRST: ActionContext = "you"
WITHOUT_FACTS: ActionContext = "memories"


def spec_of(pane_id: str) -> PaneSpec:
    """The pane of a place, or the first one if there is none (a state file may name any)."""
    by_id = {spec.pane_id: spec for spec in PANES}
    return by_id.get(cast("ActionContext", pane_id), by_id[FIRST])
