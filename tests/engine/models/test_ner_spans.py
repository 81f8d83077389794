"""What holds of spans whatever the text: they quote it, they lie apart, and no text is slow to read."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.models.ner import (
    KnownNames,
    NameRecogniser,
    NameSpan,
    find_marked,
    find_names,
    merge_spans,
    readable_part,
)
from memtui.engine.models.ner.other_scripts import find_in_other_scripts

FAST = NameRecogniser()
KNOWN = KnownNames(
    [("Ada", "Ada", "person"), ("田", "田", "person"), ("ß", "ß", "other"), ("ﬁ", "ﬁ", "other")]
)
TYPES = {"person", "project", "organization", "location", "email", "url", "date", "other"}
FINDERS: dict[str, Callable[[str], list[NameSpan]]] = {
    "marked": find_marked,
    "names": find_names,
    "other scripts": find_in_other_scripts,
    "known": KNOWN.find_names,
}

# Any text, and text that is full of what the rules look for.
ANY = st.text(st.characters(codec="utf-8"), max_size=120)
WORDS = re.split(
    " ",
    "Ada met Project Nimbus the in @ben #tag a@b.io https://x.io/a_(b) 8 May 2023 . , \n ' 's İ ß ﬁ 王芳 昨天 在"
    " 杭州 田中 さん 大学 김민수 씨 서울 السيد خالد في القاهرة श्री मोहन जी दिल्ली Ольга в Москве “ ” e\u0301 \u0345 ǅ Σ ``` `",
)
NAMEY = st.builds(str.join, st.sampled_from(["", " "]), st.lists(st.sampled_from(WORDS), max_size=40))
TEXTS = ANY | NAMEY


@pytest.mark.parametrize("finder", FINDERS)
@given(text=TEXTS)
def test_every_rule_quotes_the_text(finder: str, text: str) -> None:
    for span in FINDERS[finder](text):
        assert 0 <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        assert span.name.strip()
        assert span.type in TYPES
        assert 0 < span.confidence <= 1


@given(TEXTS)
def test_spans_are_ordered_apart_and_quote_the_text(text: str) -> None:
    end = 0
    for span in merge_spans([*FAST.find_names_by_rules(text), *KNOWN.find_names(readable_part(text))]):
        assert end <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        end = span.end


@given(TEXTS)
def test_passing_over_code_moves_nothing(text: str) -> None:
    shown = readable_part(text)
    assert len(shown) == len(text)
    assert all(mine in (theirs, " ") for mine, theirs in zip(shown, text, strict=True))


def span(start: int, length: int, confidence: float) -> NameSpan:
    return NameSpan(
        text="x" * length, start=start, end=start + length, type="other", confidence=confidence, provider="", name="x"
    )  # fmt: skip


SPANS = st.lists(
    st.builds(span, st.integers(0, 30), st.integers(1, 9), st.sampled_from([0.6, 0.75, 0.9, 1.0])),
    max_size=25,
)


@given(SPANS)
def test_merging_leaves_out_only_what_gives_way_to_something_better(spans: list[NameSpan]) -> None:
    kept = merge_spans(spans)
    assert all(one.end <= other.start for one, other in pairwise(kept))
    for one in spans:
        if one in kept:
            continue
        rivals = [other for other in kept if other.start < one.end and one.start < other.end]
        assert any(
            (other.confidence, other.end - other.start) >= (one.confidence, one.end - one.start)
            for other in rivals
        )


@given(SPANS, st.randoms())
def test_merging_does_not_depend_on_the_order_of_providers(spans: list[NameSpan], random: object) -> None:
    shuffled = sorted(spans, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert merge_spans(shuffled) == merge_spans(spans)
    assert merge_spans(merge_spans(spans)) == merge_spans(spans)


NASTY = [
    "Ada ", "A", "@", "a@", "a.b@", "https://", "(", "A. ", "Ada of the ", "8 May ", "1", "12.12.", "#a", "`", "\u0130",
    "Ada's ", "'", "Ada-", "Ada, ", "Ada and ", "\n", "王", "王芳", "ア", "さん", "김민수 씨", "السيد ", "م", "जी ",
    "श्री ", "e\u0301",
    "ﬁ", "Project ", "Ada is a ",
]  # fmt: skip


# What finds names calls what finds those of other scripts.
@pytest.mark.parametrize("finder", ["marked", "names", "known"])
def test_no_rule_is_slow_on_hostile_text(finder: str, full: bool) -> None:
    """A text of anything takes twice what half of it takes, not four times."""
    find = FINDERS[finder]
    size = 500_000 if full else 125_000
    for piece in NASTY:
        whole = took(find, piece * (size // len(piece)))
        if whole <= size * 1.2e-6:
            continue
        half = took(find, piece * (size // 2 // len(piece)))
        for _ in range(3):  # a neighbour on the same core makes it slow now and then, not each time
            if whole < 3.2 * half:
                break
            whole = min(whole, took(find, piece * (size // len(piece))))
            half = max(half, took(find, piece * (size // 2 // len(piece))))
        assert whole < 3.2 * half, (piece, half, whole)
        assert whole < size * 2e-5, (piece, whole)


def took(find: Callable[[str], list[NameSpan]], text: str) -> float:
    """Seconds of this thread: other programs do not count."""
    start = time.thread_time()
    find(text)
    return time.thread_time() - start


@pytest.mark.parametrize("piece", ["Ada ", "a@", "https://", "A. ", "8 May ", "王芳", "김민수 씨 ", "السيد "])
def test_a_text_of_a_million_letters_is_read_in_part(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert took(lambda text: list(FAST.find_names_by_rules(text)), text) < 1.5


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dinner with Sam Lee in New York", [("Sam Lee", "person"), ("New York", "location")]),
        ("Wedding of Tom and Ada in Leeds", [("Tom", "person"), ("Ada", "person"), ("Leeds", "location")]),
        ("Getting Started With The Postgres Setup", []),
        ("GET /users returns 404, POST fails", []),
        ("Ich lerne Spanisch und Deutsch", []),
        ("Der Hund schläft im Garten", []),
    ],
)
def test_short_notes_full_of_names_are_no_headings_and_verbs_languages_and_nouns_no_names(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert [(span.text, span.type) for span in find_names(text)] == found
