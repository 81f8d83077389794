"""What confines an agent to a part of the memory: its filter and its project, as one expression."""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.errors import NotFoundError
from memtui.engine.memories import validation
from memtui.engine.records import Profile
from memtui.engine.store import withheld

from .filters.terms import Term, Value, parse_filter

_SHOWN = 60


def scope_filter(filter: str | None, project: str | None) -> str:
    """The filter within which an agent may look; "" where neither is given: all of the memory.

    Reflections are drawn from all of it, so they are left out of a part, unless its filter asks for them.
    Raises FilterError, and InputError for a scope that is given and empty.
    """
    validation.check_scope(filter, "filter")
    validation.check_scope(project, "project")
    narrowed = " ".join((filter or "").split("\n")).strip()
    terms = parse_filter(narrowed)  # by itself: what follows must not become a part of it
    if filter is not None and not terms:
        validation.check_scope("", "filter")
    if project is not None:
        narrowed = f"{narrowed} project:{quote_value(project)}".strip()
    if narrowed and not any(term.key == "kind" and not term.negated for term in terms):
        narrowed += " -kind:reflection"
    return narrowed


def less_withheld(connection: apsw.Connection, agent: str, filter: str) -> str:
    """The filter without what the person keeps from this agent."""
    less = f"-withheld:{quote_value(agent)}"
    if less in filter or not withheld.withholds_any(connection, agent):
        return filter
    return f"{filter} {less}".strip()


def is_narrowing(filter: str) -> bool:
    """Whether a filter leaves a part of the memory: all but a few that are withheld is none."""
    return not all(map(_lets_most_pass, parse_filter(filter)))


def _lets_most_pass(term: Term) -> bool:
    """Whether only what the person keeps from agents does not pass a term."""
    named = [value.text.casefold() for value in term.values]
    return term.negated and (term.key == "withheld" or (term.key == "is" and named == ["withheld"]))


def quote_value(text: str) -> str:
    """A value as the filter language takes it, whatever it holds."""
    return str(Value(text=text, quoted=True))


def without_names(profile: Profile) -> Profile:
    """For one that is confined: names of entities are learned from all memories, so it does not search by them."""
    return msgspec.structs.replace(profile, entity=0.0)


def unknown_session(session_id: str) -> NotFoundError:
    """The one error for a session that is not there and one that is not there for this agent."""
    shown = session_id if len(session_id) <= _SHOWN else session_id[:_SHOWN] + "…"
    return NotFoundError(
        f"There is no session {shown!r}.", "Give the session_id of a turn that search_memory found."
    )
