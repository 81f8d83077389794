"""All verbs on one object: what an open memory can do, however it was opened."""

from __future__ import annotations

from memtui.engine.verbs.keeping import Keeping
from memtui.engine.verbs.naming import Naming
from memtui.engine.verbs.observing import Observing


class Verbs(Observing, Naming, Keeping):
    """Everything a program does with a memory. ``engine.memory.Memory`` is this, and knows how to open a file."""
