"""What is known about the person, by topic: the strongest facts, and what goes on around them."""

from __future__ import annotations

from .base import Record
from .entities import Entity
from .memories import Caution, MemoryRecord, Replacement, Topic
from .status import Status

FROM_AGENTS = "kind:fact,observation trust:agent"
"""The filter for what agents wrote down by themselves."""


class TopicFacts(Record):
    """The active facts about one topic. ``topic`` None: those without a topic.

    ``facts``: the strongest: pinned, then confirmed, then the surest, then the newest; of plans the next by
    their day, then those without a day, none that is over. ``new``: how many were written down since ``Portrait.since``.
    ``dangers``: so many of ``facts``, the first ones, may do harm if they are forgotten.
    """

    topic: Topic | None
    total: int
    confirmed: int
    new: int
    facts: tuple[MemoryRecord, ...]
    dangers: int = 0


class Plans(Record):
    """What lies ahead, and the other plans.

    ``ahead``: how many facts, of any topic, name a day from today on; ``next``: the first of them by their day.
    ``others``: how many plans have no day, or one that is past (``over`` of them); ``undated``: the strongest without a day.
    ``ahead_new`` and ``others_new``: how many of each were written down since ``Portrait.since``. A fact of another topic
    that lies ahead counts there too.
    """

    ahead: int = 0
    ahead_new: int = 0
    next: tuple[MemoryRecord, ...] = ()
    others: int = 0
    others_new: int = 0
    over: int = 0
    undated: tuple[MemoryRecord, ...] = ()


class FadingFact(Record):
    """A fact and when its confidence reaches the threshold (Unix seconds) if it is not recalled or confirmed."""

    memory: MemoryRecord
    fades_at: float


class PersonInMonth(Record):
    """``memories``: how many of the month mention the person. ``beside``: the persons that most of these mention as well."""

    person: Entity
    memories: int
    beside: tuple[Entity, ...] = ()


class Month(Record):
    """A month of the local calendar. ``start``, ``end``: Unix seconds. ``term``: as a date of the filter language.

    ``persons``: those that most of its memories mention, ``others`` the number of further ones. ``changed``: how many
    facts took the place of another one in it, ``changes``: the replacements of the latest of them, these first.
    """

    start: int
    end: int
    term: str
    persons: tuple[PersonInMonth, ...] = ()
    others: int = 0
    changed: int = 0
    changes: tuple[Replacement, ...] = ()


class DueInMonth(Record):
    """A month of the local calendar in which days lie ahead that facts name, and the number of these facts. ``start``: Unix
    seconds; ``term``: as a date of the filter language.
    """

    start: int
    term: str
    facts: int


class Portrait(Record):
    """What is known, at one time.

    ``topics``: those that have facts, in the order of ``TOPICS``, those without a topic last. ``since``: the time
    from which on a fact is new (Unix seconds). ``people``: the persons that most memories mention. ``fading``: the
    first of ``fades`` facts that fade within a week. ``pending_sessions``: conversations that wait to become facts.
    ``status``: cards that were asked, and what agents were given today. ``cautions``: what was corrected or forgotten
    since in the facts here, by id. ``changed``: how many facts took the place of another one since, ``changes`` the latest
    of them. ``by_agents``: how many facts and observations agents wrote since, ``from_agents`` the
    latest. ``replaced``: what the facts here took the place of, by id, the latest last; a change that Review asks
    about is listed for both of its sides. ``reworded``: the ids of facts that were written down since, but only correct what
    was learned before. ``months``: the latest in which persons were mentioned or facts changed, the
    last first. ``plans``: what lies ahead, and the other plans. ``due``: the next months that have days ahead, each with
    the number of facts that name one.
    ``told``: how many memories agents were given in the last seven days. ``other_notes``: how
    many observations and reflections there are beside the facts.
    """

    since: int
    topics: tuple[TopicFacts, ...]
    people: tuple[Entity, ...] = ()
    newest: tuple[MemoryRecord, ...] = ()
    reworded: frozenset[str] = frozenset()
    fading: tuple[FadingFact, ...] = ()
    fades: int = 0
    pending_sessions: int = 0
    status: Status = Status(review=0)
    cautions: dict[str, tuple[Caution, ...]] = {}
    by_agents: int = 0
    from_agents: tuple[MemoryRecord, ...] = ()
    changed: int = 0
    changes: tuple[Replacement, ...] = ()
    replaced: dict[str, tuple[Replacement, ...]] = {}
    months: tuple[Month, ...] = ()
    plans: Plans = Plans()
    due: tuple[DueInMonth, ...] = ()
    told: int = 0
    other_notes: int = 0

    @property
    def total(self) -> int:
        """The number of facts in all topics."""
        return sum(one.total for one in self.topics)

    @property
    def confirmed(self) -> int:
        return sum(one.confirmed for one in self.topics)

    @property
    def new(self) -> int:
        return sum(one.new for one in self.topics)
