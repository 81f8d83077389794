"""What a model was paid for is kept, also for a preview that was thrown away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.protocol import Context, Draft, Extraction
from memtui.engine.errors import DegradedError
from memtui.engine.records import LlmOptions, MemoryRecord, Options
from memtui.engine.store import jobs

from endpoint import Endpoint, completion


class Paid:
    """An extractor that costs 70 tokens a chunk."""

    name, limit = "paid", None

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        draft = Draft(kind="fact", content=turns[0].content, sources=(turns[0].id,), verbatim=True)
        context.spending.add_call(70)
        return Extraction(drafts=(draft,))

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        return 60


class FailsLate(Paid):
    """It has paid for a chunk when the next one fails."""

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        if turns[0].content.endswith("30"):
            raise DegradedError("no")
        return await super().extract(turns, context)


def test_the_tokens_of_a_run_and_of_a_preview_stand_among_the_runs() -> None:
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        memory.record_turn("s1", "user", "I like gooseberries")
        asyncio.run(memory.sessions.consolidate("s1", preview=True, extractor=Paid()))
        done = asyncio.run(memory.sessions.consolidate("s1", extractor=Paid()))
        assert done.operation is not None
        written, previewed = memory.jobs.runs()
        assert previewed.report is not None and written.report is not None
        assert previewed.report.counts["tokens"] == written.report.counts["tokens"] == 70
        assert previewed.op_id is None and written.op_id == done.operation.op_id
        asyncio.run(memory.sessions.consolidate("s1", extractor=Paid()))
        assert len(memory.jobs.runs()) == 2


def test_a_session_that_failed_has_cost_what_it_cost() -> None:
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        for number in range(40):
            memory.record_turn("s1", "user", f"I like number {number}")
        found = asyncio.run(memory.sessions.consolidate("s1", extractor=FailsLate()))
        assert [one.state for one in found.outcomes] == ["failed"]
        assert (found.calls, found.tokens) == (1, 70)
        (run,) = memory.jobs.runs()
        assert run.report is not None
        assert run.report.counts["tokens"] == 70
        assert (run.report.summary, run.report.counts["failed"]) == ("consolidated 0 sessions", 1)
        assert run.report.notes == ("s1: no",)


def test_failing_sessions_use_up_the_budget() -> None:
    options = Options(background=False, llm=LlmOptions(budget_tokens=190))
    with Memory.open(":memory:", options=options) as memory:
        for session in range(5):
            for number in range(31):
                memory.record_turn(f"s{session}", "user", f"I like number {number}")
        wanted = [f"s{session}" for session in range(5)]
        found = asyncio.run(memory.sessions.consolidate(wanted, extractor=FailsLate()))
        assert [one.state for one in found.outcomes] == ["failed"] * 2 + ["stopped"] * 3
        assert found.tokens == 140


def test_a_preview_is_no_run_as_far_as_the_timetable_is_concerned(place: Path) -> None:
    with Memory.open(place, options=Options(background=False, embedder="off")) as memory:
        memory.record_turn("s1", "user", "I like gooseberries")
        before = memory.jobs.status()
        asyncio.run(memory.sessions.consolidate("s1", preview=True, extractor=Paid()))
        after = memory.jobs.status()
        assert [job.last for job in after.jobs] == [job.last for job in before.jobs]
        assert after.jobs == before.jobs
        (row,) = memory.jobs.runs()
        assert row.op_id is None
        with memory._core.connections.read() as connection:
            assert jobs.latest(connection, "consolidation") is None
            assert not jobs.is_done(connection, "consolidation", row.period, int(row.started_at))
        with memory._core.connections.write() as connection:
            failed = jobs.start(connection, "consolidation", "slot:1", 1)
            jobs.finish(connection, failed, "failed", 2, error="no")
        asyncio.run(memory.sessions.consolidate("s1", preview=True, extractor=Paid()))
        with memory._core.connections.read() as connection:
            assert jobs.failures_in_a_row(connection, "consolidation").failed == 1


def test_a_run_that_was_cancelled_is_paid_for() -> None:
    class Waits(Paid):
        async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
            if turns[0].session_id == "s2":
                await asyncio.sleep(600)
            return await super().extract(turns, context)

    async def run(memory: Memory) -> None:
        task = asyncio.create_task(memory.sessions.consolidate(["s1", "s2"], extractor=Waits()))
        while not memory.view.count("kind:fact"):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Memory.open(":memory:", options=Options(background=False)) as memory:
        memory.record_turn("s1", "user", "I like gooseberries")
        memory.record_turn("s2", "user", "I like currants")
        asyncio.run(run(memory))
        (add_call,) = memory.jobs.runs()
        assert add_call.state == "cancelled"
        assert add_call.report is not None
        assert add_call.report.counts["tokens"] == 70


ANSWERS: dict[str, Any] = {
    "prose": completion("Sure!"),
    "another shape": completion({"facts": 7}),
    "cut off": completion("{", finish_reason="length"),
    "a refusal": completion(None, message={"role": "assistant", "content": None, "refusal": "no"}),
    "nothing without saying so": completion({"nothing": False, "facts": [], "observations": []}),
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_that_is_rejected_has_cost_what_it_says(place: Path, answer: str) -> None:
    async with Endpoint(lambda exchange: exchange.reply(ANSWERS[answer])) as endpoint:
        llm = LlmOptions(base_url=endpoint.url, model="tiny", timeout=60, budget_tokens=4_500)
        with Memory.open(place, options=Options(background=False, embedder="off", llm=llm)) as memory:
            for session in range(6):
                memory.record_turn(f"s{session}", "user", "I live in Bergen.")
            found = await memory.sessions.consolidate([f"s{session}" for session in range(6)])
            # Each costs 1,000 and is expected to cost 1,900.
            assert [one.state for one in found.outcomes] == ["failed"] * 3 + ["stopped"] * 3
            assert (found.calls, found.tokens) == (3, 3_000)
            (run,) = memory.jobs.runs()
            assert run.report is not None
            assert run.report.counts["tokens"] == 3_000


async def test_a_job_that_fails_and_a_dry_run_tell_what_they_cost(place: Path) -> None:
    async with Endpoint(lambda exchange: exchange.reply(completion("Sure!"))) as endpoint:
        llm = LlmOptions(base_url=endpoint.url, model="tiny", timeout=60)
        options = Options(background=False, embedder="off", llm=llm)
        with Memory.open(place, actor="agent:a", options=options) as memory:
            for number in range(3):
                memory.remember(f"went to the harbour, pier {number}")
            done = await asyncio.to_thread(memory.jobs.run_now, "reflection")
            assert done.state == "failed"
            assert done.report is not None
            assert done.report.counts == {"calls": 1, "tokens": 1_000}
            memory.record_turn("s1", "user", "I live in Bergen.", time.time() - 7_200)
            seen = await asyncio.to_thread(memory.jobs.run_now, "consolidation", dry_run=True)
            assert (seen.run_id, seen.report and seen.report.counts["tokens"]) == (0, 1_000)
            logged = memory.jobs.runs()[0]
            assert (logged.job, logged.report and logged.report.counts["tokens"]) == ("consolidation", 1_000)
            assert all(job.last is None for job in memory.jobs.status().jobs if job.name != "reflection")


async def test_a_call_that_tells_no_price_counts_against_the_budget(place: Path) -> None:
    async with Endpoint(lambda exchange: exchange.reply("no", status="500 Sorry")) as endpoint:
        llm = LlmOptions(base_url=endpoint.url, model="tiny", timeout=60, budget_tokens=4_500)
        with Memory.open(place, options=Options(background=False, embedder="off", llm=llm)) as memory:
            for session in range(6):
                memory.record_turn(f"s{session}", "user", "I live in Bergen.")
            found = await memory.sessions.consolidate([f"s{session}" for session in range(6)])
            assert [one.state for one in found.outcomes] == ["failed"] * 2 + ["stopped"] * 4
            assert (found.calls, found.tokens) == (2, 0)
