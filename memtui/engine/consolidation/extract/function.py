"""Facts by a function of the program that opened the memory. What it gives is checked before it is planned."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memtui.engine.errors import DegradedError
from memtui.engine.records import ExtractorFunction, MemoryRecord

from .protocol import MAX_CHARACTERS, MOST_FACTS, Context, Draft, Extraction


class FunctionExtractor:
    """An ``Extractor``; the function runs in a thread."""

    name, limit = "function", MOST_FACTS

    def __init__(self, function: ExtractorFunction) -> None:
        self._function = function

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        return 0

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        """Raises DegradedError for a function that fails, or gives what is no draft of these turns."""
        try:
            given = await asyncio.to_thread(lambda: list(self._function(turns)))
        except Exception as error:  # the program's code: whatever it raises is reported
            raise DegradedError(
                f"The extractor function failed ({type(error).__name__}: {error}).",
                "It takes the turns of a session and gives drafts.",
            ) from error
        known = {turn.id for turn in turns}
        return Extraction(drafts=tuple(_check_drafts(one, known) for one in given))


def _check_drafts(given: object, known: set[str]) -> Draft:
    if not isinstance(given, Draft):
        raise DegradedError(
            f"The extractor function gave a {type(given).__name__}.", "It gives objects of Draft."
        )
    if not isinstance(given.content, str) or not 0 < len(given.content.strip()) <= MAX_CHARACTERS:
        raise DegradedError(
            "The extractor function gave a draft without a text, or with too long a one.",
            f"A text has 1 to {MAX_CHARACTERS:,} characters.",
        )
    if not given.sources or not known.issuperset(given.sources):
        raise DegradedError(
            f"The extractor function gave a draft without its turns: “{given.content[:60]}”.",
            "sources are ids of the turns that it was given, at least one.",
        )
    return given
