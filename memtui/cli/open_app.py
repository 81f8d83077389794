"""``memtui``: open the app. The engine is imported after the first paint, in the app's own thread."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import paths
from memtui.engine.errors import MemtuiError, StoreError, UsageError

from .errors import report_error
from .invocation import Invocation, demo_file
from .output import shows_unicode

if TYPE_CHECKING:
    from memtui.config import Settings
    from memtui.engine.memory import Memory
    from memtui.ui.app import MemtuiApp
    from memtui.ui.permissions import Permissions


def open_app(invocation: Invocation, *, start_import: bool = False) -> int:
    """Open the app on the memory that ``invocation`` names; returns its exit code. ``start_import``: it starts with the
    import dialog."""
    invocation.check_options()
    if not invocation.demo and invocation.foreign_store is None:
        _refuse_early(invocation.memory_path(), invocation)
    # In a browser (textual serve) the driver speaks through pipes.
    if "TEXTUAL_DRIVER" not in os.environ and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "The app needs a terminal to open in.", "In a script use the commands: memtui --help lists them."
        )
    # Garbage collection would find nothing during the start. The app switches it on after its first rows.
    gc.disable()
    from memtui.ui.app import run_app

    failures: list[MemtuiError] = []
    with ExitStack() as kept:
        app = make_app(invocation, kept, failures, start_import=start_import)
        code = run_app(app)
    if app.demo_wanted:
        return open_app(replace(invocation, db=None, demo=True, tour=True))
    if app.own_wanted:
        return open_app(replace(invocation, demo=False, tour=False), start_import=True)
    return report_error(failures[0], json=False) if failures else code


def make_app(
    invocation: Invocation, kept: ExitStack, failures: list[MemtuiError], *, start_import: bool = False
) -> MemtuiApp:
    """The app for these options. ``kept`` holds a demo's files, ``failures`` gets why the memory could not be opened."""
    from memtui.ui.app import MemtuiApp
    from memtui.ui.permissions import permissions_of_app, permissions_of_copy
    from memtui.ui.state import UiState
    from memtui.ui.theme import Appearance

    settings = invocation.configuration.settings
    store = invocation.foreign_store
    path = None if invocation.demo or store else invocation.memory_path()
    if store:
        permissions = permissions_of_copy(store.reason_readonly, store.import_command)
    else:
        permissions = permissions_of_app(readonly=invocation.readonly, demo=invocation.demo)
    readonly = invocation.readonly or store is not None
    open_with = _memory_opener(invocation, path, kept, permissions)

    def open_memory() -> Memory:
        try:
            if path is not None:
                from memtui.engine.memory import Memory

                Memory.rescue(path).refuse_to_begin_anew()
            memory = open_with(settings)
        except MemtuiError as error:
            failures[:] = [error]
            raise
        failures.clear()
        return memory

    app = MemtuiApp(
        open_memory,
        reopen=open_with,
        memory_path=path,
        name=store.title if store else "demo, a throwaway copy" if path is None else path.stem,
        shell_options=("--demo",) if invocation.demo else ("--db", invocation.db) if invocation.db else (),
        look=Appearance(
            settings.general.theme, settings.general.ascii or not shows_unicode(), settings.general.motion
        ),
        keymap=settings.keymap,
        readonly=readonly,
        permissions=permissions,
        state=UiState(paths.state_folder() / "app.json" if permissions.own_files else None),
        crash_folder=paths.log_folder() if permissions.own_files else None,
        home=Path.home(),
        configuration=invocation.configuration,
        begins_with="tour" if invocation.tour else "import" if start_import else None,
    )
    app.follower.sessions.allowed = app.follower.runs_jobs = not invocation.demo
    return app


def _refuse_early(path: Path, invocation: Invocation) -> None:
    """Report errors here that would leave the app with nothing to show."""
    paths.check_memory_place(path, allow_unsafe=invocation.allow_unsafe_fs)
    if paths.path_exists(path) and path.is_dir():
        raise StoreError(f"{path} is a folder.", f"Name a file in it: --db {path / paths.MEMORY_NAME}")
    if invocation.readonly and paths.is_surely_missing(path):
        raise StoreError(f"There is no memory at {path}.", "Open it once without --readonly to create it.")


def _memory_opener(
    invocation: Invocation, path: Path | None, kept: ExitStack, permissions: Permissions
) -> Callable[[Settings], Memory]:
    """What the app calls in its thread; ``kept`` holds the files of a demo or a copy until the app is left."""
    places = [] if path is None else [path]

    def open_memory(settings: Settings) -> Memory:
        from memtui import log
        from memtui.engine.memory import Memory

        if permissions.own_files:
            log.start()
        options = permissions.limit_options(
            settings.options(allow_unsafe_fs=invocation.allow_unsafe_fs or invocation.demo)
        )
        if (store := invocation.foreign_store) is not None:
            from .store_copy import copy_options, open_store_copy

            if not places:
                places.append(kept.enter_context(open_store_copy(store, options))[0])
            return Memory.open(places[0], readonly=True, options=copy_options(options))
        if not places:
            places.append(kept.enter_context(demo_file()))
        return Memory.open(places[0], readonly=invocation.readonly, options=options)

    return open_memory
