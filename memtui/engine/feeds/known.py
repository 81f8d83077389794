"""Where programs keep their session files on this machine, and how soon they will sweep them away.

Claude Code deletes transcripts after ``cleanupPeriodDays`` (30 unless its settings say otherwise), so
importing is rescue: the first thing to tell is how many will be gone within a week. Nothing is opened but the
settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..clock import Clock, system_clock
from ..records import Record

DAY = 86_400
WARNING_DAYS = 7
_DEFAULT_DAYS = 30


class KnownSource(Record):
    """Session files of one program: their folder, number, time of the newest (Unix seconds), and how many
    are swept within ``WARNING_DAYS`` by a rule of ``kept_days``.
    """

    format: str
    label: str
    path: Path
    files: int
    newest: float
    expiring: int
    kept_days: int


def known_sources(
    home: Path, *, environ: Mapping[str, str] = os.environ, clock: Clock = system_clock
) -> list[KnownSource]:
    """The places that exist and hold at least one file. Unreadable folders count as empty."""
    claude = _claude_code(Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude").expanduser(), clock())
    return [claude] if claude else []


def _claude_code(folder: Path, now: float) -> KnownSource | None:
    days = _kept_days(folder / "settings.json")
    swept_before = now - max(0, days - WARNING_DAYS) * DAY
    times = []
    for place, _, names in os.walk(folder / "projects"):
        for name in names:
            if name.endswith(".jsonl"):
                try:
                    times.append(Path(place, name).stat().st_mtime)
                except OSError:
                    continue
    if not times:
        return None
    return KnownSource(
        format="claude-code",
        label="Claude Code",
        path=folder / "projects",
        files=len(times),
        newest=max(times),
        expiring=sum(time < swept_before for time in times),
        kept_days=days,
    )


def _kept_days(settings: Path) -> int:
    try:
        value: Any = msgspec.json.decode(settings.read_bytes())
    except (OSError, ValueError, RecursionError):
        return _DEFAULT_DAYS
    days = value.get("cleanupPeriodDays") if isinstance(value, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else _DEFAULT_DAYS
