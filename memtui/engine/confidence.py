"""The confidence that is left at a time: a function of time, computed when read and never written back.

    effective = confidence * exp(-rate * days since the last sign of life)
    rate      = decay_rate * 0.7 ^ (days on which an agent recalled it)

The last sign of life is the latest of created, last recalled, confirmed, and the day that the fact names: a plan does
not fade before it. Because nothing is stored,
it makes no difference how often or when anything runs.
"""

from __future__ import annotations

import math

RECALL_SLOWS = 0.7
SECONDS_PER_DAY = 86_400.0
LASTING = (
    "confidence",
    "decay_rate",
    "recall_days",
    "created_at",
    "last_accessed",
    "confirmed_at",
    "happens_at",
)
"""The columns that it depends on, in the order in which the functions take them."""


def effective_confidence(
    confidence: float,
    decay_rate: float,
    recall_days: int,
    created_at: int,
    last_accessed: int | None,
    confirmed_at: int | None,
    happens_at: int | None,
    now: float,
) -> float:
    """What is left at ``now`` (Unix seconds), in [0, 1]. A clock that is set before the last sign of use decays nothing."""
    if decay_rate == 0.0:
        return min(1.0, max(0.0, confidence))
    anchor = max(
        created_at, last_accessed or created_at, confirmed_at or created_at, happens_at or created_at
    )
    days = max(0.0, now - anchor) / SECONDS_PER_DAY
    return min(1.0, max(0.0, confidence * math.exp(-decay_rate * RECALL_SLOWS**recall_days * days)))


def fades_at(
    confidence: float,
    decay_rate: float,
    recall_days: int,
    created_at: int,
    last_accessed: int | None,
    confirmed_at: int | None,
    happens_at: int | None,
    threshold: float,
) -> float | None:
    """The Unix time at which the effective confidence reaches ``threshold``; None when it never does."""
    if decay_rate == 0.0 or confidence <= 0.0 or threshold <= 0.0:
        return None
    anchor = max(
        created_at, last_accessed or created_at, confirmed_at or created_at, happens_at or created_at
    )
    days = math.log(confidence / threshold) / (decay_rate * RECALL_SLOWS**recall_days)
    return anchor + max(0.0, days) * SECONDS_PER_DAY


# The same in SQL, over a row of memories called m; :now is bound by the caller.
ANCHOR_SQL = (
    "max(m.created_at, coalesce(m.last_accessed, m.created_at), coalesce(m.confirmed_at, m.created_at), "
    "coalesce(m.happens_at, m.created_at))"
)
EFFECTIVE_SQL = (
    f"(m.confidence * exp(-m.decay_rate * pow({RECALL_SLOWS}, m.recall_days) * max(0.0, :now - {ANCHOR_SQL})"
    f" / {SECONDS_PER_DAY}))"
)
