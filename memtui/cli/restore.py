"""``memtui restore``: bring memories back from the Trash, or some or all from a backup, after a preview."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtui.engine.errors import (
    DiskFullError,
    MemtuiError,
    NewerFileError,
    UsageError,
)
from memtui.engine.installation import runnable_text
from memtui.engine.records import ID_PREFIX
from memtui.present.backup import (
    NUMBERS,
    SAME,
    RestorePart,
    backup_reason,
    contents_summary,
    erased_return_note,
    history_loss_note,
    restore_parts,
)
from memtui.present.format import file_size, format_count, local_time
from memtui.present.past import time_ago
from memtui.present.text import visible_text

from .backup import backup_json
from .errors import NEGATIVE, OK
from .output import cut_to_terminal, err, out, paint, paint_role, print_json, print_note, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.engine.backups.rescue import Rescue
    from memtui.engine.memory import Memory
    from memtui.engine.records.backups import Backup, BackupContents, RestorePreview

    from .invocation import Invocation

_SHOWN, _BESIDE = 8, 24
_TAKE = "Take these memories from it?"
_REPLACE = "Restore it? What is there now is backed up first."


@click.command("restore", cls=Command)
@click.argument("what", nargs=-1, metavar="[ID... | WHEN | FILE]")
@click.option(
    "--take",
    "ids",
    multiple=True,
    metavar="ID",
    help="Take only this memory from the backup; may be repeated.",
)
@click.option("--missing", is_flag=True, help="Take only memories that are missing, forgotten or faded here.")
@click.option("--dry-run", is_flag=True, help="Only show what it would do.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@pass_invocation
def restore_command(
    invocation: Invocation, what: tuple[str, ...], ids: tuple[str, ...], missing: bool, dry_run: bool, yes: bool, json: bool
) -> int:  # fmt: skip
    """Bring back memories from the Trash, or the whole memory from a backup.

    \b
    memtui restore                         list the backups
    memtui restore fact_1a2b ...           memories from the Trash
    memtui restore last tuesday            the last backup made until then
    memtui restore 1 --dry-run             what the latest would bring back, change and lose
    memtui restore 2d --take fact_1a2b     one memory out of it; memtui undo takes it back

    WHEN is a date or time (2026-03-03, "2026-03-03 14:30"), yesterday, a weekday, last month, a span back
    (2d, 3 weeks) or a number of the list. A restore asks first and backs up the present memory. Other programs go on
    with the restored memory. A damaged file is kept beside the restored one.
    """
    options = ids or missing or dry_run or yes
    if what and all(name.startswith(tuple(ID_PREFIX.values())) for name in what) and not options:
        from .memories import restore_memories

        restore_memories(invocation, what, json)
        return OK
    if not what and options:
        raise UsageError("Which backup?", "memtui restore lists them; for example: memtui restore yesterday")
    if ids and missing:
        raise UsageError("--take and --missing exclude each other.", "Leave one out.")
    rescue, problem = _find_problem(invocation)
    if problem is not None:
        if not what and rescue.has_backups:
            return _print_backups(rescue.backups(), json, problem)
        if ids or missing or not what:
            raise problem
        return _restore_damaged(rescue, problem, " ".join(what), dry_run=dry_run, yes=yes, json=json)
    if not what:
        with invocation.open_existing() as memory:
            return _print_backups(
                [(one, memory.backups.contents(one.path)) for one in memory.backups.all()], json
            )
    with invocation.open_existing(must_write=not dry_run) as memory:
        which = " ".join(what)
        preview = memory.backups.preview(which)
        if not json:
            _print_preview(preview, ids, missing)
        done: dict[str, Any] = {}
        if not dry_run and (yes or _ask_to_restore(_TAKE if ids or missing else _REPLACE, json)):
            # By its path, because a backup made in the meantime changes the numbers.
            done = (
                _restore_memories(memory, preview, ids)
                if ids or missing
                else _restore_backup(memory, preview)
            )
        if json:
            print_json({"preview": preview, **done})
        elif done:
            _print_restored(done)
    return OK if done or dry_run else NEGATIVE


def _find_problem(invocation: Invocation) -> tuple[Rescue, MemtuiError | None]:
    """Why the memory cannot be used, and how to restore it without opening it."""
    from memtui import paths
    from memtui.engine.memory import Memory

    invocation.check_options()
    path = invocation.memory_path()
    rescue = Memory.rescue(path)
    if invocation.demo or invocation.readonly:
        return rescue, None
    paths.check_memory_place(path, allow_unsafe=invocation.allow_unsafe_fs)
    problem = rescue.find_problem()
    return rescue, None if isinstance(problem, (NewerFileError, DiskFullError)) else problem


def _restore_damaged(
    rescue: Rescue, problem: MemtuiError, which: str, *, dry_run: bool, yes: bool, json: bool
) -> int:
    """Put a backup in the place of a memory that cannot be used."""
    chosen = rescue.info(which)
    counts = rescue.count_memories(chosen)
    if not json:
        err(problem.message)
        out(row(paint("backup of", "dim"), *_backup_time(chosen), gap=" "))
        out(
            f"It holds {contents_summary(counts)}. What is there now is set aside as it is, beside the memory."
        )
    done: dict[str, Any] = {}
    if not dry_run and (yes or _ask_to_restore("Put the backup in its place?", json)):
        made = rescue.restore(chosen.path)
        aside = [str(place) for place in made.aside]
        done = {"restored": str(made.restored), "set_aside": aside, "operation": made.operation}
        if not json:
            out(row(paint("restored", "green"), str(made.restored)))
            _print_kept_file(made.aside)
            if not made.kept_erased:
                print_note("what was erased for good after that backup could not be read: erase it again")
    if json:
        print_json({"problem": problem.message, "backup": backup_json(chosen), **done})
    return OK if done or dry_run else NEGATIVE


def _print_kept_file(aside: Sequence[Path]) -> None:
    for place in aside:
        out(row(paint("set aside", "yellow"), str(place)))


def _restore_backup(memory: Memory, preview: RestorePreview) -> dict[str, Any]:
    done = memory.backups.restore(preview.path)
    return {
        "restored": str(done.restored), "before": done.before and backup_json(done.before),
        "set_aside": [str(place) for place in done.aside], "operation": done.operation,
    }  # fmt: skip


def _restore_memories(memory: Memory, preview: RestorePreview, ids: tuple[str, ...]) -> dict[str, Any]:
    return {"operation": memory.backups.restore_memories(preview.path, ids or None)}


def _ask_to_restore(question: str, json: bool) -> bool:
    if json or not sys.stdin.isatty():
        raise UsageError(
            "Nothing was restored: there is no terminal to ask in.",
            "Add --yes to agree, or --dry-run to look only.",
        )
    return click.confirm(visible_text(question), err=True)


def _print_restored(done: dict[str, Any]) -> None:
    if "restored" in done:
        out(row(paint("restored", "green"), done["restored"]))
        _print_kept_file([Path(place) for place in done["set_aside"]])
        if done["before"] is not None:
            print_note(
                f"memtui restore {Path(done['before']['path']).name} brings back what was there before; undo does not"
            )
    elif done["operation"] is None:
        out("unchanged: all of it is there")
    else:
        out(row(paint(str(done["operation"].op_id), "dim"), done["operation"].label))


def _backup_time(one: Backup | RestorePreview) -> tuple[str, str]:
    now = time.time()
    when = f"{local_time(one.at, now)}, {time_ago(one.at, now)}"
    return when, paint(f"{backup_reason(one.reason)}, {file_size(one.size)}", "dim")


def _print_preview(preview: RestorePreview, ids: tuple[str, ...], missing: bool) -> None:
    """Print what a restore does. When single memories are taken, only those change."""
    out(row(paint("backup of", "dim"), *_backup_time(preview), gap=" "))
    back, changed, lost = restore_parts(preview)
    if ids or missing:
        restorable = tuple(one for one in back.changes if missing or one.id in ids)
        _print_changes(back._replace(changes=restorable, number=back.number if missing else len(ids)))
        out(runnable_text("Only the memories that you choose change. To undo it: memtui undo"))
        return
    cells: list[tuple[str, ...]] = [("", *NUMBERS)]
    cells += [
        (one.what, *(format_count(number) for number in (one.now, one.then, one.back, one.changed, one.lost)))
        for one in preview.counts
    ]
    for line in table(cells, right=(1, 2, 3, 4, 5)):
        out(row(" ", line))
    if preview.changes_nothing:
        out(SAME)
        return
    for part in (back, changed, lost):
        _print_changes(part)
    for text in (erased_return_note(preview), history_loss_note(preview)):
        if text:
            print_note(text)


def _print_changes(part: RestorePart) -> None:
    if not part.number:
        return
    out(paint_role(f"{format_count(part.number)} {part.title}", part.role))
    for change in part.changes[:_SHOWN]:
        first, second = (
            (("-", change.now), ("+", change.then))
            if change.now is not None
            else (("+", change.then), ("", None))
        )
        out(row(f"  {first[0]}", paint(change.id, "dim"), cut_to_terminal(first[1] or "", _BESIDE)))
        if second[1] is not None and second[1] != first[1]:
            out(row(f"  {second[0]}", " " * len(change.id), cut_to_terminal(second[1], _BESIDE)))
    if part.number > _SHOWN:
        out(f"  and {format_count(part.number - _SHOWN)} more")


def _print_backups(
    backups: list[tuple[Backup, BackupContents]], json: bool, problem: MemtuiError | None = None
) -> int:
    """The backups; ``problem``: why the memory itself cannot be used."""
    if problem is not None and not json:
        err(problem.message)
    if json:
        print_json(
            {
                "backups": [
                    backup_json(one) | {"counts": contents.counts, "problem": contents.problem}
                    for one, contents in backups
                ]
            }
        )
        return OK if backups else NEGATIVE
    now = time.time()
    rows = []
    for number, (one, contents) in enumerate(backups, 1):
        what = paint_role(contents_summary(contents), "error" if contents.problem else "text")
        rows.append(
            (
                str(number),
                local_time(one.at, now),
                time_ago(one.at, now),
                backup_reason(one.reason),
                file_size(one.size),
                what,
            )
        )
    for line in table(rows, right=(0, 2, 4)) if rows else ():
        out(line)
    if not rows:
        err("no backups yet: memtui backup makes one")
        return NEGATIVE
    if problem is not None:
        print_note("memtui restore N sets aside what is there, and puts that backup in its place")
        return OK
    print_note("memtui restore N --dry-run shows what one would bring back, change and lose")
    return OK
