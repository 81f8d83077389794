"""Claude Code session files: a JSON record a line, in ``projects/<folder>/<session>.jsonl``.

A turn is the text of a ``user`` or ``assistant`` record, or a prompt typed while the assistant worked. Such a prompt waits in a
queue. Taken out of it (``dequeue``), it has a record of its own. Given to the assistant at once (``remove``), it sometimes has an
attachment, and sometimes only the note in the queue, which is read then. Tool calls and their output, thinking, compaction
summaries and texts that the program itself wrote as the person are passed over.

A subagent talks with the assistant, not with the person, and several run at once: its turns are a session of
their own (``claude-code:<session>/agent-<id>``) with the trust of an agent, whichever file they are in.
A resumed session repeats earlier records under their old ids, so the record's id alone is the identity.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.base import SessionTitle
from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import WAITING, Stream
from . import claude_code_wrappers

_TITLES_KEPT = 1000
_EMPTY = "(no content)"
_PARTIAL = re.compile(rb'\A\s*\{[^{]*"(?:parentUuid|isSidechain)"', re.DOTALL)


class _CamelCaseStruct(msgspec.Struct, rename="camel"):
    """Only the fields that are used; everything else in a record is skipped without being built."""


class _Block(_CamelCaseStruct):
    type: Any = None
    text: Any = None


class _Message(_CamelCaseStruct):
    content: str | list[str | _Block] | None = None
    model: Any = None


class _Attachment(_CamelCaseStruct):
    type: Any = None
    prompt: str | list[str | _Block] | None = None
    origin: Any = None
    is_meta: Any = None
    command_mode: Any = None


class _Line(_CamelCaseStruct):
    type: Any = None
    uuid: Any = None
    session_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    is_sidechain: Any = None
    agent_id: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    origin: Any = None
    message: _Message | None = None
    attachment: _Attachment | None = None
    summary: Any = None
    leaf_uuid: Any = None
    custom_title: Any = None
    ai_title: Any = None
    operation: Any = None
    content: Any = None


_DECODER = msgspec.json.Decoder(_Line)


def _sniff(head: StreamHead) -> bool:
    if not head.objects:
        return _PARTIAL.match(head.raw) is not None
    return any(
        isinstance(record.get("type"), str)
        and "role" not in record
        # The list of prompts of Gemini CLI has sessions, too.
        and not isinstance(record.get("message"), str)
        and ("sessionId" in record or "leafUuid" in record or "snapshot" in record)
        for record in head.objects
    )


def read(stream: Stream) -> Iterator[Turn | SessionTitle | Skip]:
    """The last turn of a file carries the title that the session ended up with (so far).

    A summary also names the session of a turn in another file.
    """
    reader = _Reader(stream)
    pending: Turn | None = None
    for turn in reader.read_turns():
        if isinstance(turn, Turn):
            if pending:
                yield pending
            pending = turn
            continue
        if turn is WAITING and pending:
            yield reader.with_title(pending)
            pending = None
        yield turn
    if pending:
        yield reader.with_title(pending)


FORMAT = Format("claude-code", "Claude Code", _sniff, read)


class _Reader:
    """One file being read: the titles met so far, by session and (not yet claimed) by last record."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.titles: dict[str, str] = {}
        self.named: set[str] = set()
        self.by_leaf: dict[str, str] = {}
        # The summary that was read last, until it is passed on.
        self.summary: SessionTitle | None = None
        self.queue = _Queue()
        self.folder: Any = None

    def read_turns(self) -> Iterator[Turn | SessionTitle | Skip]:
        for line in self.stream.records():
            if isinstance(line, Skip):
                yield line
                continue
            parsed = self._parse_line(line)
            if isinstance(parsed, Turn) and parsed.role == "assistant":
                yield from self._steering_turns()
            yield parsed
            if self.summary:
                yield self.summary
                self.summary = None
        yield from self._steering_turns()

    def _steering_turns(self) -> Iterator[Turn]:
        """What was given to the assistant at once, and has no record of its own."""
        for line, text in self.queue.take_unrecorded():
            turn = self._make_user_turn(line, text)
            if isinstance(turn, Turn):
                yield msgspec.structs.replace(
                    turn,
                    project=foreign_values.last_path_part(self.folder),
                    folder=foreign_values.read_folder(self.folder),
                )

    def with_title(self, turn: Turn) -> Turn:
        return msgspec.structs.replace(turn, session_title=self.titles.get(turn.session_id))

    def _parse_line(self, raw: bytes) -> Turn | Skip:
        try:
            line = foreign_values.decode(_DECODER, raw, self.stream)
        except foreign_values.NotReadableError as error:
            return self.stream.skip(str(error))
        self.folder = line.cwd or self.folder
        if line.type in ("user", "assistant"):
            return self._parse_message(line)
        if line.type == "attachment":
            return self._parse_attachment(line)
        if line.type == "queue-operation":
            self.queue.apply_operation(line)
            return Skip(reason=base.NOT_A_MESSAGE)
        self._note_title(line)
        return Skip(reason=base.NOT_A_MESSAGE)

    def _parse_message(self, line: _Line) -> Turn | Skip:
        person = line.type == "user"
        content = line.message.content if line.message else None
        if line.is_compact_summary:
            return Skip(reason=base.COMPACTION)
        if line.is_meta or line.is_api_error_message or _is_made_up(line):
            return Skip(reason=base.PROGRAM)
        texts, others = _block_texts(content)
        text = base.join_blocks(texts)
        if not text or text == _EMPTY:
            return Skip(reason=base.TOOL if others else base.NO_TEXT)
        if person:
            self.queue.drop_recorded(line.session_id, text)
        return self._make_user_turn(line, *texts) if person else self._make_turn(line, "assistant", text)

    def _parse_attachment(self, line: _Line) -> Turn | Skip:
        attachment = line.attachment
        if (
            attachment is None
            or attachment.type != "queued_command"
            or attachment.command_mode not in (None, "prompt")
        ):
            return Skip(reason=base.NOT_A_MESSAGE)
        if line.is_meta or attachment.is_meta or _is_made_up(line) or _is_other(attachment.origin):
            return Skip(reason=base.PROGRAM)
        texts = _block_texts(attachment.prompt)[0]
        if not base.join_blocks(texts):
            return Skip(reason=base.NO_TEXT)
        self.queue.note_attachment(foreign_values.read_identifier(line.session_id), base.join_blocks(texts))
        return self._make_user_turn(line, *texts)

    def _make_user_turn(self, line: _Line, *texts: str) -> Turn | Skip:
        """The person's own words in blocks of text, each of which may be the program's."""
        if texts and claude_code_wrappers.is_continuation(texts[0]):
            return Skip(reason=base.COMPACTION)
        text = base.join_blocks([claude_code_wrappers.own_words(text) for text in texts])
        return self._make_turn(line, "user", text) if text else Skip(reason=base.PROGRAM)

    def _make_turn(self, line: _Line, role: str, text: str) -> Turn:
        session = f"claude-code:{foreign_values.read_identifier(line.session_id) or self.stream.source.stem}"
        aside = bool(line.is_sidechain or line.agent_id)
        if aside:
            agent = foreign_values.read_identifier(line.agent_id)
            session += f"/agent-{agent}" if agent else "/sidechain"
            self._keep_title(
                self.titles, session, f"Subagent: {foreign_values.title_line(text, 80)}", replace=False
            )
        uuid = foreign_values.read_identifier(line.uuid)
        if uuid in self.by_leaf and session not in self.named:
            self._keep_title(self.titles, session, self.by_leaf[uuid])
        return Turn(
            session_id=session,
            role=role,
            content=text.strip(),
            source_key="claude-code:"
            + (uuid or foreign_values.hash_parts(session, role, text, line.timestamp)),
            source="import:claude-code",
            event_time=foreign_values.event_time(line.timestamp, self.stream),
            project=foreign_values.last_path_part(line.cwd),
            folder=foreign_values.read_folder(line.cwd),
            session_title=self.titles.get(session),
            trust="user" if role == "user" and not aside else "agent",
        )

    def _note_title(self, line: _Line) -> None:
        """A title given by the person wins over one that was made up, and that over a summary's."""
        session = f"claude-code:{foreign_values.read_identifier(line.session_id) or self.stream.source.stem}"
        if title := foreign_values.title_line(line.custom_title):
            self.named.add(session)
            self._keep_title(self.titles, session, title)
        elif (title := foreign_values.title_line(line.ai_title)) and session not in self.named:
            self._keep_title(self.titles, session, title)
        elif (title := foreign_values.title_line(line.summary)) and (
            leaf := foreign_values.read_identifier(line.leaf_uuid)
        ):
            self._keep_title(self.by_leaf, leaf, title)
            self.summary = SessionTitle(source_key=f"claude-code:{leaf}", title=title)

    @staticmethod
    def _keep_title(titles: dict[str, str], key: str, title: str, *, replace: bool = True) -> None:
        if key in titles and not replace:
            return
        if len(titles) >= _TITLES_KEPT:
            titles.clear()
        titles[key] = title


class _Queue:
    """Prompts that wait, by session; bounded, as is all that a file may make grow."""

    _MOST = 200

    def __init__(self) -> None:
        self._queued_prompts: deque[tuple[_Line, str]] = deque(maxlen=self._MOST)
        self._taken: list[tuple[_Line, str]] = []
        # What has an attachment, which may come before or after the note in the queue.
        self._attached: deque[tuple[str | None, str]] = deque(maxlen=self._MOST)

    def apply_operation(self, line: _Line) -> None:
        text = base.join_blocks(_block_texts(line.content)[0]) if isinstance(line.content, str | list) else ""
        if line.operation == "enqueue":
            if text:
                self._queued_prompts.append((line, text))
            return
        mine = [one for one in self._queued_prompts if one[0].session_id == line.session_id]
        queued = next((one for one in mine if one[1] == text), mine[0] if mine and not text else None)
        if line.operation == "popAll":
            for one in mine:
                self._queued_prompts.remove(one)
            return
        if queued is not None:
            self._queued_prompts.remove(queued)
        elif text:
            queued = (line, text)
        if line.operation == "remove" and queued is not None:
            self._taken = [*self._taken, queued][-self._MOST :]

    def drop_recorded(self, session: Any, text: str) -> None:
        """A prompt that was removed has a record after all."""
        self._taken = [one for one in self._taken if (one[0].session_id, one[1]) != (session, text)]

    def note_attachment(self, session: str | None, text: str) -> None:
        """A prompt has an attachment."""
        self._attached.append((session, text))

    def take_unrecorded(self) -> list[tuple[_Line, str]]:
        """The prompts that were removed and have no record."""
        commands, self._taken = self._taken, []
        left = []
        for line, text in commands:
            known = (foreign_values.read_identifier(line.session_id), text)
            if known in self._attached:
                self._attached.remove(known)
            else:
                left.append((line, text))
        return left


def _is_made_up(line: _Line) -> bool:
    """True for what the program wrote in the name of the assistant or the person."""
    if line.message and line.message.model == "<synthetic>":
        return True
    return _is_other(line.origin)


def _is_other(origin: Any) -> bool:
    return isinstance(origin, dict) and origin.get("kind", "human") != "human"


def _block_texts(content: str | list[str | _Block] | None) -> tuple[list[str], int]:
    """The texts of a content, and how many blocks of other kinds were left out."""
    if content is None:
        return [], 0
    if isinstance(content, str):
        return [content], 0
    texts = [block if isinstance(block, str) else block.text for block in content if _is_text(block)]
    return [text for text in texts if isinstance(text, str)], len(content) - len(texts)


def _is_text(block: str | _Block) -> bool:
    return isinstance(block, str) or block.type == "text"
