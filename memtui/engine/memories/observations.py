"""Store findings, insights and lessons, each once; inside the caller's operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import apsw

from memtui.engine.errors import InputError
from memtui.engine.records import EXPLICIT, TRUST_ORDER, Category, Options, Record, Trust
from memtui.engine.store import memories

from . import operations, validation

CATEGORIES: tuple[Category, ...] = ("finding", "insight", "lesson")


class ObservationDraft(Record):
    """One text that is to be kept, and where it comes from.

    ``source``: ``TYPE:NAME`` of a step, ``session:ID``, or ``explicit``. ``trust``: of what it was drawn from.
    """

    content: str
    category: Category
    source: str = EXPLICIT
    trust: Trust = "user"
    session_id: str | None = None
    source_role: str | None = None
    source_ids: tuple[str, ...] = ()
    event_time: int | None = None
    tags: tuple[str, ...] = ()
    project: str | None = None
    attributes: Mapping[str, Any] = {}


def store_observation(
    connection: apsw.Connection,
    item: ObservationDraft,
    *,
    actor: str,
    options: Options,
    now: int,
    within: Callable[[int], bool] = lambda rid: True,
) -> tuple[int, bool]:
    """Keep one, trusted no further than its writer and what it was drawn from; returns its rid, and whether it is new.

    An equal active observation of the category is not stored twice, if it is ``within`` what the writer may see.
    Raises InputError for what cannot be stored.
    """
    if item.category not in CATEGORIES:
        raise InputError(f"There is no category {item.category!r}.", f"Use {', '.join(CATEGORIES)}.")
    text = item.content.strip() if isinstance(item.content, str) else item.content
    accepted = validation.check_text(text, "observation", options.secrets)
    source = validation.check_name(item.source, "source")
    for same in memories.notes_with_same_text(connection, accepted.content, now):
        if (same.category, same.content) == (item.category, accepted.content) and within(same.rid):
            return same.rid, False
    rid = memories.insert(
        connection, kind="observation", category=item.category, content=accepted.content,
        event_time=now if item.event_time is None else item.event_time, created_at=now,
        trust=max(validation.actor_trust(actor), item.trust, key=TRUST_ORDER.index),
        session_id=item.session_id, source_role=item.source_role, source=source,
        project=None if item.project is None else validation.check_name(item.project, "project"),
        source_ids=item.source_ids, tags=validation.normalise_tags(item.tags),
        attributes={**item.attributes, **accepted.attributes},
    )  # fmt: skip
    assert rid is not None  # it has no source key that could be there already
    operations.keep_from_vectors(connection, rid, accepted)
    return rid, True
