"""The topic of what rules drew in an export from before facts had topics: its tag, as migration 0014 gives it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from memtui.engine.records import BY_RULES, TOPICS, Topic
from memtui.engine.store.export_rows import AnyLine, MemoryLine

_OF_TAGS: dict[str, Topic] = {
    **{topic: topic for topic in TOPICS}, "self": "identity", "family": "people", "pet": "people",
}  # fmt: skip
_LASTING = ("health", "rule")
# A confidence of this or less is that of a fact that another one replaced.
_REPLACED = 0.3


def with_topic(line: AnyLine) -> AnyLine:
    """The line with the topic that its tags name; the same where it is no fact that rules drew."""
    if not isinstance(line, MemoryLine) or line.kind != "fact":
        return line
    attributes: Any = msgspec.json.decode(line.attributes)
    tags: Any = msgspec.json.decode(line.tags)
    if (
        not isinstance(attributes, dict)
        or not isinstance(tags, list)
        or attributes.get("extractor") != BY_RULES
    ):
        return line
    topic = next((_OF_TAGS[tag] for tag in tags if isinstance(tag, str) and tag in _OF_TAGS), None)
    if topic is None:
        return line
    stays = topic in _LASTING and line.confidence > _REPLACED
    return replace(line, topic=topic, decay_rate=0.0 if stays else line.decay_rate)
