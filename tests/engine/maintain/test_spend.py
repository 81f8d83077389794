"""What a model was paid for is kept, also for a preview that was thrown away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memtui import Memory
from memtui.engine.maintain.extract import Context, Draft, Extraction
from memtui.engine.records import MemoryRecord, Options


class Paid:
    """An extractor that costs 70 tokens a chunk."""

    name, limit = "paid", None

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        draft = Draft(kind="fact", content=turns[0].content, sources=(turns[0].id,), verbatim=True)
        return Extraction(drafts=(draft,), calls=1, tokens=70)

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        return 60


def test_the_tokens_of_a_run_and_of_a_preview_stand_among_the_runs() -> None:
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        memory.record_turn("s1", "user", "I like gooseberries")
        asyncio.run(memory.upkeep.consolidate("s1", preview=True, extractor=Paid()))
        done = asyncio.run(memory.upkeep.consolidate("s1", extractor=Paid()))
        assert done.operation is not None
        written, previewed = memory.scheduler.runs()
        assert previewed.report is not None and written.report is not None
        assert previewed.report.counts["tokens"] == written.report.counts["tokens"] == 70
        assert previewed.op_id is None and written.op_id == done.operation.op_id
        asyncio.run(memory.upkeep.consolidate("s1", extractor=Paid()))
        assert len(memory.scheduler.runs()) == 2
