"""The contract of an observation store, over a memory in a file and one in ``:memory:``."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui.engine.errors import FilterError, InputError, NotFoundError
from memtui.engine.memory import Memory
from memtui.engine.observations import (
    MemoryObservations,
    Observation,
    ObservationStore,
    ObservationTools,
    StepObservations,
    TranscriptMessage,
)
from memtui.engine.records import Options

from sizes import examples

QUIET = Options(embedder="off", background=False)


@pytest.fixture
def store(opened: Memory) -> ObservationStore:
    return MemoryObservations(opened)


@pytest.fixture(params=["file", "memory"])
def opened(request: pytest.FixtureRequest, place: Path) -> Iterator[Memory]:
    with Memory.open(place if request.param == "file" else ":memory:") as memory:
        yield memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=QUIET, clock=lambda: 1_700_000_000.0) as opened:
        yield opened


def fill(store: ObservationStore) -> tuple[str, ...]:
    return store.remember_fil(
        ["PostgreSQL version is 15.2", "The API rate limit is 100 requests a minute"],
        ["REST is simpler than GraphQL for this API"],
        ["Avoid library X: it lacks TypeScript support"],
        "GOAL:check-database",
    )


def test_what_is_remembered_can_be_retrieved_with_its_category_and_source(store: ObservationStore) -> None:
    id = store.remember_observation("PostgreSQL version is 15.2", "finding", "GOAL:check-database")
    found = store.retrieve_by_id(id)
    assert (found.content, found.category, found.source, found.kind) == (
        "PostgreSQL version is 15.2", "finding", "GOAL:check-database", "observation",
    )  # fmt: skip
    assert id.startswith("obs_")
    with pytest.raises(NotFoundError):
        store.retrieve_by_id("obs_000000000000")


def test_the_ids_of_a_batch_come_in_its_order_and_the_source_is_explicit_by_default(
    store: ObservationStore,
) -> None:
    ids = store.remember_fil(["one finding"], ["two insight"], ["three lesson"])
    assert [store.retrieve_by_id(id).category for id in ids] == ["finding", "insight", "lesson"]
    assert {store.retrieve_by_id(id).source for id in ids} == {"explicit"}


def test_the_same_text_is_kept_once_in_a_category(store: ObservationStore) -> None:
    first = store.remember_observation("The cache is cold after a deploy", "finding", "RUN:a")
    assert store.remember_observation("The cache is cold after a deploy", "finding", "RUN:b") == first
    assert store.remember_observation("The cache is cold after a deploy", "lesson") != first
    assert len(store.recall("cache")) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [], []), "findings, insights, lessons"),
        (([""], [], []), "no text"),
        ((["fine"], ["x" * 20_001], []), "characters"),
        ((["fine"], [], [], ""), "source"),
        (("a string", [], []), "list"),
        (([3], [], []), "text"),
    ],
)
def test_a_batch_that_cannot_be_kept_changes_nothing(
    store: ObservationStore, arguments: tuple[list[str], ...], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        store.remember_fil(*arguments)  # type: ignore[arg-type]
    assert words in f"{refused.value.message} {refused.value.hint}"
    assert store.recall("fine string") == ()


def test_an_unknown_category_is_refused(store: ObservationStore) -> None:
    for attempt in (
        lambda: store.remember_observation("something", "idea"),  # type: ignore[arg-type]
        lambda: store.recall_by_category("something", "idea"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match="idea"):
            attempt()


def test_recall_ranks_by_the_words_of_the_content_alone(store: ObservationStore) -> None:
    fill(store)
    best = store.recall("rate limits of the API")[0]
    assert best.memory.content.startswith("The API rate")
    # Neither the category nor the source nor the date is content.
    for word in ("finding", "insight", "GOAL", "check-database", "November"):
        assert store.recall(word) == (), word


def test_recall_by_category_and_fil_keep_to_their_category(store: ObservationStore) -> None:
    fill(store)
    assert [hit.memory.category for hit in store.recall_by_category("api", "insight")] == ["insight"]
    result = store.recall_fil("api typescript postgresql", 1)
    assert [hit.memory.content[:10] for hit in result.findings] == ["PostgreSQL"]
    assert len(result.insights) == len(result.lessons) == 1


def test_scores_lie_between_0_and_1_in_the_order_of_the_raw_sums(store: ObservationStore) -> None:
    store.remember_fil(
        ["deploy deploy deploy rollback", "deploy in the morning", "a rollback of the deploy, with a canary"]
    )
    hits = store.recall("deploy rollback canary")
    assert [hit.bm25 for hit in hits] == sorted((hit.bm25 for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == pytest.approx(hit.bm25 / (1 + hit.bm25)) and 0.0 < hit.score < 1.0
    assert hits[0].bm25 > 1.0 > hits[-1].bm25  # on both sides of what made the original's scores jump


def test_the_raw_sum_is_bm25_over_the_observations(memory: Memory) -> None:
    import math

    for turn in range(30):  # talk about the same does not make a word less rare among observations
        memory.record_turn("talk", "user", f"the deploy number {turn}")
    memory.observations.remember(["deploy deploy rollback", "a quiet afternoon", "deploy"])
    best = memory.observations.recall("deploy")[0]
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = (3 + 3 + 1) / 3
    expected = {
        "deploy deploy rollback": idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / mean)),
        "deploy": idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / mean)),
    }
    assert best.bm25 == pytest.approx(max(expected.values()))
    assert best.bm25 == pytest.approx(expected[best.memory.content])


def test_a_least_score_never_drops_a_better_hit(store: ObservationStore) -> None:
    fill(store)
    everything = store.recall("api rate limit postgresql rest library")
    assert len(everything) == 4
    for hit in everything:
        kept = store.recall("api rate limit postgresql rest library", min_score=hit.score)
        assert [one.memory.id for one in kept] == [
            one.memory.id for one in everything if one.score >= hit.score
        ]


def test_a_single_observation_is_found_above_a_small_least_score(store: ObservationStore) -> None:
    store.remember_observation("The database has a pool of 20 connections", "finding")
    assert len(store.recall("database configuration", min_score=0.1)) == 1


def test_the_limit_and_the_time_range_come_before_the_ranking() -> None:
    times = iter([100.0, 200.0, 300.0])
    now = [0.0]
    with Memory.open(":memory:", options=QUIET, clock=lambda: now[0]) as memory:
        store = MemoryObservations(memory)
        for number in range(3):
            now[0] = next(times)
            store.remember_observation(f"deploy {number}", "finding")
        assert [hit.memory.content for hit in store.recall("deploy", limit=2)] == ["deploy 2", "deploy 1"]
        assert [hit.memory.content for hit in store.recall("deploy", after=200)] == ["deploy 2", "deploy 1"]
        assert [hit.memory.content for hit in store.recall("deploy", limit=1, before=200)] == ["deploy 0"]
        start = datetime.fromtimestamp(150, UTC)
        assert [hit.memory.content for hit in store.recall("deploy", after=start, before=300)] == ["deploy 1"]


@pytest.mark.parametrize(
    "query", ["", "  ", "???", '"', "NOT", "OR AND", "C++", "50%", "(", "*", "a:b", "\0", "\ud800"]
)
def test_no_query_raises(store: ObservationStore, query: str) -> None:
    fill(store)
    store.recall(query)
    store.recall_fil(query)


@settings(max_examples=examples(40))
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_kept_recalled_and_found_in_the_scratchpad(content: str, query: str) -> None:
    with MemoryObservations(Memory.open(":memory:", options=QUIET), owns=True) as store:
        try:
            id = store.remember_observation(content, "finding")
        except InputError:
            return
        assert all(0.0 < hit.score <= 1.0 for hit in (*store.recall(query), *store.recall(content)))
        assert store.retrieve_by_id(id).category == "finding"
        store.search(query)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("База данных отвечает медленно", "базе ДАННЫХ"),
        ("東京の鉄道は速い", "東京"),
        ("数据库连接池是二十", "数"),
        ("Straße gesperrt", "STRASSE gesperrt"),
    ],
)
def test_any_script_is_recalled(store: ObservationStore, content: str, query: str) -> None:
    store.remember_fil(["something else"], [content])
    assert [hit.memory.content for hit in store.recall(query)] == [content]


@pytest.mark.parametrize(
    "bad", [{"limit": 0}, {"limit": 5_000}, {"min_score": -1.0}, {"min_score": float("nan")}]
)
def test_a_limit_or_least_score_that_cannot_be_is_refused(
    store: ObservationStore, bad: dict[str, int]
) -> None:
    with pytest.raises(InputError):
        store.recall("deploy", **bad)  # type: ignore[arg-type]


def test_a_missing_key_is_a_typed_error(store: ObservationStore) -> None:
    with pytest.raises(NotFoundError, match=r"api\.limit"):
        store.get("api.limit")


def test_keys_are_set_listed_by_prefix_and_searched_in_any_case(store: ObservationStore) -> None:
    store.set("current_task", "implement-api")
    store.set("api.endpoint", "https://api.example.com")
    store.set("api.Größe", "100")
    assert store.get("api.endpoint") == "https://api.example.com"
    store.set("api.endpoint", "https://other.example.com")
    assert store.get("api.endpoint") == "https://other.example.com"
    assert store.list("api.") == ("api.Größe", "api.endpoint")
    assert len(store.list()) == 3 and store.list("API") == () and store.list("%") == ()
    assert {note.key for note in store.search("EXAMPLE.com")} == {"api.endpoint"}
    assert {note.key for note in store.search("GRÖSSE")} == {"api.Größe"}
    assert store.search("nowhere") == ()


DECIDING = [
    TranscriptMessage(
        role="user", content="How should we handle auth for the public endpoints of the service?"
    ),
    TranscriptMessage(
        role="assistant",
        content="We decided to use OAuth2 because the mobile app needs refresh tokens. I learned that the old "
        "gateway cannot forward cookies. Nothing here is unimportant.",
    ),
    TranscriptMessage(
        role="tool", content="It is important to note that this log line was printed by the machine itself."
    ),
]


def test_consolidating_keeps_the_sentences_that_decide(store: ObservationStore) -> None:
    ids = store.consolidate_session("session-123", DECIDING)
    kept = [store.retrieve_by_id(id) for id in ids]
    texts = {record.content: record.category for record in kept if "summary" not in record.tags}
    assert texts == {
        "We decided to use OAuth2 because the mobile app needs refresh tokens.": "insight",
        "I learned that the old gateway cannot forward cookies.": "lesson",
    }
    assert {record.source for record in kept} == {"session:session-123"}
    assert {record.trust for record in kept} == {"agent"}
    [summary] = [record for record in kept if "summary" in record.tags]
    assert summary.content == DECIDING[1].content


def test_consolidating_twice_adds_nothing(store: ObservationStore) -> None:
    assert store.consolidate_session("session-123", DECIDING)
    assert store.consolidate_session("session-123", DECIDING) == ()


def test_a_longer_transcript_adds_what_is_new_and_replaces_the_summary(memory: Memory) -> None:
    store = MemoryObservations(memory)
    first = store.consolidate_session("s", DECIDING)
    more = TranscriptMessage(
        role="assistant", content="We agreed to rotate the tokens every night. " + "Well. " * 20
    )
    added = store.consolidate_session("s", [*DECIDING, more])
    new = [memory.get(id) for id in added]
    assert [record.content for record in new if not record.tags] == [
        "We agreed to rotate the tokens every night."
    ]
    summaries = [memory.get(id) for id in (*first, *added) if memory.get(id).tags]
    assert [(one.active, one.ended_by) for one in summaries] == [(False, "superseded"), (True, None)]
    assert summaries[1].supersedes == summaries[0].id


def test_what_the_person_threw_away_is_not_noted_again(memory: Memory) -> None:
    store = MemoryObservations(memory)
    for id in store.consolidate_session("s", DECIDING):
        memory.forget(id)
    assert store.consolidate_session("s", DECIDING) == ()


def test_a_summary_that_the_person_confirmed_stays(memory: Memory) -> None:
    store = MemoryObservations(memory)
    [summary] = [id for id in store.consolidate_session("s", DECIDING) if memory.get(id).tags]
    memory.confirm(summary)
    store.consolidate_session(
        "s", [*DECIDING, TranscriptMessage(role="assistant", content="Another long answer. " * 9)]
    )
    assert memory.get(summary).active


def test_what_is_drawn_from_recorded_turns_points_at_them(memory: Memory) -> None:
    turn = memory.record_turn("s", "assistant", DECIDING[1].content)
    ids = MemoryObservations(memory).consolidate_session("s", DECIDING)
    assert all(memory.get(id).source_ids == (turn.id,) for id in ids)
    assert len(memory.view.derived(turn.id)) == len(ids)


def test_nothing_worth_noting_leaves_no_operation(memory: Memory) -> None:
    store = MemoryObservations(memory)
    assert (
        store.consolidate_session(
            "s",
            [
                TranscriptMessage(role="user", content="hello"),
                TranscriptMessage(role="assistant", content=""),
            ],
        )
        == ()
    )
    assert memory.history.next_undo() is None


def test_observations_are_memories(memory: Memory) -> None:
    [first, second] = memory.observations.remember(["Ada runs the billing service"], [], ["Ask Ada first"])
    operation = memory.history.next_undo()
    assert operation is not None and operation.label == "Noted 1 finding, 1 lesson" and operation.rows == 2
    assert [hit.memory.id for hit in memory.search("billing").hits] == [first.id]
    assert "Ada" in {entity.canonical_name for entity in memory.view.entities_of(first.id)}
    new = memory.correct(second.id, "Ask Ada or Ben first")
    assert (new.category, new.kind) == ("lesson", "observation")
    assert [hit.memory.id for hit in memory.observations.recall("ask ben")] == [new.id]
    memory.forget(first.id)
    assert memory.observations.recall("billing") == ()
    memory.undo(), memory.undo(), memory.undo()
    assert memory.observations.recall("billing ask") == () and memory.files.check(deep=True).ok


def test_an_agents_observations_are_signed_trusted_as_its_own_and_its_recalls_logged() -> None:
    with Memory.open(":memory:", actor="agent:scout", options=QUIET) as memory:
        [record] = memory.observations.remember(["The build takes nine minutes"])
        assert record.trust == "agent"
        assert memory.observations.recall("build")
        [told] = memory.view.recent_recalls()
        assert (told.agent, told.query, told.memory_ids) == ("scout", "build", (record.id,))
        assert memory.get(record.id).access_count == 1


def test_a_filter_narrows_a_recall(memory: Memory) -> None:
    memory.observations.remember_one("deploy on Fridays", "lesson", tags=["work"])
    memory.observations.remember_one("deploy the tent", "lesson")
    [hit] = memory.observations.recall("deploy", filter="tag:work")
    assert hit.memory.tags == ("work",)
    with pytest.raises(FilterError):
        memory.observations.recall("deploy", filter="kind:wrong")


def test_a_secret_in_an_observation_is_blacked_out(memory: Memory) -> None:
    [record] = memory.observations.remember(["The key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"])
    assert "ghp_" not in record.content


def test_the_step_adapter_keeps_an_observation_under_its_step(store: ObservationStore) -> None:
    steps = StepObservations(store)
    ids = steps.store_observation(
        Observation(
            findings=("Port 8080 is taken",), lessons=("Use 8081",), step_name="serve", step_type="RUN"
        )
    )
    records = [store.retrieve_by_id(id) for id in ids]
    assert {(record.source, record.trust) for record in records} == {("RUN:serve", "model")}
    assert steps.store_observation(Observation(step_name="serve")) == ()
    assert [hit.memory.content for hit in steps.query_relevant_observations("which port")] == [
        "Port 8080 is taken"
    ]


def test_the_tools_adapter_remembers_and_recalls(store: ObservationStore) -> None:
    tools = ObservationTools(store)
    tools.remember_fil(insights=["Batching halves the cost"])
    assert [hit.memory.source for hit in tools.recall("batching")] == ["explicit"]
    with pytest.raises(InputError, match="nothing to remember"):
        tools.remember_fil()


def test_eight_threads_share_one_store(opened: Memory, store: ObservationStore) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(12):
                store.remember_fil(
                    [f"thread {number} found number {turn}"], [], [f"lesson {number} of {turn}"]
                )
                store.recall_fil(f"thread {number}")
                store.set(f"thread.{number}", str(turn))
                store.search("thread")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(store.recall("found", limit=1_000)) == 96
    assert [store.get(key) for key in store.list("thread.")] == ["11"] * 8
    assert opened.files.check(deep=True).ok


def test_a_store_survives_closing_and_a_handed_over_memory_stays_open(place: Path) -> None:
    with MemoryObservations(Memory.open(place, options=QUIET), owns=True) as store:
        id = store.remember_observation("it stays", "lesson")
    with Memory.open(place, options=QUIET) as memory:
        MemoryObservations(memory).close()
        assert memory.get(id).content == "it stays"


def test_a_file_from_before_there_was_recall_is_upgraded_with_its_observations(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        memory.observations.remember_one("The old gateway drops cookies", "lesson")
    with closing(apsw.Connection(str(place))) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        # The file of the version before, whatever it had besides.
        connection.execute("ALTER TABLE sessions_consolidations DROP COLUMN begun_by")
        connection.execute("ALTER TABLE sessions_consolidations DROP COLUMN read_by")
        connection.execute("DROP INDEX memories_rules")
        connection.execute("DROP INDEX memories_by_day")
        connection.execute("DROP INDEX facts_decided")
        connection.execute("DROP INDEX facts_by_topic")
        connection.execute("DROP INDEX notes_by_topic")
        connection.execute("ALTER TABLE memories DROP COLUMN topic")
        connection.execute("ALTER TABLE memories DROP COLUMN happens_at")
        connection.execute("ALTER TABLE recalls DROP COLUMN saved")
        connection.execute("ALTER TABLE current_op DROP COLUMN stamping")
        for sql in (
            "TABLE sync_devices",
            "TABLE sync_versions",
            "TABLE sync_merged",
            "TABLE sync_erased",
            "TABLE sync_read",
            "TABLE sync_other_ids",
            "TABLE agent_usage",
            "TABLE served_contexts",
            "TABLE decided",
            "TABLE word_vectors",
            "INDEX memories_not_ascii",
            "TABLE enriched_links",
            "TABLE folding",
            "VIEW names_text",
            "TABLE observations_vocab",
            "TABLE observations_fts",
            "VIEW observations_text",
        ):
            connection.execute(f"DROP {sql}")
        connection.execute("PRAGMA user_version = 5")
    with Memory.open(place, options=QUIET) as memory:
        assert [hit.memory.content for hit in memory.observations.recall("gateway")] == [
            "The old gateway drops cookies"
        ]
        assert memory.files.check(deep=True).ok


def test_the_index_of_observations_follows_every_change(memory: Memory) -> None:
    record = memory.observations.remember_one("The gateway drops cookies", "lesson")
    with memory._core.connections.write() as connection:  # as another program would
        connection.execute(
            "UPDATE memories SET content = 'The proxy keeps them' WHERE rid = ?", (record.rid,)
        )
    assert memory.observations.recall("gateway") == () and len(memory.observations.recall("proxy")) == 1
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memories SET kind = 'fact', category = NULL WHERE rid = ?", (record.rid,))
    assert memory.observations.recall("proxy") == ()
    with memory._core.connections.write() as connection:
        connection.execute("DELETE FROM memories")
    assert "full text" not in {finding.check for finding in memory.files.check(deep=True).findings}


def test_messages_may_be_mappings_and_others_are_an_input_error(store: ObservationStore) -> None:
    plain = [{"role": one.role, "content": one.content} for one in DECIDING]
    assert store.consolidate_session("s", plain)
    for wrong in ([{"role": "user"}], [{"role": "user", "content": 3}], ["hello"], [None]):
        with pytest.raises(InputError, match="cannot be read"):
            store.consolidate_session("s", wrong)  # type: ignore[arg-type]
