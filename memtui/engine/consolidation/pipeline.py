"""Turn pending sessions into notes: read, extract, plan, write; one undoable operation for a run.

Reading and extracting happen outside transactions; a plan is checked again inside the one that writes it.
A session whose run fails stays pending with the error and waits before the next try. A preview is the same
code, stopped before the write.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
from filelock import Timeout
from msgspec.structs import replace

from memtui.engine import word_lists
from memtui.engine.clock import Clock
from memtui.engine.errors import DegradedError, MemtuiError, ReadOnlyError, StoreError
from memtui.engine.memories import validation
from memtui.engine.models.budget import BudgetError, TokenBudget
from memtui.engine.models.llm import UNUSABLE
from memtui.engine.records import BY_RULES, MemoryRecord, Operation, Options, Session
from memtui.engine.store import consolidations, fading, history, locks, recording_rules, sessions
from memtui.engine.store.connections import Connections
from memtui.engine.wording import plural
from memtui.log import error_outline

from . import apply, planner, reread
from .compare import conflicts
from .extract.protocol import CHUNK, Context, Draft, Extractor
from .extract.statements import introduced_names
from .operation import RunOperation, session_name
from .plan import Consolidation, Estimate, Plan, PlanLine, SessionOutcome
from .preview_facts import PreviewFacts

_log = logging.getLogger("memtui.maintain")

Progress = Callable[[int, int, str], None]
"""Called with how many sessions are done, of how many, and the session that is next."""


class Consolidator:
    """``actor`` signs what is written. ``said`` hears of each finished operation."""

    def __init__(
        self, connections: Connections, clock: Clock, options: Options, actor: str, extractor: Extractor, *,
        on_operation: Callable[[Operation], None] = lambda operation: None,
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._options = options
        self._actor = actor
        self._extractor = extractor
        self._said = on_operation

    @property
    def _uses_model(self) -> bool:
        return self._extractor.name != BY_RULES

    async def run(
        self,
        session_id: str | Sequence[str] | None = None,
        *,
        preview: bool = False,
        again: bool = False,
        exclude: str | None = None,
        progress: Progress = lambda done, total, session_id: None,
        cancelled: Callable[[], bool] = lambda: False,
        spending: TokenBudget | None = None,
    ) -> Consolidation:
        """Consolidate one session, several, or all that are due. See ``Memory.consolidate``.

        ``again``: read them from their first turn on; without a name all that were read before.

        ``spending``: the account of the run, for who must know what it cost although it did not end.
        """
        spending = spending or TokenBudget(self._options.llm.budget_tokens)
        if self._connections.readonly and not preview:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to change it."
            )
        if preview:
            return await self._run_all(None, session_id, again, exclude, progress, cancelled, spending)
        async with self._exclusive_run():
            run = RunOperation(self._connections, self._clock, self._actor)
            try:
                found = await self._run_all(run, session_id, again, exclude, progress, cancelled, spending)
            finally:
                # Also when cancelled: what was written is one operation and can be undone.
                operation = await asyncio.shield(asyncio.to_thread(run.finish))
                if operation is not None:
                    self._said(operation)
            return replace(found, operation=operation)

    async def _run_all(
        self, run: RunOperation | None, session_id: str | Sequence[str] | None, again: bool, exclude: str | None,
        progress: Progress, cancelled: Callable[[], bool], spending: TokenBudget,
    ) -> Consolidation:  # fmt: skip
        wanted, people, supersedes_left = await asyncio.to_thread(
            self._sessions_to_read, session_id, again, exclude
        )
        if run is not None:
            run.sessions = len(wanted)
        outcomes: list[SessionOutcome] = []
        foreseen = PreviewFacts()
        unusable = ""
        for done, session in enumerate(wanted):
            progress(done, len(wanted), session.session_id)
            why = "cancelled" if cancelled() else unusable
            if why:
                outcome = SessionOutcome(
                    session_id=session.session_id, state="stopped", error=why,
                    rules_could=bool(unusable) and not cancelled() and self._uses_model,
                )  # fmt: skip
                outcomes.append(outcome)
                continue
            outcome, people = await self._consolidate_session(
                run, session, again, people, supersedes_left, spending, foreseen
            )
            outcomes.append(outcome)
            if run is None and outcome.plan is not None:
                foreseen.add(outcome.plan)
            supersedes_left -= outcome.superseded
            if outcome.unusable:
                unusable = outcome.error  # the others would fare the same, and keep their tries
        progress(len(wanted), len(wanted), "")
        return Consolidation(
            outcomes=tuple(outcomes), extractor=self._extractor.name,
            calls=spending.calls, tokens=spending.tokens,
        )  # fmt: skip

    async def _consolidate_session(
        self,
        run: RunOperation | None,
        session: Session,
        again: bool,
        people: frozenset[str],
        supersedes_left: int,
        spending: TokenBudget,
        foreseen: PreviewFacts,
    ) -> tuple[SessionOutcome, frozenset[str]]:
        session_id, calls = session.session_id, spending.calls
        try:
            turns = await asyncio.to_thread(self._turns_to_read, session, again)
            if not turns and session.consolidated_through is not None:
                return SessionOutcome(session_id=session_id, state="nothing"), people
            spending.reserve(self._extractor.estimate(turns))
            people = people.union(*(introduced_names(turn.content) for turn in turns if turn.trust == "user"))
            plan = await self._plan_session(
                session, turns, again, people, supersedes_left, spending, foreseen
            )
            if run is None:
                return SessionOutcome(
                    session_id=session_id, state="preview", plan=plan, **_planned_result(plan)
                ), people
            counts = await asyncio.shield(asyncio.to_thread(run.write, plan, self._options, seen=False))
        except (
            apply.StalePlanError
        ) as error:  # somebody was quicker; what is still pending is so for the next run
            return SessionOutcome(session_id=session_id, state="stopped", error=error.message), people
        except StoreError:
            raise
        except Exception as error:  # whatever a model or an endpoint comes up with: kept with the session
            text = f"{type(error).__name__}: {error}"
            if isinstance(error, MemtuiError):
                text = f"{error.message} {error.hint}".strip()
            if isinstance(error, BudgetError) and spending.calls == calls:
                return SessionOutcome(
                    session_id=session_id, state="stopped", error=text, rules_could=self._uses_model
                ), people
            _log.warning("a session could not be consolidated: %s", error_outline(error))
            if run is not None and not again:  # nothing waits because a second reading failed
                wait = error.wait if isinstance(error, DegradedError) else 0
                await asyncio.shield(asyncio.to_thread(self._note_failure, session, text, wait))
            return SessionOutcome(
                session_id=session_id,
                state="failed",
                error=text,
                unusable=isinstance(error, UNUSABLE),
                rules_could=self._uses_model,
            ), people
        return SessionOutcome(
            session_id=session_id, state="done", plan=plan, **_describe_counts(counts)
        ), people

    def _sessions_to_read(
        self, session_id: str | Sequence[str] | None, again: bool, exclude: str | None
    ) -> tuple[list[Session], frozenset[str], int]:
        """The sessions to read, first names that are known, and how many facts the run may supersede by itself."""
        with self._connections.read() as connection:
            if session_id is not None:
                named = [session_id] if isinstance(session_id, str) else dict.fromkeys(session_id)
                wanted = [sessions.get(connection, self._resolve_session(connection, one)) for one in named]
            elif again:
                wanted = consolidations.already_read(connection)
            else:
                wanted = consolidations.pending_sessions(
                    connection,
                    self._clock(),
                    exclude=exclude and self._resolve_session(connection, exclude),
                    due=True,
                )
            cap = conflicts.supersede_cap(fading.count_facts(connection))
            return wanted, known_people(connection), cap

    def _resolve_session(self, connection: apsw.Connection, session_id: str) -> str:
        """An agent's own session of that id, else the one that is stored so."""
        if not self._actor.startswith("agent:"):
            return session_id
        return sessions.id_for_reader(connection, session_id, self._actor)

    def _turns_to_read(self, session: Session, again: bool) -> list[MemoryRecord]:
        watermark = None if again else session.consolidated_through
        with self._connections.read() as connection:
            return consolidations.turns_beyond(connection, session.session_id, watermark, self._clock())

    async def _plan_session(
        self, session: Session, turns: Sequence[MemoryRecord], again: bool, people: frozenset[str],
        supersedes_left: int, spending: TokenBudget, foreseen: PreviewFacts,
    ) -> Plan:  # fmt: skip
        context = Context(
            session_id=session.session_id, title=session.title, people=people, spending=spending
        )
        drafts: list[Draft] = []
        summary, calls, tokens = None, spending.calls, spending.tokens
        cut: dict[str, int] = {}
        for together in planner.group_by_origin(turns).values():
            for start in range(0, len(together), CHUNK):
                found = await self._extractor.extract(together[start : start + CHUNK], context)
                drafts += planner.as_stored(planner.in_order(found, together), self._options.secrets)
                summary = found.summary or summary
                cut |= found.cut
        again_id = session.session_id if again else None
        lines = await asyncio.to_thread(self._plan_lines, drafts, turns, supersedes_left, again_id, foreseen)
        if summary and not self._is_excluded(summary):
            safe = validation.without_secrets(summary)
            lines.append(PlanLine(action="summary", content=safe, reason="the session's summary"))
        return Plan(
            session=session, through=max((turn.rid for turn in turns), default=session.consolidated_through or 0),
            fingerprint=consolidations.fingerprint_turns(turns), turns=len(turns), lines=tuple(lines),
            extractor=self._extractor.name, calls=spending.calls - calls,
            tokens=spending.tokens - tokens, notes=_not_read(cut), again=again,
        )  # fmt: skip

    def _is_excluded(self, text: str) -> bool:
        """Whether a text is about a subject that is never recorded."""
        with self._connections.read() as connection:
            return (
                recording_rules.excluded_subject_in(recording_rules.never_recorded(connection), [text])
                is not None
            )

    def _plan_lines(
        self,
        drafts: Sequence[Draft],
        turns: Sequence[MemoryRecord],
        supersedes_left: int,
        again_id: str | None,
        foreseen: PreviewFacts,
    ) -> list[PlanLine]:
        by_id = {turn.id: turn for turn in turns}
        limit, now = self._extractor.limit, self._clock()
        with self._connections.read() as connection:
            never = recording_rules.never_recorded(connection)
            drafts = [
                one for one in drafts if recording_rules.excluded_subject_in(never, [one.content]) is None
            ]
            if again_id is not None:
                return reread.plan_difference(
                    connection,
                    drafts,
                    by_id,
                    again_id,
                    now,
                    limit=limit,
                    supersedes_left=supersedes_left,
                    foreseen=foreseen,
                )
            return planner.plan_lines(
                connection,
                drafts,
                by_id,
                now,
                limit=limit,
                supersedes_left=supersedes_left,
                foreseen=foreseen,
            )

    def _note_failure(self, session: Session, error: str, wait: int) -> None:
        error = validation.without_secrets(
            error
        )  # endpoints repeat keys and prompts in what they complain of
        # Signed by the scheduler, so that the person's plain undo never finds it.
        label = f"Could not consolidate {session_name(session)}: “{error[:120]}”"
        with history.operation(self._connections, self._clock, "scheduler", "failure", label) as op:
            current = sessions.get(op.connection, session.session_id)
            if current.consolidated_through == session.consolidated_through:
                consolidations.mark_failed(
                    op.connection, session.session_id, error, int(self._clock()), wait=wait
                )

    async def write_plans(self, plans: Sequence[Plan]) -> Consolidation:
        """Write plans that the person has looked at. Raises StalePlanError where the session changed since."""
        async with self._exclusive_run():
            return await asyncio.shield(asyncio.to_thread(self._write_plans, plans))

    def _write_plans(self, plans: Sequence[Plan]) -> Consolidation:
        run = RunOperation(self._connections, self._clock, self._actor)
        run.sessions = len(plans)
        outcomes = []
        try:
            for plan in plans:
                counts = run.write(plan, self._options, seen=True)
                outcomes.append(
                    SessionOutcome(
                        session_id=plan.session_id, state="done", plan=plan, **_describe_counts(counts)
                    )
                )
        finally:
            operation = run.finish()
            if operation is not None:
                self._said(operation)
        return Consolidation(
            outcomes=tuple(outcomes),
            extractor=plans[0].extractor if plans else self._extractor.name,
            operation=operation,
        )

    def estimate(self, session_id: str | Sequence[str] | None = None, *, again: bool = False) -> Estimate:
        """What ``run`` would read, and about what it would cost."""
        wanted, *_ = self._sessions_to_read(session_id, again, None)
        turns = calls = tokens = 0
        for session in wanted:
            read = self._turns_to_read(session, again)
            turns += len(read)
            cost = self._extractor.estimate(read)
            tokens += cost
            calls += -(-len(read) // CHUNK) if cost else 0
        return Estimate(sessions=len(wanted), turns=turns, calls=calls, tokens=tokens)

    @asynccontextmanager
    async def _exclusive_run(self) -> AsyncIterator[None]:
        """One consolidation of a file at a time: no session is paid for twice, and dead runs are recognised."""
        path = self._connections.path
        if path is None:
            yield
            return
        lock = locks.work_lock(path, "consolidate")
        try:
            lock.acquire()
        except Timeout:
            raise StoreError(
                "This memory is being consolidated already.", "Wait for it, and try again."
            ) from None
        try:
            await asyncio.to_thread(history.close_dead, self._connections)
            yield
        finally:
            lock.release()


def _not_read(cut: Mapping[str, int]) -> tuple[str, ...]:
    """``cut``: turns of which only so many characters were read."""
    return tuple(
        f"{plural(count, 'long turn')} read only up to {most:,} characters"
        for most, count in sorted(Counter(cut.values()).items(), reverse=True)
    )


def _describe_counts(counts: apply.Counts) -> dict[str, Any]:
    get = counts.get
    return {
        "added": get("added", 0) + get("superseded", 0) + get("conflict", 0), "reinforced": get("reinforced", 0),
        "reworded": get("reworded", 0), "retired": get("retired", 0), "unchanged": get("unchanged", 0),
        "superseded": get("superseded", 0), "conflicts": get("conflict", 0), "quarantined": get("quarantined", 0),
        "observations": get("observation", 0),
    }  # fmt: skip


def _planned_result(plan: Plan) -> dict[str, Any]:
    return {
        "added": plan.count("add", "supersede", "conflict"), "reinforced": plan.count("reinforce"),
        "superseded": plan.count("supersede"), "conflicts": plan.count("conflict"), "quarantined": plan.count("quarantine"),
        "observations": plan.count("observation"), "reworded": plan.count("reword"), "retired": plan.count("retire"),
        "unchanged": plan.count("unchanged"),
    }  # fmt: skip


_MOST = 500
_RELATIONS = sorted(word_lists.read_words(Path(__file__).with_name("relations.txt"), "relations"))


def known_people(connection: apsw.Connection) -> frozenset[str]:
    """First names, from at most 500 facts that name a relation."""
    rows = connection.execute(
        "SELECT m.content FROM facts_fts f JOIN memories m ON m.rid = f.rowid WHERE facts_fts MATCH ? "
        "AND m.valid_until IS NULL ORDER BY m.rid DESC LIMIT ?",
        ("content : (" + " OR ".join(f'"{word}"' for word in _RELATIONS) + ")", _MOST),
    )
    return frozenset().union(*(introduced_names(content) for (content,) in rows))
