"""From spans of any provider to the mentions that the store links.

Names that the memory knows come first; what a provider would have said of the same words is a vote for the
type. The store decides which entity a mention is (by its key, merges and the person's decisions included).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from memtui.engine.records import Entity, Link
from memtui.engine.store.entities import Mention, entity_key

from .ner import KnownNames, Span, extract_fast, merge, readable

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
_KNOWN = "known"


def mentions(
    text: str, known: KnownNames | None = None, more: Iterable[Span] = (), speakers: Container[str] = ()
) -> tuple[Mention, ...]:
    """What ``text`` mentions according to the ``fast`` strategy and ``more`` spans, each name once.

    ``speakers``: the keys of names that are people's for certain.
    """
    guessed = extract_fast(text, None, more)
    there = known.find(readable(text)) if known else []
    if not there:
        return mentions_of(guessed)
    # "Ada" is known, "Ada Lovelace" stands there: somebody else, until the person says that they are one.
    longer = [span for span in guessed if any(_extends(span, one) for one in there)]
    there = [one for one in there if not any(_extends(span, one) for span in longer)]
    return mentions_of(merge([*guessed, *there]), guessed, speakers)


def mentions_of(
    spans: Iterable[Span], guessed: Sequence[Span] = (), speakers: Container[str] = ()
) -> tuple[Mention, ...]:
    """Each name once, as the first span names it; labels of other models become our types.

    A known name has the vote of the one of ``guessed`` that found the same words.
    """
    types = {(span.start, span.end): span.type for span in guessed}
    found: dict[str, Mention] = {}
    for span in spans:
        said = types.get((span.start, span.end)) if span.provider == _KNOWN else span.type
        key = entity_key(span.text)
        if said in (None, "other") and key in speakers:
            said = "person"
        type = span.type if said is None else said if said in OWN_TYPES else TYPES.get(said, "other")
        before = found.get(key)
        if key and (before is None or (said is not None and not before.vote)):
            found[key] = Mention(span.name, type, span.text, said is not None)
    return tuple(found.values())


def places(text: str, entities: Sequence[Entity]) -> list[Link]:
    """Where ``text`` names these entities, in order; of names that overlap the longest."""
    by_name = {name: entity for entity in entities for name in (*entity.aliases, entity.canonical_name)}
    known = KnownNames((name, name, entity.type) for name, entity in by_name.items())
    return [
        Link(start=span.start, end=span.end, entity=by_name[span.name]) for span in merge(known.find(text))
    ]


def _extends(longer: Span, known: Span) -> bool:
    """Whether more of a name stands there than is known of it."""
    return (
        longer.provider != _KNOWN
        and longer.start == known.start
        and longer.end > known.end
        and longer.type not in ("url", "email")
        and known.text == longer.text[: known.end - known.start]
    )
