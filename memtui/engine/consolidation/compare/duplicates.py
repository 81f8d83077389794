"""Is it known already? Candidates from the store by a bounded keyword search, judged by ``similarity``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import apsw
import msgspec

from memtui.engine.records import Kind, MemoryRecord
from memtui.engine.store import memories, tokens
from memtui.engine.store.sql import as_json, scalar

from ..extract.protocol import Draft
from .compatible import are_compatible
from .similarity import AnalysedText, analyse_statement, compare_analysed, plain_weight
from .vocabulary import FUNCTION_WORDS

CANDIDATES = 16
# More words find more that merely shares a common one.
_WORDS = 8
_MOST_SCORED = 5_000
_RAREST = 3
_FEWEST = 2  # telling words; one alone is in many other statements
_LIKELY = 6
_MOST_LOOKED_AT = 500
# In the Trash by somebody's decision: not by time, not merged, and not by a later reading.
_DECIDED = """m.valid_until IS NOT NULL AND m.ended_by IN ('superseded', 'forgotten')
    AND json_type(m.attributes, '$.retired') IS NULL"""


def is_replaced_or_forgotten(ended: MemoryRecord) -> bool:
    """The same of a memory at hand."""
    return ended.ended_by in ("superseded", "forgotten") and "retired" not in ended.attributes


Within = Callable[[Sequence[int]], set[int]]
"""Those of some memories (by rid) that whoever writes may know of."""


def in_project(connection: apsw.Connection, within: Within, project: str | None) -> Within:
    """Of those the ones of this very project (or of none)."""

    def facts_among(rids: Sequence[int]) -> set[int]:
        rows = connection.execute(
            "SELECT rid FROM memories WHERE rid IN (SELECT value FROM json_each(?)) AND project IS ?",
            (as_json(within(rids)), project),
        )
        return {rid for (rid,) in rows}

    return facts_among


def same_text(
    connection: apsw.Connection, content: str, kind: Kind, now: float, within: Within = set
) -> MemoryRecord | None:
    """A memory of the kind with the same text but for case and spacing; an active one, else the latest that ended."""
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE m.content_hash = ? AND m.kind = ? AND m.kind <> 'episode' "
        "ORDER BY m.valid_until IS NOT NULL, m.rid DESC LIMIT 50",
        (memories.content_hash(content), kind),
    )
    found = [memories.memory_record(row, now) for row in rows]
    known = within([one.rid for one in found])
    return next((one for one in found if one.rid in known), None)


def find_candidates(
    connection: apsw.Connection, content: str, now: float, *, within: Within = set
) -> list[MemoryRecord]:
    """Active facts that share words with ``content``, the closest by the keyword retriever first."""
    chosen = telling_words(connection, content)
    looked_at = CANDIDATES if within is set else _MOST_LOOKED_AT
    rids = _facts_with_words(connection, chosen, looked_at)
    known = within(rids)
    return memories.by_rid(connection, [rid for rid in rids if rid in known][:CANDIDATES], now)


def latest_facts(
    connection: apsw.Connection, now: float, limit: int, *, within: Within = set
) -> list[MemoryRecord]:
    """The latest active facts that nothing has replaced."""
    rows = connection.execute(
        "SELECT m.rid FROM memories m INDEXED BY notes_by_time WHERE m.kind <> 'episode' AND m.kind = 'fact' "
        "AND m.valid_until IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM memory_links l WHERE l.to_id = m.id AND l.rel = 'supersedes') "
        "ORDER BY m.event_time DESC, m.rid DESC LIMIT ?",
        (limit if within is set else max(limit, _MOST_LOOKED_AT),),
    )
    rids = [rid for (rid,) in rows]
    known = within(rids)
    return memories.by_rid(connection, [rid for rid in rids if rid in known][:limit], now)


def find_decided(
    connection: apsw.Connection, content: str, now: float, within: Within = set
) -> MemoryRecord | None:
    """A fact that somebody corrected or forgot and that is said again, be it with more around it, the latest of them; None
    where an active one says it."""
    mine = analyse_statement(content)
    looked_at = CANDIDATES if within is set else _MOST_LOOKED_AT
    rids = _facts_with_words(connection, telling_words(connection, content), looked_at, _DECIDED)
    known = within(rids)
    found = memories.by_rid(connection, [rid for rid in rids if rid in known][:CANDIDATES], now)
    same = [one for one in found if _repeats_statement(content, mine, one.content)]
    if not same or any(
        compare_analysed(mine, analyse_statement(one.content)).kind == "duplicate"
        for one in find_candidates(connection, content, now, within=within)
    ):
        return None
    return max(same, key=lambda one: (one.valid_until or 0, one.rid))


def _repeats_statement(new: str, mine: AnalysedText, old: str) -> bool:
    """Whether it says the same, or all of it and something more ("I work at Initech and the coffee is good")."""
    theirs = analyse_statement(old)
    if compare_analysed(mine, theirs).kind == "duplicate":
        return True
    shared = [stem for stem in mine.content if stem in theirs.content]
    return (
        len(theirs.content) >= _FEWEST
        and list(theirs.content) == shared
        and mine.denials == theirs.denials
        and theirs.numbers <= mine.numbers
        and not are_compatible(new, old)
    )


def likely_duplicates(connection: apsw.Connection, content: str, now: float) -> list[MemoryRecord]:
    """The same for duplicates only, and quicker: they share nearly all words, so one of the rarest three too."""
    rids = _facts_with_words(connection, telling_words(connection, content)[:_RAREST], _LIKELY)
    return memories.by_rid(connection, rids, now)


def _facts_with_words(
    connection: apsw.Connection, chosen: Sequence[str], limit: int, state: str = "m.valid_until IS NULL"
) -> list[int]:
    """Facts in a state that have one of the words, the closest first."""
    if not chosen:
        return []
    match = " OR ".join(f'"{word}"' for word in chosen)
    rows = connection.execute(
        "SELECT f.rowid FROM facts_fts f JOIN memories m ON m.rid = f.rowid "
        f"WHERE facts_fts MATCH ? AND {state} ORDER BY bm25(facts_fts) LIMIT ?",
        (f"content : ({match})", limit),
    )
    return [rid for (rid,) in rows]


def telling_words(connection: apsw.Connection, content: str) -> list[str]:
    """The words by which like facts are looked for: the heaviest, and in a large memory only rare ones.

    Scoring every fact that has an everyday word would take a large memory a while for each comparison.
    """
    stems = _content_stems(content)
    heaviest = sorted(stems, key=plain_weight, reverse=True)[:_WORDS]
    counts = {word: _count_facts_with_stem(connection, stems[word]) for word in heaviest}
    chosen: list[str] = []
    for word in sorted(heaviest, key=counts.__getitem__):
        if chosen and sum(counts[other] for other in chosen) + counts[word] > _MOST_SCORED:
            break
        chosen.append(word)
    return chosen


def _content_stems(content: str) -> dict[str, str]:
    """The words of a text that carry content, with their stems."""
    return {
        word: stem
        for word, stem in zip(tokens.text_words(content), tokens.text_stems(content), strict=True)
        if word not in FUNCTION_WORDS
    }


def _count_facts_with_stem(connection: apsw.Connection, stem: str) -> int:
    """How many facts have the stem."""
    return scalar(connection, "SELECT doc FROM facts_vocab WHERE term = ?", (stem,)) or 0


def merge_drafts(
    drafts: Iterable[Draft], corrects: Callable[[str, str], str | None] = lambda new, old: None
) -> list[Draft]:
    """Drafts of one session, each statement once: said twice, it has both sources; corrected later, the later one stands.

    ``corrects(new, old)`` gives the reason why the new text replaces the old one, or None.
    """
    kept: list[Draft] = []
    readings: list[AnalysedText] = []
    places: dict[
        str, list[int]
    ] = {}  # of the drafts that have a word, so that a long session is not compared all with all
    for draft in drafts:
        reading = analyse_statement(draft.content)
        near = dict.fromkeys(
            place for word in (*reading.content, reading.exact) for place in places.get(word, ())
        )
        for place in near:
            other = kept[place]
            if other.kind != draft.kind:
                continue
            if compare_analysed(reading, readings[place]).kind == "duplicate":
                kept[place] = _join_drafts(other, draft, content=max(other.content, draft.content, key=len))
                break
            if draft.correcting and draft.kind == "fact" and corrects(draft.content, other.content):
                kept[place], readings[place] = _join_drafts(other, draft, content=draft.content), reading
                break
        else:
            for word in (*reading.content, reading.exact):
                places.setdefault(word, []).append(len(kept))
            kept.append(draft)
            readings.append(reading)
    return kept


def _join_drafts(first: Draft, second: Draft, *, content: str) -> Draft:
    return msgspec.structs.replace(
        second,
        content=content,
        sources=tuple(dict.fromkeys((*first.sources, *second.sources))),
        tags=tuple(dict.fromkeys((*first.tags, *second.tags))),
        confidence=max(first.confidence, second.confidence),
        correcting=first.correcting or second.correcting,
        bare=first.bare and second.bare,
    )


def without_repeats(ids: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, *more)))
