"""Sessions and their turns in words: where one comes from, how far it is consolidated, who said what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import local_date, local_time, plural
from .lines import Part, Role
from .memory import why_ended

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Session
    from memtui.engine.records.lists import SessionRow, SessionState

_ROLES: dict[SessionState, Role] = {
    "failed": "error", "done": "dim", "skipped": "dim", "pending": "accent", "new turns": "accent"
}  # fmt: skip


def state(row: SessionRow, model: str = "") -> Part:
    """What is to be said of a session in a word or two. ``model``: the one that could read it again, if there is one."""
    if model and row.state == "done" and row.session.by_rules:
        return "by rules", "context"
    return row.state, _ROLES[row.state]


def consolidation_status(row: SessionRow, now: float) -> Part:
    """How far it is consolidated, in a sentence."""
    at = row.session.consolidated_at
    day = "" if at is None else local_date(at, now)
    text = {
        "done": f"consolidated {day}",
        "skipped": "skipped: counted as done, no facts were drawn from it",
        "pending": "not consolidated yet: no facts were drawn from it",
        "new turns": f"new turns since {day or 'it was skipped'} are not consolidated",
        "failed": f"consolidating failed ({plural(row.session.attempts, 'try')})",
    }[row.state]
    return text, _ROLES[row.state]


def failure(row: SessionRow) -> str:
    """Why it could not be consolidated; empty when it could, or when that is settled."""
    return row.session.last_error or "" if row.pending else ""


def facts(session: Session, now: float) -> list[str]:
    """Where it comes from, its id where that is not its name, how many turns, from when to when."""
    named = session.session_id if session.opening else None
    where = [part for part in (session.source, session.project, named) if part]
    return [*where, plural(session.turns, "turn"), _span(session, now)]


def speaker(turn: MemoryRecord) -> str:
    """``you``, or the role that said it; of what was no turn what it is."""
    if turn.source_role is None:
        return "you" if turn.kind == "episode" else turn.kind
    return "you" if turn.source_role == "user" else turn.source_role


def turn_note(turn: MemoryRecord, through: int | None) -> Part:
    """What is special about a turn, empty for nothing; ``through``: the last rid that was consolidated, None before any."""
    if not turn.active:
        return why_ended(turn), "warning"
    if "secrets" in turn.attributes:
        return "holds a secret", "warning"
    return ("not consolidated", "dim") if through is not None and turn.rid > through else ("", "dim")


def _span(session: Session, now: float) -> str:
    first, last = local_time(session.first_seen_at, now), local_time(session.last_seen_at, now)
    if first == last:
        return first
    day = local_date(session.first_seen_at, now)
    same_day = last.startswith(f"{day} ")
    return f"{first} to {last.removeprefix(day).strip()}" if same_day else f"{first} to {last}"
