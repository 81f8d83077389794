"""Runs Python's garbage collection while no key is pressed.

A full collection takes some 20 ms after a few screens, which can be felt between a key and its effect.
Python 3.14 collects in small steps and does not need this.
"""

from __future__ import annotations

import gc

# Python's own value for the third is 10, which a few screens of rows reach.
_THRESHOLDS = (700, 10, 200)
_DUE = 10
QUIET_SECONDS = 1.0


def freeze_startup_objects() -> None:
    """Called after the first rows. Objects made at the start are never garbage."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


def collect_if_due(quiet: float) -> None:
    """Called regularly. ``quiet``: the seconds since the last key."""
    if quiet >= QUIET_SECONDS and gc.get_count()[2] >= _DUE:
        gc.collect()
