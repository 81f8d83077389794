"""What a fact is about: by its form where that is sure, by the tag of a rule or a model, else by the classifier."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from memtui.engine import word_lists
from memtui.engine.records import TOPICS, Topic

from .durability import DurabilityModel
from .protocol import SAID, Draft
from .sentences import split_sentences
from .severity import is_impersonal, names_illness
from .statement_shapes import FAMILY, PEOPLE
from .statements import find_statement, plain_text
from .topic_model import likely_topic

_LONGEST = 600
_SAID = SAID.format(content="", date="")[:-1]
_SIGNS = Path(__file__).with_name("topic_signs.txt")
# A plan to see the doctor is a plan; who "went veggie" for the taste has a preference.
_AILING: frozenset[Topic | None] = frozenset((None, "people", "identity", "possession", "home"))
_BY_FORM: dict[Topic, frozenset[Topic | None]] = {
    "health": _AILING | {"routine", "preference"},
    "people": frozenset(
        (None, "possession", "home", "work", "identity", "routine", "decision", "preference", "health")
    ),
    "work": frozenset((None, "home", "people", "possession", "routine", "health", "preference")),
    "project": frozenset((None, "home", "people", "possession", "health", "preference")),
    "plan": frozenset(("routine",)),
}
"""Of a form's topic: which others it may take the place of."""
# Tags of rules that are surer than the classifier.
_CERTAIN = frozenset(("rule", "family", "pet"))
# What the rules call it.
_TAGGED: dict[str, Topic] = {topic: topic for topic in TOPICS} | {
    "self": "identity", "family": "people", "pet": "people",
}  # fmt: skip


def assign_topics(drafts: Sequence[Draft], model: DurabilityModel | None = None) -> list[Draft]:
    """The drafts, each fact with a topic; a tag that is the name of one goes. ``model``: where its vectors are installed."""
    facts = [draft for draft in drafts if draft.kind == "fact"]
    judged = model.judge_texts([_without_date(draft.content)[:_LONGEST] for draft in facts]) if model else []
    topics = {id(draft): one.topics for draft, one in zip(facts, judged, strict=False)}
    return [
        _assign_topic(draft, topics.get(id(draft))) if draft.kind == "fact" else draft for draft in drafts
    ]


def _assign_topic(draft: Draft, judged: Sequence[float] | None) -> Draft:
    if _CERTAIN.intersection(draft.tags):
        draft = with_topic(draft)
    topic = draft.topic or guess_topic(_without_date(draft.content), judged)
    return replace(
        draft,
        topic=topic_by_form(draft.content, topic),
        tags=tuple(tag for tag in draft.tags if tag not in TOPICS),
    )


def _without_date(content: str) -> str:
    """What was said, without the day on which it was."""
    return content.partition(_SAID)[0]


def topic_by_form(text: str, topic: Topic | None) -> Topic | None:
    """The topic that the form of a text gives it, where that is surer than ``topic``; else ``topic``."""
    plain = plain_text(text)
    nobodys = is_impersonal(plain)
    if topic in _AILING and names_illness(plain) and not nobodys:
        return "health"
    if topic == "rule" and _habit_pattern().search(plain):
        return "people"
    for named, shape in _topic_patterns().items():
        if topic in _BY_FORM[named] and shape.search(plain) and not (named == "health" and nobodys):
            return named
    return topic


@functools.cache
def _topic_patterns() -> dict[Topic, re.Pattern[str]]:
    return {topic: _pattern_under(topic) for topic in _BY_FORM}


@functools.cache
def _habit_pattern() -> re.Pattern[str]:
    return _pattern_under("habit of somebody")


def _pattern_under(heading: str) -> re.Pattern[str]:
    sections = word_lists.read_sections(_SIGNS)
    parts = {"food": "|".join(sections["food"]), "family": FAMILY, "people": PEOPLE}
    shape = "|".join(f"(?:{line})" for line in sections[heading])
    for name, words in parts.items():
        shape = shape.replace(f"{{{name}}}", words)
    return re.compile(shape)


def topic_of_note(text: str) -> Topic | None:
    """What a fact is about that somebody wrote by hand, as far as its form tells."""
    text = text[:_LONGEST]
    first = next(iter(split_sentences(text)), None)
    statement = find_statement(first) if first is not None else None
    topic = next((_TAGGED[tag] for tag in statement.tags if tag in _TAGGED), None) if statement else None
    return topic_by_form(text, topic)


def guess_topic(text: str, judged: Sequence[float] | None = None) -> Topic:
    """What a fact is likely about that no rule tells. Its form is surer than the classifier; ``judged``: see ``likely_topic``."""
    return topic_by_form(text, None) or likely_topic(text[:_LONGEST], judged)


def with_topic(draft: Draft) -> Draft:
    """The draft with the topic that its first such tag names."""
    named = next((tag for tag in draft.tags if tag in _TAGGED), None)
    if draft.kind != "fact" or named is None:
        return draft
    return replace(draft, topic=draft.topic or _TAGGED[named])
