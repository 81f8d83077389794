"""From spans of any provider to the mentions that the store links.

The store decides which entity a mention is (by its key, merges and the person's decisions included).
"""

from __future__ import annotations

from collections.abc import Iterable

from memtui.engine.store.entities import Mention, entity_key

from .ner import KnownNames, Span, extract_fast

# The labels of spaCy's models and of our prompts, in the terms of the memory.
TYPES = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "organization",
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
    "DATE": "date",
    "EMAIL": "email",
    "URL": "url",
}
OWN_TYPES = frozenset({"person", "project", "organization", "location", "email", "url", "date", "other"})


def mentions(text: str, known: KnownNames | None = None, more: Iterable[Span] = ()) -> tuple[Mention, ...]:
    """What ``text`` mentions according to the ``fast`` strategy and ``more`` spans, each entity once."""
    return mentions_of(extract_fast(text, known, more))


def mentions_of(spans: Iterable[Span]) -> tuple[Mention, ...]:
    """Each entity once, as the first span names it; labels of other models become our types."""
    found: dict[tuple[str, str], Mention] = {}
    for span in spans:
        type = span.type if span.type in OWN_TYPES else TYPES.get(span.type, "other")
        key = entity_key(span.name)
        if key:
            found.setdefault((key, type), Mention(span.name, type, span.text))
    return tuple(found.values())
