"""The end of a short process: quick where nothing is left to do, Python's own where something is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ATEXIT = (
    "import atexit, sys; from memtui.startup import end_process; atexit.register(print, 'a normal exit'); "
)


def run(code: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    return done.returncode, done.stdout


def test_a_process_without_anything_left_to_do_is_not_taken_apart() -> None:
    assert run(f"{ATEXIT} end_process(3)") == (3, "")


@pytest.mark.parametrize("module", ["multiprocessing", "concurrent.futures.thread", "numpy"])
def test_a_module_that_needs_a_normal_exit_gets_it(module: str) -> None:
    assert run(f"import {module}; {ATEXIT} end_process(3)") == (3, "a normal exit\n")


def test_a_thread_that_still_works_is_waited_for() -> None:
    work = (
        "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('done'))).start(); "
    )
    assert run(f"{work}{ATEXIT} end_process(0)") == (0, "done\na normal exit\n")


def test_the_log_is_written_out(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import logging, logging.handlers; "
        f"file = logging.FileHandler({str(log)!r}); "
        "held = logging.handlers.MemoryHandler(9, target=file, flushLevel=99); "
        "logging.getLogger().addHandler(held); logging.getLogger().warning('kept'); "
    )
    assert run(f"{code}{ATEXIT} end_process(0)") == (0, "")
    assert log.read_text() == "kept\n"


def test_what_was_printed_reaches_a_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "--help"], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip().endswith("Print a shell's completion script.")


def test_msgspec_comes_without_the_extensions_of_typing_that_others_may_still_have() -> None:
    code = (
        "import sys; from memtui.startup import without_typing_extensions as quick; quick(); "
        "print('msgspec' in sys.modules, 'typing_extensions' in sys.modules, end=' '); "
        "import typing_extensions; quick(); print('typing_extensions' in sys.modules)"
    )
    assert run(code) == (0, "True False True\n")
