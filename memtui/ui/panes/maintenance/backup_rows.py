"""Backups as rows of Maintenance: their keys and their contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.backups import Backup, BackupContents

_KEYS = 1 << 40
_SAME_SECOND = 64

Known = dict[str, "BackupContents"]
"""What was read of each backup, by file name."""


def keys_of(backups: Sequence[Backup]) -> list[int]:
    """The key of each row."""
    keys: list[int] = []
    for backup in backups:
        key = _KEYS + backup.at * _SAME_SECOND
        while keys and key <= keys[-1] < key + _SAME_SECOND:
            key = keys[-1] + 1
        keys.append(key)
    return keys


def read_contents(memory: Memory, backups: Sequence[Backup], known: Known) -> Known:
    """The contents of each backup. Only changed ones are read again. Blocks."""
    found: Known = {}
    for one in backups:
        contents = known.get(one.path.name)
        if contents is None or not one.path.exists() or contents.stamp != one.path.stat().st_mtime_ns:
            contents = memory.backups.held(one.path)
        found[one.path.name] = contents
    return found
