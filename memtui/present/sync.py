"""Sync as text: what was sent and came, the state of each device, what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.records.sync import changes_words

from .format import plural
from .past import time_ago
from .text import Role

if TYPE_CHECKING:
    from memtui.engine.records.sync import DeviceState, SyncProblem, SyncReport, SyncStatus

_KINDS = {
    "forged": "forged", "damaged": "damaged", "partial": "still being copied", "unreadable": "not readable here",
    "newer": "by a newer memtui", "swapped": "swapped", "old": "older than before", "missing": "missing",
    "twice": "written twice",
}  # fmt: skip

_LATER = "; it and what follows will be read once it is there"
_WHAT_NEXT = {"partial": _LATER, "missing": _LATER, "twice": ""}


def sync_report_line(report: SyncReport) -> str:
    """What one sync did: "sent 3 lines, received 12: 2 memories, 1 correction"."""
    text = f"sent {plural(report.sent, 'line')}" if report.sent else "nothing to send"
    came = f"received {plural(report.received, 'line')}" if report.received else "nothing new came"
    what = ", ".join(changes_words(word, number) for word, number in report.changes.items())
    return f"{text}, {came}{f': {what}' if what else ''}"


def sync_report_notes(report: SyncReport) -> list[tuple[str, Role]]:
    """What the person should know of it, a line each."""
    notes: list[tuple[str, Role]] = []
    if report.questions:
        notes.append(
            (
                f"{plural(report.questions, 'question')} in Review: decided differently on two devices",
                "warning",
            )
        )
    if report.erased:
        notes.append(
            (f"{plural(report.erased, 'memory')} erased for good here, as on another device", "warning")
        )
    notes.extend((note, "text") for note in report.notes)
    notes.extend((batch_problem_line(one), "error") for one in report.problems)
    return notes


def batch_problem_line(problem: SyncProblem) -> str:
    """What is wrong with a batch, and what became of it."""
    waits = _WHAT_NEXT.get(problem.kind, "; it and what follows was not applied")
    message = problem.message.rstrip(".")
    return f"batch {problem.number} of {problem.device}: {_KINDS[problem.kind]}: {message}{waits}"


def device_label(device: DeviceState, status: SyncStatus) -> str:
    """What a device is called; its id where two have the same name."""
    same = sum(one.name == device.name for one in status.devices)
    return device.name if same == 1 else device.device


def device_state(device: DeviceState, status: SyncStatus, now: float) -> tuple[str, Role]:
    """What is known of a device, in some words."""
    if device.invited:
        return "invited, has not joined yet", "dim"
    problem = next((one for one in status.problems if one.device == device.device), None)
    if problem is not None:
        return f"{_KINDS[problem.kind]} at batch {problem.number}, {device.waiting:,} waiting", "error"
    if device.own:
        waiting = f"{plural(status.pending, 'change')} to send" if status.pending else "all sent"
        return f"this device, {waiting}", "text"
    if not device.number:
        return "nothing came from it yet", "dim"
    text = f"up to batch {device.number:,}"
    if device.at is not None:
        text += f", {time_ago(device.at, now)}"
    return (f"{text}, {device.waiting:,} waiting", "warning") if device.waiting else (text, "success")


def sync_state(status: SyncStatus | None, now: float) -> tuple[str, Role]:
    """Sync in one line of a list."""
    if status is None:
        return "off", "dim"
    if status.error:
        return "failed", "error"
    if status.problems:
        return f"{plural(len(status.problems), 'problem')}", "error"
    others = sum(not one.own and not one.invited for one in status.devices)
    when = time_ago(status.last_at, now) if status.last_at else "not yet"
    return f"{plural(others, 'other device')}, {when}", "success"


def sync_setup_line(status: SyncStatus) -> str:
    """Where to, and how: "/home/ada/Sync, encrypted, facts only"."""
    kind = "plain: whoever reads the folder reads the memory" if status.plain else "encrypted"
    return f"{status.url}, {kind}{', without turns' if status.facts_only else ''}"
