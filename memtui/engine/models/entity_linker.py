"""Turn the spans of any provider into the mentions that the store links.

Names that the memory knows come first; what a provider would have said of the same words is a vote for the
type. The store decides which entity a mention is (by its key, merges and the person's decisions included).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from memtui.engine.store.entities import Mention, entity_key

from .ner import NameSpan, merge_spans

_KNOWN = "known"


def merge_mentions(
    guessed: Sequence[NameSpan], known: Sequence[NameSpan] = (), speakers: Container[str] = ()
) -> tuple[Mention, ...]:
    """What a text mentions, each name once, by what a strategy found in it and the known names that stand there.

    ``speakers``: the keys of names that are people's for certain.
    """
    if not known:
        return mentions_of(guessed)
    # "Ada" is known, "Ada Lovelace" stands there: somebody else, until the person says that they are one.
    by_start = {span.start: span for span in guessed}
    separate = [
        one for one in known if one.start not in by_start or not _extends_name(by_start[one.start], one)
    ]
    return mentions_of(merge_spans([*guessed, *separate]), guessed, speakers)


def mentions_of(
    spans: Iterable[NameSpan], guessed: Sequence[NameSpan] = (), speakers: Container[str] = ()
) -> tuple[Mention, ...]:
    """Each name once, as the first span names it.

    A known name has the vote of the one of ``guessed`` that found the same words.
    """
    types = {(span.start, span.end): span.type for span in guessed}
    by_name: dict[str, Mention] = {}
    for span in spans:
        entity_type = types.get((span.start, span.end)) if span.provider == _KNOWN else span.type
        key = entity_key(span.text)
        if entity_type in (None, "other") and key in speakers:
            entity_type = "person"
        type = entity_type or span.type
        before = by_name.get(key)
        if key and (before is None or (entity_type is not None and not before.vote)):
            by_name[key] = Mention(span.name, type, span.text, entity_type is not None)
    return tuple(by_name.values())


def _extends_name(longer: NameSpan, known: NameSpan) -> bool:
    """Whether more of a name stands there than is known of it."""
    return (
        longer.end > known.end
        and longer.type not in ("url", "email")
        and known.text == longer.text[: known.end - known.start]
    )
