"""The token budget of a run: what it may spend, and what it has spent."""

from __future__ import annotations

from memtui.engine.errors import DegradedError


class BudgetError(DegradedError):
    """A call was not made because the run's budget does not allow for it."""


class TokenBudget:
    """The account of one run.

    ``calls``: requests that went out. ``tokens``: what their replies cost, as the endpoint says, estimated where a
    whole reply does not say. A call that ended without a reply tells no price: what it was expected to cost is
    held back from ``left``, so that failures use up the budget too. ``budget`` None: no limit.
    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self.calls = 0
        self.tokens = 0
        self._held = 0

    @property
    def left(self) -> int | None:
        return None if self.budget is None else max(0, self.budget - self.tokens - self._held)

    def reserve(self, expected: int) -> None:
        """Raise BudgetError unless so many tokens may still be spent."""
        if self.left is not None and expected > self.left:
            raise BudgetError(
                f"it would cost about {expected:,} tokens; {self.left:,} of the budget of this run are left.",
                "Raise llm.budget, or run again.",
            )

    def add_call(self, tokens: int) -> None:
        self.calls += 1
        self.tokens += tokens

    def charge_unanswered(self, expected: int) -> None:
        self.calls += 1
        self._held += expected
