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


def source_summary(source: KnownSource, probe: SourceProbe | None, now: float) -> str:
    """One line: the contents, what is new, what will soon be deleted. ``probe`` None: not looked at yet."""
    if probe is None:
        summary = f"{plural(source.files, 'file')}, {age_range(source, now)}"
    elif probe.problem:
        summary = probe.problem
    elif probe.nothing_new:
        summary = f"all in: {found_summary(probe)}"
    elif probe.new_turns >= probe.turns and not probe.grown_sessions:
        summary = f"{found_summary(probe)}, {age_range(source, now)}"
    else:
        summary = f"{not_yet_imported(probe)}; {found_summary(probe)}"
    soon = f"; {plural(source.expiring, 'file')} soon deleted" if source.expiring else ""
    return summary + soon


def found_summary(probe: SourceProbe) -> str:
    """``31 sessions, about 1,200 turns``."""
    if probe.problem:
        return probe.problem
    turns = plural(probe.turns, _unit_name(probe))
    about = turns if probe.exact else f"about {turns}"
    return about if probe.sessions is None else f"{plural(probe.sessions, 'session')}, {about}"


def not_yet_imported(probe: SourceProbe) -> str:
    """What is not imported yet, in one line."""
    if probe.problem:
        return "it cannot be imported"
    if probe.nothing_new:
        return "all of it is in already" if probe.exact else "as far as one can see, all of it is in already"
    if probe.new_turns >= probe.turns and not probe.grown_sessions:
        return "nothing of it is in yet"
    parts = []
    if probe.new_sessions:
        parts.append(f"{plural(probe.new_sessions, 'session')} not in yet")
    if probe.grown_sessions:
        parts.append(f"{format_count(probe.grown_sessions)} went on since")
    if probe.new_turns:
        about = "" if probe.exact else "about "
        parts.append(f"{about}{plural(probe.new_turns, f'new {_unit_name(probe)}')}")
    return ", ".join(parts)


def expiry_note(probe: SourceProbe) -> str:
    """How many files their program will delete, and how many of those have something new. Empty if none."""
    source = probe.source
    if not source.expiring:
        return ""
    new = (
        "all of them hold"
        if probe.expiring_new == source.expiring
        else f"{format_count(probe.expiring_new)} of them hold"
    )
    rest = f"{new} something that is not in yet" if probe.expiring_new else "what they hold is in"
    deletion = f"{plural(source.expiring, 'file')} will be deleted by {source.label} {WEEK}"
    return f"{deletion} (it keeps them for {source.kept_days} days); {rest}"


def _unit_name(probe: SourceProbe) -> str:
    return "memory" if probe.source.format in _NOTES else "turn"
