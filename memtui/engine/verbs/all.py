"""All verbs on one object: what an open memory can do, however it was opened."""

from __future__ import annotations

from memtui.engine.verbs.erasing import Erasing
from memtui.engine.verbs.exchanging import Exchanging
from memtui.engine.verbs.naming import Naming
from memtui.engine.verbs.observing import Observing
from memtui.engine.verbs.reembedding import Reembedding
from memtui.engine.verbs.travelling import Travelling


class Verbs(Observing, Naming, Exchanging, Reembedding, Travelling, Erasing):
    """Everything a program does with a memory. ``engine.memory.Memory`` is this, and knows how to open a file."""
