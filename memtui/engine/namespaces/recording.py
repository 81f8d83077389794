"""``memory.recording``: pauses of recording, and sources that are never recorded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import get_args

import apsw

from memtui.engine.clock import unix_seconds
from memtui.engine.core import Core
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.memories import validation
from memtui.engine.records import Changes, Never, NeverKind, Recording
from memtui.engine.search.time_expressions import parse_future_time
from memtui.engine.store import recording_rules
from memtui.engine.store.tokens import text_words


class RecordingControl:
    """Holds for every program that has the file open. Pausing is no operation: it has no undo but ``resume``."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def state(self) -> Recording:
        """Whether recording is paused, and what is never recorded."""
        with self._core.connections.read() as connection:
            return recording_rules.recording_state(connection, self._core.clock())

    def pause(self, until: str | float | datetime | None = None) -> Recording:
        """Record nothing until then: ``1h``, ``18:00``, ``tomorrow``, Unix seconds; None: until ``resume``.

        Turns are turned away whoever brings them (NotRecordedError), and what agents would write; what was said
        meanwhile is not brought in by following or importing sessions later either. What the person writes down is
        kept. Raises InputError for an end that is past or cannot be read, and for an agent.
        """
        now = self._core.clock()
        end = (
            parse_future_time(until, now)
            if isinstance(until, str)
            else None
            if until is None
            else unix_seconds(until)
        )
        if end is not None and end <= now:
            raise InputError("This time is past.", "Give a later one, for example 1h or 18:00.")
        return self._change_rules(lambda connection: recording_rules.pause(connection, int(now), end))

    def resume(self) -> Recording:
        """Record again. Raises InputError for an agent."""
        return self._change_rules(
            lambda connection: recording_rules.end_pause(connection, int(self._core.clock()))
        )

    def never(self, kind: NeverKind, name: str) -> Recording:
        """Record nothing of a client (as it signs), a project or a folder (and those in it), now and in later imports.

        Of a ``subject`` what has all its words in one sentence; consolidation draws no fact about it either. What says it
        in other words is not noticed. What is there already stays. Raises InputError for an unknown kind, an empty name, a
        relative folder, an agent.
        """
        if kind not in get_args(NeverKind):
            raise InputError(f"{kind!r} cannot be excluded.", f"Kinds: {', '.join(get_args(NeverKind))}.")
        wanted = Never(kind=kind, name=validation.check_name(name, kind))
        if kind == "folder" and not Path(name).is_absolute():
            raise InputError(f"{name!r} is not an absolute path.", "For example /home/ada/notes.")
        if kind == "subject" and not text_words(name):
            raise InputError(f"{name!r} has no words.", "For example: bank account.")

        def add(connection: apsw.Connection) -> None:
            known = recording_rules.never_recorded(connection)
            if wanted not in known:
                recording_rules.save_never(connection, [*known, wanted])

        return self._change_rules(add)

    def no_longer_never(self, kind: NeverKind, name: str) -> Recording:
        """Record it again. Raises NotFoundError where it is recorded, InputError for an agent."""
        wanted = Never(kind=kind, name=name)

        def drop(connection: apsw.Connection) -> None:
            known = recording_rules.never_recorded(connection)
            if wanted not in known:
                raise NotFoundError(
                    f"The {kind} {name!r} is not excluded from recording.",
                    "memtui pause --show lists what is.",
                )
            recording_rules.save_never(connection, [one for one in known if one != wanted])

        return self._change_rules(drop)

    def _change_rules(self, change: Callable[[apsw.Connection], None]) -> Recording:
        core = self._core
        if core.actor.startswith("agent:"):
            raise InputError("Only the person can pause recording.", "memtui pause, or the app.")
        core.must_write("pause recording")
        with core.connections.write() as connection:
            change(connection)
            state = recording_rules.recording_state(connection, core.clock())
        core.call_subscribers("changed", Changes(tables=frozenset({"memory_metadata"})))
        return state
