"""A dot of an abbreviation ends no sentence, for search and for what is drawn from talk alike."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.search.clauses import split_clauses

BEFORE = "We moved the whole garden shed over to the other side of the yard"
AFTER = "and the neighbours helped us with that for all of a long rainy Saturday afternoon"


@pytest.mark.parametrize("word", ["Dr.", "etc.", "z.B.", "Mme.", "Sra.", "approx.", "incl."])
def test_a_sentence_goes_on_after_an_abbreviation(word: str) -> None:
    text = f"{BEFORE} {word} {AFTER.capitalize()}."
    assert [one.text for one in split_sentences(text)] == [text]
    assert [one.text for one in split_clauses(text)] == [text]


@pytest.mark.parametrize("word", ["done.", "Saturday.", "am."])
def test_a_word_ends_one(word: str) -> None:
    text = f"{BEFORE} {word} {AFTER.capitalize()}."
    assert len(split_clauses(text)) == 2
    assert len(split_sentences(text)) == (1 if word == "am." else 2)
