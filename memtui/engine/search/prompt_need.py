"""Whether a prompt needs what is known of the person: "plan dinner for us" does, "explain a pointer" does not.

A linear classifier over the words and letters of the prompt gives the need. With the best scores of what might be given it gives
the log odds that the memory has something for the prompt, which decides how much is given. The weights are made by
``tests/benchmarks/prompts_train.py`` from everyday prompts in four languages; no memory helps nearly half of them.
"""

from __future__ import annotations

import functools
import json
import math
from array import array
from collections.abc import Sequence
from pathlib import Path

from memtui.engine.guards.instructions.classifier import HASHED, extract_features

from .relevance import PromptFeatures, Source

SIZE = HASHED
"""So many features: hashed words, pairs and threes of words, and letters that stand together."""
_FOLDER = Path(__file__).parent
_NEED, _ODDS = _FOLDER / "prompt_need.bin", _FOLDER / "prompt_need.json"
_MAX_CHARACTERS = 600
_FIRST = 4
_LEAST = 1e-4


def hashed_features(prompt: str) -> dict[int, float]:
    """The features of a prompt by their place, below ``SIZE``."""
    return {
        bucket: value for bucket, value in extract_features(prompt[:_MAX_CHARACTERS]).items() if bucket < SIZE
    }


@functools.lru_cache(8)
def memory_need(prompt: str) -> float:
    """Above 0 a prompt more likely needs the memory than not. Kept, because a block asks for its facts and for its excerpts."""
    weights, scale, bias = _need_weights()
    return bias + scale * sum(weights[bucket] * value for bucket, value in hashed_features(prompt).items())


def odds_features(need: float, working: bool, scores: Sequence[float]) -> tuple[float, ...]:
    """What the odds are made of. ``working``: not a question for one thing; ``scores``: probabilities, the highest first."""
    first = [*scores[:_FIRST], *[0.0] * (_FIRST - len(scores))]
    return need, float(working), _log_odds(first[0]), sum(map(_log_odds, first)) / _FIRST, 1.0


def answer_odds(prompt: PromptFeatures, source: Source, scores: Sequence[float]) -> float:
    """The log odds that ``source`` has what a prompt needs, by the probabilities of its pieces, the highest first."""
    values = odds_features(memory_need(prompt.text), not prompt.factual, scores)
    return sum(map(float.__mul__, _odds_weights()[source], values))


def _log_odds(probability: float) -> float:
    inside = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(inside / (1 - inside))


@functools.cache
def _need_weights() -> tuple[array[int], float, float]:
    """A byte for each feature, what one of it is worth, and what every prompt begins with."""
    data = _NEED.read_bytes()
    scale, bias = array("d", data[:16])
    return array("b", data[16:]), scale, bias


@functools.cache
def _odds_weights() -> dict[Source, list[float]]:
    found: dict[Source, list[float]] = json.loads(_ODDS.read_text(encoding="utf-8"))
    return found
