"""When Python looks for garbage in cycles: while nobody types.

Looking through everything takes some 20 ms once a few screens are made, and is felt between a key and its answer.
Python 3.14 goes through it bit by bit, and needs none of this.
"""

from __future__ import annotations

import gc

# Python's own figure for the third is 10, which a few screenfuls of rows reach. While nobody types, that many are too many.
_THRESHOLDS = (700, 10, 200)
_DUE = 10
QUIET_SECONDS = 1.0


def begin() -> None:
    """After the first rows: what starting has made is never garbage."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


def collect_if_due(quiet: float) -> None:
    """Called now and then; ``quiet``: the seconds since the last key."""
    if quiet >= QUIET_SECONDS and gc.get_count()[2] >= _DUE:
        gc.collect()
