"""``memory.models``: vectors and names, and the models that make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtui.engine.core import Core
from memtui.engine.errors import DegradedError, InputError
from memtui.engine.records import Changes, Kind, MemoryRecord, Stats, StrategyReport
from memtui.engine.search import listing
from memtui.engine.search.filters import compiler
from memtui.engine.store import memories, vectors

if TYPE_CHECKING:
    from memtui.engine.jobs.enrichment import Enricher
    from memtui.engine.jobs.reembedding import Reembedder
    from memtui.engine.records.embedding import StrongerModel


class Models:
    """The file's vectors serve until those of the model that the settings want are whole.

    ``back_up`` makes a backup from before what is named.
    """

    def __init__(self, core: Core, back_up: Callable[[str], object]) -> None:
        self._core = core
        self._back_up = back_up

    # Vectors

    def index_pending(self, limit: int | None = None, *, wait_for_network: bool = True) -> int:
        """Make the links and vectors that are still missing, now; returns how many vectors were made.

        Without ``wait_for_network`` those that an endpoint would make are left to later.
        """
        self._core.must_write("index it")
        return self._core.indexer.run(
            limit, embed=wait_for_network or self._core.options.embedder != "endpoint"
        )

    @property
    def reembedding(self) -> Reembedder:
        """``plan()`` and ``run()`` for the model that the settings want, which is asked for nothing yet.

        ``run`` is resumable; it makes a backup first, and asks the pinned questions afterwards. Raises InputError
        for settings that make no sense, or want no vectors.
        """
        from memtui.engine.jobs.reembedding import Reembedder

        return Reembedder(
            self._core.connections,
            self._core.embedders.configured_embedder(),
            before_write=self._back_up_first,
            on_switch=self._after_switch,
        )

    def vector_state(self, stats: Stats) -> Stats:
        """``stats`` with what there is to say of the vectors and of ranking with them."""
        if self._core.options.embedder == "off":
            return stats
        from memtui.engine.search import profiles

        with self._core.connections.read() as connection:
            space = vectors.vector_space(connection)
            _, ranking_note = profiles.configured_profile(connection, self._core.options.profile)
            better = profiles.better_profile(connection, self._core.options.profile)
        wanted, problem = "", ""
        try:
            model = self._core.embedders.configured_embedder()
            # A file without vectors takes those of this machine as it goes.
            if space != (model.model_id, model.dims) and (space is not None or model.sends_to):
                wanted = model.model_id
            serving = self._core.embedders.embedder_of_space(space)
            problem = (serving.available() if serving is not None else None) or ""
        except (DegradedError, InputError) as error:
            problem = error.message
        return replace(
            stats,
            vectors_wanted=wanted,
            vectors_problem=problem,
            ranking_note=ranking_note,
            better_ranking=better,
        )

    def stronger(self) -> StrongerModel | None:
        """What MiniLM with the ranking ``late`` would take here; None where it is in use, not wanted, or of little use.

        It is not wanted where the settings name another model than the packaged one, or a ranking.
        """
        if self._core.options.embedder != "offline" or self._core.options.profile != "default":
            return None
        from memtui.engine.models.stronger_model import estimate_stronger_model

        with self._core.connections.read() as connection:
            return None if vectors.word_vector_dims(connection) else estimate_stronger_model(connection)

    def _back_up_first(self) -> None:
        self._core.must_write("embed it anew")
        self._back_up("model")

    def _after_switch(self) -> None:
        """The index is made, and then the pinned questions are asked again."""
        if not self._core.options.background:
            self._core.indexer.run()
        self._core.call_subscribers("changed", Changes(tables=frozenset({"embeddings"})))
        self._core.after_large_change()

    # Names

    @cached_property
    def enricher(self) -> Enricher:
        """What looks for more names in texts (the nightly job)."""
        from memtui.engine.jobs.enrichment import Enricher

        return Enricher(
            self._core.connections,
            self._core.clock,
            self._core.recogniser,
            self._core.options.enrichment,
            self._core.indexer.find_mentions,
        )

    @property
    def accurate_ner_available(self) -> bool:
        """Whether spaCy or a language model can find the names that the quick rules miss."""
        return not self.enricher.reason_unavailable()

    def compare_strategies(self, limit: int = 50) -> tuple[StrategyReport, ...]:
        """What each strategy for finding names finds in the newest memories, and how long it takes.

        Nothing is written, and no language model is asked.
        """
        everything = compiler.compile_filter("", self._core.clock())
        with self._core.connections.read() as connection:
            newest = listing.page(connection, everything, limit=limit, now=self._core.clock())
        import asyncio

        return asyncio.run(self._core.recogniser.compare_strategies([memory.content for memory in newest]))

    def memories_for_enrichment(
        self, kinds: Sequence[Kind] = ("fact", "episode"), *, max_entities: int = 2, limit: int = 50
    ) -> list[MemoryRecord]:
        """Active memories with at most so many entities that no model has read for names yet, the newest first."""
        return self.enricher.pending_memories(kinds, max_entities, limit)

    async def enrich(self, id: str) -> int:
        """Read a memory again for the names in it, as accurately as can be; returns the links gained.

        Raises NotFoundError, DegradedError when there is neither spaCy nor a language model.
        """
        self._core.must_write("enrich it")
        with self._core.connections.read() as connection:
            memory = memories.get(connection, id, self._core.clock())
        return await self.enricher.enrich([memory])
