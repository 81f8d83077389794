"""What differs between Linux, macOS and Windows: modes, flushing and renaming of files, file systems, signals, processes.

The rest of memtui asks here, and a test holds that no other module looks at the platform. ``PLATFORM`` is read at each
call, so that tests can be another system as far as the calls of this one allow. Locks are not here: the package
filelock hides their differences.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import ELOOP
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import asyncio

PLATFORM: str = sys.platform
"""As ``sys.platform`` has it: linux, darwin, win32."""

MOUNTINFO = Path("/proc/self/mountinfo")
# How long a rename waits on Windows for a program that has the file open: a virus scanner, an indexer.
RENAME_SECONDS = 2.0
_ACCESS_DENIED, _SHARING_VIOLATION = 5, 32
_FOREGROUND_LOOK_SECONDS = 0.05
# How long a program in the foreground may take to end, once memtui is to end.
FOREGROUND_END_SECONDS = 3.0
# Reset cursor and number keys, which a killed editor may have changed.
_PLAIN_KEYS = b"\x1b[?1l\x1b>"
_ENDING = ("SIGTERM", "SIGHUP", "SIGINT", "SIGBREAK")


def is_windows() -> bool:
    return PLATFORM == "win32"


def is_linux() -> bool:
    return PLATFORM == "linux"


def is_macos() -> bool:
    return PLATFORM == "darwin"


# Files


def open_private(path: str | os.PathLike[str], flags: int, mode: int = 0o600) -> int:
    """A descriptor of a file that is created for its owner only. A symbolic link is not followed: OSError."""
    no_follow = getattr(os, "O_NOFOLLOW", 0)
    if (is_windows() or not no_follow) and not flags & os.O_EXCL and Path(path).is_symlink():
        raise OSError(ELOOP, os.strerror(ELOOP), os.fspath(path))
    return os.open(path, flags | no_follow | getattr(os, "O_BINARY", 0), mode)


def create_private(path: str | os.PathLike[str], mode: int = 0o600) -> int:
    """A descriptor to write a new file with. Raises FileExistsError if anything has its name."""
    return open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


def flush_descriptor(descriptor: int) -> None:
    """Make what was written survive a power cut. On macOS fsync leaves it in the cache of the disk."""
    if is_macos() and (full := _full_flush()) is not None:
        try:
            full(descriptor)
            return
        except OSError:
            pass  # a file system that cannot
    os.fsync(descriptor)


def _full_flush() -> Callable[[int], Any] | None:
    try:
        import fcntl
    except ImportError:
        return None
    command = getattr(fcntl, "F_FULLFSYNC", None)
    return None if command is None else lambda descriptor: getattr(fcntl, "fcntl")(descriptor, command)  # noqa: B009


def flush_path(path: Path) -> None:
    """As ``flush_descriptor`` for a closed file, or for the names in a folder."""
    if is_windows() and path.is_dir():
        return  # a folder cannot be opened there; NTFS journals its names
    # Windows flushes only what is open for writing.
    handle = os.open(path, os.O_RDWR if is_windows() else os.O_RDONLY)
    try:
        flush_descriptor(handle)
    finally:
        os.close(handle)


def replace(source: Path, target: Path) -> None:
    """Give ``source`` the name of ``target``, whose file is gone then."""
    _retry_while_in_use(lambda: source.replace(target))


def rename(source: Path, target: Path) -> None:
    """Give ``source`` the name ``target``, which must be free."""
    _retry_while_in_use(lambda: source.rename(target))


def _retry_while_in_use(act: Callable[[], object]) -> None:
    """On Windows a file that a program has open without sharing it cannot be renamed or replaced; most are soon done."""
    deadline = time.monotonic() + RENAME_SECONDS
    pause = 0.01
    while True:
        try:
            act()
            return
        except PermissionError as error:
            in_use = getattr(error, "winerror", None) in (_ACCESS_DENIED, _SHARING_VIOLATION)
            if not (is_windows() and in_use) or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.2)


def has_modes() -> bool:
    """Whether mode bits say who may read a file. On Windows the rights of its folder do, and a profile is private."""
    return not is_windows()


def loose_mode(path: Path) -> int | None:
    """The mode bits of ``path`` when others than its owner may touch it, else None (also on Windows)."""
    if not has_modes():
        return None
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None
    return mode if mode & 0o077 else None


def close_to_others(path: Path) -> None:
    """Only its owner may use a file or folder from now on."""
    if has_modes():
        path.chmod(0o700 if path.is_dir() else 0o600)


# File systems


def filesystem_of(path: Path) -> str:
    """The type of the file system that holds ``path``, which exists ("ext4", "nfs4"); "" where it is not known.

    "smb" for every network drive of Windows, "nfs" for what macOS calls not local.
    """
    if is_linux():
        try:
            table = MOUNTINFO.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
        return mounted_type(table, str(path))
    if is_macos():
        return _macos_file_system(path)
    if is_windows():
        return _windows_file_system(path)
    return ""


def mounted_type(mountinfo: str, path: str) -> str:
    """The type of the mount with the longest mount point above ``path`` in a ``mountinfo`` table.

    Of two mounts on the same point the later one hides the earlier.
    """
    best, found = -1, ""
    for line in mountinfo.splitlines():
        left, separator, right = line.partition(" - ")
        fields, kind = left.split(" "), right.split(" ", 1)[0]
        if not separator or len(fields) < 5:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]).rstrip("/")
        if (path == point or path.startswith(point + "/")) and len(point) >= best:
            best, found = len(point), kind
    return found


def _macos_file_system(path: Path) -> str:
    """``statfs`` by hand: Python has no call for a file system's name."""
    import ctypes

    buffer = ctypes.create_string_buffer(4096)
    try:
        library = ctypes.CDLL(None)
        call = getattr(library, "statfs$INODE64", None) or library.statfs
        if call(os.fsencode(path), buffer) != 0:
            return ""
    except (OSError, AttributeError, TypeError):
        return ""
    return statfs_type(buffer.raw)


def statfs_type(raw: bytes) -> str:
    """The type in a macOS ``struct statfs`` (64-bit inodes); "nfs" for an unnamed mount that is not local."""
    flags = int.from_bytes(raw[64:68], sys.byteorder)
    kind = raw[72:88].split(b"\0", 1)[0].decode("ascii", "replace")
    return kind if flags & 0x1000 or NETWORK_TYPES.fullmatch(kind) else "nfs"


# The part before a dot: every "fuse.something" is FUSE.
NETWORK_TYPES = re.compile(
    r"9p|acfs|afpfs|afs|beegfs|ceph|cifs|coda|davfs|drvfs|fakeowner|fuse(blk)?|gfs2?|glusterfs|gpfs|lustre|macfuse"
    r"|ncpfs|nfs4?|ocfs2|orangefs|osxfuse|panfs|prl_fs|pvfs2|smb[23]?|smbfs|sshfs|v9fs|vboxsf|virtiofs|vmhgfs"
    r"|webdav"
)


def _windows_file_system(path: Path) -> str:
    if str(path).startswith("\\\\"):
        return "smb"
    import ctypes

    libraries = getattr(ctypes, "windll", None)
    remote = 4
    return "smb" if libraries and libraries.kernel32.GetDriveTypeW(path.anchor) == remote else ""


# Signals


INTERRUPT = int(signal.SIGINT)


def stop_signals() -> tuple[int, ...]:
    """The signals of this system that ask a program to end. Under nohup a hangup is none of them."""
    known = [number for name in _ENDING if (number := getattr(signal, name, None)) is not None]
    hangup = getattr(signal, "SIGHUP", None)
    return tuple(number for number in known if number != hangup or signal.getsignal(number) != signal.SIG_IGN)


def on_stop_signals(loop: asyncio.AbstractEventLoop, leave: Callable[[int], object]) -> None:
    """A signal to end has ``leave`` called on the event loop with its number. Call it in the main thread.

    In another thread nothing happens: Python gives signals to the main one only.
    """
    for number in stop_signals():
        try:
            loop.add_signal_handler(number, leave, number)
        except NotImplementedError:  # the loops of Windows
            with suppress(ValueError):
                signal.signal(number, lambda number, frame: _call_soon(loop, leave, number))
        except (RuntimeError, ValueError):
            return


def _call_soon(loop: asyncio.AbstractEventLoop, leave: Callable[[int], object], number: int) -> None:
    with suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(leave, number)


@contextmanager
def signals_handled(numbers: Sequence[int], handler: Callable[[int], object]) -> Iterator[None]:
    """``handler`` gets the number of each of these signals; afterwards they are handled as before."""
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: handler(number))
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


def default_handling(numbers: Sequence[int]) -> None:
    """The signals end the program again: SIGINT by KeyboardInterrupt."""
    for number in numbers:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# Processes and the terminal


class OwnGroupArguments(TypedDict):
    process_group: int | None
    creationflags: int


def own_group_arguments() -> OwnGroupArguments:
    """Arguments of Popen for a process that Ctrl+C does not reach: it is its parent's to handle."""
    if is_windows():
        new_group = 0x200  # CREATE_NEW_PROCESS_GROUP, which subprocess has only there
        return {"process_group": None, "creationflags": new_group}
    return {"process_group": 0, "creationflags": 0}


def executable_name(name: str) -> str:
    """The file name of a program."""
    return f"{name}.exe" if is_windows() else name


def command_line(words: Sequence[str]) -> str:
    """A command as a person types it, or a program's settings hold it as one text."""
    if is_windows():
        from subprocess import list2cmdline

        return list2cmdline(words)
    import shlex

    return shlex.join(words)


def split_command(command: str) -> list[str]:
    """The words of a command line. Raises ValueError for one with an open quote.

    On Windows a backslash is part of a path, and escapes nothing.
    """
    import shlex

    if not is_windows():
        return shlex.split(command)
    return [
        word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word
        for word in shlex.split(command, posix=False)
    ]


def prepare_terminal() -> None:
    """Make an older console of Windows obey escape sequences on standard error. Others do."""
    if not is_windows():
        return
    import ctypes

    libraries = getattr(ctypes, "windll", None)
    if libraries is None:
        return
    standard_error, obey = -12, 0x4
    handle, mode = libraries.kernel32.GetStdHandle(standard_error), ctypes.c_ulong()
    if libraries.kernel32.GetConsoleMode(handle, ctypes.byref(mode)):
        libraries.kernel32.SetConsoleMode(handle, mode.value | obey)


def run_in_foreground(command: Sequence[str]) -> int:
    """Run a program that gets the terminal. Returns its status; negative: a signal. Raises OSError.

    A signal to end memtui ends the program first. The terminal comes back with its old settings.
    """
    import subprocess

    if is_windows() or sys.platform == "win32":
        with signals_handled(stop_signals(), lambda number: None):  # Ctrl+C is for the program
            return subprocess.run(command, check=False).returncode
    endings: list[int] = []
    with _terminal_kept() as give_terminal_to, signals_handled(stop_signals(), endings.append):
        # In its own process group, so that Ctrl+C goes to the program and not to memtui.
        program = subprocess.Popen(command, process_group=0)
        give_terminal_to(program.pid)
        asked_at = None
        while True:
            pid, status = os.waitpid(program.pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):  # Ctrl+Z, or it wanted the terminal before it had it
                give_terminal_to(program.pid)
                _signal_group(program.pid, signal.SIGCONT)
            elif pid:
                program.returncode = os.waitstatus_to_exitcode(status)
                return program.returncode
            if endings and asked_at is None:
                asked_at = time.monotonic()
                _signal_group(program.pid, signal.SIGHUP if endings[0] == signal.SIGHUP else signal.SIGTERM)
            elif asked_at is not None and time.monotonic() - asked_at > FOREGROUND_END_SECONDS:
                _signal_group(program.pid, signal.SIGKILL)
            time.sleep(_FOREGROUND_LOOK_SECONDS)


@contextmanager
def _terminal_kept() -> Iterator[Callable[[int], None]]:
    """Yields a function that gives the terminal to a group. Afterwards it is ours again, with its old settings."""
    if sys.platform == "win32":
        yield lambda group: None
        return
    import termios

    try:
        settings = termios.tcgetattr(0)
        ours = os.tcgetpgrp(0)
    except (OSError, termios.error):
        yield lambda group: None  # no terminal to hand over
        return

    def give_terminal_to(group: int) -> None:
        # A background process that uses the terminal would be stopped by this signal.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with suppress(OSError, termios.error):  # the group, or the terminal, is gone already
            os.tcsetpgrp(0, group)
            if group == ours:
                termios.tcsetattr(0, termios.TCSADRAIN, settings)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    try:
        yield give_terminal_to
    finally:
        give_terminal_to(ours)
        with suppress(OSError):
            os.write(2, _PLAIN_KEYS)


def _signal_group(group: int, number: int) -> None:
    if sys.platform == "win32":
        return
    with suppress(ProcessLookupError):
        os.killpg(group, number)
