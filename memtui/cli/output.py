"""Everything the command line prints: text for people, JSON for scripts.

Text goes through ``visible_text()``, so that nothing stored in a memory reaches the terminal as a command.
It is coloured only on a terminal and without NO_COLOR. JSON is one object on one line, in UTF-8,
with the characters escaped that a terminal would obey.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Literal, TextIO

from memtui.engine.installation import runnable_text
from memtui.present.text import Line, Role, VisibleText, max_cells, one_line, visible_text

Style = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
_CODES: dict[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_OF_ROLE: dict[Role, tuple[Style, ...]] = {
    "strong": ("bold",), "dim": ("dim",), "faint": ("dim",), "accent": ("cyan",), "entity": ("cyan",),
    "keyword": ("cyan",), "vector": ("cyan",), "word_vector": ("cyan",), "context": ("cyan",),
    "success": ("green",), "added": ("green",), "warning": ("yellow",), "error": ("red",), "removed": ("red",),
}  # fmt: skip
# Characters that JSON does not escape and a terminal would interpret.
_RISKY = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_UNLIMITED = 10_000


def prepare_streams() -> None:
    """Never fail on a character that the terminal's encoding lacks, or on a stream that is closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def silence_broken_streams() -> None:
    """Redirect broken streams to nothing, so that Python's last flush raises no error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _redirect_to_null(stream)


def _redirect_to_null(stream: TextIO) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(null)


def out(text: str = "") -> None:
    """A line, or lines, on stdout. Styled parts (:func:`paint`) must be joined with :func:`row`."""
    _write_safely(sys.stdout, text if isinstance(text, Painted) else visible_text(text, newlines=True))


def err(text: str) -> None:
    """A line, or lines, on stderr; a command in it is one that can be typed here."""
    text = text if isinstance(text, Painted) else runnable_text(text)
    _write_safely(sys.stderr, text if isinstance(text, Painted) else visible_text(text, newlines=True))


def print_note(text: str) -> None:
    """A note beside the answer, on stderr, so that it does not enter a pipe."""
    err(f"note: {text}")


def next_step(text: str) -> Painted:
    """The command that comes next, dim, as it can be typed here."""
    return paint(runnable_text(text), "dim")


def print_json(value: Any) -> None:
    """``value`` (records, containers of them) as one line of JSON on stdout."""
    sys.stdout.flush()
    data = json_bytes(value) + b"\n"
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode())
    else:
        buffer.write(data)
        buffer.flush()


def json_bytes(value: Any) -> bytes:
    import msgspec

    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a file name that is not UTF-8
        text = msgspec.json.encode(_scrub_value(msgspec.to_builtins(value))).decode()
    return _RISKY.sub(_json_escape, text).encode()


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class Painted(str):
    """Text that went through ``visible_text()`` and may have our colours."""


def paint(text: str, *styles: Style) -> Painted:
    """``text`` made visible, in colour where stdout shows colours."""
    shown = visible_text(text)
    if not styles or not shows_colours():
        return Painted(shown)
    return Painted(f"\x1b[{';'.join(str(_CODES[style]) for style in styles)}m{shown}\x1b[0m")


def paint_line(line: Line) -> Painted:
    """A line of a record, each part in the colour of its role."""
    return row(*(paint_role(text, role) for text, role in line), gap="")


def paint_role(text: str, role: Role) -> Painted:
    """``text`` made visible, in the colour of its role."""
    return paint(text, *_OF_ROLE.get(role, ()))


def row(*parts: str, gap: str = "  ") -> Painted:
    """Parts in one line. Those that are not painted go through ``visible_text()``."""
    return Painted(gap.join(part if isinstance(part, Painted) else visible_text(part) for part in parts))


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[Painted]:
    """``rows`` with their columns aligned (``right``: the indexes of those aligned right)."""
    shown = [[part if isinstance(part, Painted) else visible_text(part) for part in parts] for parts in rows]
    widths = [max(map(printed_cells, column)) for column in zip(*shown, strict=True)]
    lines = []
    for parts in shown:
        padded = []
        for column, part in enumerate(parts):
            space = " " * (widths[column] - printed_cells(part))
            last = column == len(parts) - 1
            padded.append(space + part if column in right else part + ("" if last else space))
        lines.append(Painted("  ".join(padded).rstrip()))
    return lines


def cut_to_terminal(text: str, used: int = 0) -> VisibleText:
    """``text`` on one line that fits the terminal beside ``used`` cells; in a pipe it is not cut."""
    return one_line(text, max(20, terminal_width() - used))


def printed_cells(part: str) -> int:
    """The cells that a line takes on screen, its colours not counted."""
    return max_cells(re.sub("\x1b\\[[0-9;]*m", "", part))


def terminal_width() -> int:
    return terminal_columns() or _UNLIMITED


def terminal_columns() -> int | None:
    """The columns of the terminal; None in a pipe."""
    if not _is_terminal(sys.stdout):
        return None
    import shutil

    return shutil.get_terminal_size().columns


def shows_colours() -> bool:
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def shows_unicode() -> bool:
    """Whether stdout's encoding and the terminal have the glyphs: a vt100 has not, whatever the encoding is called."""
    if os.environ.get("TERM", "").startswith("vt"):
        return False
    return (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False


def _write_safely(stream: TextIO, text: str) -> None:
    stream.write(text + "\n")


def _scrub_value(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_scrub_value(key): _scrub_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub_value(item) for item in value]
    return value
