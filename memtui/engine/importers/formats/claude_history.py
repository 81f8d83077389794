"""Claude Code's ``history.jsonl``: every typed prompt. It outlives the session files.

``{display, timestamp, project, sessionId, pastedContents?}`` a line. A prompt belongs to the session of its transcript,
where the same words may be already, or come in later: it is known by session, words and time (``turns.py``). Commands
of the program (``/clear``) say nothing. What was pasted stands for its placeholder where the file has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream
from . import claude_code_wrappers

SOURCE = "import:claude-history"
_COMMAND = re.compile(r"/[\w:-]+\s*\Z")
_PLACEHOLDER = re.compile(r"\[Pasted text #(\d{1,6})(?: \+\d{1,9} lines)?\]")


class _Line(msgspec.Struct, rename="camel"):
    display: Any = None
    timestamp: Any = None
    project: Any = None
    session_id: Any = None
    pasted_contents: Any = None


_DECODER = msgspec.json.Decoder(_Line)


def _sniff(head: StreamHead) -> bool:
    return any(
        isinstance(record.get("display"), str) and "timestamp" in record and "type" not in record
        and ("project" in record or "pastedContents" in record)
        for record in head.objects
    )  # fmt: skip


def read(stream: Stream) -> Iterator[Turn | Skip]:
    for line in foreign_values.decode_each(_DECODER, stream.records(), stream):
        yield line if isinstance(line, Skip) else _parse_turn(line, stream)


FORMAT = Format("claude-history", "Claude Code prompts", _sniff, read)


def _parse_turn(line: _Line, stream: Stream) -> Turn | Skip:
    if not isinstance(line.display, str):
        return stream.skip(base.NOT_A_MESSAGE)
    said = line.display
    if isinstance(pasted := line.pasted_contents, dict):
        said = _PLACEHOLDER.sub(lambda match: _pasted_text(pasted, match), said)
    text = claude_code_wrappers.own_words(said)
    if not text:
        return Skip(reason=base.PROGRAM if said.strip() else base.NO_TEXT)
    if _COMMAND.match(text):
        return Skip(reason=base.PROGRAM)
    project = foreign_values.last_path_part(line.project)
    session = foreign_values.read_identifier(line.session_id)
    return Turn(
        # Before sessions were noted there, a project's prompts are one.
        session_id=f"claude-code:{session or f'prompts/{project or stream.source.stem}'}",
        role="user",
        content=text,
        source_key=f"claude-history:{foreign_values.hash_parts(session, project, text, line.timestamp)}",
        source=SOURCE,
        event_time=foreign_values.event_time(line.timestamp, stream),
        project=project,
        folder=foreign_values.read_folder(line.project),
        trust="user",
    )


def _pasted_text(contents: dict[str, Any], placeholder: re.Match[str]) -> str:
    paste = contents.get(placeholder[1])
    text = paste.get("content") if isinstance(paste, dict) else None
    return text if isinstance(text, str) else placeholder[0]
