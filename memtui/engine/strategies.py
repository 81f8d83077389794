"""How names are found: strategies and the providers that they may use.

A strategy is a name for providers in order. Those given here may be replaced, and others added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .errors import InputError

ProviderName = Literal["regex", "names", "spacy", "llm", "function"]
PROVIDERS: tuple[ProviderName, ...] = ("regex", "names", "spacy", "llm")
"""Those that a strategy may name. A function of the program joins each strategy but ``fast``."""
RULES: tuple[ProviderName, ...] = ("regex", "names")
"""Providers that need no model: quick enough to run beside every turn."""

STRATEGIES: dict[str, tuple[ProviderName, ...]] = {
    "fast": RULES,
    "local": (*RULES, "spacy"),
    "accurate": (*RULES, "spacy", "llm"),
}


def all_strategies(own: Mapping[str, Sequence[str]]) -> dict[str, tuple[ProviderName, ...]]:
    """The given strategies and the person's own, which may take their place. Raises InputError as ``checked``."""
    return STRATEGIES | {name: check_strategy(name, providers) for name, providers in own.items()}


def check_strategy(strategy: str, providers: Sequence[str]) -> tuple[ProviderName, ...]:
    """The providers of a strategy, each known and once. Raises InputError."""
    hint = f"Providers: {', '.join(PROVIDERS)}."
    if not providers:
        raise InputError(f"The strategy {strategy} names no provider.", hint)
    found: list[ProviderName] = []
    for given in providers:
        name = next((name for name in PROVIDERS if name == given), None)
        if name is None:
            raise InputError(f"The strategy {strategy} names {given!r}, which is not a provider.", hint)
        if name in found:
            raise InputError(f"The strategy {strategy} names {given!r} twice.", "Name it once.")
        if strategy == "fast" and name not in RULES:
            rules = " and ".join(RULES)
            raise InputError(
                f"The strategy fast cannot use {given!r}.",
                f"It runs for every turn, so it can only use {rules}. Give a strategy with other providers another name.",
            )
        found.append(name)
    return tuple(found)


def require_known(strategy: str, strategies: Mapping[str, object]) -> None:
    """Raise InputError for a name that no strategy has."""
    if strategy not in strategies:
        raise InputError(
            f"There is no strategy {strategy!r} for finding names.", f"Strategies: {', '.join(strategies)}."
        )
