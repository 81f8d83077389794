"""The hooks of clients: the events on standard input, and the answer to each.

The prompt event comes before a prompt is read. The prompt is recorded, and memories that fit go back as
``additionalContext``. The answer event comes when the answer is complete, which is recorded. ``SessionStart`` comes when
a context begins, was resumed, cleared or compacted, ``PreCompact`` before a compaction. Only after these two events the
same memories are given again. An older configuration does not send them; then all memories are given every time.
Sessions have the names that the import of the transcripts gives them, so both fill the same sessions. Other events
are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from memtui.engine.importers.formats import claude_code_wrappers
from memtui.engine.memories.validation import MAX_EPISODE

from .quick import HookMemory

if TYPE_CHECKING:
    from memtui.engine.search.briefing import ContextBlock

# Of a longer text Claude Code shows the model only a preview.
MAX_CHARACTERS = 10_000
_TAIL_BYTES = 1 << 20


class ClientDialect(NamedTuple):
    """What a client calls its events. ``imported``: the sources of turns that were imported from its own files."""

    client: str
    prompt: str
    answer: str
    imported: tuple[str, ...]

    @property
    def source(self) -> str:
        return f"hook:{self.client}"


DIALECTS = {
    one.client: one
    for one in (
        ClientDialect(
            "claude-code",
            "UserPromptSubmit",
            "Stop",
            ("import:claude-code", "import:claude-history", "import:claude-mem"),
        ),
        ClientDialect("codex", "UserPromptSubmit", "Stop", ("import:codex",)),
        ClientDialect("gemini-cli", "BeforeAgent", "AfterAgent", ("import:gemini-cli",)),
    )
}


class Event(msgspec.Struct):
    """An event on standard input. Fields that are not used are ignored."""

    hook_event_name: str = ""
    session_id: str = ""
    cwd: str = ""
    prompt: str = ""
    transcript_path: str | None = ""
    last_assistant_message: str | None = None
    prompt_response: str | None = None
    agent_id: str | None = None


def answer_event(
    raw: bytes,
    dialect: ClientDialect,
    open_memory: Callable[[], HookMemory],
    project: str | None,
    say: Callable[[bytes], None],
) -> str:
    """Answer an event. ``say`` writes to standard output at once.

    Returns a note for the log, or "".
    Raises msgspec.MsgspecError for an invalid event, and what ``Quick`` raises.
    """
    event = msgspec.json.decode(raw, type=Event)
    if event.agent_id or not event.session_id:
        return ""  # a subagent talks with the assistant, not with the person
    claude = dialect.client == "claude-code"
    session = f"{dialect.client}:{event.session_id}"
    where = project or os.path.basename(event.cwd.replace("\\", "/").rstrip("/")) or None  # noqa: PTH119
    if event.hook_event_name == dialect.prompt:
        text, note = _recordable_part(
            claude_code_wrappers.own_words(event.prompt) if claude else event.prompt.strip()
        )
        if not text:
            return ""
        memory = open_memory()
        block_served: ContextBlock | None = None
        try:
            block = memory.context_block(text, session, source=dialect.source, project=where)
            notice = memory.notice_for_person(session)
            if block.text or notice:
                say(_hook_output(block.text, notice, dialect.prompt))
            if len(block.text) > MAX_CHARACTERS:
                memory.note_block_cut()
            block_served = block
        finally:  # the prompt is recorded, also if no memory could be given
            memory.record_turn(
                session,
                "user",
                text,
                source=dialect.source,
                project=where,
                served=block_served,
                folder=event.cwd,
            )
        return note
    if event.hook_event_name in ("SessionStart", "PreCompact"):
        open_memory().begin_context(session)
    if event.hook_event_name == dialect.answer:
        answer = event.last_assistant_message or event.prompt_response or ""
        if not answer and claude:
            answer = last_answer(event.transcript_path or "")
        text, note = _recordable_part(answer.strip())
        if text:
            open_memory().record_turn(
                session, "assistant", text, source=dialect.source, project=where, once=True, folder=event.cwd
            )
        return note
    return ""


def _recordable_part(text: str) -> tuple[str, str]:
    """The part of a text that can be recorded, and a note for the log if that is not all."""
    if len(text) <= MAX_EPISODE:
        return text, ""
    return f"{text[: MAX_EPISODE - 1]}…", f"recorded the first {MAX_EPISODE:,} of {len(text):,} characters"


def _hook_output(text: str, notice: str, event: str) -> bytes:
    """``text`` goes to the model, ``notice`` to the person."""
    if len(text) > MAX_CHARACTERS:
        text = text[: MAX_CHARACTERS - 1] + "…"
    output: dict[str, Any] = {}
    if text:
        output["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": text}
    if notice:
        output["systemMessage"] = f"memtui: {notice}"
    return msgspec.json.encode(output) + b"\n"


class _Message(msgspec.Struct):
    content: Any = None


class _Line(msgspec.Struct, rename="camel"):
    type: Any = None
    is_sidechain: Any = None
    is_api_error_message: Any = None
    message: _Message | None = None


def last_answer(transcript: str) -> str:
    """The last answer of the assistant, from the end of a transcript. "" if the person spoke after it.

    Claude Code before 2.1 does not send the text itself.
    """
    if not transcript:
        return ""
    path = os.path.expanduser(transcript)  # noqa: PTH111
    with open(path, "rb") as stream:  # noqa: PTH123
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
        lines = stream.read(_TAIL_BYTES).split(b"\n")
    decoder = msgspec.json.Decoder(_Line)
    for raw in reversed(lines):
        try:
            line = decoder.decode(raw)
        except msgspec.MsgspecError:
            continue  # the first one is cut
        if line.is_sidechain or line.is_api_error_message or line.message is None:
            continue
        answer = "\n\n".join(_texts_of_content(line.message.content)).strip()
        if line.type == "assistant" and answer:
            return answer
        if line.type == "user" and answer:
            return ""
    return ""


def _texts_of_content(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
