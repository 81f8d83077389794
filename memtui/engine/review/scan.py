"""Scan all notes for near-duplicates, facts in other words and suspicious texts, in small portions by the indexer.

Review itself only reads, and may take no longer in a large memory: it looks at the latest notes that were not
judged yet, and again at what was found here. What is kept is derived from the notes and no part of history.
The rules that judge are imported where a note is judged: they take a tenth of a second to load, and mostly none waits.
"""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.records import MemoryRecord, Record
from memtui.engine.store import memories, metadata, proposals
from memtui.engine.store.sql import json_text, scalar

_KEY = "judged"
_SOURCES = 6
_MOST_KEPT = 500
# Of the facts that share words with a new one, so many, and with this share of their words: a model reads both.
_COMPARED, _SHARED = 4, 0.1
_NOTES = "m.kind <> 'episode' AND m.valid_until IS NULL"


class ScanResult(Record):
    """What was found among the memories up to ``through`` (a rid): ids, the latest first, at most 500 of each.

    ``paraphrases``: facts that likely say the same in other words as an earlier one."""

    through: int = 0
    suspicious: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()
    paraphrases: tuple[tuple[str, str], ...] = ()


def stored_result(connection: apsw.Connection) -> ScanResult:
    text = metadata.get(connection, _KEY)
    return msgspec.json.decode(text, type=ScanResult) if text else ScanResult()


def has_unscanned(connection: apsw.Connection) -> bool:
    """Whether there are memories that were not looked at."""
    latest: int = scalar(connection, "SELECT coalesce(max(rid), 0) FROM memories") or 0
    return latest > stored_result(connection).through


def scan_next(connection: apsw.Connection, so_far: ScanResult, now: float, limit: int) -> ScanResult:
    """Look at the next ``limit`` notes, oldest first."""
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
    reworded = [
        (note.id, other.id)
        for note in notes
        if note.kind == "fact" and (other := paraphrase_of(connection, note, now)) is not None
    ]
    return ScanResult(
        through=notes[-1].rid if len(notes) == limit else latest,
        suspicious=(*reversed(suspects), *so_far.suspicious)[:_MOST_KEPT],
        duplicates=(*reversed(pairs), *so_far.duplicates)[:_MOST_KEPT],
        paraphrases=(*reversed(reworded), *so_far.paraphrases)[:_MOST_KEPT],
    )


def save_progress(connection: apsw.Connection, result: ScanResult) -> None:
    """Inside the caller's transaction."""
    metadata.set_value(connection, _KEY, json_text(result))


def why_suspicious(connection: apsw.Connection, note: MemoryRecord, now: float) -> str:
    """What is wrong with a note that was not reviewed; "" if nothing is."""
    if note.confirmed_at is not None or note.reviewed_at is not None:
        return ""
    from memtui.engine.consolidation.suspicious import find_suspicions

    wrong = find_suspicions(note.content, note.trust, source_evidence(connection, note, now))
    return "; ".join(f"{one.kind}: {one.detail}" for one in wrong)


def suspicious_rids(connection: apsw.Connection, now: float) -> list[int]:
    """The notes that wait in Review as suspicious: not to be shown as what is known, nor told as such.

    Those of others that were not scanned yet are looked at here. A secret in the person's own words is not meant. Nor is an
    agent's correction that its sources do not say: it is in force, and without it neither the new nor the old text is shown.
    """
    result = stored_result(connection)
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE {_NOTES} AND m.confirmed_at IS NULL AND m.reviewed_at IS NULL "
        "AND m.rid IN (SELECT rid FROM memories WHERE id IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT rid FROM memories WHERE rid > ?2 AND trust <> 'user') ORDER BY m.rid DESC LIMIT ?3",
        (json_text(list(result.suspicious)), result.through, _MOST_KEPT),
    ).fetchall()
    notes = [memories.memory_record(row, now) for row in rows]
    reasons = {note.rid: why_suspicious(connection, note, now) for note in notes}
    shown = {
        note.rid
        for note in notes
        if (note.trust == "user" and reasons[note.rid].startswith("secret:"))
        or (note.corrected_by and reasons[note.rid].startswith("unsupported:"))
    }
    return [rid for rid, reason in reasons.items() if reason and rid not in shown]


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


def paraphrase_of(connection: apsw.Connection, fact: MemoryRecord, now: float) -> MemoryRecord | None:
    """The earlier active fact of the same project that likeliest says the same in other words; None where none likely does."""
    from memtui.engine.consolidation.compare.duplicates import find_candidates
    from memtui.engine.consolidation.compare.similarity import analyse_statement, compare_analysed

    reading = analyse_statement(fact.content)
    known = [
        other
        for other in find_candidates(connection, fact.content, now)
        if other.rid < fact.rid
        and other.project == fact.project
        and compare_analysed(reading, analyse_statement(other.content)).score >= _SHARED
    ][:_COMPARED]
    known = [other for other in known if not is_decided(connection, fact, other, now)]
    if not known:
        return None
    # Needs numpy, patterns and weights: not loaded to list cards where nothing is to be compared.
    from memtui.engine.consolidation.compare.paraphrase import find_paraphrase

    paraphrase = find_paraphrase(fact.content, [other.content for other in known])
    return known[paraphrase] if paraphrase is not None else None


def is_decided(connection: apsw.Connection, first: MemoryRecord, second: MemoryRecord, now: float) -> bool:
    """Whether one took the place of the other, or it was asked whether they contradict each other."""
    if proposals.find(connection, proposals.identity(proposals.CONFLICT, first.id, second.id)) is not None:
        return True
    return any(
        other.id == later.id
        for earlier, later in ((first, second), (second, first))
        for other in memories.linked(connection, earlier.id, "supersedes", now, incoming=True)
    )
