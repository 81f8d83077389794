"""The facade: everything a program does with a memory, as plain functions on one object.

``Memory`` composes the rooms below; its verbs are in ``verbs/``, a file per subject. Methods may be
called from any thread: writes wait for each other, reads do not wait for writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from memtui.engine.clock import Clock, system_clock
from memtui.engine.errors import InputError
from memtui.engine.records import Options
from memtui.engine.store import file, history
from memtui.engine.verbs.all import Verbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.engine.maintain.restore.rescue import Rescue
    from memtui.engine.tools.base import Group
    from memtui.engine.tools.registry import Toolbox


class Memory(Verbs):
    """A memory file, open for use; a context manager.

    ``actor`` signs every change: ``person``, ``agent:<name>``, ``scheduler`` or ``import``.
    """

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        actor: str = "person",
        readonly: bool = False,
        clock: Clock | None = None,
        options: Options | None = None,
    ) -> Self:
        """Open a memory file, created if it is not there; ``":memory:"`` for one that lives in this process.

        ``clock`` returns Unix seconds. Raises StoreError or one of its kin for a file that cannot be used
        (it is left as it was), InputError for a bad actor or clock.
        """
        if actor not in ("person", "scheduler", "import") and not (
            actor.startswith("agent:") and len(actor) > len("agent:")
        ):
            raise InputError(f"{actor!r} is not an actor.", "Use person, agent:<name>, scheduler or import.")
        if clock is not None and not callable(clock):
            raise InputError(
                f"A clock is a function without arguments that returns Unix seconds, not {clock!r}.",
                "For example time.time; leave it out for the system's.",
            )
        options = options or Options()
        connections = file.open_file(path, readonly=readonly, allow_unsafe=options.allow_unsafe_fs)
        memory = cls(connections, actor=actor, clock=clock or system_clock, options=options)
        if not readonly:
            history.close_dead(connections)
            memory._wake_indexer()
        return memory

    @staticmethod
    def rescue(path: str | Path, *, clock: Clock | None = None) -> Rescue:
        """The backups of the memory at ``path``, and the way back to one of them, whatever the file itself is like.

        Nothing is opened: it is for a file that is damaged, foreign, empty or gone.
        """
        from memtui.engine.maintain.restore.rescue import Rescue

        return Rescue(Path(path), clock or system_clock)

    def tools(
        self, groups: Sequence[Group] = ("memory", "observations", "scratchpad"), *, filter: str | None = None,
        project: str | None = None, readonly: bool = False,
    ) -> Toolbox:  # fmt: skip
        """What a language model may call on this memory: ``functions()`` for its API, ``call(name, arguments)``.

        The memory must be open for ``agent:<name>``. ``filter`` and ``project`` narrow what there is for this
        agent: what lies outside it can neither read nor change, nor learn that it is there. ``groups`` may add
        ``consolidator``. Raises FilterError for a bad filter, InputError for an empty one and for a memory open for
        somebody else.
        """
        from memtui.engine.tools.agent import Agent
        from memtui.engine.tools.registry import Toolbox

        return Toolbox(Agent(self, filter=filter, project=project, readonly=readonly), groups)
