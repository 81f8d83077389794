"""What a conversation says of itself that matters, without a model: sentences that decide, and the last long answer.

The same phrases as in consolidation (``triggers``), for a transcript that is handed over as it is. Reading it
again finds the same, so nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.errors import InputError
from memtui.engine.memories.observations import ObservationDraft
from memtui.engine.records import MemoryRecord, Record, Trust
from memtui.engine.store import memories
from memtui.engine.store.tokens import fold_text
from memtui.engine.wording import cut_text

from .sentences import split_sentences
from .triggers import find_trigger, worth_reading

SUMMARY = "summary"
_LONG_ANSWER = 100
_LONGEST = 2_000


class TranscriptMessage(Record):
    """One message of a transcript; ``event_time`` in Unix seconds, None: unknown."""

    role: str
    content: str
    event_time: int | None = None


def parse_messages(transcript: Sequence[TranscriptMessage | Mapping[str, Any]]) -> list[TranscriptMessage]:
    """The messages of a transcript, which may be mappings with ``role`` and ``content``. Raises InputError."""
    try:
        return [
            one if isinstance(one, TranscriptMessage) else msgspec.convert(one, TranscriptMessage)
            for one in transcript
        ]
    except (msgspec.ValidationError, TypeError) as error:
        raise InputError(
            f"A message of the transcript cannot be read: {error}.",
            "Each has a role and a content, both text.",
        ) from error


def draw_observations(
    session_id: str, transcript: Sequence[TranscriptMessage], trust: Callable[[str], Trust]
) -> tuple[list[ObservationDraft], ObservationDraft | None]:
    """The sentences worth keeping, each once, and the session's summary if there is one.

    ``trust`` says how far the words of a role go; tools and the system are not listened to.
    """
    seen: set[str] = set()
    found = []
    for message in transcript:
        if trust(message.role) in ("user", "agent") and worth_reading(message.content):
            for one in _user_statement(session_id, message, trust(message.role)):
                if fold_text(one.content) not in seen:
                    seen.add(fold_text(one.content))
                    found.append(one)
    return found, _last_long_answer(session_id, transcript, trust)


def _user_statement(session_id: str, message: TranscriptMessage, trust: Trust) -> Iterator[ObservationDraft]:
    for sentence in split_sentences(message.content):
        trigger = find_trigger(sentence)
        if trigger is not None:
            yield ObservationDraft(
                content=sentence.text, category=trigger.category, source=f"session:{session_id}", trust=trust,
                session_id=session_id, source_role=message.role, event_time=message.event_time,
            )  # fmt: skip


def _last_long_answer(
    session_id: str, transcript: Sequence[TranscriptMessage], trust: Callable[[str], Trust]
) -> ObservationDraft | None:
    """The last long answer, cut at whole characters."""
    for message in reversed(transcript):
        text = message.content.strip()
        if trust(message.role) == "agent" and len(text) > _LONG_ANSWER:
            return ObservationDraft(
                content=cut_text(text, _LONGEST),
                category="insight", source=f"session:{session_id}", trust="agent", session_id=session_id,
                source_role=message.role, event_time=message.event_time, tags=(SUMMARY,),
            )  # fmt: skip
    return None


def is_known(connection: apsw.Connection, item: ObservationDraft, now: float) -> bool:
    """Whether a note says it already, or it was noted and put into the Trash: it does not come back by itself."""
    from ..compare import duplicates  # its patterns would take a fifth of the start of the MCP server

    return (
        bool(memories.notes_with_same_text(connection, item.content, now))
        or duplicates.same_text(connection, item.content, "observation", now) is not None
    )


class RecordedTranscript(NamedTuple):
    id: str
    content: str
    project: str | None


def recorded_turns(connection: apsw.Connection, session_id: str) -> list[RecordedTranscript]:
    """The session's recorded turns: what is drawn from a transcript may point at them."""
    rows = connection.execute(
        "SELECT id, content, project FROM memories WHERE session_id = ? AND kind = 'episode' ORDER BY event_time, rid",
        (session_id,),
    )
    return [RecordedTranscript._make(row) for row in rows]


def active_summary(connection: apsw.Connection, session_id: str, now: float) -> MemoryRecord | None:
    """The session's active summary among its observations."""
    row = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE m.session_id = ? AND m.kind = 'observation' "
        "AND m.valid_until IS NULL AND EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?) "
        "ORDER BY m.rid DESC LIMIT 1",
        (session_id, SUMMARY),
    ).fetchone()
    return memories.memory_record(row, now) if row else None
