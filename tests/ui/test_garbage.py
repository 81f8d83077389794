"""The garbage collector works between keys, not between a key and its answer."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator

import pytest
from memtui.ui import garbage_collection


class _Round:
    """Refers to itself, so only a collection frees it."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def _old_garbage() -> weakref.ref[_Round]:
    """Garbage that only a full collection finds, when one is due."""
    lost = _Round()
    gone = weakref.ref(lost)
    gc.collect(1)  # it survives, into the oldest generation
    del lost
    for _ in range(20):
        gc.collect(1)
    assert gone() is not None
    return gone


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python collects bit by bit there")
def test_a_full_collection_waits_until_keys_pause() -> None:
    garbage_collection.freeze_startup_objects()
    gone = _old_garbage()
    garbage_collection.collect_if_due(quiet=0.1)
    assert gone() is not None, "somebody types"
    garbage_collection.collect_if_due(quiet=garbage_collection.QUIET_SECONDS)
    assert gone() is None
    gone = _old_garbage()
    gc.collect()
    assert gone() is None
    garbage_collection.collect_if_due(quiet=5.0)  # nothing is due: it does nothing, quickly
    assert gc.get_count()[2] == 0
