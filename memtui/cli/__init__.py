"""The command line: a command for what each screen shows. Without a command it opens the app.

Opening the app does not import click. ``root`` lists the commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

COMPLETE_VARIABLE = "_MEMTUI_COMPLETE"


def main() -> NoReturn:
    """The program. Ends the process with one of the exit codes of ``errors``."""
    if sys.argv[1:2] == ["hook"]:
        from memtui.hook.program import run_fast

        run_fast(sys.argv[2:])
    if sys.argv[1:2] == ["status"]:
        from memtui.hook.status import run_fast as say_status

        say_status(sys.argv[2:])
    code = run(sys.argv[1:])
    from memtui.startup import end_process

    end_process(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing is raised."""
    from . import errors, output

    output.prepare_streams()
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    json, logged = "--json" in options, not {"--readonly", "--demo"} & {*options}
    try:
        code = _run_command(list(arguments))
        sys.stdout.flush()
    except Exception as error:
        code = _report_if_open(error, json=json, logged=logged)
    except KeyboardInterrupt as error:
        code = errors.report_error(error, json=json)
    output.silence_broken_streams()
    return code


def _run_command(arguments: list[str]) -> int:
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if not instruction:
        from .invocation import Invocation

        if invocation := Invocation.without_command(arguments):
            from .open_app import open_app

            return open_app(invocation)
    from memtui.startup import collect_garbage_seldom

    collect_garbage_seldom()
    import click

    from .root import memtui_group

    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(memtui_group, {}, "memtui", COMPLETE_VARIABLE, instruction)
    try:
        with memtui_group.make_context("memtui", arguments) as context:
            code = memtui_group.invoke(context)
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    return code if isinstance(code, int) else 0


def _report_if_open(error: Exception, *, json: bool, logged: bool) -> int:
    """Like ``errors.report``, when the output may be closed or full."""
    from . import errors

    try:
        code = errors.report_error(error, json=json, logged=logged)
        sys.stdout.flush()
    except BrokenPipeError:
        return errors.UNREAD
    except OSError:  # a full disk: what could be told stands on stderr
        return errors.BAD_INPUT
    return code
