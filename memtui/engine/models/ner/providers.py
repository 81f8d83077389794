"""What finds names in texts: one protocol for rules, spaCy and language models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from memtui.engine.models.budget import Spending
from memtui.engine.records import LlmOptions
from memtui.engine.strategies import ProviderName

from .names import find_names
from .patterns import find_marked
from .span import Span

TEXTS_A_CALL = 10


class Provider(Protocol):
    """``leaves``: texts leave this process, so those that carry a secret are not given to it."""

    name: ProviderName
    leaves: bool

    def unavailable(self) -> str:
        """Why it cannot be used here; "" when it can."""
        ...

    async def find(self, texts: Sequence[str], spending: Spending | None) -> list[list[Span]]:
        """The spans in each text, in any order; they may overlap.

        Raises DegradedError where it cannot be used (BudgetError when ``spending`` has too little left).
        """
        ...


class Rules:
    """Patterns and word lists; always there, quick enough for every turn (``find_in``)."""

    leaves = False

    def __init__(self, name: ProviderName, find_in: Callable[[str], list[Span]]) -> None:
        self.name: ProviderName = name
        self.find_in = find_in

    def unavailable(self) -> str:
        return ""

    async def find(self, texts: Sequence[str], spending: Spending | None) -> list[list[Span]]:
        return [self.find_in(text) for text in texts]


class Spacy:
    """spaCy's small English model, in a thread."""

    name: ProviderName = "spacy"
    leaves = False

    def unavailable(self) -> str:
        from . import spacy_names

        return spacy_names.unavailable()

    async def find(self, texts: Sequence[str], spending: Spending | None) -> list[list[Span]]:
        from . import spacy_names

        try:
            return await asyncio.to_thread(spacy_names.find, texts)
        except asyncio.CancelledError:
            spacy_names.end()  # else the thread goes on until it is read
            raise


class LanguageModel:
    """The configured endpoint; ten texts a call."""

    name: ProviderName = "llm"
    leaves = True

    def __init__(self, options: LlmOptions) -> None:
        self._options = options

    def unavailable(self) -> str:
        return "" if self._options.configured else "no language model is configured"

    async def find(self, texts: Sequence[str], spending: Spending | None) -> list[list[Span]]:
        from . import llm_names

        found: list[list[Span]] = []
        for start in range(0, len(texts), TEXTS_A_CALL):
            found += await llm_names.find(self._options, texts[start : start + TEXTS_A_CALL], spending)
        return found


def rules() -> dict[ProviderName, Rules]:
    """The providers that need no model."""
    return {"regex": Rules("regex", find_marked), "names": Rules("names", find_names)}
