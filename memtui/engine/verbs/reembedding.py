"""Going over to another embedding model: what it takes, doing it, and how things stand until then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.records import Changes, Stats
from memtui.engine.store import vectors
from memtui.engine.verbs.keeping import Keeping

if TYPE_CHECKING:
    from memtui.engine.maintain.reembed import Reembedder


class Reembedding(Keeping):
    """The file's vectors serve until those of the model that the settings want are whole."""

    @property
    def reembedding(self) -> Reembedder:
        """``plan()`` and ``run()`` for the model that the settings want, which is asked for nothing yet.

        ``run`` is resumable; it makes a backup first, and asks the pinned questions afterwards. Raises InputError
        for settings that make no sense, or want no vectors.
        """
        from memtui.engine.maintain.reembed import Reembedder

        return Reembedder(
            self._connections,
            self._embedders.wanted(),
            before_write=self._before_reembedding,
            on_switch=self._switched,
        )

    def stats(self) -> Stats:
        """Counts of what is remembered and of what is still being prepared; sizes in bytes, times in Unix seconds."""
        found = super().stats()
        if self._options.embedder == "off":
            return found
        from memtui.engine.search import profiles

        with self._connections.read() as connection:
            space = vectors.space(connection)
            _, ranking_note = profiles.configured(connection, self._options.profile)
            better = profiles.better(connection, self._options.profile)
        wanted, problem = "", ""
        try:
            model = self._embedders.wanted()
            # A file without vectors takes those of this machine as it goes.
            if space != (model.model_id, model.dims) and (space is not None or model.sends_to):
                wanted = model.model_id
            serving = self._embedders.serving(space)
            problem = (serving.available() if serving is not None else None) or ""
        except (DegradedError, InputError) as error:
            problem = error.message
        return replace(
            found,
            vectors_wanted=wanted,
            vectors_problem=problem,
            ranking_note=ranking_note,
            better_ranking=better,
        )

    def _before_reembedding(self) -> None:
        self._must_write("embed it anew")
        self.backups.ensure("model")

    def _switched(self) -> None:
        """The index is made, and then the pinned questions are asked again."""
        if not self._options.background:
            self._indexer.run()
        self._call("changed", Changes(tables=frozenset({"embeddings"})))
        self._ask_questions()
