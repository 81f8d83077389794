"""Runs a preview or an import in the background. It continues if the dialog is closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.errors import MemtuiError

from .import_text import progress_detail

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memtui.engine.memory import Memory
    from memtui.engine.records import ImportProgress, ImportReport
    from memtui.ui.progress import Work
    from memtui.ui.shell import Shell

NAME = "importing"
COUNTING = "counting"


def import_work(shell: Shell) -> Work | None:
    """The preview or import that is running."""
    return next((work for work in shell.operations.works if work.name in (NAME, COUNTING)), None)


async def run_import(
    shell: Shell,
    paths: Sequence[Path],
    finished: Callable[[ImportReport | None, MemtuiError | None], bool],
    *,
    dry: bool,
) -> None:
    """Count what is in ``paths``, or import it. ``finished`` gets the result. It returns False if nobody saw it."""

    def run(memory: Memory, work: Work) -> ImportReport:
        def follow(progress: ImportProgress) -> None:
            work.progress(progress.bytes_done, progress.bytes_total, progress_detail(progress))

        return memory.files.import_paths(paths, dry_run=dry, progress=follow, cancelled=work.cancelled)

    report, failure = None, None
    try:
        report = await shell.operations.work(run, COUNTING if dry else NAME)
    except MemtuiError as error:
        failure = error
    if finished(report, failure):
        return
    if failure is not None:
        shell.show_error(failure, NAME)
    elif report is not None and not dry and not report.brings:
        shell.say("The import brought nothing new.")
