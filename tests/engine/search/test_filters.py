"""What each filter lets pass."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui.engine.errors import FilterError
from memtui.engine.search import listing
from memtui.engine.search.filters import compiler
from memtui.engine.search.filters.compiler import which_term_removes_all
from memtui.engine.store import recalls
from memtui.engine.store.file import open_file
from shelf import DAY, NOW, Book

from sizes import examples


def found(book: Book, expression: str) -> list[str]:
    """The contents that pass, oldest first; counted in a second way as well."""
    filter = compiler.compile_filter(expression, NOW, tz=UTC)
    page = listing.page(book.connection, filter, descending=False, now=NOW)
    assert listing.count(book.connection, filter) == len(page)
    return [memory.content for memory in page]


def test_an_empty_filter_lets_pass_what_is_active(book: Book) -> None:
    book.add("kept")
    book.forget(book.add("forgotten"))
    assert found(book, "") == ["kept"]


def test_kinds_can_be_chosen_and_left_out(book: Book) -> None:
    for kind in ("episode", "fact", "reflection", "observation"):
        book.add(kind, kind)
    assert found(book, "kind:fact,observation") == ["fact", "observation"]
    assert found(book, "-kind:episode") == ["fact", "reflection", "observation"]
    assert found(book, "Kind:FACT") == ["fact"]
    assert found(book, "kind:fact kind:episode") == []
    assert compiler.compile_filter("-kind:episode,fact", NOW).kinds == {"reflection", "observation"}


def test_every_bare_word_must_be_there(book: Book) -> None:
    book.add("The tea is green")
    book.add("The tea is black")
    assert found(book, "tea green") == ["The tea is green"]
    assert found(book, "tea -green") == ["The tea is black"]
    assert found(book, "tea green,black") == ["The tea is green", "The tea is black"]
    assert found(book, "tea coffee") == []


def test_words_match_by_stem_and_quotes_by_the_letter(book: Book) -> None:
    book.add("Prefers trains to flights")
    book.add("Took the train")
    assert found(book, "train") == ["Prefers trains to flights", "Took the train"]
    assert found(book, '"train"') == ["Took the train"]
    assert found(book, '"prefers  TRAINS"') == ["Prefers trains to flights"]
    assert found(book, '"trains prefers"') == []
    assert found(book, '"prefers trai"*') == ["Prefers trains to flights"]
    assert found(book, '-"train"') == ["Prefers trains to flights"]


def test_words_look_at_the_content_only(book: Book) -> None:
    book.add("It was in may", "episode", role="Ada", at=NOW)
    book.add("Nothing", "episode", role="Ada", at=NOW)
    assert found(book, "february") == found(book, "ada") == []


def test_a_topic_is_found_and_kept_out_as_a_tag(book: Book) -> None:
    book.add("tagged", tags=["health"])
    book.add("sorted", topic="health")
    book.add("other", topic="work")
    book.add("none")
    assert found(book, "tag:health") == found(book, "tag:Hea*") == ["tagged", "sorted"]
    assert found(book, "-tag:health") == ["other", "none"]


@pytest.mark.parametrize(
    ("beginning", "text"),
    [
        ("generaliz", "generalizations"), ("relati", "relational"), ("any", "anyone"), ("any", "any"),
        ("usin", "using"), ("say", "saying"), ("sayi", "saying"), ("goin", "going"), ("tied", "tied"),
        ("hap", "happy"), ("happy", "happy"), ("caf", "Café"), ("cafe", "café"), ("node.j", "node.js"),
        ("eyes", "eyes"), ("x", "xylophone"), ("us", "us"),
    ],
)  # fmt: skip
def test_a_star_finds_beginnings_whatever_the_stem(book: Book, beginning: str, text: str) -> None:
    book.add(f"So {text} it is")
    book.add("something else")
    assert found(book, f"{beginning}*") == [f"So {text} it is"]


@settings(max_examples=examples(25))
@given(st.from_regex("[a-z]{1,5}(ing|ed|ies|s|ation|ful|y|ly|e)?", fullmatch=True), st.integers(1, 9))
def test_a_word_is_found_by_any_beginning(word: str, length: int) -> None:
    connections = open_file(":memory:")
    book = Book(connections)
    book.add(word)
    assert found(book, f'"{word[:length]}"*') == [word]
    connections.close()


@pytest.mark.parametrize(
    ("word", "hit", "miss"),
    [
        ("C++", "I like C++ a lot", "I like C a lot"),
        ("50%", "It is 50% done", "It is 50 done"),
        ("#garden", "Watered #garden", "Watered garden"),
        ("it's", "it's fine", "fine it is"),
        ("🙂", "hello 🙂", "hello"),
        ("→", "a → b", "a b"),
        ("???", "what???", "what?"),
        ("東京", "昨日は東京タワーへ", "昨日は京都へ"),
        ("茶", "お茶を飲む", "水を飲む"),
        ("東京tower", "東京Towerへ", "東京へ tower"),
        ("Straße", "In der STRASSE", "In der Gasse"),
        ("наука", "Наука и жизнь", "Жизнь"),
        ("Zoë", "zoe is here", "zo is here"),
        ("-", "a - b", "a b"),
        ('"', 'say "x"', "say x"),
    ],
)
def test_words_of_every_script_and_signs_are_found(book: Book, word: str, hit: str, miss: str) -> None:
    book.add(hit)
    book.add(miss)
    quoted = f'text:"{word}"' if word != '"' else r'text:"\""'
    assert found(book, quoted if word in ('"', "-") else word) == [hit]


def test_chinese_and_japanese_are_found_before_they_are_indexed(book: Book) -> None:
    book.add("明日は東京へ", indexed=False)
    assert found(book, "東京") == ["明日は東京へ"]


def test_tags_compare_whole_and_in_any_script(book: Book) -> None:
    book.add("one", tags=["Work", "Étude"])
    book.add("two", tags=["workshop"])
    book.add("none")
    assert found(book, "tag:work") == ["one"]
    assert found(book, "tag:work*") == ["one", "two"]
    assert found(book, "tag:éTUDE") == ["one"]
    assert found(book, "-tag:*") == ["none"]
    assert found(book, "-tag:work") == ["two", "none"]
    assert found(book, "tag:%") == found(book, "tag:_ork") == []


def test_entities_are_found_by_whole_names_and_through_merges(book: Book) -> None:
    book.add("about Ann", about=["Ann"])
    book.add("about Joanna", about=["Joanna"])
    book.add("about Jo", about=["Jo"])
    assert found(book, "entity:ann") == ["about Ann"]
    assert found(book, "entity:jo*") == ["about Joanna", "about Jo"]
    assert found(book, "entity:J%") == []
    with book.writing() as connection:
        connection.execute(
            "UPDATE entities SET merged_into = (SELECT eid FROM entities WHERE canonical_name = 'Joanna') "
            "WHERE canonical_name = 'Jo'"
        )
    assert found(book, "entity:JOANNA") == found(book, "entity:jo") == ["about Joanna", "about Jo"]
    with book.writing() as connection:
        connection.execute("UPDATE entities SET hidden = 1 WHERE canonical_name = 'Ann'")
    assert found(book, "entity:ann") == []


def test_sessions_are_found_by_id_and_title(book: Book) -> None:
    book.add("a turn", "episode", session="chatgpt:42")
    book.add("another", "episode", session="chatgpt:43")
    with book.writing() as connection:
        connection.execute(
            "UPDATE sessions_consolidations SET title = 'Trip to Ghent' WHERE session_id = 'chatgpt:42'"
        )
    assert found(book, "session:chatgpt:42") == found(book, 'session:"trip to ghent"') == ["a turn"]
    assert found(book, "session:chatgpt*") == ["a turn", "another"]
    assert found(book, "-session:trip*") == ["another"]


def test_names_and_origins(book: Book) -> None:
    book.add(
        "a", "episode", role="user", session="s", source="import:chatgpt", project="Garden", trust="user"
    )
    book.add("b", "episode", role="Жанна", session="s", source="importer", trust="agent")
    book.add("c", "observation", category="lesson", source="explicit", trust="tool")
    assert found(book, "role:USER") == ["a"]
    assert found(book, "role:жанна") == ["b"]
    assert found(book, "project:garden") == ["a"]
    assert found(book, "-project:garden") == ["b", "c"]
    assert found(book, "source:import") == ["a"]
    assert found(book, "source:import*") == ["a", "b"]
    assert found(book, "category:lesson") == found(book, "category:*") == ["c"]
    assert found(book, "trust:agent,tool") == ["b", "c"]


def test_an_id_is_found_by_its_beginning(book: Book) -> None:
    memory = book.add("this one")
    book.add("another one")
    assert found(book, f"id:{memory.id}") == found(book, f"id:{memory.id[:12]}") == ["this one"]


def test_confidence_is_what_is_left_of_it_now(book: Book) -> None:
    book.add("fresh", confidence=0.8, decay_rate=0.1)
    book.add("old", confidence=0.8, decay_rate=0.1, at=NOW - 10 * DAY)  # 0.294 left
    book.add("sure")
    assert found(book, "conf<0.5") == found(book, "conf:.2...3") == ["old"]
    assert found(book, "conf>=0.8") == ["fresh", "sure"]
    assert found(book, "conf=0.29") == found(book, "conf:0.29") == ["old"]
    assert found(book, "-conf<0.5") == found(book, "conf:0.8..") == ["fresh", "sure"]


def test_states(book: Book) -> None:
    book.add("protected", confirmed_at=NOW)
    book.add("fading", confidence=0.09, decay_rate=0.1)
    book.add("steady", confidence=0.5, decay_rate=0.1)
    book.add("seen", reviewed_at=NOW, access_count=1, last_accessed=NOW)
    book.add("secret", attributes={"secrets": ["api key"]})
    book.add("corrected", attributes={"supersedes": "fact_0"})
    book.add("a turn", "episode")
    assert found(book, "is:protected") == found(book, "is:confirmed") == ["protected"]
    assert found(book, "is:fading") == ["fading"]
    assert found(book, "is:recalled") == ["seen"]
    assert found(book, "is:secret") == ["secret"]
    assert found(book, "is:correction") == ["corrected"]
    assert found(book, "is:reviewed") == ["protected", "seen"]
    assert found(book, "is:unreviewed") == ["fading", "steady", "secret", "corrected"]
    assert len(found(book, "is:unembedded")) == 7


def test_the_trash_is_looked_into_only_when_asked(book: Book) -> None:
    book.add("active")
    for ended_by in ("forgotten", "faded", "superseded", "merged"):
        book.forget(book.add(ended_by), ended_by)
    assert found(book, "is:forgotten") == ["forgotten"]
    assert found(book, "is:superseded,merged") == ["superseded", "merged"]
    assert found(book, "is:trash") == ["forgotten", "faded", "superseded", "merged"]
    assert found(book, "is:trash -is:faded") == ["forgotten", "superseded", "merged"]
    assert found(book, "-is:forgotten") == ["active"]
    assert len(found(book, "is:active,trash")) == 5


def test_a_day_begins_with_its_first_second(book: Book) -> None:
    midnight = NOW - NOW % DAY
    for content, second in (("last", midnight - 1), ("first", midnight)):
        book.add(content, at=second)
    assert found(book, "before:2026-02-02") == ["last"]
    assert found(book, "after:2026-02-02") == found(book, "on:2026-02-02") == ["first"]
    assert found(book, "on:2026-02-01") == ["last"]


def test_times(book: Book) -> None:
    for content, day in (("old", -400), ("month", -31), ("week", -6), ("today", 0)):
        book.add(content, at=NOW + day * DAY)
    assert found(book, "after:7d") == ["week", "today"]
    assert found(book, "before:7d") == ["old", "month"]
    assert found(book, "after:2026") == ["month", "week", "today"]
    assert found(book, "before:2026-02-02") == ["old", "month", "week"]
    assert found(book, "on:today") == ["today"]
    assert found(book, "2026-01..2026-02") == found(book, "on:2026") == ["month", "week", "today"]
    assert found(book, "..2025") == ["old"]
    assert (
        found(book, 'on:"last month"')
        == found(book, "on:last-month")
        == found(book, "on:january")
        == ["month", "week"]
    )
    assert found(book, "-on:today,2026-01") == ["old"]


@pytest.mark.parametrize(
    ("expression", "position", "length", "hint"),
    [
        ("tea kind:fct", 9, 3, "Did you mean fact?"),
        ("is:forgoten", 3, 8, "forgotten"),
        ("trust:me", 6, 2, "user, agent, tool, model"),
        ("conf<2", 5, 1, "between 0 and 1"),
        ("conf<x", 5, 1, "between 0 and 1"),
        ("conf<0.1,0.9,z", 13, 1, "between 0 and 1"),
        ("after:2026-13", 6, 7, "2026-01-31"),
        ("after:2025..2026", 6, 10, "on:2025..2026"),
        ("on:2027..2026", 3, 10, "on:2026..2027"),
        ("on:..", 3, 2, "2026-01-31"),
        ("happens:2027..2026", 8, 10, "happens:2026..2027"),
    ],
)
def test_a_value_that_makes_no_sense_is_pointed_at(
    expression: str, position: int, length: int, hint: str
) -> None:
    with pytest.raises(FilterError) as caught:
        compiler.compile_filter(expression, NOW, tz=UTC)
    assert (caught.value.position, caught.value.length) == (position, length)
    assert hint in caught.value.hint


def test_the_term_that_leaves_nothing_is_named(book: Book) -> None:
    assert (
        which_term_removes_all(book.connection, compiler.compile_filter("tea", NOW)) is None
    )  # there is nothing to remove
    book.add("tea", tags=["drink"])
    book.add("bread", tags=["food"])
    book.forget(book.add("coffee", tags=["drink"]))
    alone = which_term_removes_all(book.connection, compiler.compile_filter("tag:drink coffee", NOW))
    assert alone is not None
    assert (str(alone.term), alone.alone, alone.in_trash) == ("coffee", True, 1)
    together = which_term_removes_all(
        book.connection, compiler.compile_filter("tag:drink kind:fact -tea", NOW)
    )
    assert together is not None
    assert (str(together.term), together.alone) == ("-tea", False)
    assert which_term_removes_all(book.connection, compiler.compile_filter("tea", NOW)) is None


@settings(max_examples=examples(50))
@given(st.text(st.sampled_from('ab:"-,*\\ <=.01é東🙂%_\0\ud800\n') | st.characters(), max_size=25))
def test_no_text_breaks_the_query(text: str) -> None:
    connections = open_file(":memory:")
    book = Book(connections)
    book.add("a b c")
    try:
        filter = compiler.compile_filter(f'{text} text:"{text.translate({34: 32, 92: 32})}x"', NOW)
    except FilterError:
        pass
    else:
        listing.count(book.connection, filter)
        which_term_removes_all(book.connection, filter)
    connections.close()


def test_when_it_ended_and_when_agents_were_told_it(book: Book) -> None:
    told, gone = book.add("told"), book.add("gone")
    book.add("neither")
    book.forget(gone)
    with book.writing() as connection:
        recalls.add(connection, at=NOW - 2 * DAY, agent="a", session_id=None, query="?", memory_ids=[told.id])
    assert found(book, "ended:2026-02") == found(book, "ended:2026-02-02T02 is:forgotten") == ["gone"]
    assert found(book, "ended:2026-02-02T03") == found(book, "is:active ended:2026-02") == []
    assert found(book, "-ended:2026-02") == ["told", "neither"]
    assert found(book, "recalled:7d") == found(book, "recalled:2026-01-31") == ["told"]
    assert found(book, "recalled:1d") == [] and found(book, "-recalled:7d") == ["neither"]
