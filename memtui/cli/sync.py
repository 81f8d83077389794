"""``memtui sync``: one memory on several machines, over a folder, an object store or a database."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import InputError, UsageError

from .errors import NEGATIVE, OK, report_error
from .output import next_step, out, paint, paint_role, print_json, print_note, row, shows_unicode, table
from .progress import on_signals
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.sync import SyncReport

    from .invocation import Invocation

_ACTIONS = ("status", "invite", "join", "remove", "rename", "stop")
_LOOK_SECONDS = 0.2
_MOST_CODE = 4_000


def _complete_action(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The actions, where no word stands before."""
    return [one for one in _ACTIONS if one.startswith(incomplete) and not context.params.get("words")]


@click.command("sync", cls=Command)
@click.argument("words", nargs=-1, metavar="[URL | ACTION]", shell_complete=_complete_action)
@click.option("--watch", is_flag=True, help="Keep syncing, until Ctrl+C.")
@click.option("--plain", is_flag=True, help="Without encryption, in a folder that only you can read.")
@click.option(
    "--facts-only/--with-turns", default=None, help="Turns of this device stay here; its facts are sent."
)
@click.option(
    "--file", type=click.Path(path_type=Path), metavar="PATH", help="Write the invitation to a file."
)
@json_option
@pass_invocation
def sync_command(
    invocation: Invocation, words: tuple[str, ...], watch: bool, plain: bool, facts_only: bool | None, file: Path | None,
    json: bool,
) -> int:  # fmt: skip
    """Keep one memory on several machines. Each keeps its own file; what was decided travels, encrypted.

    \b
    memtui sync URL              begin, in an empty place
    memtui sync                  send and receive now
    memtui sync --watch          and go on doing so
    memtui sync status           each device, what waits, what is wrong
    memtui sync invite           a code by which one more device can join
    memtui sync join URL [CODE]  on that device; CODE may be a file, or - for standard input
    memtui sync rename NAME      what this device is called, on all of them
    memtui sync remove DEVICE    it can read nothing that is written from now on
    memtui sync stop             forget the keys and the address, here

    \b
    URL: a folder (Syncthing, Dropbox, NFS, a stick),
    s3://BUCKET/PREFIX?endpoint=https://...,
    postgresql://USER@HOST/DATABASE/NAME,
    or env:NAME, a variable that holds one of them.

    The app and memtui mcp sync by themselves while they are open (setting sync.auto). The guide: memtui guide sync
    """
    action = words[0] if words and words[0] in _ACTIONS else None
    rest = words[1:] if action else words
    most = {"join": 2, "remove": 1, "rename": 1}.get(action or "run", 0 if action else 1)
    least = 1 if action in ("join", "remove", "rename") else 0
    options = {
        "--watch": watch,
        "--plain": plain,
        "--facts-only": facts_only is not None,
        "--file": file is not None,
    }
    allowed = {None: ("--watch", "--plain", "--facts-only"), "join": ("--facts-only",), "invite": ("--file",)}
    if not least <= len(rest) <= most or any(
        given and name not in allowed.get(action, ()) for name, given in options.items()
    ):
        raise UsageError(
            f"These arguments do not fit sync{f' {action}' if action else ''}.", "memtui sync --help"
        )
    if invocation.demo:
        raise UsageError("The demo is thrown away when it ends.", "Leave --demo out.")
    if action == "status":
        with invocation.open_readonly() as memory:
            return _print_status_or_note(memory, json)
    if action is None and not rest:
        with invocation.open_existing(must_write=True) as memory:
            return (
                _sync_until_signal(memory, json)
                if watch
                else _sync_once(memory, None, plain, facts_only, json)
            )
    if action is None or action == "join":
        # The memory may be new here: all that it will hold comes from the others.
        with invocation.open_or_create() as memory:
            if action == "join":
                report = memory.sync.join(rest[0], _read_invitation(rest[1:]), facts_only=bool(facts_only))
                if not json:
                    _print_status(memory)
                return _print_report(report, json)
            code = _sync_once(memory, rest[0], plain, facts_only, json)
            return _sync_until_signal(memory, json) if watch else code
    with invocation.open_existing(must_write=True) as memory:
        if action == "invite":
            return _print_invitation(memory, file, json)
        if action == "remove":
            removed = memory.sync.remove(rest[0])
            if json:
                print_json({"removed": removed})
                return OK
            out(row(paint("removed", "green"), removed))
            print_note("it can read nothing that is written from now on; what it has already, it keeps")
            return OK
        if action == "rename":
            memory.sync.rename_device(rest[0])
            if json:
                print_json({"renamed": rest[0]})
            else:
                out(row(paint("renamed", "green"), rest[0]))
            return OK
        memory.sync.stop()
        if not json:
            out("This memory is no longer synced. What is in it stays.")
        return OK


def _sync_once(memory: Memory, url: str | None, plain: bool, facts_only: bool | None, json: bool) -> int:
    begun = not memory.sync.is_set_up
    report = memory.sync.run(url, plain=plain, facts_only=facts_only)
    if begun and not json:
        _print_status(memory)
        if not plain:
            out(row("  ", next_step("To bring in another device: memtui sync invite")))
    return _print_report(report, json)


def _print_report(report: SyncReport, json: bool) -> int:
    """Exit 1 for a batch that was not applied."""
    from memtui.present.sync import sync_report_line, sync_report_notes

    if json:
        print_json(report)
    else:
        out(sync_report_line(report))
        for text, role in sync_report_notes(report):
            out(row("  ", paint_role(text, role), gap=""))
    sys.stdout.flush()
    return NEGATIVE if report.problems else OK


def _print_status_or_note(memory: Memory, json: bool) -> int:
    status = memory.sync.status()
    if json:
        print_json({"sync": status})
    elif status is None:
        print_note("this memory is not synced. To begin: memtui sync FOLDER")
    else:
        _print_status(memory)
    return NEGATIVE if status is None or status.error or status.problems else OK


def _print_status(memory: Memory) -> None:
    from memtui.present.sync import batch_problem_line, device_state, sync_setup_line

    status, now = memory.sync.status(), time.time()
    assert status is not None
    out(sync_setup_line(status))
    lines = [
        (paint(one.name, "bold"), one.device, paint_role(*device_state(one, status, now)))
        for one in status.devices
    ]
    for line in table(lines):
        out(row("  ", line, gap=""))
    for problem in status.problems:
        out(row("  ", paint_role(batch_problem_line(problem), "error"), gap=""))
    if status.error:
        out(row("  ", paint_role(f"The last sync failed: {status.error}", "error"), gap=""))


def _print_invitation(memory: Memory, file: Path | None, json: bool) -> int:
    invitation = memory.sync.invite(file)
    if json:
        print_json(invitation if file is None else {"url": invitation.url, "file": str(file)})
        return OK
    if file is None:
        out(invitation.code)
        if sys.stdout.isatty() and shows_unicode():
            print_qr(invitation.code)
    where = file or "CODE"
    out(row("  ", next_step(f"On the new device: memtui sync join URL {where}"), gap=""))
    print_note(
        f"URL is what {invitation.url} is called there, with the user and password that the device needs"
    )
    print_note(
        "this is a secret, for one device: until it has joined, whoever has the code and the store can read the memory"
    )
    return OK


def print_qr(code: str) -> None:
    """The code as a QR in half blocks, dark on light whatever the terminal's colours are."""
    import segno

    segno.make(code, error="l").terminal(sys.stdout, compact=True)


def _read_invitation(given: tuple[str, ...]) -> str:
    """An invitation: as it is, in a file, or read from standard input."""
    if not given or given[0] == "-":
        if sys.stdin.isatty():
            print_note("paste the invitation, and press Enter:")
            return sys.stdin.readline(_MOST_CODE)
        return sys.stdin.read(_MOST_CODE)
    try:
        if Path(given[0]).is_file():
            with Path(given[0]).open(encoding="utf-8", errors="replace") as file:
                return file.read(_MOST_CODE)
    except OSError as error:
        raise InputError(
            f"{given[0]} cannot be read: {error.strerror}.", "Paste the invitation instead."
        ) from None
    return given[0]


def _sync_until_signal(memory: Memory, json: bool) -> int:
    """Sync until a signal ends it: quickly while something changes, here or there."""
    stopped = threading.Event()
    failed: list[BaseException] = []

    def print_report(report: SyncReport) -> None:
        if report.sent or report.received or report.problems:
            _print_report(report, json)

    def follow_in_thread() -> None:
        try:
            memory.sync.follow(stopped, print_report, lambda error: report_error(error, json=json))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=follow_in_thread, name="memtui-sync")
    with on_signals(stopped.set):
        if not json:
            print_note("Syncing. Ctrl+C ends it.")
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_SECONDS)
    if failed:
        raise failed[0]
    return OK
