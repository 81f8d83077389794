"""Write observations down: findings, insights and lessons, each once; inside the caller's operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from memtui.engine.errors import InputError
from memtui.engine.records import TRUST_ORDER, Category, Options, Record, Trust
from memtui.engine.store import memories

from . import intake, notes

CATEGORIES: tuple[Category, ...] = ("finding", "insight", "lesson")
EXPLICIT = "explicit"


class Observed(Record):
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


Where = tuple[str, Mapping[str, Any]]
"""A condition over a row of memories called ``m``, and its bindings."""


def store(
    connection: apsw.Connection, item: Observed, *, actor: str, options: Options, now: int, within: Where
) -> tuple[int, bool]:
    """Keep one, trusted no further than its writer and what it was drawn from; returns its rid, and whether it is new.

    An equal active observation of the category that is ``within`` is not stored twice. Raises InputError for
    what cannot be stored.
    """
    if item.category not in CATEGORIES:
        raise InputError(f"There is no category {item.category!r}.", f"Use {', '.join(CATEGORIES)}.")
    text = item.content.strip() if isinstance(item.content, str) else item.content
    accepted = intake.accept(text, "observation", options.secrets)
    source = intake.name(item.source, "source")
    same = _equal(connection, accepted.content, item.category, within)
    if same is not None:
        return same, False
    rid = memories.insert(
        connection, kind="observation", category=item.category, content=accepted.content,
        event_time=now if item.event_time is None else item.event_time, created_at=now,
        trust=max(intake.actor_trust(actor), item.trust, key=TRUST_ORDER.index),
        session_id=item.session_id, source_role=item.source_role, source=source,
        project=None if item.project is None else intake.name(item.project, "project"),
        source_ids=item.source_ids, tags=intake.tags(item.tags),
        attributes={**item.attributes, **accepted.attributes},
    )  # fmt: skip
    assert rid is not None  # it has no source key that could be there already
    notes.keep_from_vectors(connection, rid, accepted)
    return rid, True


def _equal(connection: apsw.Connection, content: str, category: Category, within: Where) -> int | None:
    """The active observation of the category with this very text."""
    where, bindings = within
    row = connection.execute(
        "SELECT m.rid FROM memories m WHERE m.content_hash = :hash AND m.kind = 'observation' "
        f"AND m.category = :category AND m.content = :content AND m.valid_until IS NULL AND {where} "
        "ORDER BY m.rid LIMIT 1",
        {**bindings, "hash": memories.content_hash(content), "category": category, "content": content},
    ).fetchone()
    return int(row[0]) if row else None
