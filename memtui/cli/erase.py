"""``memtui erase``: list everything that has the text, ask for the count, erase, and prove it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from memtui.engine.errors import InputError, UsageError
from memtui.present.dependents import OUTCOMES, similar_note
from memtui.present.format import file_size, plural

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import print_dependents, without_shown_secrets
from .output import cut_to_terminal, err, out, paint, print_json, print_note, printed_cells, row
from .progress import ProgressMeter
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memtui.engine.records.erase import Carrier, ErasePlan, EraseProgress, EraseProof

_ALSO = 1_000
_STYLES: dict[str, Any] = {"erased": "red", "cleared": "yellow", "kept": "green"}


@click.command("erase", cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--session", metavar="ID", help="Erase a whole session: its turns, and what was drawn from them."
)
@click.option("--also", multiple=True, metavar="KEY", help="Also erase this entry of the list.")
@click.option("--keep", multiple=True, metavar="KEY", help="Keep this entry of the list.")
@click.option("--dry-run", "-n", is_flag=True, help="Show what contains the text, and change nothing.")
@click.option("--yes-erase", type=int, metavar="N", help="Do not ask. N is the number of memories to erase.")
@click.option(
    "--delete-damaged", is_flag=True, help="Delete backups that cannot be opened: they may hold the text."
)
@click.option("--resume", is_flag=True, help="Finish an erase that was interrupted.")
@json_option
@pass_invocation
def erase_command(
    invocation: Invocation, ids: tuple[str, ...], session: str | None, also: tuple[str, ...], keep: tuple[str, ...],
    dry_run: bool, yes_erase: int | None, delete_damaged: bool, resume: bool, json: bool,
) -> int:  # fmt: skip
    """Delete the memories ID... for good: from the memory, its history and every backup.

    They cannot be brought back. First memtui lists everything that holds their text, and asks for the number of
    memories. Afterwards another process searches the bytes of every file for the text. Exit code 1 when that proof is
    not complete. To move memories to the Trash instead: memtui forget.
    """
    if resume == bool(ids or session):
        raise UsageError(
            "Name memories or a session, or say --resume.", "memtui search finds memories and their ids."
        )
    if resume:
        with invocation.open_existing(must_write=True) as memory, _progress_printer() as show:
            proof = memory.files.resume_erase(delete_damaged=delete_damaged, progress=show)
        if proof is None:
            print_json({"proof": None}) if json else err("no erase was interrupted")
            return NEGATIVE
        return _print_proof(proof, None, json)
    with invocation.open_existing(must_write=not dry_run) as memory:
        plan = memory.files.plan_erase(ids, session_id=session, also=also, keep=keep)
        known = [one.key for one in plan.carriers if one.chosen and one.place == "memory"]
        dependents = memory.view.dependents(known)
        if not json:
            _print_plan(plan)
            listed = frozenset(one.key for one in (*plan.carriers, *plan.similar))
            print_dependents(dependents, without=listed)
            _print_similar(plan)
        if dry_run:
            if json:
                print_json({"plan": _json_value(plan), "dependents": without_shown_secrets(dependents)})
            else:
                print_note(f"{plural(plan.memories, 'memory')} would be erased; nothing was changed")
            return OK
        if not _ask_to_erase(plan, yes_erase, json):
            err("nothing was erased")
            return NEGATIVE
        with _progress_printer() as show:
            proof = memory.files.erase(plan, delete_damaged=delete_damaged, progress=show)
    return _print_proof(proof, plan, json)


def _ask_to_erase(plan: ErasePlan, number: int | None, json: bool) -> bool:
    if number is None:
        if json or not sys.stdin.isatty():
            raise UsageError(
                f"To confirm, give the number of memories: --yes-erase {plan.memories}.",
                "--dry-run shows what they are.",
            )
        err(f"Type {plan.memories} to erase for good (nothing brings it back):")
        sys.stderr.flush()
        return sys.stdin.readline().strip() == str(plan.memories)
    if number != plan.memories:
        raise InputError(
            f"The list has {plural(plan.memories, 'memory')}, not {number}. Nothing was erased.",
            "Look at it with --dry-run.",
        )
    return True


@contextmanager
def _progress_printer() -> Iterator[Callable[[EraseProgress], None]]:
    meter = ProgressMeter()

    def show_progress(now: EraseProgress) -> None:
        meter.show(f"{now.doing} ({now.done + 1} of {now.total})" if now.total > 1 else now.doing, now=True)

    try:
        yield show_progress
    finally:
        meter.clear()


def _print_plan(plan: ErasePlan) -> None:
    for carrier in plan.carriers[:_ALSO]:
        _print_carrier(carrier, carrier.why)
    if len(plan.carriers) > _ALSO:
        out(f"and {len(plan.carriers) - _ALSO:,} more")
    for backup in plan.backups:
        state = (
            paint(f"cannot be opened: {backup.problem}", "red")
            if backup.problem
            else f"holds {plural(backup.holds, 'memory')} of it; it is rewritten without them"
        )
        out(row(paint("backup  ", "yellow"), paint(backup.path.name, "dim"), state))
    for line in plan.notes:
        print_note(line)
    if plan.damaged:
        print_note("--delete-damaged deletes the backups that cannot be opened")
    if any(carrier.choice for carrier in plan.carriers):
        print_note("--keep KEY and --also KEY change what goes")


def _print_carrier(carrier: Carrier, *parts: str) -> None:
    line_start = row(
        paint(f"{OUTCOMES[carrier.outcome]:<8}", _STYLES[carrier.outcome]), paint(carrier.key, "dim"), *parts
    )
    out(row(line_start, cut_to_terminal(carrier.title, printed_cells(line_start) + 2)))


def _print_similar(plan: ErasePlan) -> None:
    if plan.similar:
        out(similar_note(plan))
    for carrier in plan.similar:
        _print_carrier(carrier, carrier.kind)
    if plan.similar:
        print_note("--also KEY erases one of these as well")


def _print_proof(proof: EraseProof, plan: ErasePlan | None, json: bool) -> int:
    if json:
        print_json({"plan": _json_value(plan) if plan else None, "proof": _json_value(proof)})
        return OK if proof.complete else NEGATIVE
    word = paint("erased", "green") if proof.complete else paint("not finished", "red")
    backups = f", {plural(proof.backups_written, 'backup')} rewritten" if proof.backups_written else ""
    out(row(word, f"{plural(proof.memories, 'memory')}{backups}, in {proof.seconds:.1f} s"))
    if proof.files:
        out(
            row(
                paint("proof", "dim"),
                f"{plural(proof.pieces, 'piece')} of text searched for in {plural(len(proof.files), 'file')}, "
                f"{file_size(proof.bytes)}: {proof.found} found",
            )
        )
    for file in proof.files:
        out(row(paint("     ", "dim"), file.path.name, f"{file.bytes:,} bytes", f"{file.found} found"))
    for still in proof.kept:
        out(
            row(
                paint("still there", "yellow"),
                f"{still.where} has the same text, which was kept",
                still.file.name,
            )
        )
    if proof.kept:
        print_note("the text stays where it was kept: memtui erase with the id of each erases it there too")
    for line in proof.notes:
        print_note(line)
    for problem in proof.problems:
        err(f"left to do: {problem}")
    if not proof.complete:
        err("To continue: memtui erase --resume")
    return OK if proof.complete else NEGATIVE


def _json_value(value: Any) -> Any:
    """JSON knows no paths."""
    import msgspec

    return msgspec.to_builtins(value, enc_hook=str)
