"""The check of the pages, beside other programs."""

from __future__ import annotations

from pathlib import Path

from memtui import Memory
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off")


def test_what_another_program_wrote_is_not_taken_for_damage(place: Path) -> None:
    """FTS5 keeps the structure of its index in each connection, and PRAGMA quick_check trusts it."""
    with Memory.open(place, options=OPTIONS) as here, Memory.open(place, options=OPTIONS) as there:
        for number in range(60):
            (here if number % 2 else there).record_turn(
                "harbour", "user", f"the ferry {number} leaves at nine"
            )
            report = here.files.check()
            assert report.ok, (number, report.findings)
