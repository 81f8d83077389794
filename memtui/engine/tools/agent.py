"""An agent: its name, and the part of the memory that it may see.

Every read of a tool goes through here and is limited to the agent's filter and project. What is outside does not
exist for it: answers, counts and errors are as if it had never been stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.memories.validation import MAX_NAME
from memtui.engine.memory import Memory
from memtui.engine.namespaces.scratchpad import Scratchpad
from memtui.engine.records import Caution, Explanation, Kind, MemoryRecord, Profile, SearchResult
from memtui.engine.search.access_scope import quote_value, scope_filter, unknown_session, without_names
from memtui.engine.search.briefing import ContextBlock
from memtui.engine.search.cautions import is_withheld
from memtui.engine.search.filters.terms import parse_filter
from memtui.engine.search.kept_back import holds_secret
from memtui.engine.search.open_changes import OpenChanges
from memtui.engine.store.sessions import qualified_id

if TYPE_CHECKING:
    from memtui.engine.consolidation.agent_loop import AgentLoop

_SHOWN = 60
_OF_SESSION = "session:"


class Agent:
    """``memory`` is open for ``agent:<name>``. ``filter``: an expression of the filter language; ``project``: a name.
    ``source``: of the turns that the agent's program records.

    Raises FilterError for a bad filter, InputError for an empty one, or if the memory is open for another actor.
    """

    def __init__(
        self, memory: Memory, *, filter: str | None = None, project: str | None = None, readonly: bool = False,
        source: str | None = None,
    ) -> None:  # fmt: skip
        if not memory.actor.startswith("agent:"):
            raise InputError(
                f"This memory is open for {memory.actor}, not for an agent.",
                "Open it with actor='agent:<name>': what an agent writes is signed with its name.",
            )
        self.memory = memory
        self.project = project
        self._sources = (*([source] if source else []), memory.actor)
        self.readonly = readonly or memory.readonly
        self.filter = scope_filter(filter, self.project)
        named = [] if project is None else [f"project:{project}"]
        self._scope = " ".join([*([filter.strip()] if filter else []), *named])
        memory.view.emptied_by(self.filter)  # a bad filter is refused now, not in the first call

    def count_call(self, size: int | None) -> AbstractContextManager[None]:
        """Run one call inside. It counts towards the limits of this agent in its scope. See ``Quotas.call``."""
        return self.memory.quotas.call(self._scope, size)

    @cached_property
    def scratchpad(self) -> Scratchpad:
        """The scratchpad of its scope. An agent without a scope has all of it."""
        return self.memory.scratchpad.confined(self._scope, project=self.project)

    @property
    def name(self) -> str:
        return self.memory.actor.removeprefix("agent:")

    def session_name(self, memory: MemoryRecord) -> str | None:
        """The name of a memory's session, as this agent knows it. An agent with a scope gets each session under the
        name that its writer gave it. So no name shows that another session exists.
        """
        if memory.session_id is None or self.is_scoped:
            return memory.session_id and self.memory.view.session_name(memory.session_id)
        for writer in self._sources:
            writer_suffix = f" ({writer})"
            if memory.session_id.endswith(writer_suffix) and memory.session_id != writer_suffix:
                return memory.session_id.removesuffix(writer_suffix)
        return memory.session_id

    def source_label(self, memory: MemoryRecord) -> str | None:
        """The source of a memory, with the session's name as this agent knows it."""
        if self.is_scoped and memory.source and memory.source.startswith(_OF_SESSION):
            return _OF_SESSION + self.memory.view.session_name(memory.source.removeprefix(_OF_SESSION))
        return memory.source

    def stored_session_id(self, session_id: str) -> str:
        """The stored id of the session that this agent means: its own, else the one that it knows under this name."""
        if not session_id or len(session_id) > MAX_NAME:
            return session_id
        if self.is_scoped:
            return self._session_by_name(session_id) or qualified_id(session_id, self._sources[0])
        for own in (*(qualified_id(session_id, source) for source in self._sources), session_id):
            if self.page(f"is:active,trash session:{quote_value(own)}", limit=1):
                return own
        return session_id

    def visible_session_id(self, session_id: str) -> str:
        """The stored id of a session that this agent may see. Raises NotFoundError."""
        if not self.is_scoped:
            return self.stored_session_id(session_id)
        if len(session_id) <= MAX_NAME and (session_found := self._session_by_name(session_id)):
            return session_found
        raise unknown_session(session_id)

    def _session_by_name(self, session_id: str) -> str | None:
        within = self.narrow_filter("is:active,trash")
        ids = self.memory.view.sessions_named(session_id, within, begun_by=self.memory.actor)
        return ids[0] if ids else None

    @property
    def is_scoped(self) -> bool:
        """Whether a part of the memory is hidden from this agent."""
        return bool(self.filter)

    @property
    def compiled_scope(self) -> str:
        """The filter for everything that this agent may see: its own, without what the person keeps from it now."""
        return self.memory.view.less_withheld(self.name, self.filter)

    def is_kept_from(self, filter: str) -> bool:
        """Whether the person keeps something from this agent that its filter would pass."""
        return (
            self.compiled_scope != self.filter
            and self.memory.view.count(f"withheld:{quote_value(self.name)} {filter}") > 0
        )

    def narrow_filter(self, filter: str = "") -> str:
        """``filter`` limited to what this agent may see, without turns that the person withholds from all agents."""
        known = "-is:withheld" if self.memory.view.withholds() else ""
        return " ".join(part for part in (self.compiled_scope, known, filter) if part)

    def own_tags(self) -> tuple[str, ...]:
        """The tags that a new memory needs to pass the filter."""
        return tuple(
            term.values[0].text
            for term in parse_filter(self.filter)
            if term.key == "tag" and not term.negated and len(term.values) == 1 and not term.values[0].prefix
        )

    def find(self, id: str) -> MemoryRecord | None:
        """The active memory with this id, if this agent may see it."""
        return self._find_in_state(id, "")

    def get(self, id: str) -> MemoryRecord:
        """An active memory by its whole id. Raises NotFoundError; InputError for one in the Trash."""
        memory = self._find_in_state(id, "")
        if memory is not None:
            return memory
        ended = self._find_in_state(id, "is:trash ")
        if ended is None:
            raise unknown_memory_error(id)
        later = [one.id for one in self.memory.view.versions(ended.id) if one.active and self.find(one.id)]
        raise InputError(
            f"{ended.id} is in the Trash ({ended.ended_by}).",
            f"Its successor is {later[-1]}." if later else "Only the person can bring it back.",
        )

    def _find_in_state(self, id: str, state: str) -> MemoryRecord | None:
        if not id or len(id) > 200:
            return None
        for one in self.memory.view.page(self.narrow_filter(f"{state}id:{quote_value(id)}"), limit=2):
            if one.id == id:
                return one
        return None

    def page(self, filter: str = "", *, offset: int = 0, limit: int = 100) -> list[MemoryRecord]:
        """Memories that pass the filter, latest first."""
        return self.memory.view.page(self.narrow_filter(filter), offset=offset, limit=limit)

    def count(self, filter: str = "") -> int:
        return self.memory.view.count(self.narrow_filter(filter))

    def search(self, query: str, *, filter: str = "", limit: int) -> SearchResult:
        """Search what this agent may see. It logs no recall; ``log_recall`` does."""
        return self.memory.search(
            query,
            filter=self.narrow_filter(filter),
            limit=limit,
            profile=self.profile(),
            preview=True,
            alone=self.is_scoped,
            within=self.compiled_scope,
        )

    def explain(self, query: str, memory: MemoryRecord, *, limit: int) -> Explanation:
        """Why ``search`` finds a memory or not, computed from what this agent may see."""
        return self.memory.explain(
            query,
            memory.id,
            filter=self.narrow_filter(),
            limit=limit,
            profile=self.profile(),
            alone=self.is_scoped,
            within=self.compiled_scope,
        )

    def cautions(self, memories: Iterable[MemoryRecord]) -> dict[str, tuple[Caution, ...]]:
        """The cautions of some memories that this agent may know, by id."""
        return self.memory.view.cautions([one.id for one in memories], within=self.compiled_scope)

    def open_changes(self, memories: Iterable[MemoryRecord]) -> OpenChanges:
        """The changes of some memories that the person has not decided, as far as this agent may know them."""
        return self.memory.view.open_changes(list(memories), within=self.compiled_scope)

    def confidences_of(self, memories: Iterable[MemoryRecord]) -> dict[str, str]:
        """Which memories were said in confidence, by id, with the words that ask for it if this agent may see them."""
        return self.memory.view.confided(list(memories), within=self.filter)

    def leave_out_secrets(self, memories: Iterable[MemoryRecord]) -> tuple[list[MemoryRecord], str]:
        """The memories that may go to a model, and a note on the others."""
        shown = list(memories)
        known = self.cautions(shown)
        # Checked again, for what was withheld in the meantime. The note does not mention it.
        visible = [one for one in shown if not is_withheld(one, known.get(one.id, ()))]
        open_ones = [one for one in visible if not holds_secret(one)]
        secret = len(visible) - len(open_ones)
        return open_ones, f"{secret} that hold a secret" if secret else ""

    def context(self, prompt: str, *, session_id: str | None = None, limit: int = 12) -> ContextBlock:
        """The context block for this agent. It is logged as a recall."""
        return self.memory.context(
            prompt,
            session_id=session_id and self.stored_session_id(session_id),
            limit=limit,
            filter=self.filter,
            profile=self.profile(),
            alone=self.is_scoped,
            project=self.project,
        )

    def profile(self) -> Profile | None:
        """The ranking profile; None for that of the memory."""
        if not self.is_scoped:
            return None
        wanted = self.memory.options.profile
        known = {one.name: one for one in self.memory.questions.profiles()}
        return without_names(known.get(wanted, Profile()))

    @cached_property
    def consolidation_loop(self) -> AgentLoop:
        """The consolidation by this agent. It knows which turns the agent has read."""
        return self.memory.sessions.by_agent(within=lambda: self.compiled_scope, tags=self.own_tags())

    def log_recall(self, query: str, memories: Sequence[MemoryRecord], session_id: str | None = None) -> None:
        """Log that this agent got these memories (table ``recalls``). That slows their fading."""
        self.memory.note_recall(query, memories, session_id, project=self.project)


def unknown_memory_error(id: str) -> NotFoundError:
    """The same error for a memory that does not exist and for one that is hidden from this agent."""
    shown = id if len(id) <= _SHOWN else id[:_SHOWN] + "…"
    return NotFoundError(f"There is no memory {shown!r}.", "search_memory finds memories and their ids.")


def kind_filter(kind: Kind | None) -> str:
    """The filter for one kind, or for all."""
    return "" if kind is None else f"kind:{kind}"
