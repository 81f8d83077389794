"""The app as a process on a pseudo-terminal: it opens, it is left, and its exit code tells what happened."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pty_screen import SECONDS, Screen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


def test_the_demo_opens_and_leaves_nothing_behind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    screen = Screen("--demo")
    try:
        assert screen.read_until(b"demo")
        assert screen.read_until(b"Ada")
        assert screen.leave() == 0
        assert b"Traceback" not in screen.shown
        # The terminal is as it was: main screen, cursor shown.
        assert b"\x1b[?1049l" in screen.shown
        assert b"\x1b[?25h" in screen.shown
    finally:
        screen.close()
    assert not list((tmp_path / "scratch").iterdir())
    assert not (home / "memory.db").exists()


def test_a_file_that_cannot_be_opened_is_told_and_is_the_exit_code(home: Path) -> None:
    (home / "memory.db").write_text("dear diary\n" * 300)
    screen = Screen()
    try:
        assert screen.read_until(b"not a memory")
        assert screen.leave() == 4
        assert b"error: " in screen.shown.rpartition(b"\x1b[?1049l")[2]
    finally:
        screen.close()
    assert (home / "memory.db").read_text().startswith("dear diary")


def test_what_is_plain_before_the_app_starts_is_told_without_it(home: Path) -> None:
    for arguments, words in ((["--db", str(home)], b"is a folder"), (["--readonly"], b"There is no memory")):
        screen = Screen(*arguments)
        try:
            assert screen.read_until(words)
            assert screen.program.wait(SECONDS) == 4
            assert b"\x1b[?1049h" not in screen.shown
        finally:
            screen.close()
