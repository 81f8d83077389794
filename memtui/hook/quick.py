"""The memory for a process of a tenth of a second: open, search, record, close.

``Memory`` would load twice as many modules, for views, jobs and vectors. This class uses the same packages without a
model. It searches by words and names. Recorded turns wait in the queue for the next process that opens the memory.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.clock import local_midnight
from memtui.engine.errors import InputError, NotRecordedError
from memtui.engine.memories import turns, validation
from memtui.engine.records import Options
from memtui.engine.store import file, history, memories, recalls, recording_rules, sessions
from memtui.engine.store.sql import scalar
from memtui.paths import is_surely_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from memtui.engine.search.briefing import ContextBlock
    from memtui.engine.search.repeats import ServedLines

_LONG = 7 * 86_400
"""After so many seconds without maintenance the person gets a notice. A weekend is shorter."""
NO_VECTORS = "a hook asks no model"


class HookMemory:
    """An open memory file. ``filter`` and ``project`` limit what is given and recorded, as in ``tools.agent``.

    ``imported``: the sources of turns that were imported from the program's own files.
    Raises FilterError for a bad filter, InputError if one of them is empty.
    """

    def __init__(
        self, path: Path, *, agent: str, options: Options, filter: str | None = None, project: str | None = None,
        readonly: bool = False, imported: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._within = ""
        if filter is not None or project is not None:
            from memtui.engine.search.access_scope import scope_filter

            self._within = scope_filter(filter, project)
        if not readonly and is_surely_missing(path):
            from memtui.engine.store.file_replacement import refuse_to_begin_anew

            refuse_to_begin_anew(path)
        self._connections = file.open_file(path, readonly=readonly, allow_unsafe=options.allow_unsafe_fs)
        self._agent = agent
        self._imported = imported
        self._options = options
        self._readonly = readonly
        self._there: ServedLines | None = None

    def close(self) -> None:
        self._connections.close()

    def context_block(
        self, prompt: str, session_id: str, *, source: str, project: str | None = None
    ) -> ContextBlock:
        """The context block for an agent (of a ``project``). ``record_turn`` logs it as a recall. Raises FilterError.

        If ``begin_context`` was called for the session, facts that it has already are left out.
        """
        from memtui.engine.search import (  # recording does not need them
            access_scope,
            briefing,
            profiles,
            repeats,
        )

        with self._connections.read() as connection:
            within = access_scope.less_withheld(connection, self._agent, self._within)
            profile, _ = profiles.configured_profile(connection, self._options.profile)
            lines = None if self._readonly else recalls.served_lines(connection, session_id)
            self._there = None if lines is None else repeats.ServedLines(lines)
            return briefing.build_block(
                connection, prompt, filter=within, embedder=NO_VECTORS, now=time.time(),
                profile=access_scope.without_names(profile) if self._within else profile,
                session_id=self._stored_session_id(connection, validation.without_secrets(session_id), source),
                fade_threshold=self._options.fade_threshold, alone=bool(self._within),
                turns=self._options.context.turns, tokens=self._options.context.tokens,
                project=project, served_lines=self._there,
            )  # fmt: skip

    def note_block_cut(self) -> None:
        """The block was cut, so its facts do not count as given. They will be given again."""
        self._there = None

    def begin_context(self, session_id: str) -> None:
        """The context of a session is new or was shortened: its facts must be given again."""
        if self._readonly:
            return
        with self._connections.write() as connection:
            recalls.begin_context(connection, session_id, int(time.time()))

    def notice_for_person(self, session_id: str) -> str:
        """A notice for the person, who may not have the app open; "" for none.

        A clock problem is reported at the first prompt of a session, a pause at the first prompt that is not
        recorded.
        """
        from memtui.engine.jobs import clock_guard

        with self._connections.read() as connection:
            recorded = recording_rules.recording_state(connection, time.time())
            if recorded.pause and not recorded.turned_away:
                until = recording_rules.until_text(recorded.pause, time.time())
                return f"recording is paused{until}, your prompts are not kept (memtui pause --off)"
            state = clock_guard.check_clock(connection, time.time())
            if not state.note or 0 < state.seconds < _LONG:
                return ""
            begun = scalar(connection, "SELECT 1 FROM memories WHERE session_id = ? LIMIT 1", (session_id,))
            return f"{state.note} (memtui doctor)" if begun is None else ""

    def record_turn(
        self, session_id: str, role: str, content: str, *, source: str, project: str | None,
        served: ContextBlock | None = None, once: bool = False, folder: str | None = None,
    ) -> None:  # fmt: skip
        """Record a turn, and the block ``served`` for it, in one transaction. Does nothing if the memory is read
        only.

        If recording is paused or excluded, neither turn nor question is kept, only which memories were given.
        ``folder``: where the program works. ``once``: not if the session's latest turn is the same. Raises InputError
        for a text that cannot be recorded or is outside of the filter, FilterError, and StoreError if the file cannot
        be written.
        """
        if self._readonly:
            return
        now = int(time.time())
        turn = turns.check_turn(
            session_id, role, content, now,
            actor=f"agent:{self._agent}", policy=self._options.secrets, source=source, project=project,
        )  # fmt: skip
        try:
            self._record_turn(turn, now, source, served, once, folder)
        except NotRecordedError:
            if served:
                with self._connections.write() as connection:
                    self._log_recall(connection, now, turn.session_id, turn.source or source, "", served)

    def _record_turn(
        self,
        turn: turns.NewTurn,
        now: int,
        source: str,
        served: ContextBlock | None,
        once: bool,
        folder: str | None,
    ) -> None:
        refused: InputError | None = None
        role, content = turn.role, turn.intake.content
        with history.operation(
            self._connections,
            time.time,
            f"agent:{self._agent}",
            "record",
            "Recorded a turn",
            project=turn.project,
            folder=folder,
        ) as op:
            named = turn.session_id
            turn = turn._replace(
                session_id=self._stored_session_id(op.connection, named, turn.source or source)
            )
            if once and _latest_operation(op, turn.session_id) == (role, content):
                return
            # A process that watches the transcript may have recorded it already.
            if turns.is_recorded(op.connection, named, role, content, now, self._imported):
                if served is None or not (served.memories or served.saved):
                    return
            else:
                try:
                    self._store_turn(op.connection, turn, now)
                except InputError as error:
                    refused = error
            if served:
                self._log_recall(
                    op.connection, now, named, turn.source or source, self._recall_query(turn), served
                )
            op.wrote = refused is None
        if refused:
            raise refused

    def _recall_query(self, turn: turns.NewTurn) -> str:
        """The question for the recall log, without secrets."""
        from memtui.engine.search.briefing import shortened_prompt

        text, mode = turn.intake.content, self._options.secrets.episodes
        # Looking for secrets in a long text takes a second, so it is done once.
        if mode == "keep" or turn.intake.quarantined:
            text = validation.without_secrets(text)
        return shortened_prompt(text)

    def _log_recall(
        self,
        connection: apsw.Connection,
        now: int,
        session_id: str,
        source: str,
        query: str,
        served: ContextBlock,
    ) -> None:
        """Log a recall. ``session_id``: the id that the program uses."""
        if served.memories or served.saved:
            memories.record_access(connection, [one.rid for one in served.memories], now, local_midnight(now))
            recalls.add(
                connection, at=now, agent=self._agent, session_id=self._stored_session_id(connection, session_id, source),
                query=query, memory_ids=[one.id for one in served.memories], saved=served.saved,
            )  # fmt: skip
        if self._there is not None and served.memories:
            recalls.save_context(connection, session_id, self._there.lines, now)

    def _stored_session_id(self, connection: apsw.Connection, session_id: str, source: str) -> str:
        """The id under which the session is stored. A session that another program began under this id is another
        one.
        """
        return sessions.id_for_writer(
            connection, session_id, f"agent:{self._agent}", source, same=self._imported
        )

    def _store_turn(self, connection: apsw.Connection, turn: turns.NewTurn, now: int) -> None:
        """Store the turn. Raises InputError for one outside of the filter, FilterError for a bad filter; then nothing
        is stored.
        """
        with connection:  # a savepoint
            rid = turns.store_turn(connection, turn, now, memories.new_id("episode"))
            assert rid is not None  # a live turn has no source key
            if not self._within:
                return
            from memtui.engine.search.filters.compiler import compile_filter
            from memtui.engine.search.scope import make_scope, rids_in_scope

            inside = make_scope(
                compile_filter(self._within, now, fade_threshold=self._options.fade_threshold)
            )
            if not rids_in_scope(connection, inside, [rid]):
                from memtui.engine.core import outside_scope_error

                raise outside_scope_error("turn")


def _latest_operation(op: history.OpenOperation, session_id: str) -> tuple[str, str] | None:
    rid = scalar(
        op.connection,
        """
        SELECT rid FROM memories WHERE session_id = ? AND kind = 'episode' AND valid_until IS NULL
        ORDER BY event_time DESC, rid DESC LIMIT 1
        """,
        (session_id,),
    )
    row = op.connection.execute("SELECT source_role, content FROM memories WHERE rid = ?", (rid,)).fetchone()
    return (str(row[0]), str(row[1])) if row else None
