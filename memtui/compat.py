"""The names that programs of the original memory system call, over ``Memory``.

    from memtui.compat import MemoryExtension

    with MemoryExtension.open("data") as memory:
        memory.save_episode("The standup is at 10:30 now", "monday", "user")
        block = memory.get_context("When is the standup?")

Nothing is decided here: each method is one call of ``Memory`` or of a tool. Times are Unix seconds. Where answers differ
from the original's, and why, is in the guide (``memtui guide compat``). All of it may be called from any thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict

from memtui.engine.errors import (
    DegradedError,
    InputError,
    MemtuiError,
    NotFoundError,
    ProtectedError,
    QuotaError,
    ReadOnlyError,
)
from memtui.engine.memory import Memory
from memtui.engine.records import Changes, Kind, MemoryRecord, Options
from memtui.engine.records.jobs import JobRun
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.recall import serve_memories
from memtui.engine.tools.registry import Toolbox

if TYPE_CHECKING:
    from agents import FunctionTool

FILE = "memory.db"
_ERRORS: Mapping[str, type[MemtuiError]] = {
    "not_found": NotFoundError,
    "confirmed": ProtectedError,
    "quota": QuotaError,
    "read_only": ReadOnlyError,
    "unavailable": DegradedError,
}


class MemoryRow(TypedDict):
    """A row of the original's table ``memories``. ``confidence`` is what is left of it now, from 0 to 1."""

    id: str
    kind: Kind
    content: str
    session_id: str | None
    event_time: int
    created_at: int
    valid_until: int | None
    confidence: float
    access_count: int
    last_accessed: int | None
    decay_rate: float
    source_ids: list[str]
    source_role: str | None
    entity_ids: list[str]
    tags: list[str]
    attributes: dict[str, Any]


class FoundRow(MemoryRow):
    """A row that a search found. ``score``: the best have the most; only scores of one search can be compared.

    ``caution``: what an agent should know of the text, as ``search_memory`` says it: that it was corrected or may have
    changed, whose words it has. Empty for the person's own words that are true.
    """

    score: float
    caution: str


class SessionRow(TypedDict):
    """A row of the original's table ``sessions_consolidations``. ``consolidated_at`` None: never consolidated."""

    session_id: str
    first_seen_at: int
    consolidated_at: int | None


class NewFact(TypedDict, total=False):
    """A fact for ``save_facts_batch``; ``content`` and ``source_ids`` (ids of turns of the session) are needed."""

    content: str
    source_ids: Sequence[str]
    confidence: float
    tags: Sequence[str]


class SessionCompleted(TypedDict):
    """What a subscriber of ``memory.session_completed`` gets."""

    session_id: str


class MemoryExtension:
    """The extension ``memory`` with the tasks of ``memory_maintenance`` and ``memory_reflection``.

    ``memory`` is open for ``agent:<name>``, and all of it can be seen. Raises InputError if it is open for another
    actor. Each method may raise StoreError, and ReadOnlyError where it writes.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._agent = Agent(memory)
        self._tools = Toolbox(self._agent, ("memory", "consolidator"))
        self._session: str | None = None

    @classmethod
    def open(cls, data_dir: str | Path, *, agent: str = "assistant", options: Options | None = None) -> Self:
        """Open ``{data_dir}/memory.db``, created if it is not there. ``agent``: the name that signs what is written.

        Raises ForeignFileError for a file of the original: ``memtui import`` reads it into a new one.
        """
        return cls(Memory.open(Path(data_dir) / FILE, actor=f"agent:{agent}", options=options))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the memory. Closing twice is fine."""
        self.memory.close()

    # Conversations

    def save_episode(self, content: str, session_id: str, source_role: str) -> str:
        """Record one turn and return its id. ``source_role``: ``user``, or the name of who answered.

        The session becomes the current one. No model, no network. Raises InputError for an empty or over-long text.
        """
        turn = self.memory.record_turn(session_id, source_role, content)
        self._session = session_id
        return turn.id

    def ensure_session(self, session_id: str) -> None:
        """Make this session the current one. It is registered with its first turn."""
        self._session = session_id

    def get_pending_consolidations(self, exclude_session_id: str | None = None) -> list[SessionRow]:
        """Sessions with turns that no consolidation has read, oldest first, without the current one."""
        excluded = None if exclude_session_id is None else self._agent.stored_session_id(exclude_session_id)
        return [
            SessionRow(
                session_id=one.session_id,
                first_seen_at=one.first_seen_at,
                consolidated_at=one.consolidated_at,
            )
            for one in self.memory.pending_sessions(excluded)
        ]

    def subscribe(
        self, event: Literal["memory.session_completed"], callback: Callable[[SessionCompleted], None]
    ) -> Callable[[], None]:
        """Call back for each session that waits when another one begins. Returns the function that ends it.

        It runs in the thread that wrote, and must be quick. Raises InputError for another event.
        """
        if event != "memory.session_completed":
            raise InputError(
                f"There is no event {event!r}.", "The event of this memory is memory.session_completed."
            )

        def call_back(changes: Changes) -> None:
            for session_id in changes.sessions:
                callback(SessionCompleted(session_id=session_id))

        return self.memory.subscribe("session_completed", call_back)

    # Reading

    def get_context(self, prompt: str, *, session_id: str | None = None) -> str:
        """The block for the system prompt, Markdown; empty if nothing bears on the prompt. At most 5 facts.

        ``session_id``: the conversation whose own turns are left out, else the current one. It is logged as a recall.
        """
        return self._agent.context(prompt, session_id=session_id or self._session, limit=5).text

    def hybrid_search(
        self, query: str, kind: Kind | None = None, limit: int = 10, exclude_session_id: str | None = None
    ) -> list[FoundRow]:
        """The best memories for a query, best first. What is kept back from models is left out.

        It is logged as a recall. Raises FilterError for an unknown kind, InputError for a bad limit.
        """
        result = self.memory.search(
            query,
            filter=f"kind:{kind}" if kind else "",
            limit=limit,
            exclude_session=exclude_session_id,
            preview=True,
        )
        visible, _ = self._agent.leave_out_secrets(hit.memory for hit in result.hits)
        self._agent.log_recall(query, visible, exclude_session_id)
        scores = {hit.memory.id: hit.score for hit in result.hits}
        return [
            {**self._row_dict(one), "score": scores[one.id], "caution": served.caution}
            for one, served in zip(visible, serve_memories(self._agent, visible), strict=True)
        ]

    def _latest_memories(self, filter: str, limit: int) -> list[MemoryRow]:
        visible, _ = self._agent.leave_out_secrets(self._agent.page(filter, limit=limit))
        return [self._row_dict(one) for one in visible]

    def _row_dict(self, one: MemoryRecord) -> MemoryRow:
        return MemoryRow(
            id=one.id,
            kind=one.kind,
            content=one.content,
            session_id=one.session_id,
            event_time=one.event_time,
            created_at=one.created_at,
            valid_until=one.valid_until,
            confidence=one.effective,
            access_count=one.access_count,
            last_accessed=one.last_accessed,
            decay_rate=one.decay_rate,
            source_ids=list(one.source_ids),
            source_role=one.source_role,
            entity_ids=[entity.id for entity in self.memory.view.entities_of(one.id)],
            tags=list(one.tags),
            attributes=dict(one.attributes),
        )

    # Reflection

    def get_latest_reflection(self) -> MemoryRow | None:
        """The newest reflection; None where there is none."""
        return next(iter(self._latest_memories("kind:reflection", 1)), None)

    def get_latest_reflection_timestamp(self) -> int | None:
        """When the newest reflection was written; None where there is none."""
        latest = self.get_latest_reflection()
        return None if latest is None else latest["created_at"]

    def get_recent_memories_for_reflection(self, days: int = 7, limit: int = 200) -> list[MemoryRow]:
        """Facts and turns of the last days, the newest first. Raises FilterError for days that are no number above 0."""
        return self._latest_memories(f"kind:fact,episode after:{days}d", limit)

    def save_reflection(
        self, content: str, source_ids: Sequence[str] = (), tags: Sequence[str] = ("weekly",)
    ) -> str:
        """Store a reflection, which never fades, and return its id.

        Raises NotFoundError for a source that is not there, InputError for an empty or over-long text.
        """
        return self.memory.add_reflection(content, sources=source_ids, tags=tags).id

    # Names in texts

    @property
    def accurate_ner_available(self) -> bool:
        """Whether spaCy or a language model can find the names that the quick rules miss."""
        return self.memory.models.accurate_ner_available

    def get_memories_for_entity_enrichment(
        self, kinds: Sequence[Kind] = ("fact", "episode"), max_entity_count: int = 2, limit: int = 50
    ) -> list[MemoryRow]:
        """Memories with at most so many entities that no model has read for names yet, the newest first."""
        found = self.memory.models.memories_for_enrichment(kinds, max_entities=max_entity_count, limit=limit)
        return [self._row_dict(one) for one in found]

    async def enrich_memory_entities(self, memory_id: str, content: str = "") -> int:
        """Read a memory again for the names in it and stamp it; returns the links gained.

        What is stored is read, whatever ``content`` says. Raises NotFoundError, DegradedError without spaCy and model.
        """
        return await self.memory.models.enrich(memory_id)

    # Maintenance: each is one run of a job, signed by the scheduler

    def run_decay_and_prune(self, threshold: float = 0.05) -> int:
        """Move faded facts to the Trash, at most a day's share; returns how many.

        Raises InputError for another threshold than the memory's (``Options.fade_threshold``), DegradedError when
        the run failed.
        """
        own = self.memory.options.fade_threshold
        if threshold != own:
            raise InputError(
                f"This memory lets facts fade at {own}, not at {threshold}.",
                "Open it with Options(fade_threshold=...).",
            )
        run = self.execute_decay()
        if run.report is None:
            raise DegradedError(
                f"Decay failed: {run.error or run.state}.", "Try it again: memtui maintain --once"
            )
        return run.report.counts["faded"]

    def execute_entity_enrichment(self) -> JobRun:
        """Read up to 50 memories again for names. Without spaCy and model the report says that it was skipped."""
        return self.memory.jobs.run_now("enrichment")

    def execute_consolidation(self) -> JobRun:
        """Turn all sessions that are over into facts."""
        return self.memory.jobs.run_now("consolidation")

    def execute_decay(self) -> JobRun:
        """Move faded facts to the Trash. Raises InputError when the clock cannot be trusted."""
        return self.memory.jobs.run_now("decay")

    def execute_reflection(self) -> JobRun:
        """Write the week's reflection. The report says why there is none: no model, too few facts, too soon."""
        return self.memory.reflect()

    # The agent's tools. Each answer is what the tool says, as JSON values; what it refuses is raised as an error.

    def search_memory(
        self, query: str, kind: Kind | None = None, tag: str | None = None, limit: int = 10
    ) -> dict[str, Any]:
        """``{"memories": [{"id", "kind", "content", "when", "confidence", "score", ...}]}``, best first; limit 1 to 50."""
        return self._call_tool("search_memory", query=query, kind=kind, tag=tag, limit=limit)

    def remember_fact(self, content: str, confidence: float = 1.0) -> dict[str, Any]:
        """``{"status": "done", "memory": {"id", ...}}``; ``declined`` for what the person took away."""
        return self._call_tool("remember_fact", content=content, confidence=confidence)

    def correct_fact(self, memory_id: str, new_content: str) -> dict[str, Any]:
        """As ``remember_fact``, with the new fact; ``waits`` where the person decides. Raises NotFoundError."""
        return self._call_tool("correct_fact", memory_id=memory_id, new_content=new_content)

    def confirm_fact(self, memory_id: str) -> dict[str, Any]:
        """As ``remember_fact``, with the fact that fades no longer. Raises NotFoundError."""
        return self._call_tool("confirm_fact", memory_id=memory_id)

    def memory_stats(self) -> dict[str, Any]:
        """``{"memories": 3, "by_kind": {"fact": 1, ...}, "latest": "2026-03-02T14:05+01:00"}``."""
        return self._call_tool("memory_stats")

    def get_entity_info(self, name: str, kind: Kind | None = None, limit: int = 10) -> dict[str, Any]:
        """``{"entities": [{"name", "type", ...}], "mentioned_in": 2, "memories": [...]}``. Raises NotFoundError."""
        return self._call_tool("get_entity_info", name=name, kind=kind, limit=limit)

    def get_consolidator_tools(self) -> list[FunctionTool]:
        """The six tools of a consolidator, for an ``Agent`` of the OpenAI Agents SDK.

        Raises DegradedError without the extra ``agents``.
        """
        from memtui.agents_sdk import AgentMemory

        return AgentMemory(self.memory).tools(("consolidator",))

    # The consolidator's tools

    def is_session_consolidated(self, session_id: str) -> dict[str, Any]:
        """``{"consolidated": false, "waiting": 4}``: turns that wait to be read. Raises NotFoundError."""
        return self._call_tool("is_session_consolidated", session_id=session_id)

    def get_episodes_for_consolidation(
        self, session_id: str, offset: int = 0, limit: int = 30
    ) -> dict[str, Any]:
        """``{"total": 40, "episodes": [...], "next_offset": 30}``, in order. Raises NotFoundError."""
        return self._call_tool(
            "get_episodes_for_consolidation", session_id=session_id, offset=offset, limit=limit
        )

    def save_facts_batch(self, session_id: str, facts: Sequence[NewFact]) -> dict[str, Any]:
        """``{"facts": [{"content", "outcome", "id", ...}]}``; all are saved or none.

        Raises NotFoundError, InputError for a fact without a turn that says it.
        """
        return self._call_tool("save_facts_batch", session_id=session_id, facts=list(facts))

    def detect_conflicts(self, new_fact_id: str, new_fact_content: str, session_id: str) -> dict[str, Any]:
        """``{"candidates": [{"fact": {...}, "reason"}]}``, contradictions first. Raises NotFoundError."""
        return self._call_tool(
            "detect_conflicts",
            new_fact_id=new_fact_id,
            new_fact_content=new_fact_content,
            session_id=session_id,
        )

    def resolve_conflict(self, new_fact_id: str, old_fact_id: str, reason: str) -> dict[str, Any]:
        """``{"status": "done"}``, or ``waits`` with a ``note`` where the person decides. Raises NotFoundError, InputError."""
        return self._call_tool(
            "resolve_conflict", new_fact_id=new_fact_id, old_fact_id=old_fact_id, reason=reason
        )

    def mark_session_consolidated(self, session_id: str) -> dict[str, Any]:
        """As ``is_session_consolidated``. Raises NotFoundError, InputError while turns were not read."""
        return self._call_tool("mark_session_consolidated", session_id=session_id)

    def _call_tool(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer = self._tools.call(tool, arguments)
        if answer.error is not None:
            kind = _ERRORS.get(answer.error.code, InputError)
            raise kind(answer.error.message, answer.error.hint)
        found: dict[str, Any] = json.loads(answer.text)
        return found
