"""Aider's ``.aider.chat.history.md``: chats one after the other, each begun by a line that says when.

What the person typed stands after ``####``, what Aider itself says after ``>``, the model's answers as they are. A chat is
a session; of its turns no time is noted, so they have that of its beginning, in this machine's time zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import WAITING, Stream

SOURCE = "import:aider"
_CHAT_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_TYPED = "#### "
_PROGRAM = ">"
_FENCE = "```"
# Of these commands what follows is a message; the others are to the program.
_COMMAND = re.compile(r"/(?!(?:ask|architect|code|context)\s)[\w-]+(?:\s|$)")
_MODE = re.compile(r"/(?:ask|architect|code|context)\s+")


def _sniff(head: StreamHead) -> bool:
    return any(_CHAT_START.match(line) for line in head.raw.decode(errors="replace").splitlines())


def read(stream: Stream) -> Iterator[Turn | Skip]:
    chat = _Chat(stream)
    for raw in stream.lines(blank=True):
        if isinstance(raw, Skip):
            yield raw
            if raw is not WAITING:
                yield from chat.finish_message()
        else:
            yield from chat.read_line(raw.decode(errors="replace").rstrip())
    yield from chat.finish_message()


FORMAT = Format("aider", "Aider", _sniff, read)


class _Chat:
    """The lines of a message until another one begins."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._started_at = ""
        self._started_seconds: float | None = None
        self._role = ""
        self._lines: list[str] = []
        self._in_code = False
        self._ordinals = OccurrenceCounter()

    def read_line(self, line: str) -> Iterator[Turn | Skip]:
        start = _CHAT_START.match(line)
        if start:
            yield from self.finish_message()
            self._started_at, self._started_seconds, self._ordinals = (
                start[1],
                self._event_time(start[1]),
                OccurrenceCounter(),
            )
        elif line.startswith(_TYPED):
            yield from self._add_line("user", line.removeprefix(_TYPED))
        elif line.startswith(_PROGRAM) and not self._in_code:
            yield from self._add_line("program", line)
        elif line or self._role == "assistant":
            yield from self._add_line("assistant", line)
        else:
            yield from self.finish_message()

    def _add_line(self, role: str, line: str) -> Iterator[Turn | Skip]:
        if role != self._role:
            yield from self.finish_message()
        if role == "assistant" and line.startswith(_FENCE):
            self._in_code = not self._in_code
        self._role = role
        self._lines.append(line)

    def finish_message(self) -> Iterator[Turn | Skip]:
        role, text = self._role, "\n".join(self._lines).strip()
        self._role, self._lines, self._in_code = "", [], False
        if not role or not text:
            return
        if role == "program" or (role == "user" and _COMMAND.match(text)):
            yield Skip(reason=base.PROGRAM)
            return
        text = _MODE.sub("", text, count=1) if role == "user" else text
        source = self._stream.source
        project = None if source.member else foreign_values.title_line(source.path.resolve().parent.name)
        key = foreign_values.hash_parts(project, self._started_at, role, text)
        if ordinal := self._ordinals.count_before(bytes.fromhex(key)):
            key += f"#{ordinal}"
        yield Turn(
            session_id=f"aider:{project or source.stem}:{self._started_at or 'chat'}",
            role=role,
            content=text,
            source_key=f"aider:{key}",
            source=SOURCE,
            event_time=self._started_seconds,
            project=project,
        )

    def _event_time(self, begun: str) -> float | None:
        try:
            seconds = datetime.fromisoformat(begun).timestamp()
        except (ValueError, OverflowError, OSError):
            self._stream.warn(foreign_values.BAD_TIME)
            return None
        return foreign_values.event_time(seconds, self._stream)
