"""A text that was held back as suspicious, and that the person lets in after all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from memtui.engine.days import day_of_fact
from memtui.engine.memories import operations, validation
from memtui.engine.records import Options
from memtui.engine.store import memories


def insert_quarantined(
    connection: apsw.Connection, payload: Mapping[str, Any], *, text: str, options: Options, now: int
) -> int:
    """Store it as the fact or observation that it was to be, confirmed: the person has read it.

    Another ``text`` is the person's own.
    """
    corrected = text.strip() != "" and text.strip() != payload["content"]
    accepted = validation.accept(text.strip() or payload["content"], "fact", options.secrets)
    category, topic = payload["category"], payload.get("topic")
    rid = memories.insert(
        connection,
        kind="observation" if category else "fact", category=category, content=accepted.content,
        event_time=payload["event_time"], created_at=now,
        trust="user" if corrected else payload["trust"],
        session_id=payload["session_id"], source=f"session:{payload['session_id']}",
        project=payload.get("project"),
        confidence=1.0, decay_rate=0.0, confirmed_at=now,
        source_ids=payload["sources"], tags=validation.tags(payload["tags"]),
        attributes={"extractor": payload["extractor"], **accepted.attributes}, topic=topic,
        happens_at=None if category else day_of_fact(accepted.content, payload["event_time"], topic),
    )  # fmt: skip
    assert rid is not None  # it has no source key that could be there already
    operations.keep_from_vectors(connection, rid, accepted)
    memories.update(connection, rid, reviewed_at=now)
    return rid
