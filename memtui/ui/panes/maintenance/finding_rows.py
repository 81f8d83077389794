"""Where the rows that a check found are listed, and by which filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.errors import NotFoundError
from memtui.ui.actions import Place

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Finding, RowsOf

PLACES: dict[RowsOf, Place] = {
    "memories": "memories", "entities": "entities", "sessions": "sessions", "operations": "history",
}  # fmt: skip
NOUNS: dict[RowsOf, str] = {
    "memories": "memory", "entities": "entity", "sessions": "session", "operations": "operation"
}  # fmt: skip


def filter_for(memory: Memory, finding: Finding) -> str:
    """The filter that lists exactly the rows which a finding names. Blocks."""
    if finding.about == "memories":
        return f"id:{','.join(finding.ids)} is:active,trash"
    if finding.about == "sessions":  # their own names may have spaces and commas
        return f"id:{','.join(_keys(memory, finding.ids))}"
    return f"id:{','.join(finding.ids)}"


def _keys(memory: Memory, names: tuple[str, ...]) -> list[str]:
    found = []
    for name in names:
        try:
            found.append(str(memory.view.session_row(name).sid))
        except NotFoundError:
            continue
    return found
