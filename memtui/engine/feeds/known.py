"""Where programs keep their session files on this machine, and how soon they will sweep them away.

Claude Code deletes transcripts after ``cleanupPeriodDays`` (30 unless its settings say otherwise), so
importing is rescue: the first thing to tell is how many will be gone within a week. Nothing is opened but the
settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..clock import Clock, system_clock
from ..records import Record
from .packed import SUFFIX

DAY = 86_400
WARNING_DAYS = 7
_DEFAULT_DAYS = 30


class KnownSource(Record):
    """Session files of one program: their folder, number, time of the newest (Unix seconds), and how many
    are swept within ``WARNING_DAYS`` by a rule of ``kept_days`` (None: they are kept).
    """

    format: str
    label: str
    path: Path
    files: int
    newest: float
    expiring: int = 0
    kept_days: int | None = None


def known_sources(
    home: Path, *, environ: Mapping[str, str] = os.environ, clock: Clock = system_clock
) -> list[KnownSource]:
    """The places that exist and hold at least one file. Unreadable folders count as empty."""
    claude = _claude_code(Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude").expanduser(), clock())
    codex = _codex(Path(environ.get("CODEX_HOME") or home / ".codex").expanduser())
    mem0 = Path(environ.get("MEM0_DIR") or home / ".mem0").expanduser() / "history.db"
    return [*([claude] if claude else []), *codex, *_mem0(mem0)]


def _claude_code(folder: Path, now: float) -> KnownSource | None:
    days = _kept_days(folder / "settings.json")
    swept_before = now - max(0, days - WARNING_DAYS) * DAY
    times = _times(folder / "projects", (".jsonl",))
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


def _codex(folder: Path) -> Iterator[KnownSource]:
    """Nobody sweeps them; those that were put away are in a folder of their own."""
    for name, label in (("sessions", "Codex CLI"), ("archived_sessions", "Codex CLI, archived")):
        if times := _times(folder / name, (".jsonl", ".jsonl.zst")):
            yield KnownSource(
                format="codex", label=label, path=folder / name, files=len(times), newest=max(times)
            )


def _mem0(path: Path) -> Iterator[KnownSource]:
    """Every version of every memory that mem0 kept on this machine."""
    try:
        newest = path.stat().st_mtime
    except OSError:
        return
    yield KnownSource(format="mem0-history", label="mem0", path=path, files=1, newest=newest)


def _times(folder: Path, suffixes: tuple[str, ...]) -> list[float]:
    """When the files with one of the suffixes were written; a packed copy of a file beside it does not count."""
    times = []
    for place, _, names in os.walk(folder):
        there = frozenset(names)
        for name in names:
            if name.endswith(suffixes) and not (name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in there):
                try:
                    times.append(Path(place, name).stat().st_mtime)
                except OSError:
                    continue
    return times


def _kept_days(settings: Path) -> int:
    try:
        value: Any = msgspec.json.decode(settings.read_bytes())
    except (OSError, ValueError, RecursionError):
        return _DEFAULT_DAYS
    days = value.get("cleanupPeriodDays") if isinstance(value, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else _DEFAULT_DAYS
