"""Sessions and their turns as text: source, consolidation, speaker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import local_date, local_time, plural
from .memory import ended_reason
from .text import Part, Role

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Session
    from memtui.engine.records.lists import SessionRow, SessionState

_ROLES: dict[SessionState, Role] = {
    "failed": "error", "done": "dim", "skipped": "dim", "pending": "accent", "new turns": "accent"
}  # fmt: skip


def session_state(row: SessionRow, model: str = "") -> Part:
    """The state of a session, in one or two words. ``model``: the one that could read it again, if any."""
    if model and row.state == "done" and row.session.by_rules:
        return "by rules", "context"
    return row.state, _ROLES[row.state]


def consolidation_status(row: SessionRow, now: float) -> Part:
    """How far the session is consolidated, in a sentence."""
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


def consolidation_failure(row: SessionRow) -> str:
    """Why consolidating failed. Empty if it did not, or if nothing waits."""
    return row.session.last_error or "" if row.pending else ""


def session_facts(session: Session, now: float) -> list[str]:
    """Its source, its project, its id if that is not its name, its number of turns and its dates."""
    named = session.session_id if session.opening else None
    where = [part for part in (session.source, session.project, named) if part]
    return [*where, plural(session.turns, "turn"), _time_span(session, now)]


def speaker_name(turn: MemoryRecord) -> str:
    """``you``, or the role of the speaker. The kind, if it is not a turn."""
    if turn.source_role is None:
        return "you" if turn.kind == "episode" else turn.kind
    return "you" if turn.source_role == "user" else turn.source_role


def turn_note(turn: MemoryRecord, through: int | None) -> Part:
    """A note on a turn, or empty. ``through``: the last rid that was consolidated, None if none was."""
    if not turn.active:
        return ended_reason(turn), "warning"
    if "secrets" in turn.attributes:
        return "holds a secret", "warning"
    return ("not consolidated", "dim") if through is not None and turn.rid > through else ("", "dim")


def _time_span(session: Session, now: float) -> str:
    first, last = local_time(session.first_seen_at, now), local_time(session.last_seen_at, now)
    if first == last:
        return first
    day = local_date(session.first_seen_at, now)
    same_day = last.startswith(f"{day} ")
    return f"{first} to {last.removeprefix(day).strip()}" if same_day else f"{first} to {last}"
