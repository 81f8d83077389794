"""A second look: the texts of the candidates and of the turns around them, read for the words of a question.

The index gives the candidates; what orders them is counted here, from at most a few hundred texts:
which words each one has, how often, how long it is, whether it asks something.
"""

from __future__ import annotations

from collections.abc import Collection

import apsw

from memtui.engine.records import Kind, Record, Trust
from memtui.engine.store import full_text
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import text_stems, text_words

from . import lexicon
from .answer_types import things_wanted
from .query import ParsedQuery, QueryTerm

K1 = 0.9
B = 0.4
"""BM25's two constants. Lower than FTS5's (1.2, .75): in talk, a long turn is not a worse answer."""
MAX_CHARACTERS = 4_000
"""Characters of a text that are read; a longer one keeps the score of the first pass."""
CHATTER_AT_MOST = 80
"""Characters of a turn; a longer one is never taken for chatter."""
_ASKS_AT_THE_END = 160


class ScoredDocument(Record):
    """One text. ``weights``: for each term of the question (by place) how much the text says of it, 0 to idf.

    ``weight``: their sum. ``cut``: the text is longer than what was read. ``asks``: there is a question mark towards its end.
    ``chatter``: it is a turn that agrees, thanks, greets or closes, and says nothing. ``trust``: whose words they are,
    ``role``: who said them, ``at``: when (Unix seconds). ``length``: its words, roughly. ``has``: what the question asks for
    and it has ("a time, as asked"). ``text``: what was read.
    """

    rid: int
    kind: Kind
    session: str | None
    weights: dict[int, float]
    weight: float
    cut: bool
    asks: bool
    chatter: bool
    trust: Trust
    role: str | None
    at: int
    length: int
    has: tuple[str, ...]
    text: str


def score_documents(
    connection: apsw.Connection, question: ParsedQuery, rids: Collection[int]
) -> dict[int, ScoredDocument]:
    """The readings of these memories; those that are gone are left out."""
    places = {term.stem: index for index, term in enumerate(question.terms)}
    rows = connection.execute(
        """
        SELECT m.rid, m.kind, m.session_id, t.context, substr(m.content, 1, ?1), length(m.content),
               instr(substr(m.content, ?2), '?') > 0, m.trust, m.source_role, m.event_time
        FROM memories m JOIN memories_text t ON t.rid = m.rid WHERE m.rid IN (SELECT value FROM json_each(?3))
        """,
        (MAX_CHARACTERS, -_ASKS_AT_THE_END, as_json(rids)),
    )
    with_bigrams = any(term.bigram for term in question.terms)
    beginnings = _prefixes_of(question)
    wanted = things_wanted(question.text)
    found = {}
    for rid, kind, session, context, text, length, asks, trust, role, at in rows:
        whole = f"{context} {text}"
        weights: dict[int, float] = {}
        if not whole.isascii() or any(map(whole.lower().__contains__, beginnings)):
            counts, size = _count_words(whole, places, with_bigrams)
            relative = size / question.mean_length
            weights = {
                index: bm25_weight(question.terms[index], count, relative) for index, count in counts.items()
            }
        found[rid] = ScoredDocument(
            rid=rid, kind=kind, session=session, weights=weights, weight=sum(weights.values()),
            cut=length > MAX_CHARACTERS, asks=bool(asks),
            chatter=kind == "episode" and length <= CHATTER_AT_MOST and _is_chatter(text), trust=trust,
            role=role, at=at, length=len(text.split()), has=tuple(one.said for one in wanted if one.is_in(text)),
            text=text,
        )  # fmt: skip
    return found


def _is_chatter(text: str) -> bool:
    """Whether every word of a text is small or polite."""
    return all(
        word in lexicon.chatter_words() or not lexicon.is_content_word(word) for word in text_words(text)
    )


def _prefixes_of(question: ParsedQuery) -> list[str]:
    """What occurs in a text of ASCII that has one of the words: all of the word's stem, but perhaps its last letter.

    So much Porter leaves as it was (``happy`` and ``happi``). Texts without are most of those found by their meaning.
    """
    return [term.stem[:-1] for term in question.terms if term.stem.isascii()]


def bm25_weight(term: QueryTerm, count: int, relative_length: float) -> float:
    """BM25's weight of a word that stands ``count`` times in a text, as a part of the most it can be (its idf)."""
    return term.idf * count / (count + K1 * (1.0 - B + B * relative_length))


def matched_words(question: ParsedQuery, content: str) -> tuple[str, ...]:
    """The words of a text that match, each once, as written there (lower case, without diacritics)."""
    wanted = {term.stem for term in question.terms if not term.bigram}
    pairs = [term.stem[:-1] for term in question.terms if term.bigram]
    both = zip(text_words(content), text_stems(content), strict=True)
    found = dict.fromkeys(word for word, stem in both if stem in wanted)
    found |= dict.fromkeys(pair for pair in (*pairs, *question.characters) if pair in content)
    return tuple(found)


def _count_words(text: str, places: dict[str, int], with_bigrams: bool) -> tuple[dict[int, int], int]:
    """How often each wanted word occurs in a text, and how many words it has."""
    all_words = text_stems(text)
    counts: dict[int, int] = {}
    for word in (*all_words, *full_text.cjk_bigrams(text)) if with_bigrams else all_words:
        if word in places:
            index = places[word]
            counts[index] = counts.get(index, 0) + 1
    return counts, len(all_words)
