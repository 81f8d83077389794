"""What a consolidation by a language model would cost, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.present.format import count, plural, price

if TYPE_CHECKING:
    from memtui.engine.maintain.plan import Estimate
    from memtui.engine.records import LlmOptions


def told_cost(cost: Estimate, llm: LlmOptions) -> str:
    """What a run would cost, in a sentence or two."""
    return (
        f"{plural(cost.turns, 'turn')} go to {llm.base_url}: about {count(cost.tokens)} tokens in "
        f"{plural(cost.calls, 'call')}{price(cost.tokens, llm.price)}.\n"
        f"At most {count(llm.budget_tokens)} tokens are spent in one run; what is left then waits."
    )
