"""The grammar of filters: what is read, what is refused and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.errors import FilterError
from memtui.engine.search.filters.terms import (
    KEYS,
    MAX_IDS,
    MAX_LENGTH,
    MAX_TERMS,
    MAX_VALUES,
    Term,
    Value,
    parse_filter,
)


def bare(terms: tuple[Term, ...]) -> list[tuple[str, str, bool, list[str]]]:
    return [(t.key, t.operator, t.negated, [v.text for v in t.values]) for t in terms]


def test_an_empty_filter_has_no_terms() -> None:
    assert parse_filter("") == parse_filter("  \t\n") == parse_filter(" , ") == ()


def test_terms_have_a_key_an_operator_a_sign_and_alternatives() -> None:
    assert bare(parse_filter('kind:fact -tag:work,home conf<=.5 -lisbon Entity:"Ada Lovelace"')) == [
        ("kind", ":", False, ["fact"]),
        ("tag", ":", True, ["work", "home"]),
        ("conf", "<=", False, [".5"]),
        ("text", ":", True, ["lisbon"]),
        ("entity", ":", False, ["Ada Lovelace"]),
    ]


def test_a_star_at_the_end_asks_for_beginnings() -> None:
    [word, name, anything] = parse_filter('tra* entity:"Ada L"* tag:*')
    assert (word.values[0].text, word.values[0].prefix) == ("tra", True)
    assert (name.values[0].text, name.values[0].prefix) == ("Ada L", True)
    assert (anything.values[0].text, anything.values[0].prefix) == ("", True)


def test_quotes_hold_spaces_commas_and_escaped_quotes() -> None:
    [term] = parse_filter(r'"a, \"b\" \\ c"')
    assert term.values[0].text == r'a, "b" \ c'
    assert term.values[0].quoted


def test_a_span_of_dates_needs_no_key() -> None:
    assert bare(parse_filter("2026-01..2026-03 2026.. ..2025")) == [
        ("on", ":", False, ["2026-01..2026-03"]),
        ("on", ":", False, ["2026.."]),
        ("on", ":", False, ["..2025"]),
    ]
    assert bare(parse_filter("2026-01 a..b ..")) == [
        ("text", ":", False, [w]) for w in ("2026-01", "a..b", "..")
    ]


@pytest.mark.parametrize(
    "word",
    [
        "10:30",
        "std::vector",
        "https://a.example/x?y=1",
        "C:\\temp",
        "note:",
        "it's",
        "a=b",
        "x<3",
        "::",
        "50%",
    ],
)
def test_texts_with_colons_and_signs_are_words(word: str) -> None:
    assert bare(parse_filter(word)) == [("text", ":", False, [word])]


@pytest.mark.parametrize(
    ("expression", "position", "length", "hint"),
    [
        ("tea knd:fact", 4, 3, "kind:"),
        ("confidence:0.5", 0, 10, "conf:"),
        ("zzz:1", 0, 3, "kind, tag"),
        ('tea "green tea', 4, 10, '"'),
        ("tea -", 4, 1, "-lisbon"),
        ("- tea", 0, 1, "-lisbon"),
        ("kind: fact", 0, 5, "kind:fact"),
        ("conf<", 0, 5, "conf<0.5"),
        ("tag<3", 3, 1, "tag:work"),
    ],
)
def test_a_mistake_is_pointed_at_and_explained(
    expression: str, position: int, length: int, hint: str
) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(expression)
    assert (caught.value.position, caught.value.length) == (position, length)
    assert hint in caught.value.hint
    assert caught.value.pointer().endswith("\n" + " " * position + "^" * length)


@pytest.mark.parametrize(
    ("expression", "limit"),
    [
        ("a " * (MAX_TERMS + 1), "50 terms"),
        ("a," * (MAX_VALUES + 1), "50 values"),
        (" ".join(["-東,東"] * (MAX_VALUES // 2 + 1)), "50 values"),
        ('"' + "the " * (MAX_LENGTH // 4) + '"', "2,000 characters"),
        ("a" * 30_000, "20,000 characters"),
        ("id:" + "a," * (MAX_IDS + 1), "200 ids"),
    ],
)
def test_more_than_can_be_answered_soon_is_refused(expression: str, limit: str) -> None:
    with pytest.raises(FilterError, match=limit) as caught:
        parse_filter(expression)
    assert 0 <= caught.value.position < len(expression)
    assert caught.value.hint


def test_as_many_ids_as_a_finding_names_are_read() -> None:
    ids = ",".join(f"observation_{number:012x}" for number in range(MAX_IDS))
    [term] = parse_filter(f"id:{ids}")
    assert len(term.values) == MAX_IDS


@given(st.text(st.sampled_from('ab:"-,*\\ <=.0129\0\ud800é東\n') | st.characters(), max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        terms = parse_filter(text)
    except FilterError as error:
        assert 0 <= error.position <= len(text)
        assert error.message and error.hint
    else:
        for term in terms:
            assert 0 <= term.position < term.position + term.length <= len(text)


word = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(
    lambda s: bool(s.strip())
)
value = st.builds(Value, text=word, quoted=st.just(True), prefix=st.booleans())


@given(
    st.lists(
        st.builds(
            Term,
            key=st.sampled_from(KEYS),
            values=st.lists(value, min_size=1, max_size=3).map(tuple),
            negated=st.booleans(),
        ),
        max_size=4,
    )
)
def test_what_is_written_is_read_back(terms: list[Term]) -> None:
    written = " ".join(map(str, terms))
    read = parse_filter(written)
    assert bare(read) == bare(tuple(terms))
    assert [[v.prefix for v in t.values] for t in read] == [[v.prefix for v in t.values] for t in terms]


@given(st.text(st.sampled_from('ab:"-,* .0129é東'), max_size=30))
def test_the_normal_form_is_stable(text: str) -> None:
    try:
        once = " ".join(map(str, parse_filter(text)))
    except FilterError:
        return
    assert " ".join(map(str, parse_filter(once))) == once


@pytest.mark.parametrize(
    ("expression", "position", "length"),
    [
        ("kind:fact OR kind:episode", 10, 2),
        ("lisbon AND porto", 7, 3),
        ("NOT lisbon", 0, 3),
        ("NOT(lisbon)", 0, 3),
        ("(tag:a tag:b)", 0, 1),
        ("-(tag:a)", 1, 1),
        ("tag:a ) porto", 6, 1),
        ("lisbon OR", 7, 2),
    ],
)
def test_operators_of_other_languages_are_pointed_at(expression: str, position: int, length: int) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filter(expression)
    assert (raised.value.position, raised.value.length) == (position, length)
    assert "kind:a,b for or" in raised.value.hint


@pytest.mark.parametrize(
    "expression", ['"OR"', '"("', "or and not", "Or ORACLE NOTE ANDES", "text:OR", "f(x)", "OR*"]
)
def test_in_quotes_or_small_letters_they_are_words(expression: str) -> None:
    terms = parse_filter(expression)
    assert {term.key for term in terms} == {"text"}
    assert [[v.text for v in t.values] for t in parse_filter(" ".join(map(str, terms)))] == [
        [v.text for v in t.values] for t in terms
    ]
