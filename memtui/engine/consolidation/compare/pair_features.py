"""The features of a pair: a new statement, and a known one that it may replace."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memtui.engine.models.embedders import OfflineEmbedder

from .change_words import CHANGES, CUES
from .similarity import plain_weight
from .statement_features import LONGEST, StatementFeatures, features_of
from .value_mentions import values_named

_LONGEST_PRECEDING = 200
_UNSEEN = (
    20  # facts that are supposed beside the known ones, so that a word in one of two is not called common
)


class Statement(NamedTuple):
    """A statement and its context.

    ``preceding``: what its message says right before it; ``earlier_messages``: the messages before that one;
    ``session_id``: "" where it is not known; ``said_at``: when it was said, in seconds.
    """

    text: str
    preceding: str = ""
    earlier_messages: str = ""
    session_id: str = ""
    said_at: float = 0.0


class PairContext(NamedTuple):
    """How a pair compares with the other candidates for the same new statement.

    ``stem_rarity``: how rare a stem is among the candidates. ``vector_rank``, ``overlap_rank``, ``preceding_overlap_rank``: 1
    for the best candidate, 1/2 for the second, and so on. ``context_similarity``, ``context_overlap``: of the two with what
    precedes them. ``preceding_similarity``, ``preceding_overlap``: of what precedes the new one with the known one.
    ``preceding_value``: 1 where what precedes the new one names a value of the known one. ``same_session``: 1 where both are of
    one session; ``recency``: 1 for the last thing that was said there.
    ``candidate_count``: 0 for one candidate, 1 for fifty or more."""

    stem_rarity: Callable[[str], float]
    vector_rank: float
    overlap_rank: float
    context_similarity: float
    context_overlap: float
    preceding_similarity: float
    preceding_overlap: float
    preceding_overlap_rank: float
    preceding_value: float
    same_session: float
    recency: float
    candidate_count: float


def pair_features(
    new: Statement, known: Sequence[Statement], embedder: OfflineEmbedder, change: float
) -> list[list[float]]:
    """The features of one new statement with each of the known ones: a row for each. ``change``: the log-odds that the new one
    changes something; the last ``OF_CHANGE`` features are of it."""
    mine = features_of(new.text, embedder)
    theirs = [features_of(one.text, embedder) for one in known]
    counts = Counter(stem for one in theirs for stem in set(one.content))
    facts = len(theirs) + _UNSEEN

    def stem_rarity(stem: str) -> float:
        return math.log(facts / max(counts[stem], 0.5)) / math.log(2 * facts)

    cosines = [float(mine.vector @ one.vector) for one in theirs]
    overlaps = [_overlap_features(mine, one, stem_rarity) for one in theirs]
    around = features_of(with_preceding(new), embedder)
    context = f"{new.earlier_messages} {new.preceding}".strip()[-LONGEST:]
    context_features = features_of(context, embedder) if context else None
    named = values_named(new.preceding) if new.preceding else frozenset()
    spoken = [
        _overlap_features(context_features, one, stem_rarity) if context_features else 0.0 for one in theirs
    ]
    found = []
    for one, profiled, cosine, overlap, words in zip(known, theirs, cosines, overlaps, spoken, strict=True):
        other = features_of(with_preceding(one), embedder)
        pair = PairContext(
            stem_rarity=stem_rarity,
            vector_rank=1 / (1 + sum(another > cosine for another in cosines)),
            overlap_rank=1 / (1 + sum(another > overlap for another in overlaps)) if overlap else 0.0,
            context_similarity=float(around.vector @ other.vector),
            context_overlap=min(1.0, _overlap_features(around, other, stem_rarity) / 6),
            preceding_similarity=float(context_features.vector @ profiled.vector)
            if context_features
            else 0.0,
            preceding_overlap=min(1.0, words / 4),
            preceding_overlap_rank=1 / (1 + sum(another > words for another in spoken)) if words else 0.0,
            preceding_value=float(bool(named & profiled.spoken_values)),
            same_session=float(bool(new.session_id) and new.session_id == one.session_id),
            recency=_recency_feature(new, one, known),
            candidate_count=min(1.0, math.log(len(known)) / 4),
        )
        found.append([*_features_of_pair(mine, profiled, pair), *change_probability(change, cosine)])
    return found


OF_CHANGE = 2


def change_probability(change: float, cosine: float) -> tuple[float, float]:
    return change, change * cosine


def _recency_feature(new: Statement, old: Statement, known: Sequence[Statement]) -> float:
    """1 for what the session said last, less for what it said before."""
    if not new.session_id or new.session_id != old.session_id:
        return 0.0
    return 1 / (
        1
        + len(
            {
                one.said_at
                for one in known
                if one.session_id == new.session_id and old.said_at < one.said_at <= new.said_at
            }
        )
    )


def with_preceding(statement: Statement) -> str:
    return (
        f"{statement.preceding} {statement.text}"[-_LONGEST_PRECEDING * 2 :]
        if statement.preceding
        else statement.text
    )


def _overlap_features(
    new: StatementFeatures, old: StatementFeatures, stem_rarity: Callable[[str], float]
) -> float:
    return sum(stem_rarity(stem) * plain_weight(stem) for stem in set(new.content).intersection(old.content))


def _features_of_pair(new: StatementFeatures, old: StatementFeatures, pair: PairContext) -> list[float]:
    """The features of a pair, each about between -1 and 1."""
    ours, theirs = set(new.content), set(old.content)
    shared = ours & theirs
    both = _total_rarity(shared)
    share_new, share_old = both / (_total_rarity(ours) or 1), both / (_total_rarity(theirs) or 1)
    cosine = float(new.vector @ old.vector)
    best_new, best_old, near, rest = _alignment_features(new, old, shared)
    linked = min(1.0, _overlap_features(new, old, pair.stem_rarity) / 6)
    value_words, value_meaning, value_size, value_unit, value_share = _differing_values(
        new, old, pair.stem_rarity
    )
    name_words, name_meaning = _swapped_names(new, old, pair.stem_rarity)
    rarest = max(map(pair.stem_rarity, shared), default=0.0)
    stated = [values - new.negated_values for values in new.values]
    differ = [float(bool(a and b and not a & b)) for a, b in zip(stated, old.values, strict=True)]
    same = [float(bool(a & b)) for a, b in zip(stated, old.values, strict=True)]
    differs, equals = max(differ), max(same)
    further = float(any(a and not b for a, b in zip(new.values, old.values, strict=True)))
    more = float(any(len(a) > 1 and a & b for a, b in zip(new.values, old.values, strict=True)))
    named = float(bool(new.names & old.names))
    new_names, old_names = float(bool(new.names - old.names)), float(bool(old.names - new.names))
    swap = new_names * old_names
    gone = float(bool(new.negated & theirs))
    flipped = float(bool((new.negated ^ old.negated) & shared))
    agreed = float(bool(new.negated & old.negated))
    taken_back = float(bool(new.negated_values & old.spoken_values))
    now, instead, correction, moved, replaced, ended, again, amount = new.cues[:CHANGES]
    also, temporary, maybe, _, asks, other, reminder = new.cues[CHANGES:]
    change, changes = max(new.cues[:CHANGES]), sum(new.cues[:CHANGES])
    newcomers = float(bool(new.people - old.people))
    strangers = float(bool(old.people) and bool(new.people - old.people) and not new.people & old.people)
    denies = float(new.negations != old.negations)
    base = [
        cosine, best_new, best_old, near, rest, share_new, share_old, linked, named, new_names, old_names, swap, *differ,
        *same, differs, equals, further, gone, min(1.0, _total_rarity(new.negated & theirs) / 5),
        *new.cues, change, min(changes, 4)
        / 4, strangers, newcomers, float(new.first_person), float(old.first_person), denies, min(new.word_count, 30) / 30,
        min(old.word_count, 30) / 30, float(bool(new.people & old.people)), float(not shared), rarest, pair.vector_rank,
        pair.overlap_rank, pair.vector_rank * pair.overlap_rank, pair.context_similarity, pair.context_overlap, taken_back,
        more, *(old.cues[CUES.index(name)] for name in ("now", "also", "temporary", "maybe", "past", "asks", "other")),
        value_words, value_meaning, value_size, value_unit, value_share, name_words, name_meaning, pair.preceding_similarity,
        pair.preceding_overlap, pair.preceding_overlap_rank, pair.preceding_value, pair.same_session, pair.recency,
        pair.candidate_count,
    ]  # fmt: skip
    together = [
        change * cosine, change * linked, change * share_old, change * differs, change * swap, change * best_old, change *
        rest, linked * differs, linked * swap, cosine * differs, linked * change * differs, linked * change * swap, gone *
        swap, gone * change, named * ended, named * replaced, linked * ended, linked * replaced, linked * moved, linked * now,
        linked * again, linked * amount, differs * moved, differs * amount, differs * correction, differs * now, other *
        linked, other * change, also * change, temporary * change, maybe * change, asks * change, equals * linked, further *
        linked, linked * denies, change * cosine * differs, change * near, change * gone * linked, strangers * change, linked
        * share_old, cosine * cosine, best_old * differs, rarest * change, rarest * differs, rarest * swap, pair.vector_rank *
        change, pair.overlap_rank * change, pair.vector_rank * differs, pair.overlap_rank * differs, pair.context_overlap *
        change, pair.context_overlap * differs, pair.context_similarity * change, pair.context_similarity * differs, rarest *
        change * differs, pair.overlap_rank * rarest * change, equals * change, equals * swap, gone * rarest, instead * swap,
        flipped, agreed, flipped * again, flipped * change, agreed * change, reminder * linked, again * linked * flipped,
        change * float(new.first_person == old.first_person), value_words * change, value_meaning * change, value_unit *
        value_size, value_size * value_meaning, value_unit * change, name_words * change, name_meaning * change, pair.recency
        * differs, pair.recency * correction, pair.recency * change, pair.preceding_overlap * differs, pair.preceding_overlap
        * change, pair.preceding_overlap_rank * differs, pair.same_session * correction, value_share * pair.overlap_rank,
        value_share * change, more * change, taken_back * differs, pair.preceding_value * differs, pair.preceding_value *
        differs * change,
    ]  # fmt: skip
    return base + together


def _differing_values(
    new: StatementFeatures, old: StatementFeatures, stem_rarity: Callable[[str], float]
) -> tuple[float, ...]:
    """For two values of one kind that differ: the weight of the words next to both, the similarity of these words, how near
    the values are, whether they have the same unit, and the share of the words next to the new value that are next to the
    known one. The best of each over all such pairs of values."""
    words = meaning = size = unit = share = 0.0
    for mine in new.mentions:
        for theirs in old.mentions:
            if mine.kind != theirs.kind or mine.value == theirs.value or mine.kind == "name":
                continue
            shared = mine.nearby_stems & theirs.nearby_stems
            words = max(words, min(1.0, sum(stem_rarity(stem) * plain_weight(stem) for stem in shared) / 4))
            meaning = max(meaning, float(mine.nearby_vector @ theirs.nearby_vector))
            size = max(size, _closeness_of_values(mine.kind, mine.value, theirs.value))
            unit = max(unit, float(bool(mine.unit) and mine.unit == theirs.unit))
            share = max(share, _total_rarity(shared) / (_total_rarity(mine.nearby_stems) or 1))
    return words, meaning, size, unit, share


def _swapped_names(
    new: StatementFeatures, old: StatementFeatures, stem_rarity: Callable[[str], float]
) -> tuple[float, float]:
    """The first two of these for names, where each statement has a name that the other has not."""
    words = meaning = 0.0
    for mine in new.mentions:
        if mine.kind != "name" or mine.value in old.content:
            continue
        for theirs in old.mentions:
            if theirs.kind != "name" or theirs.value in new.content:
                continue
            shared = mine.nearby_stems & theirs.nearby_stems
            words = max(words, min(1.0, sum(stem_rarity(stem) * plain_weight(stem) for stem in shared) / 4))
            meaning = max(meaning, float(mine.nearby_vector @ theirs.nearby_vector))
    return words, meaning


def _closeness_of_values(kind: str, mine: str, theirs: str) -> float:
    """One for values that are close, zero for those that are far apart."""
    if kind == "days":
        return 0.5
    if kind == "dates":
        (day, month), (other, of) = mine.split("/"), theirs.split("/")
        if not (day and other):
            return 0.3
        return 1.0 if month and month == of else 0.6 if not (month and of) else 0.4
    if kind == "times":
        one, another = (_hour_of(value) for value in (mine, theirs))
        return 0.3 if one is None or another is None else 1 / (1 + abs(one - another) / 2)
    one, another = (float(value) if value.replace(".", "", 1).isdigit() else 0.0 for value in (mine, theirs))
    return min(one, another) / max(one, another) if one > 0 and another > 0 else 0.0


def _hour_of(value: str) -> float | None:
    hour, _, minute = value.partition(":")
    return int(hour) + int(minute) / 60 if hour.isdigit() and minute.isdigit() else None


def _total_rarity(stems: Iterable[str]) -> float:
    return sum(map(plain_weight, stems))


def _alignment_features(
    new: StatementFeatures, old: StatementFeatures, shared: set[str]
) -> tuple[float, float, float, float]:
    """How well the words of each statement match the other; of the words that are not shared, the similarity of the closest
    two and of all together."""
    if not (len(new.word_vectors) and len(old.word_vectors)):
        return 0.0, 0.0, 0.0, 0.0
    table = new.word_vectors @ old.word_vectors.T
    best_new = float(table.max(axis=1) @ new.word_weights / new.word_weights.sum())
    best_old = float(table.max(axis=0) @ old.word_weights / old.word_weights.sum())
    mine = [place for place, stem in enumerate(new.content) if stem not in shared]
    theirs = [place for place, stem in enumerate(old.content) if stem not in shared]
    if not (mine and theirs):
        return best_new, best_old, 0.0, 0.0
    ours, yours = new.word_vectors[mine].sum(axis=0), old.word_vectors[theirs].sum(axis=0)
    lengths = float((ours @ ours) ** 0.5 * (yours @ yours) ** 0.5)
    return best_new, best_old, float(table[mine][:, theirs].max()), float(ours @ yours) / (lengths + 1e-6)
