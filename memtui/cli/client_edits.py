"""Changes of agents' configurations: shown as a diff without others' secrets, asked for once, written."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from memtui.connect.changes import PlannedEdits, diff_lines
from memtui.connect.files import Edit, write_edit
from memtui.engine.errors import ReadOnlyError, UsageError

from .errors import CANCELLED, DEGRADED, NEGATIVE, OK
from .invocation import Invocation
from .output import out, paint, print_json, print_note, row


def check_consent(invocation: Invocation, *, dry_run: bool, yes: bool, json: bool, hint: str) -> None:
    """Raises UsageError if nobody can be asked, ReadOnlyError if nothing may be written."""
    if json and not (yes or dry_run):
        raise UsageError("--json cannot ask for your consent.", "Add --yes, or --dry-run.")
    if invocation.readonly and not dry_run:
        raise ReadOnlyError("--readonly was given: nothing is written.", hint)


def print_nobody_found(*, json: bool, message: str = "No client was found on this machine.") -> int:
    if json:
        print_json({"written": False, "clients": []})
    else:
        out(message)
    return NEGATIVE


def apply_edits(
    planned: Sequence[PlannedEdits], *, done: str, restart: str, notes: Sequence[str] = (), dry_run: bool, yes: bool,
    json: bool, several: bool,
) -> int:  # fmt: skip
    """Show all changes, ask once, and write them. Returns the exit code.

    ``done``: what is said of a client that needs no change; ``restart``: of those that were changed. ``notes``: what is
    left for the person to do.
    Raises UsageError if there is no terminal to ask at, InputError if a file cannot be written.
    """
    wanted = any(one.changed_edits for one in planned)
    if not json:
        for one in planned:
            for edit in one.changed_edits:
                _print_edit(edit, one)
    for one in planned:
        if one.problem:
            print_note(f"{one.client.label} is left as it is: {one.problem}")
    if wanted and not (dry_run or yes) and not _ask_to_apply():
        return CANCELLED
    backups = (
        {edit.path: write_edit(edit) for one in planned for edit in one.changed_edits} if not dry_run else {}
    )
    if json:
        shown = [
            _edits_json(one, {path: str(kept) if kept else None for path, kept in backups.items()})
            for one in planned
        ]
        written = wanted and not dry_run
        print_json({"written": written, "clients": shown} if several else {**shown[0], "written": written})
    else:
        for one in planned:
            if not (one.changed_edits or one.problem):
                out(done.format(label=one.client.label))
            for edit in one.changed_edits if not dry_run else ():
                kept = backups[edit.path]
                verb = "wrote" if edit.after is not None else "removed"
                out(row(paint(verb, "green"), str(edit.path), f"(before: {kept.name})" if kept else ""))
        if wanted and not dry_run:
            out(restart.format(labels=", ".join(one.client.label for one in planned if one.changed_edits)))
            for note in notes:
                out(note)
    return DEGRADED if any(one.problem for one in planned) else OK


def _edits_json(one: PlannedEdits, backups: dict[object, str | None]) -> dict[str, object]:
    files = [
        {"path": str(edit.path), "diff": diff_lines(edit, one), "backup": backups.get(edit.path)}
        for edit in one.changed_edits
    ]
    return {
        "client": one.client.name, "label": one.client.label, "files": files,
        **({"problem": one.problem} if one.problem else {}),
    }  # fmt: skip


def _print_edit(edit: Edit, planned: PlannedEdits) -> None:
    for line in diff_lines(edit, planned):
        if line.startswith(("+++", "---")):
            out(paint(line, "bold"))
        elif line.startswith("@@"):
            out(paint(line, "cyan"))
        elif line.startswith("+"):
            out(paint(line, "green"))
        else:
            out(paint(line, "red") if line.startswith("-") else line)


def _ask_to_apply() -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "This is not a terminal, so memtui cannot ask.",
            "Add --yes to write it, or --dry-run to only look.",
        )
    return click.confirm("Write this?", default=True)
