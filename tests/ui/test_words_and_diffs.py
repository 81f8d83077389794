"""Differences between two texts, and the words that a memory shares with its source."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.ui.dialogs.why_not import SharingSource
from memtui.ui.presenters.diff import diff_ranges, mark_changed_parts, mark_differences
from memtui.ui.presenters.source_words import excerpt_around, is_mostly_lost, shared_words
from ui_story import Story

WORDS = ["the", "standup", "is", "at", "ten", "10:30", "not", "Tuesdays,", "ß", "漢字", "\n"]
words = st.lists(st.sampled_from(WORDS), max_size=12)
texts = st.one_of(words.map(" ".join), st.text(max_size=40))


def without(text: str, ranges: list[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in ranges:
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])


@given(texts, texts)
def test_what_did_not_change_is_the_same_in_both_texts(old: str, new: str) -> None:
    gone, come = diff_ranges(old, new)
    for text, ranges in ((old, gone), (new, come)):
        assert all(0 <= start < end <= len(text) for start, end in ranges)
        assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    left, right = without(old, gone), without(new, come)
    assert "".join(left.split()) == "".join(right.split())


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert diff_ranges(text, text) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "gone", "come"),
    [
        ("Standup is at 10:00", "Standup is at 10:30", ["00"], ["30"]),
        ("likes walnuts", "never likes walnuts", [], ["never "]),
        ("flies to Porto", "takes the train to Porto", ["flies"], ["takes the train"]),
    ],
)
def test_whole_words_are_marked_and_neighbours_are_one_piece(
    old: str, new: str, gone: list[str], come: list[str]
) -> None:
    was, now = diff_ranges(old, new)
    assert [old[start:end] for start, end in was] == gone
    assert [new[start:end] for start, end in now] == come


def test_long_texts_are_compared_quickly() -> None:
    old = "\n".join(f"line {number} of a long text" for number in range(5000))
    begin = time.thread_time()
    gone, come = diff_ranges(old, old.replace("line 2500 ", "line 2500 and a half "))
    assert time.thread_time() - begin < 2
    assert len(gone) == len(come) == 1


def test_old_and_new_say_by_sign_what_they_are() -> None:
    shown = mark_differences("at ten", "at eleven").plain
    assert shown == "- at ten\n+ at eleven"
    assert mark_differences("same", "same").plain == "= same"


def test_of_a_long_text_what_changed_is_shown_with_the_words_around_it() -> None:
    clauses = [f"clause {number} about the roof is kept" for number in range(40)]
    old = ", ".join(clauses)
    added = mark_changed_parts(old, f"{old}, and signed").plain.splitlines()
    assert [one[:3] for one in added] == ["- …", "+ …"] and all(len(one) < 110 for one in added)
    assert added[0].endswith("is kept") and added[1].endswith("is kept, and signed")
    both = old.replace("clause 3 ", "clause three ").replace("clause 30 ", "clause thirty ")
    shown = mark_changed_parts(old, both)
    assert shown.plain.count("…") == 6  # of each text before, between and behind
    marked = [shown.plain[span.start : span.end] for span in shown.spans if "strike" in str(span.style)]
    assert marked == ["3", "30"]


long_texts = st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join)


@given(long_texts, long_texts)
def test_every_change_is_among_the_parts_that_are_shown(old: str, new: str) -> None:
    for text, marks in ((old, diff_ranges(old, new)[0]), (new, diff_ranges(old, new)[1])):
        shown = mark_changed_parts(old, new).plain
        assert all(text[start:end] in shown for start, end in marks)


def test_words_of_a_memory_are_found_in_its_source() -> None:
    source = "Honestly I'd rather take the train than fly if it's less than six hours"
    found = [
        source[a:b]
        for a, b in shared_words("Prefers trains over flights for anything under six hours", source)
    ]
    assert found == ["train", "six", "hours"]


def test_a_text_is_mostly_lost_where_fewer_than_half_of_its_words_are_left() -> None:
    parcels, van = "Parcels go to the pick-up point", "The van is for books and Rhubarb"
    assert is_mostly_lost(van, parcels)
    assert not is_mostly_lost(van, f"{parcels}. {van}")
    assert not is_mostly_lost("Takes the tram to work", "Rides to work by tram")
    assert not is_mostly_lost("It is so", parcels)


@given(st.text(max_size=400), st.integers(20, 120))
def test_an_excerpt_is_short_and_its_marks_stay_on_their_words(source: str, length: int) -> None:
    ranges = shared_words(source[50:90], source)
    part, moved = excerpt_around(source, ranges, length)
    assert len(part) <= length + 2
    wanted = {source[a:b] for a, b in ranges}
    assert all(part[a:b] in wanted for a, b in moved)


def test_an_excerpt_is_taken_where_most_words_are() -> None:
    source = "alpha " + "filler " * 100 + "the walnuts that Ada is allergic to " + "filler " * 100
    part, moved = excerpt_around(source, shared_words("Ada is allergic to walnuts", source), 80)
    assert {part[a:b] for a, b in moved} == {"walnuts", "Ada", "allergic"}
    assert part.startswith("…") and part.endswith("…")


def test_memories_that_share_some_words_are_ranked_by_what_they_share_and_not_by_time(story: Story) -> None:
    with story.open() as memory:
        both = memory.remember("The oboe of Nadia is in the harbour")
        story.now += 60
        one = memory.remember("Nadia called")
        story.now += 60
        forgotten = memory.remember("An oboe, a harbour, and a Nadia")
        memory.forget(forgotten.id)
        filter = "is:active,trash text:oboe,harbour,Nadia"
        found = SharingSource(memory, filter, "oboe harbour Nadia")
        (keys,) = found.row_keys()
        assert set(keys[:2]) == {both.rid, forgotten.rid} and one.rid in keys[2:]
        assert [row.memory.rid for row in found.page_rows(0, 2)] == list(keys[:2]) and found.count() == len(
            keys
        )
        # Words that search finds nothing by still list what has them.
        (left,) = SharingSource(memory, filter, "zzzz").row_keys()
        assert {both.rid, one.rid} <= set(left)
