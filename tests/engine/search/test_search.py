"""Finding memories with a question in any words. Each fault that such programs are known for has its test."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui.engine.errors import FilterError, InputError
from memtui.engine.records import Profile, RetrieverName, SearchResult
from memtui.engine.search.filters.compiler import compile_filter
from memtui.engine.search.profiles import RRF
from memtui.engine.search.query import parse_query
from memtui.engine.search.retrievers.keyword import bm25_first_pass
from memtui.engine.search.scope import make_scope
from memtui.engine.search.search import search_memories
from memtui.engine.search.term_statistics import FACTS
from memtui.engine.store import full_text
from memtui.engine.store.file import open_file
from shelf import DAY, NOW, Book, FakeEmbedder

from sizes import examples

NO_VECTORS = "vectors are switched off"


def ask(book: Book, query: str, **options: object) -> SearchResult:
    given = {"profile": Profile(), "embedder": NO_VECTORS, "now": NOW, "fade_threshold": 0.05, **options}
    return search_memories(book.connection, query, **given)  # type: ignore[arg-type]


def contents(result: SearchResult) -> list[str]:
    return [hit.memory.content for hit in result.hits]


def report(result: SearchResult, retriever: RetrieverName) -> tuple[str, str]:
    return next((one.state, one.why) for one in result.retrievers if one.retriever == retriever)


PROFILES = pytest.mark.parametrize("profile", [Profile(), RRF], ids=["default", "rrf"])


@PROFILES
def test_a_question_in_other_words_finds_the_answer(book: Book, profile: Profile) -> None:
    book.add("The user lives in Berlin")
    book.add("Bread needs flour and water")
    assert contents(ask(book, "where does the user live", profile=profile)) == ["The user lives in Berlin"]


@PROFILES
def test_chat_does_not_hide_the_only_fact(book: Book, profile: Profile) -> None:
    for turn in range(60):
        book.add(
            f"Let us talk about Berlin, Berlin and Berlin again {turn}", "episode", session="s", role="user"
        )
    book.add("Moved to Berlin in 2020, after many years in the mountains of another country, with two cats")
    found = ask(book, "Berlin", filter="kind:fact", limit=1, profile=profile)
    assert contents(found) == [
        "Moved to Berlin in 2020, after many years in the mountains of another country, with two cats"
    ]


@PROFILES
def test_the_filter_comes_before_the_limit_in_every_arm(book: Book, profile: Profile) -> None:
    narrow = Profile(name=profile.name, fusion=profile.fusion, depth=5, floor=-1.0)
    embedder = FakeEmbedder()
    for place in range(60):
        book.add(f"apple pear {place}", about=["Ada"], embedder=embedder)
    book.add("apple", tags=["wanted"], about=["Ada"], embedder=embedder, at=NOW - DAY)
    found = ask(book, "Ada apple", filter="tag:wanted", limit=1, profile=narrow, embedder=embedder)
    assert [set(hit.retrievers) - {"context"} for hit in found.hits] == [{"keyword", "vector", "entity"}]


def test_forgotten_memories_are_found_only_in_the_trash(book: Book) -> None:
    embedder = FakeEmbedder()
    memory = book.add("Likes green tea", about=["Ada"], embedder=embedder)
    book.forget(memory)
    assert ask(book, "Ada green tea", embedder=embedder).hits == ()
    assert contents(ask(book, "Ada green tea", filter="is:trash", embedder=embedder)) == ["Likes green tea"]


HOSTILE = [
    "", " ", "???", '"', "'", "NOT", "OR", "AND", "NEAR(a b)", "a OR", "(", "*", "a*", "^a", "content:x", "-", "--", ";",
    "C++", "it's", "50%", "\0", "a\0b", "\ud800", "🙂", "\u202e", "'; DROP TABLE memories; --", "%_%", "{}", "{0}", "[/]",
    "x" * 100_000, "the of and", "東", "東京", "東京 tower", "\x1b[31m", ":now", "?1", "a" * 2_000 + " b",
]  # fmt: skip


@PROFILES
@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_raises(book: Book, query: str, profile: Profile) -> None:
    book.add("It's a C++ book; 50% off 🙂 in 東京", about=["C++"])
    for embedder in (NO_VECTORS, FakeEmbedder()):
        result = ask(book, query, profile=profile, embedder=embedder)
        assert result.query == query
        assert {one.retriever for one in result.retrievers} == {"keyword", "vector", "entity", "context"}


@settings(max_examples=examples(50), deadline=None)
@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    connections = open_file(":memory:")
    book = Book(connections)
    book.add("some text")
    ask(book, text)
    connections.close()


def test_ten_thousand_words_are_searched_by_their_rarest(book: Book) -> None:
    book.add("the needle is here")
    book.add("hay hay hay")
    result = ask(book, " ".join(f"hay{number}" for number in range(200)) + " needle " + "hay " * 10_000)
    assert "the needle is here" in contents(result)
    assert any("rarest" in note for note in result.notes)


@pytest.mark.parametrize("word", ["C++", "it's", "50%", "the", "what is it"])
def test_everyday_signs_and_words_find_what_has_them(book: Book, word: str) -> None:
    book.add(f"So {word} it is")
    assert len(ask(book, word).hits) == 1


def test_every_hit_says_what_each_arm_gave(book: Book) -> None:
    embedder = FakeEmbedder()
    book.add("Ada eats walnuts", about=["Ada"], embedder=embedder)
    book.add("Ada is in Ghent", about=["Ada"], embedder=embedder)
    book.add("Walnuts are healthy", embedder=embedder)
    result = ask(book, "Ada eats walnuts?", embedder=embedder)
    [first, *_] = result.hits
    assert first.memory.content == "Ada eats walnuts"
    assert first.retrievers["keyword"].matched == ("ada", "eats", "walnuts")
    assert (first.retrievers["entity"].score, first.retrievers["entity"].matched) == (1.0, ("Ada",))
    assert first.retrievers["vector"].score > 0.5
    assert result.terms == ("ada", "eats", "walnuts")
    for hit in result.hits:
        assert sum(retriever.term for retriever in hit.retrievers.values()) == pytest.approx(
            hit.score, abs=1e-9
        )
    assert [hit.rank for hit in result.hits] == [1, 2, 3]
    ranks = sorted(hit.retrievers["keyword"].rank for hit in result.hits)
    assert ranks == [1, 2, 3]
    assert report(result, "keyword") == ("answered", "")


def test_arms_that_gave_nothing_say_why(book: Book) -> None:
    book.add("Ada eats walnuts", about=["Ada"])
    result = ask(book, "zebra")
    assert result.hits == ()
    assert report(result, "keyword") == ("empty", "no memory here has any of these words: zebra")
    assert report(result, "vector") == ("unavailable", NO_VECTORS)
    assert report(result, "entity") == ("empty", "it names no one and nothing known")
    assert report(ask(book, "Ada", filter="tag:x"), "entity") == ("empty", "no memory here is linked to Ada")
    assert f"Searched without vectors: {NO_VECTORS}." in result.notes
    assert report(ask(book, "zebra", profile=RRF), "context")[0] == "off"
    assert report(ask(book, "???"), "keyword") == ("empty", "there are no words in it")


def test_a_memory_about_two_named_entities_is_found_once(book: Book) -> None:
    book.add("They met", about=["Ada", "Ben"])
    book.add("She left", about=["Ada"])
    result = ask(book, "how do Ada and Ben know each other", profile=RRF)
    assert contents(result) == ["They met", "She left"]
    assert [hit.retrievers["entity"].score for hit in result.hits] == [2.0, 1.0]
    assert [hit.retrievers["entity"].rank for hit in result.hits] == [1, 2]
    assert result.hits[0].score == pytest.approx(1 / 61)


def test_the_question_names_entities_by_whole_words(book: Book) -> None:
    for name in ("Ann", "Joanna", "Ann Lee", "J_a", "C++", "Жанна", "小明"):
        book.add(f"({name})", about=[name])

    def found(query: str) -> set[str]:
        hits = ask(book, query, profile=Profile(keyword=0.0)).hits
        return {
            name for hit in hits if "entity" in hit.retrievers for name in hit.retrievers["entity"].matched
        }

    assert found("what is JOANNA doing") == {"Joanna"}
    assert found("what is ann doing?") == {"Ann"}
    assert found("and Ann Lee's car") == {"Ann Lee"}
    assert found("annotations, a, %, _") == set()
    assert found("who likes C++?") == {"C++"}
    assert found("что делает ЖАННА") == {"Жанна"}
    assert found("小明在做什么") == {"小明"}


def test_two_names_of_one_entity_count_once(book: Book) -> None:
    book.add("Melanie and Ben", about=["Melanie", "Ben"])
    book.add("both names", about=["Mel", "Melanie"])
    with book.writing() as connection:
        connection.execute(
            "UPDATE entities SET merged_into = (SELECT eid FROM entities WHERE canonical_name = 'Melanie') "
            "WHERE canonical_name = 'Mel'"
        )
    hits = ask(book, "Mel with Ben", profile=Profile(keyword=0.0)).hits
    entity_ranks = {hit.memory.content: hit.retrievers["entity"].rank for hit in hits}
    assert entity_ranks == {"Melanie and Ben": 1, "both names": 2}


def test_merged_and_hidden_entities(book: Book) -> None:
    book.add("old name", about=["Mel"])
    book.add("new name", about=["Melanie"])
    book.add("noise", about=["Today"])
    with book.writing() as connection:
        connection.execute(
            "UPDATE entities SET merged_into = (SELECT eid FROM entities WHERE canonical_name = 'Melanie') "
            "WHERE canonical_name = 'Mel'"
        )
        connection.execute("UPDATE entities SET hidden = 1 WHERE canonical_name = 'Today'")
    for query in ("mel", "Melanie"):
        result = ask(book, query, profile=Profile(keyword=0.0))
        assert {hit.memory.content for hit in result.hits} == {"old name", "new name"}
        assert result.hits[0].retrievers["entity"].matched == ("Melanie",)
    assert ask(book, "today", profile=Profile(keyword=0.0)).hits == ()


def test_an_unrelated_memory_stays_below_the_floor(book: Book) -> None:
    embedder = FakeEmbedder()
    book.add("passport in the blue folder", embedder=embedder)
    result = ask(book, "Apollo", embedder=embedder)
    assert result.hits == ()
    assert report(result, "vector") == ("empty", "1 found, all below the floor of 0.15")
    below = ask(book, "Apollo", embedder=embedder, profile=Profile(floor=-1.0))
    assert contents(below) == ["passport in the blue folder"]


def test_a_weak_likeness_counts_for_what_another_arm_found(book: Book) -> None:
    embedder = FakeEmbedder({"walnuts": {"nuts": 0.2}})
    book.add("walnuts and a lot of other things one buys on a market day", embedder=embedder)
    [hit] = ask(book, "walnuts nuts seeds almonds oil", embedder=embedder).hits
    assert 0.0 < hit.retrievers["vector"].score < 0.3


def test_the_running_session_can_be_left_out(book: Book) -> None:
    embedder = FakeEmbedder()
    book.add(
        "where is my bicycle", "episode", session="now", role="user", embedder=embedder, about=["Bicycle"]
    )
    book.add("my bicycle is in the cellar", "episode", session="then", role="user", embedder=embedder)
    everything = ask(book, "where is my bicycle", embedder=embedder)
    assert everything.hits[0].memory.session_id == "now"
    found = ask(book, "where is my bicycle", embedder=embedder, exclude_session="now")
    assert contents(found) == ["my bicycle is in the cellar"]


def test_memories_without_a_vector_are_counted(book: Book) -> None:
    embedder = FakeEmbedder()
    book.add("has a vector", embedder=embedder)
    book.add("has none")
    book.add("has none either")
    assert (
        "2 memories have no vector yet: only their words can be found."
        in ask(book, "vector", embedder=embedder).notes
    )


def test_hits_that_share_no_word_with_the_question_are_said_to_be_near_in_meaning_only(book: Book) -> None:
    embedder = FakeEmbedder({"zzzqqq": {"tea": 0.4}, "brew": {"tea": 1.0}})
    book.add("tea in the evening", about=["Ada"], embedder=embedder)
    near = "Nothing has any of these words: these hits are only near in meaning, which may be chance."
    made_up = ask(book, "zzzqqq", embedder=embedder)
    assert made_up.hits and near in made_up.notes
    for query in ("tea", "zzzqqq evening", "Ada brew"):
        assert near not in ask(book, query, embedder=embedder).notes, query
    assert near not in ask(book, "zzzqqq", embedder=NO_VECTORS).notes, "there is no hit"


def test_an_empty_memory_and_a_filter_without_hits_read_differently(book: Book) -> None:
    assert ask(book, "tea", filter="tag:none").notes[1:] == ()
    book.add("tea")
    assert "The filter lets nothing through: tag:none" in ask(book, "tea", filter="tag:none").notes


def test_a_bad_filter_or_limit_is_refused(book: Book) -> None:
    with pytest.raises(FilterError):
        ask(book, "tea", filter="knd:fact")
    for limit in (0, -1, 1_001):
        with pytest.raises(InputError):
            ask(book, "tea", limit=limit)


@PROFILES
def test_chinese_japanese_and_korean_are_found_inside_a_run(book: Book, profile: Profile) -> None:
    book.add("昨日は東京タワーへ行きました")
    book.add("京都のお寺")
    book.add("김철수는 서울에 산다", indexed=False)
    assert contents(ask(book, "東京はどうでしたか", profile=profile)) == ["昨日は東京タワーへ行きました"]
    assert contents(ask(book, "寺", profile=profile)) == ["京都のお寺"]
    assert contents(ask(book, "서울 날씨", profile=profile)) == ["김철수는 서울에 산다"]


def test_a_bigram_that_outlived_its_text_finds_nothing(book: Book) -> None:
    memory = book.add("東京へ")
    with book.writing() as connection:
        connection.execute("UPDATE memories SET content = '京都へ' WHERE rid = ?", (memory.rid,))
        full_text.index_cjk(connection, memory.rid, "京都へ")
        connection.execute("UPDATE index_queue SET text = 0")
    assert ask(book, "東京").hits == ()
    assert contents(ask(book, "京都")) == ["京都へ"]


def test_speaker_and_date_belong_to_a_turn(book: Book) -> None:
    book.add("We went hiking", "episode", session="s", role="Ada", at=NOW - 300 * DAY)
    book.add("We went hiking", "episode", session="t", role="Ben", at=NOW)
    assert ask(book, "when did Ben go hiking").hits[0].memory.source_role == "Ben"
    assert ask(book, "hiking in April").hits[0].memory.source_role == "Ada"


def test_newer_ones_come_first_among_equals(book: Book) -> None:
    rids = [book.add("the same words").rid for _ in range(5)]
    assert [hit.memory.rid for hit in ask(book, "same words").hits] == rids[::-1]


def test_the_same_search_gives_the_same_list(book: Book) -> None:
    embedder = FakeEmbedder()
    for number in range(40):
        book.add(f"apples and pears {number % 7}", "episode", session=f"s{number % 5}", embedder=embedder)
    first, second = (ask(book, "apples 3", embedder=embedder, limit=30) for _ in range(2))
    assert [(hit.memory.id, hit.score) for hit in first.hits] == [
        (hit.memory.id, hit.score) for hit in second.hits
    ]


def test_large_memories_require_a_rare_word(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.engine.search.retrievers.keyword.GATE_FROM", 100)
    for number in range(300):
        book.add(f"everyday talk number{number}")
    book.add("everyday walnut")
    result = ask(book, "everyday talk about a walnut")
    assert contents(result) == ["everyday walnut"]
    assert len(ask(book, "everyday talk", limit=20).hits) == 20


@pytest.mark.parametrize("forgotten", [0, 2, 5, 6, 11, 12, 30])
def test_what_was_forgotten_takes_no_place_among_the_best_by_words(book: Book, forgotten: int) -> None:
    """However many of them: the best are looked at a few at a time, then all that is left."""
    notes = [book.add("walnut " * (1 + number % 9) + f"note{number}") for number in range(40)]
    question = parse_query(book.connection, "walnut", FACTS)
    everything = make_scope(compile_filter("kind:fact is:active,trash", NOW))
    ranked = bm25_first_pass(book.connection, question, everything, 40)
    assert len(ranked) == len(notes)
    gone = {hit.rid for hit in ranked[:forgotten]}
    with book.writing() as connection:
        for rid in gone:
            connection.execute(
                "UPDATE memories SET valid_until = ?, ended_by = 'forgotten' WHERE rid = ?", (NOW, rid)
            )
    active = make_scope(compile_filter("kind:fact", NOW))
    assert active.broad
    kept = [hit for hit in ranked if hit.rid not in gone]
    assert bm25_first_pass(book.connection, question, active, 4) == kept[:4]
