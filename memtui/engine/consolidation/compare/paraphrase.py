"""How likely two statements say the same in other words: a linear model of our own.

What rules call a duplicate has nearly the same words, so one of the two may be left out. "My hands come up in a rash from
rye" and "rye flour makes my skin itch" share one word. That they say the same is only likely: a card in Review asks, and no
text is dropped for it. The features are those of ``pair_features``, of each pair alone. The weights are made by
``tests/benchmarks/paraphrases_train.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..extract.exclusions import in_known_language
from .conflicts import relation_between
from .pair_features import Statement, pair_features
from .similarity import compare_statements, tokens_as_written
from .update_model import read_arrays, update_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS = Path(__file__).parent / "paraphrase.npz"
ASKED_FROM = 0.9
"""Log-odds from which a card asks: of the pairs of writers that are not learned from, 88% of those above say the same."""
_LONGEST_SLOT, _SHORTEST_FRAME = 2, 2


class _Weights(NamedTuple):
    mean: Floats
    spread: Floats
    slopes: Floats
    shift: Floats


@functools.cache
def _load_weights() -> _Weights:
    return _Weights(*read_arrays(WEIGHTS, _Weights._fields))


def features_of_pairs(new: str, known: Sequence[str]) -> Floats:
    """The features of a statement with each of the known ones: a row for each, as if it were the only one."""
    import numpy as np

    model = update_model()
    change = model.change_odds(new)
    rows = [pair_features(Statement(new), [Statement(one)], model.embedder, change)[0] for one in known]
    return np.asarray(rows, np.float32)


def paraphrase_odds(new: str, known: Sequence[str]) -> list[float]:
    """For each known statement the log-odds that the new one says the same; empty where the vectors are not installed."""
    if not known or not update_model().available():
        return []
    weights = _load_weights()
    table = ((features_of_pairs(new, known) - weights.mean) / weights.spread).clip(-4, 4)
    return [float(score) for score in table @ weights.slopes + weights.shift]


def find_paraphrase(new: str, known: Sequence[str]) -> int | None:
    """The index of the known statement that the new one likeliest says again in other words; None where it likely says none.

    What rules take for a change, or for another value in the same words, is none. In other languages than those of the
    classifier the vectors tell too little.
    """
    odds = paraphrase_odds(new, known)
    for place in sorted(range(len(odds)), key=lambda place: -odds[place]):
        if odds[place] < ASKED_FROM:
            return None
        old = known[place]
        if _has_other_value(new, old) or not in_known_language(f"{new} {old}", surely=True):
            continue
        judged = update_model().replacement_odds(Statement(new), [Statement(old)])[0]
        if relation_between(new, old, judged=judged).kind == "beside":
            return place
    return None


def _has_other_value(new: str, old: str) -> bool:
    """Whether one or two words stand in the place of others: "allergic to milk" beside "allergic to eggs"."""
    if compare_statements(new, old).kind == "conflict":
        return True
    mine, theirs = ([word.casefold() for word in tokens_as_written(text)] for text in (new, old))
    before = _common_start(mine, theirs)
    after = _common_start(mine[before:][::-1], theirs[before:][::-1])
    slots = [len(words) - before - after for words in (mine, theirs)]
    return min(slots) > 0 and max(slots) <= _LONGEST_SLOT and before + after >= _SHORTEST_FRAME


def _common_start(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """How many words both begin with."""
    shortest = min(len(mine), len(theirs))
    return next((place for place in range(shortest) if mine[place] != theirs[place]), shortest)
