"""Scan all notes for near-duplicates and suspicious texts, in small portions by the indexer.

Review itself only reads, and may take no longer in a large memory: it looks at the latest notes that were not
judged yet, and again at what was found here. What is kept is derived from the notes and no part of history.
The rules that judge are imported where a note is judged: they take a tenth of a second to load, and mostly none waits.
"""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.records import MemoryRecord, Record
from memtui.engine.store import memories, metadata
from memtui.engine.store.sql import json_text, scalar

_KEY = "judged"
_SOURCES = 6
_MOST_KEPT = 500
_NOTES = "m.kind <> 'episode' AND m.valid_until IS NULL"


class ScanResult(Record):
    """What was found among the memories up to ``through`` (a rid): ids, the latest first, at most 500 of each."""

    through: int = 0
    suspicious: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()


def stored_result(connection: apsw.Connection) -> ScanResult:
    text = metadata.get(connection, _KEY)
    return msgspec.json.decode(text, type=ScanResult) if text else ScanResult()


def has_unscanned(connection: apsw.Connection) -> bool:
    """Whether there are memories that were not looked at."""
    latest: int = scalar(connection, "SELECT coalesce(max(rid), 0) FROM memories") or 0
    return latest > stored_result(connection).through


def scan_next(connection: apsw.Connection, so_far: ScanResult, now: float, limit: int) -> ScanResult:
    """Look at the next ``limit`` notes, oldest first; about 5 ms each beside 100,000 facts."""
    latest: int = scalar(connection, "SELECT coalesce(max(rid), 0) FROM memories") or 0
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE m.rid > ? AND {_NOTES} ORDER BY m.rid LIMIT ?",
        (so_far.through, limit),
    ).fetchall()
    notes = [memories.memory_record(row, now) for row in rows]
    suspects = [note.id for note in notes if why_suspicious(connection, note, now)]
    pairs = [
        (note.id, other.id)
        for note in notes
        if note.kind == "fact"
        for other in duplicates_of(connection, note, now)
        if other.rid < note.rid
    ]
    return ScanResult(
        through=notes[-1].rid if len(notes) == limit else latest,
        suspicious=(*reversed(suspects), *so_far.suspicious)[:_MOST_KEPT],
        duplicates=(*reversed(pairs), *so_far.duplicates)[:_MOST_KEPT],
    )


def save_progress(connection: apsw.Connection, found: ScanResult) -> None:
    """Inside the caller's transaction."""
    metadata.set_value(connection, _KEY, json_text(found))


def why_suspicious(connection: apsw.Connection, note: MemoryRecord, now: float) -> str:
    """What is wrong with a note that was not reviewed; "" if nothing is."""
    if note.confirmed_at is not None or note.reviewed_at is not None:
        return ""
    from memtui.engine.consolidation.suspicious import find_suspicions

    wrong = find_suspicions(note.content, note.trust, source_evidence(connection, note, now))
    return "; ".join(f"{one.kind}: {one.detail}" for one in wrong)


def source_evidence(connection: apsw.Connection, note: MemoryRecord, now: float) -> list[str]:
    """What a fact may say: the words of its turns, of the title that they stand under, and of the fact that it corrects.

    "The course moved to Thursdays" need not say again which course.
    """
    turns = memories.linked(connection, note.id, "source", now, limit=_SOURCES) if note.kind == "fact" else []
    if not turns:
        return []
    corrected = memories.linked(connection, note.id, "supersedes", now, limit=1)
    titles = connection.execute(
        "SELECT title FROM sessions_consolidations WHERE title IS NOT NULL "
        "AND session_id IN (SELECT value FROM json_each(?))",
        (json_text(sorted({turn.session_id for turn in turns if turn.session_id})),),
    )
    return [*(one.content for one in (*turns, *corrected)), *(title for (title,) in titles)]


def duplicates_of(connection: apsw.Connection, fact: MemoryRecord, now: float) -> list[MemoryRecord]:
    """Other active facts that say the same."""
    from memtui.engine.consolidation.compare.duplicates import likely_duplicates
    from memtui.engine.consolidation.compare.similarity import analyse_statement, compare_analysed

    reading = analyse_statement(fact.content)
    return [
        other
        for other in likely_duplicates(connection, fact.content, now)
        if other.id != fact.id
        and compare_analysed(reading, analyse_statement(other.content)).kind == "duplicate"
    ]
