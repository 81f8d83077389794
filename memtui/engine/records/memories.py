"""Memories, turns, sessions and their counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Required, TypedDict, get_args

from .base import Record

Kind = Literal["episode", "fact", "reflection", "observation"]
Category = Literal["finding", "insight", "lesson"]
EndedBy = Literal["forgotten", "faded", "superseded", "merged"]
Trust = Literal["user", "agent", "tool", "model"]
Topic = Literal[
    "health", "people", "home", "work", "project", "rule", "preference", "routine", "plan", "possession", "decision",
    "identity",
]  # fmt: skip
TOPICS: tuple[Topic, ...] = get_args(Topic)
"""What a fact can be about."""

KINDS: tuple[Kind, ...] = ("episode", "fact", "reflection", "observation")
ID_PREFIX: Mapping[Kind, str] = {
    "episode": "ep_",
    "fact": "fact_",
    "reflection": "ref_",
    "observation": "obs_",
}
BY_RULES = "keyword"
"""``Session.read_by`` where rules alone read it."""
# Least trusted last: a derived memory takes the last of its sources'.
TRUST_ORDER: tuple[Trust, ...] = ("user", "agent", "tool", "model")


def is_trusted_less(one: str, other: str) -> bool:
    """Whether one trust is less than another. Raises ValueError for what is none."""
    order: tuple[str, ...] = TRUST_ORDER
    return order.index(one) > order.index(other)


WITHHELD = "withheld"
"""The attribute of a forgotten fact whose source turns agents are not told: since when."""
WITHHELD_FROM = "withheld_from"
"""The attribute of a memory that single agents are not told: their names."""
CORRECTED_BY = "corrected_by"
"""The attribute of a text that an agent put in the place of another one: the agent's name."""
TOPIC_SAID = "topic_said"
"""The attribute of a fact whose topic the person said."""
SETTLED = "settled"
"""The attribute of what was drawn from memories that no longer hold: of which of them (ids of what they became, or of
themselves where they were forgotten) the person said that it stands all the same."""
EXPLICIT = "explicit"
"""The source of what somebody wrote down as such."""


class MemoryRecord(Record, kw_only=False):  # made from rows, where names would cost as much as the rest
    """One row of ``memories``.

    ``confidence`` is what was stored; ``effective`` is what is left of it at the time of reading
    (both in [0, 1]). ``protected``: confirmed or stated by the person, so no job and no model
    touches it. ``ended_by`` says why it is in the Trash; None while it is active. ``topic``: what a fact is about;
    ``happens_at``: local noon of the day that its words name, a week or month being named by its last day.
    """

    rid: int
    id: str
    kind: Kind
    content: str
    event_time: int
    created_at: int
    confidence: float
    effective: float
    decay_rate: float
    trust: Trust
    category: Category | None = None
    session_id: str | None = None
    source_role: str | None = None
    source: str | None = None
    source_key: str | None = None
    project: str | None = None
    valid_until: int | None = None
    ended_by: EndedBy | None = None
    access_count: int = 0
    last_accessed: int | None = None
    recall_days: int = 0
    confirmed_at: int | None = None
    reviewed_at: int | None = None
    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    attributes: dict[str, Any] = {}
    topic: Topic | None = None
    happens_at: int | None = None

    @property
    def active(self) -> bool:
        return self.valid_until is None

    @property
    def protected(self) -> bool:
        return self.confirmed_at is not None

    @property
    def pinned(self) -> bool:
        """Whether it stands in every context block."""
        return "pinned_at" in self.attributes

    @property
    def pinned_at(self) -> int | None:
        """Since when it is pinned; None where it is not, or another program wrote no time."""
        value = self.attributes.get("pinned_at")
        return value if isinstance(value, int) else None

    @property
    def withheld(self) -> bool:
        """Whether it is forgotten, and the turns that it was drawn from are kept from agents as well."""
        return WITHHELD in self.attributes and self.ended_by == "forgotten"

    @property
    def withheld_from(self) -> tuple[str, ...]:
        """The agents that this one is kept from (see also ``MemoryDetail``)."""
        value = self.attributes.get(WITHHELD_FROM)
        return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()

    @property
    def corrected_by(self) -> str | None:
        """The agent that put this text in the place of another one, by name; None where it was not an agent."""
        value = self.attributes.get(CORRECTED_BY)
        return value if isinstance(value, str) else None

    @property
    def supersedes(self) -> str | None:
        """The id of the memory that this one corrects; of several the first."""
        value = self.attributes.get("supersedes")
        if isinstance(value, list) and value:
            value = value[0]
        return value if isinstance(value, str) else None


class NewMemory(TypedDict, total=False):
    """What a row of ``memories`` is made from; what is left out is empty, or as ``store.tables`` has it."""

    kind: Required[Kind]
    content: Required[str]
    event_time: Required[int]
    created_at: Required[int]
    trust: Required[Trust]
    id: str | None
    category: Category | None
    session_id: str | None
    source_role: str | None
    source: str | None
    source_key: str | None
    project: str | None
    confidence: float
    decay_rate: float
    confirmed_at: int | None
    source_ids: Iterable[str]
    tags: Iterable[str]
    attributes: Mapping[str, Any] | None
    topic: Topic | None
    happens_at: int | None


class Turn(Record):
    """One message of a conversation as a feed found it, before it is recorded.

    ``source_key`` is its identity at the source: importing it again adds nothing.
    ``session_id`` is already namespaced by the feed (``chatgpt:<id>``). ``event_time`` None: unknown. ``folder``: in
    which the program worked; it decides whether the turn is recorded and is not stored.
    """

    session_id: str
    role: str
    content: str
    source_key: str
    source: str
    event_time: float | None = None
    project: str | None = None
    session_title: str | None = None
    trust: Trust | None = None
    folder: str | None = None


class Session(Record):
    """One row of ``sessions_consolidations`` with its counts; ``turns`` counts active episodes.

    ``opening``: the first words of the first turn of the user, where it has no title and its id is not readable.
    Read from the turn each time, so that it goes with the turn. ``begun_by``: who recorded its first turn, where it
    is known; ``source`` and ``project`` are those of that turn, others may have their own. ``read_by``: what drew facts
    from it (the extractor's name, or an agent's).
    """

    session_id: str
    first_seen_at: int
    last_seen_at: int
    turns: int
    consolidated_at: int | None = None
    consolidated_through: int | None = None
    attempts: int = 0
    next_attempt_at: int | None = None
    last_error: str | None = None
    title: str | None = None
    summary: str | None = None
    source: str | None = None
    project: str | None = None
    opening: str | None = None
    begun_by: str | None = None
    read_by: str | None = None

    @property
    def by_rules(self) -> bool:
        """Facts were drawn from it, or from a part of it, by rules alone."""
        return self.read_by == BY_RULES and self.consolidated_at is not None

    @property
    def name(self) -> str:
        """What people know it by: its title, else how its first turn begins, else its id."""
        return self.title or self.opening or self.session_id


class Stats(Record):
    """Counts of active memories by kind, and what is still being prepared.

    ``unlinked`` / ``unembedded`` wait for entity links / vectors (none do where vectors are switched off);
    ``quarantined`` carry a secret and get no vector.
    ``vectors_wanted``: the model that the settings want, where the file holds the vectors of another one, or none.
    ``vectors_problem``: why nothing can be compared with the file's vectors just now.
    ``ranking_note``: why the profile of the settings does not rank here; ``better_ranking``: the name of one that finds
    more with this model.
    """

    by_kind: dict[str, int]
    active: int
    ended: int
    protected: int
    sessions: int
    pending_sessions: int
    entities: int
    operations: int
    unlinked: int
    unembedded: int
    embedded: int
    quarantined: int
    latest: int | None
    file_bytes: int
    vectors: str
    vectors_wanted: str = ""
    vectors_problem: str = ""
    ranking_note: str = ""
    better_ranking: str = ""


class Caution(Record):
    """``old`` was drawn from the memory (or the memory from ``old``, or it is ``old`` itself), and no longer holds.

    ``at``: since when. ``replaced``: it was not corrected; a later statement took its place, and ``at`` is its time.
    ``successor``: what replaced it; None if nothing did, or if the caller may not see it.
    ``disputed``: the person said again what was corrected to ``successor``, or another device has that instead, and they have
    not decided; both are active.
    ``compared``: nothing links the memory with ``old``; it says the same in the same words.
    ``withheld``: the person keeps the turns that it was drawn from away from agents.
    ``by``: the agent that says ``successor`` instead, which the person has not accepted; empty where it was not an agent.
    """

    how: Literal["corrected", "forgotten", "disputed"]
    at: int
    old: MemoryRecord
    successor: MemoryRecord | None = None
    withheld: bool = False
    replaced: bool = False
    compared: bool = False
    by: str = ""

    @property
    def what(self) -> str:
        """``corrected``, ``replaced`` or ``forgotten``."""
        return "replaced" if self.replaced else self.how

    @property
    def said(self) -> str:
        """The same of the memory itself: ``corrected``, or ``says what was corrected`` where nothing links the two."""
        return f"says what was {self.what}" if self.compared else self.what


class Replacement(Record):
    """``new`` took the place of ``old`` at a time (Unix seconds): it was ``corrected``, or a later statement ``replaced`` it.

    ``asked``: a card of Review asks whether it did; both are active. ``told``: no memory says what was before (``old`` is
    None), but the new text names the value that is over (``was``: "no longer 10 December").
    """

    old: MemoryRecord | None
    new: MemoryRecord
    at: int
    how: Literal["corrected", "replaced", "asked", "told"]
    was: str = ""

    @property
    def sides(self) -> tuple[MemoryRecord, ...]:
        """The memories of it, the old one first."""
        return (self.new,) if self.old is None else (self.old, self.new)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of ``sides``."""
        return tuple(one.id for one in self.sides)
