"""Changes of agents' configurations: shown as a diff without others' secrets, asked for once, written."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence

import click

from memtui.connect.clients import Client
from memtui.connect.files import Edit, write
from memtui.engine.errors import ReadOnlyError, UsageError
from memtui.engine.records import Record

from .errors import CANCELLED, DEGRADED, NEGATIVE, OK
from .invocation import Invocation
from .output import out, paint, print_json, print_note, row

_HIDDEN = "[hidden]"
_JSON_OR_TOML = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*')(\s*[:=])?|(//|/\*|#).*""")
_YAML_PIECE = re.compile(r"[^,{}\[\]]+")
_YAML_KEY = re.compile(r"(\s*(?:- +)?)((?:[\w.$-]+|\"[^\"]*\"|'[^']*'):(?=\s|$))?(\s*)(.*?)(\s*)$")
_LITERALS = {"true", "false", "null", "~", ""}


class PlannedEdits(Record):
    """What would be written for a client. ``shown``: the texts that a diff may show. ``problem``: why nothing can."""

    client: Client
    edits: tuple[Edit, ...]
    shown: frozenset[str]
    problem: str = ""

    @property
    def changed(self) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.changes)


def check_consent(invocation: Invocation, *, dry_run: bool, yes: bool, json: bool, hint: str) -> None:
    """Raises UsageError if nobody can be asked, ReadOnlyError if nothing may be written."""
    if json and not (yes or dry_run):
        raise UsageError("--json cannot ask for your consent.", "Add --yes, or --dry-run.")
    if invocation.readonly and not dry_run:
        raise ReadOnlyError("--readonly was given: nothing is written.", hint)


def nobody_found(*, json: bool, message: str = "No client was found on this machine.") -> int:
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
    wanted = any(one.changed for one in planned)
    if not json:
        for one in planned:
            for edit in one.changed:
                _print_edit(edit, one)
    for one in planned:
        if one.problem:
            print_note(f"{one.client.label} is left as it is: {one.problem}")
    if wanted and not (dry_run or yes) and not _ask_to_apply():
        return CANCELLED
    backups = {edit.path: write(edit) for one in planned for edit in one.changed} if not dry_run else {}
    if json:
        shown = [
            _edits_json(one, {path: str(kept) if kept else None for path, kept in backups.items()})
            for one in planned
        ]
        written = wanted and not dry_run
        print_json({"written": written, "clients": shown} if several else {**shown[0], "written": written})
    else:
        for one in planned:
            if not (one.changed or one.problem):
                out(done.format(label=one.client.label))
            for edit in one.changed if not dry_run else ():
                kept = backups[edit.path]
                verb = "wrote" if edit.after is not None else "removed"
                out(row(paint(verb, "green"), str(edit.path), f"(before: {kept.name})" if kept else ""))
        if wanted and not dry_run:
            out(restart.format(labels=", ".join(one.client.label for one in planned if one.changed)))
            for note in notes:
                out(note)
    return DEGRADED if any(one.problem for one in planned) else OK


def _edits_json(one: PlannedEdits, backups: dict[object, str | None]) -> dict[str, object]:
    files = [
        {"path": str(edit.path), "diff": diff_lines(edit, one), "backup": backups.get(edit.path)}
        for edit in one.changed
    ]
    return {
        "client": one.client.name, "label": one.client.label, "files": files,
        **({"problem": one.problem} if one.problem else {}),
    }  # fmt: skip


def diff_lines(edit: Edit, planned: PlannedEdits) -> list[str]:
    """The lines that change. Of values only what memtui writes is shown, and no comments: others may be secrets."""
    from memtui.engine.guards import secrets

    name = str(edit.path)
    lines = difflib.unified_diff(
        (edit.before or "").splitlines(),
        (edit.after or "").splitlines(),
        name if edit.before is not None else "(new)",
        name if edit.after is not None else "(removed)",
        lineterm="",
        n=0,
    )
    masked = _masked_yaml if planned.client.format == "yaml" else _mask_values
    return [
        line
        if line.startswith(("+++ ", "--- ", "@@ "))
        else secrets.redact_secrets(masked(line, planned.shown))[0]
        for line in lines
    ]


def _mask_values(line: str, ours: frozenset[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        if match[3]:
            return f"{match[3]} {_HIDDEN}"
        text = match[1][1:-1].replace('\\"', '"').replace("\\\\", "\\")
        is_name = bool(match[2])
        return match[0] if is_name or text in ours or "memtui" in text else f'"{_HIDDEN}"'

    return _JSON_OR_TOML.sub(shown, line)


def _masked_yaml(line: str, ours: frozenset[str]) -> str:
    text, sign, _ = line.partition(" #")
    masked = _YAML_PIECE.sub(lambda found: _mask_value(found[0], ours), text[1:])
    return f"{text[:1]}{masked}{f' # {_HIDDEN}' if sign else ''}"


def _mask_value(piece: str, ours: frozenset[str]) -> str:
    found = _YAML_KEY.match(piece)
    if found is None:
        return _HIDDEN
    before, key, gap, value, after = found.groups("")
    bare = value[1:-1] if value[:1] in "'\"" and value[-1:] == value[:1] else value
    known = bare in ours or bare in _LITERALS or bare.isdigit() or "memtui" in bare
    return f"{before}{key}{gap}{value if known else _HIDDEN}{after}"


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
