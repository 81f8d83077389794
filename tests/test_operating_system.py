"""Windows and macOS as far as they can be told here: their calls are stood in for, the rest is real."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from memtui import Memory, log, operating_system, paths
from memtui.connect import launch
from memtui.engine.models.ner import spacy_names
from memtui.engine.records import Options
from memtui.engine.store import connection, file_replacement
from memtui.ui import editor
from memtui.ui.state import UiState


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "PLATFORM", "win32")


@pytest.fixture
def macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "PLATFORM", "darwin")


def _in_use() -> PermissionError:
    """What Windows answers if a virus scanner has the file open."""
    error = PermissionError(errno.EACCES, "The process cannot access the file")
    error.winerror = 32
    return error


class _Busy:
    """Path.replace and Path.rename, which fail the first times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.left = times
        for name in ("replace", "rename"):
            monkeypatch.setattr(Path, name, self._failing(getattr(Path, name)))

    def _failing(self, real: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
        def call(source: Path, target: Path) -> Path:
            if self.left:
                self.left -= 1
                raise _in_use()
            return real(source, target)

        return call


def _pair(tmp_path: Path) -> tuple[Path, Path]:
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("new")
    old.write_text("old")
    return new, old


@pytest.mark.usefixtures("windows")
def test_a_rename_on_windows_waits_for_a_program_that_has_the_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = _pair(tmp_path)
    busy = _Busy(monkeypatch, 3)
    operating_system.replace(new, old)
    assert (busy.left, old.read_text(), new.exists()) == (0, "new", False)
    busy.left = 2
    operating_system.rename(old, new)
    assert new.read_text() == "new"


@pytest.mark.usefixtures("windows")
def test_the_wait_for_a_file_that_stays_open_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = _pair(tmp_path)
    monkeypatch.setattr(operating_system, "RENAME_SECONDS", 0.05)
    _Busy(monkeypatch, 1_000_000)
    with pytest.raises(PermissionError):
        operating_system.replace(new, old)
    assert (old.read_text(), new.read_text()) == ("old", "new")


def test_a_refused_rename_is_not_tried_again_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operating_system, "PLATFORM", "linux")
    busy = _Busy(monkeypatch, 2)
    with pytest.raises(PermissionError):
        operating_system.replace(*_pair(tmp_path))
    assert busy.left == 1


@pytest.mark.usefixtures("windows")
def test_windows_flushes_a_file_that_is_open_for_writing_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FlushFileBuffers refuses a handle that may only read, and os.open refuses a folder."""
    flags_of: dict[str, int] = {}
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, flags, *more: flags_of.update({str(path): flags}) or real(path, flags, *more)
    )
    file, _ = _pair(tmp_path)
    operating_system.flush_path(file)
    operating_system.flush_path(tmp_path)
    assert flags_of == {str(file): os.O_RDWR}


@pytest.mark.usefixtures("macos")
def test_macos_flushes_the_cache_of_the_disk_and_settles_for_less_where_it_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    commands: list[int] = []
    flushed: list[int] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda handle, command: commands.append(command))
    monkeypatch.setattr(os, "fsync", flushed.append)
    file, _ = _pair(tmp_path)
    operating_system.flush_path(file)
    assert (commands, flushed) == ([51], [])

    def cannot(handle: int, command: int) -> None:
        raise OSError(errno.ENOTSUP, "not there")

    monkeypatch.setattr(fcntl, "fcntl", cannot)
    operating_system.flush_path(file)
    assert len(flushed) == 1


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_sqlite_flushes_the_cache_of_the_disk_on_macos(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    Memory.open(path, options=Options(background=False)).close()
    monkeypatch.setattr(operating_system, "PLATFORM", platform)
    opened = connection.connect(path, write=True)
    settings = [opened.pragma(name) for name in ("fullfsync", "checkpoint_fullfsync")]
    opened.close()
    assert settings == ([1, 1] if platform == "darwin" else [0, 0])


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_not_followed_where_the_system_has_no_flag_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.write_text("of the person")
    (tmp_path / "link").symlink_to(target)
    for flag in (True, False):
        if not flag:
            monkeypatch.delattr(os, "O_NOFOLLOW", raising=False)
        with pytest.raises(OSError):
            operating_system.open_private(tmp_path / "link", os.O_WRONLY | os.O_TRUNC)
        with pytest.raises(FileExistsError):
            operating_system.create_private(tmp_path / "link")
    assert target.read_text() == "of the person"


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_files_are_made_for_their_owner_only_and_without_a_change_of_line_ends(tmp_path: Path) -> None:
    with os.fdopen(operating_system.create_private(tmp_path / "made"), "wb") as file:
        file.write(b"a\nb\r\n\x1a")
    assert (tmp_path / "made").read_bytes() == b"a\nb\r\n\x1a"
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o600


@pytest.mark.usefixtures("windows")
def test_mode_bits_say_nothing_on_windows(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    assert operating_system.loose_mode(tmp_path / "open") is None
    operating_system.close_to_others(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o755


@pytest.mark.usefixtures("windows")
def test_a_network_drive_of_windows_is_no_place_for_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"Z:\\": 4, "C:\\": 3}
    kernel = SimpleNamespace(GetDriveTypeW=kinds.__getitem__)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)

    class Drive:
        def __init__(self, anchor: str) -> None:
            self.anchor = anchor

        def __str__(self) -> str:
            return f"{self.anchor}notes"

    assert operating_system.filesystem_of(Drive("Z:\\")) == "smb"  # type: ignore[arg-type]
    assert operating_system.filesystem_of(Drive("C:\\")) == ""  # type: ignore[arg-type]
    assert operating_system.filesystem_of(Drive("\\\\server\\share\\")) == "smb"  # type: ignore[arg-type]
    assert operating_system.NETWORK_TYPES.fullmatch("smb")


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_the_variables_of_linux_move_no_folder_elsewhere(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operating_system, "PLATFORM", platform)
    asked: list[str] = []
    import platformdirs

    monkeypatch.setattr(
        platformdirs, "user_data_dir", lambda name, appauthor: asked.append(name) or str(tmp_path / "own")
    )
    assert paths.data_folder() == tmp_path / "own"
    assert asked == ["memtui"]


class _LoopOfWindows:
    """An event loop that knows no signals."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def add_signal_handler(self, *arguments: Any) -> None:
        raise NotImplementedError

    def call_soon_threadsafe(self, *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(*arguments)


@pytest.mark.parametrize("of_windows", [False, True])
async def test_a_signal_to_end_reaches_the_event_loop(of_windows: bool) -> None:
    before = {number: signal.getsignal(number) for number in operating_system.stop_signals()}
    loop = asyncio.get_running_loop()
    got: asyncio.Queue[int] = asyncio.Queue()
    try:
        operating_system.on_stop_signals(
            _LoopOfWindows(loop) if of_windows else loop,  # type: ignore[arg-type]
            got.put_nowait,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.raise_signal(number)
            assert await asyncio.wait_for(got.get(), 10) == number
    finally:
        for number, handler in before.items():
            if not of_windows:
                loop.remove_signal_handler(number)
            signal.signal(number, handler)


def test_signals_in_another_thread_are_left_as_they_are() -> None:
    before = {number: signal.getsignal(number) for number in operating_system.stop_signals()}
    loop = asyncio.new_event_loop()
    wrong: list[BaseException] = []

    def ask() -> None:
        try:
            for one in (loop, _LoopOfWindows(loop)):
                operating_system.on_stop_signals(one, lambda number: None)  # type: ignore[arg-type]
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    loop.close()
    assert wrong == []
    assert {number: signal.getsignal(number) for number in before} == before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no hangup there")
def test_nohup_is_obeyed() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in operating_system.stop_signals()
        with operating_system.signals_handled(operating_system.stop_signals(), lambda number: None):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_break_of_windows_ends_memtui_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
    assert 21 in operating_system.stop_signals()
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    assert set(operating_system.stop_signals()) == {signal.SIGTERM, signal.SIGINT, 21}


@pytest.mark.usefixtures("windows")
def test_an_editor_is_run_on_windows_without_groups_and_gets_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "killpg", raising=False)
    handled: list[object] = []

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[bytes]:
        handled.append(signal.getsignal(signal.SIGINT))
        return subprocess.CompletedProcess(command, 3)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(subprocess, "run", run)
    assert operating_system.run_in_foreground(["notepad.exe", "a.txt"]) == 3
    assert handled != [before]
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.usefixtures("windows")
def test_the_path_of_an_editor_keeps_its_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", '"C:\\Program Files\\VS Code\\code.exe" --wait')
    monkeypatch.delenv("VISUAL", raising=False)
    words = next(editor._editor_candidates([]))[0]
    assert words == ["C:\\Program Files\\VS Code\\code.exe", "--wait"]
    with pytest.raises(ValueError, match="quotation"):
        operating_system.split_command('"C:\\no end')


@pytest.mark.usefixtures("windows")
def test_commands_are_written_as_windows_reads_them() -> None:
    assert operating_system.command_line(["C:\\a b\\memtui.exe", "mcp"]) == '"C:\\a b\\memtui.exe" mcp'
    assert operating_system.executable_name("memtui") == "memtui.exe"
    assert launch.operating_system is operating_system


def test_a_helper_process_does_not_get_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, Any]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **keywords: started.append(keywords))
    for platform in ("linux", "win32"):
        monkeypatch.setattr(operating_system, "PLATFORM", platform)
        spacy_names._start_worker()
    groups = [(one["process_group"], one["creationflags"]) for one in started]
    assert groups == [(0, 0), (None, 0x200)]


@pytest.mark.usefixtures("windows")
def test_an_old_console_is_told_to_obey_escape_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[tuple[int, int]] = []

    def get(handle: int, mode: Any) -> int:
        mode._obj.value = 0x3
        return 1

    kernel = SimpleNamespace(
        GetStdHandle=lambda number: 1000 + number,
        GetConsoleMode=get,
        SetConsoleMode=lambda handle, mode: modes.append((handle, mode)),
    )
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    operating_system.prepare_terminal()
    assert modes == [(988, 0x7)]
    monkeypatch.delattr(ctypes, "windll")
    operating_system.prepare_terminal()


@pytest.mark.usefixtures("windows")
def test_a_restore_goes_through_while_a_scanner_looks_at_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, new, aside = (tmp_path / name for name in ("memory.db", "new.db", "aside.db"))
    path.write_text("damaged")
    new.write_text("from the backup")
    busy = _Busy(monkeypatch, 3)
    assert file_replacement.replace_file(path, new, aside) == (aside,)
    assert (busy.left, path.read_text(), aside.read_text()) == (0, "from the backup", "damaged")


@pytest.mark.usefixtures("windows")
def test_a_restore_that_another_program_prevents_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows replaces no file that a program has open: another memtui, for example."""
    path, new, aside = (tmp_path / name for name in ("memory.db", "new.db", "aside.db"))
    path.write_text("damaged")
    new.write_text("from the backup")
    real = Path.replace
    monkeypatch.setattr(operating_system, "RENAME_SECONDS", 0.05)

    def replace(source: Path, target: Path) -> Path:
        if target == path:
            raise _in_use()
        return real(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(PermissionError):
        file_replacement.replace_file(path, new, aside)
    monkeypatch.undo()
    assert (path.read_text(), new.read_text(), aside.exists()) == ("damaged", "from the backup", False)
    assert not file_replacement.was_interrupted(path)


@pytest.mark.usefixtures("windows")
def test_state_and_log_are_written_without_the_flags_of_posix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_NOFOLLOW", raising=False)
    state = UiState(tmp_path / "state" / "ui")
    state.note_checked(tmp_path / "memory.db", 5, 1)
    assert UiState(tmp_path / "state" / "ui").last_check(tmp_path / "memory.db") == (5, 1)
    handler = log._file_handler(tmp_path / "log")
    handler.close()
    assert (tmp_path / "log").exists()


def test_the_platform_is_the_one_that_runs() -> None:
    assert sys.platform == operating_system.PLATFORM
