"""Known import sources as text: what they contain and what of it is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import format_count, plural, relative_time

if TYPE_CHECKING:
    from memtui.engine.records.exchange import KnownSource, SourceProbe

# Formats that contain memories, not conversations.
_NOTES = frozenset({
    "basic-memory", "mem0-history", "mcp-memory", "claude-memory", "claude-mem", "engram", "mcp-memory-service",
    "mempalace",
})  # fmt: skip
WEEK = "within a week"


def age_range(source: KnownSource, now: float) -> str:
    """``2h to 5mo old``, or how old the only file is."""
    newest, oldest = relative_time(source.newest, now), relative_time(source.oldest, now)
    if newest == oldest:
        return "just written" if newest == "now" else f"{newest} old"
    return f"{newest} to {oldest} old" if newest != "now" else f"up to {oldest} old"


def source_summary(source: KnownSource, found: SourceProbe | None, now: float) -> str:
    """One line: the contents, what is new, what will soon be deleted. ``found`` None: not looked at yet."""
    if found is None:
        summary = f"{plural(source.files, 'file')}, {age_range(source, now)}"
    elif found.problem:
        summary = found.problem
    elif found.nothing_new:
        summary = f"all in: {found_summary(found)}"
    elif found.new_turns >= found.turns and not found.grown_sessions:
        summary = f"{found_summary(found)}, {age_range(source, now)}"
    else:
        summary = f"{not_yet_imported(found)}; {found_summary(found)}"
    soon = f"; {plural(source.expiring, 'file')} soon deleted" if source.expiring else ""
    return summary + soon


def found_summary(found: SourceProbe) -> str:
    """``31 sessions, about 1,200 turns``."""
    if found.problem:
        return found.problem
    turns = plural(found.turns, _unit_name(found))
    about = turns if found.exact else f"about {turns}"
    return about if found.sessions is None else f"{plural(found.sessions, 'session')}, {about}"


def not_yet_imported(found: SourceProbe) -> str:
    """What is not imported yet, in one line."""
    if found.problem:
        return "it cannot be imported"
    if found.nothing_new:
        return "all of it is in already" if found.exact else "as far as one can see, all of it is in already"
    if found.new_turns >= found.turns and not found.grown_sessions:
        return "nothing of it is in yet"
    parts = []
    if found.new_sessions:
        parts.append(f"{plural(found.new_sessions, 'session')} not in yet")
    if found.grown_sessions:
        parts.append(f"{format_count(found.grown_sessions)} went on since")
    if found.new_turns:
        about = "" if found.exact else "about "
        parts.append(f"{about}{plural(found.new_turns, f'new {_unit_name(found)}')}")
    return ", ".join(parts)


def expiry_note(found: SourceProbe) -> str:
    """How many files their program will delete, and how many of those have something new. Empty if none."""
    source = found.source
    if not source.expiring:
        return ""
    new = (
        "all of them hold"
        if found.expiring_new == source.expiring
        else f"{format_count(found.expiring_new)} of them hold"
    )
    rest = f"{new} something that is not in yet" if found.expiring_new else "what they hold is in"
    deletion = f"{plural(source.expiring, 'file')} will be deleted by {source.label} {WEEK}"
    return f"{deletion} (it keeps them for {source.kept_days} days); {rest}"


def _unit_name(found: SourceProbe) -> str:
    return "memory" if found.source.format in _NOTES else "turn"
