"""Looking at memories and searching them: every answer says why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import apsw

from memtui.engine.clock import local_midnight
from memtui.engine.errors import DegradedError
from memtui.engine.records import Explanation, MemoryRecord, Profile, SearchResult
from memtui.engine.store import memories, recalls, sessions, vectors
from memtui.engine.verbs.base import Base

if TYPE_CHECKING:
    from memtui.engine.questions import Questions
    from memtui.engine.search.briefing import ContextBlock
    from memtui.engine.search.ranking import QueryEmbedder


class Finding(Base):
    """Reading, search, context, explanation."""

    @cached_property
    def questions(self) -> Questions:
        """Pinned questions, what they should find, and saved ways to rank."""
        from memtui.engine.questions import Questions

        return Questions(self._connections, self._clock, lambda: self.actor, self._tell_of, self.explain)

    def get(self, id: str) -> MemoryRecord:
        """A memory by id (or a unique beginning of one). Raises NotFoundError."""
        return self.view.get(id)

    def search(
        self,
        query: str,
        *,
        filter: str = "",
        limit: int = 10,
        profile: str | Profile | None = None,
        exclude_session: str | None = None,
        preview: bool = False,
        wait: bool = True,
        alone: bool = False,
    ) -> SearchResult:
        """Find memories for a question in any words; each hit says what every arm gave to its score.

        ``filter`` is an expression of the filter language; ``profile`` a name (``default``, ``rrf``, a saved
        one) or a Profile. An agent's search is a recall of what it finds, unless it is a ``preview``.
        Without ``wait`` no network is waited for: where the question's vector is not at hand, the vector arm is
        ``coming``. ``alone``: rank and score as if the memory held nothing but what passes the filter, which is
        counted however long that takes.
        No query raises; FilterError for a bad filter, InputError for a bad limit.
        """
        from memtui.engine.search import search as finder

        with self._connections.read() as connection:
            exclude_session = self._session(connection, exclude_session)
            ranked_by, note = self._ranked_by(connection, profile)
            result = finder.search(
                connection, query, filter=filter, limit=limit, profile=ranked_by, profile_note=note,
                embedder=self._query_embedder(connection, None if wait else query), now=self._clock(),
                fade_threshold=self._options.fade_threshold, exclude_session=exclude_session, alone=alone,
            )  # fmt: skip
        if not preview:
            self.note_recall(query, [hit.memory for hit in result.hits], exclude_session)
        return result

    def context(
        self, prompt: str, *, session_id: str | None = None, limit: int = 5, filter: str = "",
        profile: str | Profile | None = None, alone: bool = False,
    ) -> ContextBlock:  # fmt: skip
        """The block an agent is told before it answers ``prompt``: at most ``limit`` facts, the week's insight.

        ``session_id``: the conversation that is going on; what was drawn from it is not told again. ``tokens``
        are estimated. Asked by an agent it is a recall. ``alone``: see ``search``.
        Raises FilterError for a bad filter, InputError for a bad limit.
        """
        from memtui.engine.search import briefing

        with self._connections.read() as connection:
            session_id = self._session(connection, session_id)
            told = briefing.brief(
                connection, prompt, filter=filter, limit=limit,
                profile=self._ranked_by(connection, profile)[0],
                embedder=self._query_embedder(connection), now=self._clock(), session_id=session_id,
                fade_threshold=self._options.fade_threshold, alone=alone,
            )  # fmt: skip
        self.note_recall(prompt, told.memories, session_id)
        return told

    def _session(self, connection: apsw.Connection, session_id: str | None) -> str | None:
        """The session that is meant: an agent's own one of that id, else the one that is stored so."""
        if session_id is None or not self.actor.startswith("agent:"):
            return session_id
        return sessions.of_reader(connection, session_id, self.actor)

    def note_recall(self, query: str, told: Sequence[MemoryRecord], session_id: str | None = None) -> None:
        """An agent was told these: it slows their fading, and the log says so. A person's look does not."""
        if not self.actor.startswith("agent:") or self.readonly or not told:
            return
        now = int(self._clock())
        with self._connections.write() as connection:
            memories.record_access(connection, [memory.rid for memory in told], now, local_midnight(now))
            recalls.add(
                connection, at=now, agent=self.actor.removeprefix("agent:"), session_id=session_id,
                query=query, memory_ids=[memory.id for memory in told],
            )  # fmt: skip

    def explain(
        self, query: str, id: str, *, filter: str = "", limit: int = 10, profile: str | Profile | None = None
    ) -> Explanation:
        """Why a memory is, or is not, among the hits: its exact rank in every arm, what excluded it, what would help."""
        from memtui.engine.search.explaining import explain

        with self._connections.read() as connection:
            return explain(
                connection, query, memories.get(connection, id, self._clock()), filter=filter, limit=limit,
                profile=self._ranked_by(connection, profile)[0],
                embedder=self._query_embedder(connection), now=self._clock(),
                fade_threshold=self._options.fade_threshold,
            )  # fmt: skip

    def _ranked_by(self, connection: apsw.Connection, profile: str | Profile | None) -> tuple[Profile, str]:
        """The profile asked for, else that of the settings; and what is to be noted about it."""
        from memtui.engine.search import profiles

        if profile is not None:
            return profiles.find(connection, profile), ""
        return profiles.configured(connection, self._options.profile)

    def _query_embedder(self, connection: apsw.Connection, at_hand: str | None = None) -> QueryEmbedder | str:
        """The embedder for queries, or the reason why there are no vectors to compare with.

        ``at_hand``: a question for which nobody waits.
        """
        if self._options.embedder == "off":
            return 'vectors are switched off (embedder = "off")'
        space = vectors.space(connection)
        try:
            embedder = self._embedders.serving(space)
        except DegradedError as error:
            return error.message.removesuffix(".")
        if space is None or embedder is None:
            missing = embedder.available() if embedder is not None else None
            return (missing or "no memory has a vector yet").removesuffix(".")
        if at_hand is not None and not embedder.at_hand(at_hand):
            from memtui.engine.search.asked import COMING

            return COMING
        from memtui.engine.search.ranking import CopiedVectors

        return CopiedVectors(embedder, self._vector_copy)
