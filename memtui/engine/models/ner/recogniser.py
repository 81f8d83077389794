"""Strategies: which providers read a text, in which order, and what is kept where they overlap.

``fast`` runs beside every turn, so it has rules only. What a model found in a text is remembered for a
while: asking again costs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence

from memtui.engine.errors import DegradedError
from memtui.engine.models.budget import TokenBudget
from memtui.engine.records import LlmOptions, NameFinder, ProviderReport, Record, StrategyReport
from memtui.engine.strategies import ProviderName, all_strategies, require_known

from .providers import (
    FunctionNameProvider,
    LanguageModelProvider,
    Provider,
    RulesProvider,
    SpacyProvider,
    rule_providers,
)
from .span import NameSpan, merge_spans, readable_part

MOST_REMEMBERED = 512
MODEL_PROVIDERS: tuple[ProviderName, ...] = ("spacy", "llm", "function")


class NerResult(Record):
    """The spans of each text, merged and in order of place, and what finding them took."""

    spans: tuple[tuple[NameSpan, ...], ...]
    report: StrategyReport


class NameRecogniser:
    """Finds names by strategy; may be used from several threads.

    ``strategies`` come beside or in the place of the given ones; ``finder`` joins each of them but
    ``fast``. Raises InputError for one that cannot be.
    """

    def __init__(
        self, strategies: Mapping[str, Sequence[str]] | None = None, llm: LlmOptions | None = None,
        finder: NameFinder | None = None,
    ) -> None:  # fmt: skip
        known: dict[ProviderName, Provider] = {
            **rule_providers(), "spacy": SpacyProvider(), "llm": LanguageModelProvider(llm or LlmOptions()),
        }  # fmt: skip
        own = () if finder is None else (FunctionNameProvider(finder),)
        self._strategies = {
            name: (*(known[provider] for provider in providers), *(() if name == "fast" else own))
            for name, providers in all_strategies(strategies or {}).items()
        }
        self._quick = tuple(one for one in self._strategies["fast"] if isinstance(one, RulesProvider))
        self._remembered: dict[tuple[str, str], tuple[NameSpan, ...]] = {}
        self._lock = threading.Lock()

    @property
    def strategies(self) -> dict[str, tuple[ProviderName, ...]]:
        return {name: tuple(one.name for one in providers) for name, providers in self._strategies.items()}

    def missing_providers(self, strategy: str) -> dict[ProviderName, str]:
        """The providers of a strategy that cannot be used here, and why. Raises InputError for an unknown one."""
        return {one.name: why for one in self._providers_of(strategy) if (why := one.reason_unavailable())}

    def reason_unavailable(self, strategy: str) -> str:
        """Why a strategy finds nothing that ``fast`` does not find; "" when it does better."""
        models = [one for one in self._providers_of(strategy) if not isinstance(one, RulesProvider)]
        if not models:
            return f"the strategy {strategy} has rules only"
        reasons = [one.reason_unavailable() for one in models]
        return ", and ".join(reasons) if all(reasons) else ""

    def find_names_by_rules(self, text: str) -> tuple[NameSpan, ...]:
        """The spans of ``fast``, found in this thread."""
        text = readable_part(text)
        spans: list[NameSpan] = []
        for provider in self._quick:
            spans += provider.find_in(text)
        return merge_spans(spans) if len(spans) > 1 else tuple(spans)

    async def find_names(
        self,
        texts: Sequence[str],
        strategy: str,
        *,
        private: Iterable[int] = (),
        spending: TokenBudget | None = None,
    ) -> NerResult:
        """Read texts with a strategy. ``private``: the places of those that may not leave this process.

        A provider that is not there, that fails or that costs too much is passed over, with the reason in the
        report: the others' names stand. Raises InputError for an unknown strategy, DegradedError (BudgetError when
        ``spending`` has too little left) where every model failed that there is.
        """
        extraction, failures = await self._extract_with_errors(
            texts, strategy, private=private, spending=spending
        )
        models = [one for one in extraction.report.providers if one.provider in MODEL_PROVIDERS]
        if failures and all(one.why for one in models):
            raise failures[0]
        return extraction

    async def _extract_with_errors(
        self,
        texts: Sequence[str],
        strategy: str,
        *,
        private: Iterable[int],
        spending: TokenBudget | None = None,
    ) -> tuple[NerResult, list[DegradedError]]:
        """What was found, and the errors of the models that failed."""
        started = time.perf_counter()
        shown = [readable_part(text) for text in texts]
        kept_here = frozenset(private)
        spans_of_texts: list[list[NameSpan]] = [[] for _ in texts]
        reports = []
        failures: list[DegradedError] = []
        for provider in self._providers_of(strategy):
            why = provider.reason_unavailable()
            if why:
                reports.append(ProviderReport(provider=provider.name, why=why))
                continue
            places = [at for at in range(len(texts)) if not (provider.leaves and at in kept_here)]
            begun = time.perf_counter()
            try:
                spans, remembered = await self._ask_provider(provider, [shown[at] for at in places], spending)
            except DegradedError as error:
                failures.append(error)
                reports.append(ProviderReport(provider=provider.name, why=error.message, failed=True))
                continue
            for at, here in zip(places, spans, strict=True):
                spans_of_texts[at] += here
            reports.append(
                ProviderReport(
                    provider=provider.name, texts=len(places), remembered=remembered,
                    spans=sum(map(len, spans)), milliseconds=(time.perf_counter() - begun) * 1e3,
                )
            )  # fmt: skip
        merged = tuple(merge_spans(spans) for spans in spans_of_texts)
        report = StrategyReport(
            strategy=strategy, texts=len(texts), spans=sum(map(len, merged)),
            milliseconds=(time.perf_counter() - started) * 1e3, providers=tuple(reports),
        )  # fmt: skip
        return NerResult(spans=merged, report=report), failures

    async def compare_strategies(self, texts: Sequence[str]) -> tuple[StrategyReport, ...]:
        """The report of every strategy on the same texts; none of them leaves this process.

        Each reads them for itself, with its models at hand: else the first one would pay for all.
        """
        every, reports = range(len(texts)), []
        for name in self._strategies:
            await self._extract_with_errors(texts[:1], name, private=every[:1])
            with self._lock:
                self._remembered.clear()
            extraction, _ = await self._extract_with_errors(texts, name, private=every)
            reports.append(extraction.report)
        return tuple(reports)

    async def _ask_provider(
        self, provider: Provider, texts: Sequence[str], spending: TokenBudget | None
    ) -> tuple[list[Sequence[NameSpan]], int]:
        """The spans of each text, and how many texts were remembered."""
        if isinstance(provider, RulesProvider):
            return list(await provider.find_spans(texts, spending)), 0
        with self._lock:
            known = {text: self._remembered.get((provider.name, text)) for text in texts}
        new = [text for text, spans in known.items() if spans is None]
        if new:
            for text, spans_found in zip(new, await provider.find_spans(new, spending), strict=True):
                known[text] = tuple(spans_found)
            with self._lock:
                for text in new:
                    self._remembered[provider.name, text] = known[text] or ()
                for key in list(self._remembered)[: max(0, len(self._remembered) - MOST_REMEMBERED)]:
                    del self._remembered[key]
        return [known[text] or () for text in texts], len(texts) - len(new)

    def _providers_of(self, strategy: str) -> tuple[Provider, ...]:
        require_known(strategy, self._strategies)
        return self._strategies[strategy]
