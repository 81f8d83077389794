"""Backups as Maintenance lists them: when, why, how large, what they hold, and whether they can be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.present.backup import holds
from memtui.present.format import count, file_size
from memtui.present.past import ago

if TYPE_CHECKING:
    from memtui.engine.maintain.restore.reading import Held
    from memtui.engine.memory import Memory
    from memtui.engine.store.backup import Backup

_KEYS = 1 << 40
_SAME_SECOND = 64

Known = dict[str, "Held"]
"""What was read of each backup, by file name."""


def keys_of(backups: Sequence[Backup]) -> list[int]:
    """What identifies each row of the list."""
    keys: list[int] = []
    for backup in backups:
        key = _KEYS + backup.at * _SAME_SECOND
        while keys and key <= keys[-1] < key + _SAME_SECOND:
            key = keys[-1] + 1
        keys.append(key)
    return keys


def read_held(memory: Memory, backups: Sequence[Backup], known: Known) -> Known:
    """What each of them holds; only those that changed are read again. Blocks."""
    found: Known = {}
    for one in backups:
        held = known.get(one.path.name)
        if held is None or not one.path.exists() or held.stamp != one.path.stat().st_mtime_ns:
            held = memory.backups.held(one.path)
        found[one.path.name] = held
    return found


def backups_line(backups: Sequence[Backup], now: float) -> str:
    """What the list says of all of them: how many, when the latest was made, how large they are."""
    if not backups:
        return "none yet"
    size = sum(one.size for one in backups)
    return f"{file_size(size)} in {count(len(backups))}, {ago(backups[0].at, now)}"


def backup_line(backup: Backup, known: Mapping[str, Held]) -> str:
    """What the list says of one."""
    held, size = known.get(backup.path.name), file_size(backup.size)
    if held is None:
        return size
    return holds(held) if held.problem else f"{holds(held)}, {size}"
