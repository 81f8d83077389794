"""What makes a short process shorter: for programs of our own, not for those that import memtui."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import ModuleType

_OBJECTS = 50_000
# They start processes or threads, or leave files, that a normal exit looks after.
_NEED_A_NORMAL_EXIT = frozenset({"multiprocessing", "concurrent.futures.thread", "numpy", "textual"})


def collect_garbage_seldom() -> None:
    """Collect garbage after 50,000 new objects, not 700: imports make many objects, and nearly all of them stay."""
    gc.set_threshold(_OBJECTS)


def without_typing_extensions() -> None:
    """Import msgspec without typing_extensions. That would load inspect, ast and dis, for names that typing has too."""
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]
    if "msgspec" in modules or "typing_extensions" in modules:
        return
    modules["typing_extensions"] = None
    try:
        import msgspec  # noqa: F401
    finally:
        del modules["typing_extensions"]


def end_process(code: int) -> NoReturn:
    """End the process, whose output is flushed and whose files are closed.

    Python would take every module apart first, which is a seventh of a small command's time. It is left out if nothing
    is loaded that needs it, and no other thread runs.
    """
    threading = sys.modules.get("threading")
    if _NEED_A_NORMAL_EXIT & sys.modules.keys() or (threading and threading.active_count() > 1):
        sys.exit(code)
    if logging := sys.modules.get("logging"):
        logging.shutdown()
    os._exit(code)
