"""The portrait in words: the titles of topics, a fact's sign and day, and what goes on around the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Literal, NamedTuple

from .format import format_count, local_date, local_datetime, plural
from .memory import day_or_month, is_fading
from .text import Role

if TYPE_CHECKING:
    from memtui.engine.records import Caution, MemoryRecord, Month, PersonInMonth, Portrait, Topic, TopicFacts

    from .glyphs import Glyphs

# In the order in which they are shown.
TITLES: Mapping[Topic | None, str] = {
    "identity": "About you", "people": "People", "health": "Health", "plan": "Plans", "home": "Home",
    "work": "Work", "project": "Projects", "routine": "Routines", "preference": "Preferences",
    "rule": "Rules for assistants", "possession": "Possessions", "decision": "Decisions", None: "Other facts",
}  # fmt: skip
_PLACES = {topic: place for place, topic in enumerate(TITLES)}
_DAY = 86_400

About = Literal[
    "ahead",
    "other plans",
    "review",
    "new",
    "changed",
    "agents",
    "fading",
    "served",
    "told",
    "sessions",
    "who",
    "when",
    "months",
]
PLANS_AHEAD, OTHER_PLANS = "Plans ahead", "Other plans"
"""What of any topic has a day from today on; and the plans without a day, or whose day is over."""
AHEAD_FILTER, OTHER_PLANS_FILTER = "kind:fact happens:today..", "topic:plan -happens:today.."
WHO, WHEN = "Who was talked about, by month", "What changed, by month"


class Since(NamedTuple):
    """From when on a fact is new: ``date`` for a filter, ``text`` in words."""

    date: str
    text: str

    @property
    def filter_value(self) -> str:
        """What stands behind ``learned:`` and ``changed:``."""
        return self.date if self == THIS_WEEK else f"{self.date}.."

    @property
    def in_words(self) -> str:
        """In a sentence."""
        return "in the last seven days" if self == THIS_WEEK else f"{self.text}, when memtui was open last"


THIS_WEEK = Since("7d", "this week")


class Notice(NamedTuple):
    """Something that goes on, in a few words: ``4 to review``; ``short`` and ``shortest`` in fewer.

    ``calls``: it waits for the person. ``of_period``: it counts a period, which ``shortest`` does not name.
    """

    about: About
    calls: bool
    text: str
    short: str
    shortest: str
    of_period: bool = False


def topics_in_order(topics: Sequence[TopicFacts]) -> list[TopicFacts]:
    """The topics as they are shown: the person first, facts without a topic last."""
    return sorted(topics, key=lambda one: _PLACES[one.topic])


def due_in_month_filter(day: float, now: float, zone: tzinfo | None = None) -> str:
    """The filter that passes the facts that name a day ahead in the month in which a time (Unix seconds) is."""
    local, today = local_datetime(day, zone), local_datetime(now, zone)
    month = f"{local.year:04}-{local.month:02}"
    this_month = (local.year, local.month) == (today.year, today.month)
    return f"kind:fact happens:{'today..' if this_month else ''}{month}"


def topic_filter(topic: Topic | None) -> str:
    """The filter that passes exactly the facts that the portrait counts for a topic."""
    if topic is None:
        return "kind:fact -topic:*"
    return f"topic:{topic}"


def portrait_headline(portrait: Portrait) -> str:
    """``214 facts, 38 of them confirmed``; and how many memories that are with the notes of other kinds."""
    confirmed = f", {format_count(portrait.confirmed)} of them confirmed" if portrait.confirmed else ""
    memories = plural(portrait.total + portrait.other_notes, "memory")
    others = f"; {memories} with observations and reflections" if portrait.other_notes else ""
    return f"{plural(portrait.total, 'fact')}{confirmed}{others}"


def portrait_notices(portrait: Portrait, review: int | None, since: Since = THIS_WEEK) -> list[Notice]:
    """What waits and what happened, as far as there is any. ``review``: the cards that wait.

    None: they are not counted yet. Then no number is said: the portrait counts only those that were asked. ``since``: from
    when on a fact is new.
    """
    uncounted = review is None and portrait.status.review > 0
    waiting, new, fades = portrait.pending_sessions, portrait.new, portrait.fades
    served, told = portrait.status.memories, portrait.told
    conversations = f"conversation{'' if waiting == 1 else 's'}"
    agents = f"by agents {since.text}"
    notices: list[tuple[int, About, str, str, str]] = [
        (review or 0, "review", "to review", "to review", "review"),
        (
            waiting,
            "sessions",
            f"{conversations} without facts",
            f"talk{'' if waiting == 1 else 's'} without facts",
            "without facts",
        ),
        (new, "new", f"new {since.text}", f"new {since.text}", "new"),
        (portrait.changed, "changed", f"changed {since.text}", f"changed {since.text}", "changed"),
        (portrait.by_agents, "agents", f"learned {agents}", agents, "by agents"),
        (fades, "fading", f"fade{'s' if fades == 1 else ''} this week", "fading this week", "fading"),
        (served, "served", "told to agents today", "told today", "told today"),
        (0 if served else told, "told", "told to agents this week", "told this week", "told this week"),
    ]
    periods = {"new", "changed", "agents", *(("fading",) if since == THIS_WEEK else ())}
    waits = "cards to review"
    cards = [Notice("review", True, waits, waits, waits)] if uncounted else []
    return cards + [
        Notice(
            about,
            about in ("review", "sessions"),
            f"{counted} {text}",
            f"{counted} {short}",
            f"{counted} {shortest}",
            about in periods,
        )
        for number, about, text, short, shortest in notices
        if number
        for counted in [format_count(number)]
    ]


def what_did_not_happen(portrait: Portrait, since: Since, nothing_since: str = "") -> list[str]:
    """What did not happen, in sentences. ``nothing_since``: since then nothing came, so that ``since`` is earlier."""
    missing = []
    if nothing_since or not portrait.new:
        missing.append(f"Nothing new {nothing_since or since.text}.")
    if not portrait.by_agents:
        missing.append(f"Agents wrote nothing {since.text}.")
    return missing


def persons_of(month: Month, most: int) -> list[tuple[PersonInMonth, str]]:
    """The persons of a month, each with whom: ``with Nadia, Samir``. A pair is told once; the words are empty without any."""
    persons: list[tuple[PersonInMonth, str]] = []
    for at, one in enumerate(month.persons[:most]):
        before = {other.person.eid for other in month.persons[:at]}
        names = [other.canonical_name for other in one.beside if other.eid not in before]
        persons.append((one, f"with {', '.join(names)}" if names else ""))
    return persons


def month_of_most_changes(months: Sequence[Month]) -> Month | None:
    """The month in which most changed; of several the latest. None where there is only one."""
    changed = [one for one in months if one.changed]
    return max(changed, key=lambda one: (one.changed, one.start)) if len(changed) > 1 else None


def since_last(then: float | None, now: float, zone: tzinfo | None = None) -> Since:
    """Since the app was open last, to the hour; the last week where that is not known."""
    if then is None or then > now:
        return THIS_WEEK
    local, today = local_datetime(then, zone), local_datetime(now, zone).date()
    days = (today - local.date()).days
    text = f"{local:%H:%M}" if days == 0 else "yesterday" if days == 1 else local_date(then, now, zone=zone)
    return Since(f"{local:%Y-%m-%dT%H}", f"since {text}")


def fact_sign(fact: MemoryRecord, cautions: Sequence[Caution], glyphs: Glyphs) -> tuple[str, Role]:
    """The sign before a fact: no longer true, fading, confirmed, or not confirmed."""
    if cautions:
        return glyphs.conflict, "warning"
    if is_fading(fact):
        return glyphs.fading, "warning"
    return (glyphs.protected, "success") if fact.protected else (glyphs.unconfirmed, "dim")


def fact_sign_legend(glyphs: Glyphs) -> list[tuple[str, str]]:
    """The signs of ``sign``, for the help."""
    return [
        (glyphs.protected, "Confirmed: it does not fade, and no job changes it."),
        (glyphs.unconfirmed, "Not confirmed yet."),
        (glyphs.pinned, "Pinned: agents are told it at every prompt."),
        (glyphs.fading, "Fading: it will go to the Trash, unless it is recalled or confirmed."),
        (glyphs.conflict, "Corrected, replaced or forgotten since, or two devices say it differently."),
    ]


def fact_day(fact: MemoryRecord, now: float) -> str:
    """The day that a fact names: ``today``, ``tomorrow``, ``12 Jun``; ``in Jun`` if it names a month. Empty if it names none."""
    if fact.happens_at is None:
        return ""
    if (named := day_or_month(fact, now)).startswith("in "):
        return named
    # From any hour to a noon: whole days of the calendar.
    away = round((fact.happens_at - now) / _DAY)
    shown = {0: "today", 1: "tomorrow"}.get(away)
    return shown or named


def is_new(fact: MemoryRecord, portrait: Portrait) -> bool:
    return fact.created_at >= portrait.since and fact.id not in portrait.reworded
