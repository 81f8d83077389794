"""``memtui backup``: make and list copies of the memory file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from memtui.present.backup import backup_reason, backups_summary
from memtui.present.format import file_size, local_time

from .errors import NEGATIVE, OK
from .output import out, paint, print_json, print_note, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records.backups import Backup

    from .invocation import Invocation


@click.command("backup", cls=Command)
@click.argument("what", type=click.Choice(["now", "list"]), default="now")
@json_option
@pass_invocation
def backup_command(invocation: Invocation, what: str, json: bool) -> int:
    """Make a verified backup (now), or list the backups.

    To restore one: memtui restore. Its --dry-run shows what that would do.
    """
    with invocation.open_existing(must_write=what != "list") as memory:
        if what == "list":
            return _print_backups(memory.backups.all(), json)
        made = memory.backups.make()
    if json:
        print_json(backup_json(made))
    else:
        out(row(paint("backed up", "green"), str(made.path), file_size(made.size)))
    return OK


def _print_backups(backups: list[Backup], json: bool) -> int:
    if json:
        print_json({"backups": [backup_json(backup) for backup in backups]})
        return OK if backups else NEGATIVE
    now = time.time()
    rows = [
        (local_time(backup.at, now), backup_reason(backup.reason), file_size(backup.size), backup.path.name)
        for backup in backups
    ]
    for line in table(rows, right=(2,)) if rows else ():
        out(line)
    print_note(backups_summary(backups, now))
    return OK if backups else NEGATIVE


def backup_json(backup: Backup) -> dict[str, Any]:
    """JSON knows no paths."""
    return {"path": str(backup.path), "at": backup.at, "reason": backup.reason, "size": backup.size}
