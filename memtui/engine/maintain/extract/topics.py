"""What a fact is about: by the tag that a rule or a model gave it, else by the classifier."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memtui.engine.records import TOPICS, Topic

from .drafts import Draft
from .durability import DurabilityModel

# What the rules call it.
_TAGGED: dict[str, Topic] = {topic: topic for topic in TOPICS} | {
    "self": "identity", "family": "people", "pet": "people",
}  # fmt: skip


def sorted_by_topic(drafts: Sequence[Draft], model: DurabilityModel) -> list[Draft]:
    """The drafts, each fact with a topic where one is known: a tag that is its name becomes it."""
    found = [
        replace(draft, tags=tuple(tag for tag in draft.tags if tag != draft.topic))
        for draft in map(with_topic, drafts)
    ]
    open_ = [place for place, draft in enumerate(found) if draft.kind == "fact" and draft.topic is None]
    if open_ and model.available():
        for place, topic in zip(
            open_, topics_of([found[place].content for place in open_], model), strict=True
        ):
            found[place] = replace(found[place], topic=topic)
    return found


def with_topic(draft: Draft) -> Draft:
    """The draft with the topic that its first such tag names."""
    named = next((tag for tag in draft.tags if tag in _TAGGED), None)
    if draft.kind != "fact" or named is None:
        return draft
    return replace(draft, topic=draft.topic or _TAGGED[named])


def topics_of(texts: Sequence[str], model: DurabilityModel) -> list[Topic | None]:
    """What each text is about, as the classifier sees it."""
    known = {str(topic): topic for topic in TOPICS}
    return [known.get(judgement.topic) for judgement in model.judge(texts)]
