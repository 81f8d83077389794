"""Checks of what is derived from rows: full text, vectors, links, counts, the queue."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from memtui.engine.records import Finding
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import triggers, vectors
from memtui.engine.store.full_text import TABLES, cjk_bigrams

from .findings import CheckContext, count_rows, make_finding, rows_of_ids, select_rows

# With the rank of their integrity check: 1 compares with the texts, which the bigrams do not have.
RANKS = {**dict.fromkeys(TABLES, 1), "memories_cjk": 0}
_SAMPLE = 50
_KIND_OF = {"facts_fts": "fact", "observations_fts": "observation"}
_NOT_WAITING = "NOT EXISTS (SELECT 1 FROM index_queue q WHERE q.rid = m.rid AND q.text = 1)"


def full_text(context: CheckContext) -> Iterator[Finding]:
    """The full-text indexes hold exactly the texts (rank 1 compares them; without it, only their own structure)."""
    for table, rank in RANKS.items():
        if context.connections.readonly:
            yield make_finding("full text", f"{table} can only be checked in a writable file", warning=True)
            continue
        try:
            context.connection.execute(
                f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', {rank})"
            )
        except (apsw.CorruptError, apsw.SQLError):
            yield make_finding("full text", f"{table} does not match the memories", repairable=True)
    try:
        yield from _find_unsearchable(context)
    except (apsw.CorruptError, apsw.SQLError) as error:
        yield make_finding("full text", f"the indexes cannot be searched: {error}", repairable=True)


def _find_unsearchable(context: CheckContext) -> Iterator[Finding]:
    """Some memories are looked for by a word of their own, in each index that should have them."""
    lost = [
        id
        for table in TABLES
        for rid, id, content, dice in _sample_rows(context, _KIND_OF.get(table))
        if (words := [w for w in content.split() if w.isascii() and w.isalpha()])
        and not _index_finds(context, table, f'content : "{dice.choice(words)}"', rid)
    ]
    # Bigrams are made in the background: what waits for them has none yet.
    where = f"WHERE {_NOT_WAITING} AND content GLOB '*[々-〇ぁ-ヺ㐀-鿿가-힣]*'"
    asian = (
        context.connection.execute(f"SELECT rid, id, content FROM memories m {where}")
        if context.deep
        else ((rid, id, content) for rid, id, content, _ in _sample_rows(context, None, _NOT_WAITING))
    )
    for rid, id, content in asian:
        pairs = cjk_bigrams(content)
        if pairs and not _index_finds(
            context, "memories_cjk", " AND ".join(f'"{pair}"' for pair in {*pairs[:8]}), rid
        ):
            lost.append(id)
    if lost:
        rows = rows_of_ids(list(dict.fromkeys(lost)))
        yield make_finding(
            "full text", f"{_memories_are(rows.total)} not found by their own words", rows, repairable=True
        )


def _sample_rows(
    context: CheckContext, kind: str | None, where: str = "true"
) -> Iterator[tuple[int, str, str, random.Random]]:
    highest = count_rows(context, "SELECT coalesce(max(rid), 0) FROM memories")
    dice = random.Random(highest)
    for _ in range(_SAMPLE if highest else 0):
        row: Any = context.connection.execute(
            f"SELECT rid, id, content FROM memories m WHERE rid >= ?1 AND kind = coalesce(?2, kind) AND {where} "
            "ORDER BY rid LIMIT 1",
            (dice.randint(1, highest), kind),
        ).fetchone()
        if row:
            yield (*row, dice)


def _index_finds(context: CheckContext, table: str, match: str, rid: int) -> bool:
    sql = f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid = ?"
    return context.connection.execute(sql, (match, rid)).fetchone() is not None


def _memories_are(number: int) -> str:
    return f"{number:,} memor{'y is' if number == 1 else 'ies are'}"


def check_embeddings(context: CheckContext) -> Iterator[Finding]:
    """One model, whole vectors of its dimensions, and an index that mirrors them."""
    space = vectors.vector_space(context.connection)
    if space is None:
        orphaned = count_rows(context, "SELECT count(*) FROM embeddings")
        if orphaned:
            yield make_finding(
                "embeddings", f"the file does not say which model its {orphaned:,} vectors are of",
                remedy="Run memtui embed --rebuild to make them anew.",
            )  # fmt: skip
        return
    odd = select_rows(
        context,
        "SELECT m.id FROM embeddings e JOIN memories m ON m.rid = e.rid WHERE e.model_id = ? AND "
        "(e.dims <> ? OR e.dtype <> 'int8' OR length(e.vector) <> e.dims OR e.vector = zeroblob(e.dims))",
        space.model_id, space.dims,
    )  # fmt: skip
    if odd:
        yield make_finding(
            "embeddings", f"vectors have wrong dimensions or are empty ({odd.total:,})", odd, repairable=True
        )
    if vectors.word_vector_dims(context.connection):
        yield from _check_word_vectors(context)
    # A copy in memory follows the log from where it stands: a number that is given out again would hide a change.
    if count_rows(context, "SELECT coalesce(max(seq), 0) FROM vector_log") > count_rows(
        context, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector_log'), 0)"
    ):
        yield make_finding(
            "embeddings", "the log of changed vectors would count from the start", repairable=True
        )
    yield from _vector_index(context, space)


def _check_word_vectors(context: CheckContext) -> Iterator[Finding]:
    wordless = select_rows(
        context, f"SELECT m.id FROM embeddings e JOIN memories m ON m.rid = e.rid WHERE {vectors.WORDLESS}"
    )
    if wordless:
        problem = f"vectors of words are missing or damaged ({wordless.total:,})"
        yield make_finding("embeddings", problem, wordless, repairable=True)


def _vector_index(context: CheckContext, space: VectorSpace) -> Iterator[Finding]:
    if context.connections.vectors_missing:
        return
    have = count_rows(context, "SELECT count(*) FROM embeddings WHERE model_id = ?", space.model_id)
    if not vectors.index_exists(context.connection):
        if have and not vectors.count_unsynced(context.connection):
            yield make_finding(
                "vector index", f"there is none for the {have:,} stored vectors", repairable=True
            )
        return
    table = vectors.index_table(context.connection)
    # Each way round by rowid; comparing the bytes as well takes a read of every vector.
    sample = "" if context.deep else f"AND e.rid % {max(1, have // 500)} = 0"
    try:
        wrong = select_rows(
            context,
            f"SELECT m.id FROM embeddings e JOIN memories m ON m.rid = e.rid LEFT JOIN {table} v ON v.rid = e.rid "
            f"WHERE e.model_id = ? AND e.dims = ? AND (v.rid IS NULL {_sql_differing(sample)}) "
            "AND e.rid NOT IN (SELECT rid FROM vector_changes)",
            space.model_id, space.dims,
        )  # fmt: skip
        stray = count_rows(
            context,
            f"SELECT count(*) FROM {table} v WHERE v.rid NOT IN (SELECT rid FROM embeddings WHERE model_id = ?) "
            "AND v.rid NOT IN (SELECT rid FROM vector_changes)",
            space.model_id,
        )
    except (apsw.CorruptError, apsw.SQLError) as error:
        yield make_finding("vector index", f"it cannot be read: {error}", repairable=True)
        return
    if wrong or stray:
        problem = f"entries do not match the stored vectors ({wrong.total + stray:,})"
        yield make_finding("vector index", problem, wrong, repairable=True)


def _sql_differing(sample: str) -> str:
    return f"OR ((v.embedding IS NOT e.vector OR v.kind IS NOT m.kind) {sample})"


def check_queue(context: CheckContext) -> Iterator[Finding]:
    """What has no vector waits for one (a text without words, or with a secret, gets none)."""
    space = vectors.vector_space(context.connection)
    if space is None or not context.deep:
        return
    lost = select_rows(
        context,
        "SELECT m.id FROM memories m WHERE m.rid NOT IN (SELECT rid FROM index_queue) AND m.rid NOT IN "
        "(SELECT rid FROM embeddings WHERE model_id = ?) AND m.attributes = '{}' AND length(m.content) > 20 "
        "AND m.content GLOB '*[a-z][a-z][a-z]*'",
        space.model_id,
    )
    if lost:
        problem = f"memories have no vector and do not wait for one ({lost.total:,})"
        yield make_finding("embeddings", problem, lost, repairable=True, warning=True)


def check_caches(context: CheckContext) -> Iterator[Finding]:
    """What is kept so that it need not be worked out again is readable, and not of another memory."""
    kept = dict(context.connection.execute("SELECT key, value FROM memory_metadata"))
    if kept.get("vector_index", "a") not in ("a", "b"):
        yield make_finding("cached", "the file does not say which vector index is in use", repairable=True)
    for key in ("judged", "names_version"):
        if key in kept and not context.connection.execute("SELECT json_valid(?)", (kept[key],)).get:
            yield make_finding("cached", f"what was kept as {key!r} cannot be read", repairable=True)
    highest = count_rows(
        context, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0)"
    )
    if _check_watermark(context, kept.get("judged")) > highest:
        yield make_finding("cached", "notes are taken for judged that are not there yet", repairable=True)


def _check_watermark(context: CheckContext, judged: str | None) -> int:
    """Up to which memory duplicates and suspicious texts have been looked for."""
    return count_rows(
        context, "SELECT iif(json_valid(?1), coalesce(json_extract(?1, '$.through'), 0), 0)", judged or "{}"
    )


_LOOK = "Open them: correct or forget what is wrong, or restore a backup from before."


def check_mentions(context: CheckContext) -> Iterator[Finding]:
    """Counts, times and votes are what the links say; what is merged leads straight to a survivor."""
    wrong = select_rows(
        context,
        """
        SELECT id FROM entities WHERE mention_count <> (
            SELECT count(DISTINCT l.rid) FROM memory_entities l JOIN memories m ON m.rid = l.rid
            WHERE m.valid_until IS NULL AND l.eid IN (
                SELECT entities.eid UNION ALL SELECT g.eid FROM entities g WHERE g.merged_into = entities.eid))
        """,
    )
    if wrong:
        yield make_finding(
            "entities",
            f"mention counts of entities are wrong ({wrong.total:,})",
            wrong,
            about="entities",
            repairable=True,
        )
    undated = select_rows(
        context,
        """
        SELECT DISTINCT m.id FROM memory_entities l JOIN memories m ON m.rid = l.rid
        WHERE l.at IS NOT CASE WHEN m.valid_until IS NULL THEN m.event_time END
        """,
    )
    if undated:
        yield make_finding(
            "entities", f"links of memories have another time ({undated.total:,})", undated, repairable=True
        )
    miscounted = select_rows(
        context,
        """
        WITH counted(eid, type, votes) AS (
            SELECT eid, vote, count(*) FROM memory_entities WHERE vote IS NOT NULL GROUP BY eid, vote),
        odd(eid) AS (
            SELECT eid FROM (SELECT * FROM counted EXCEPT SELECT eid, type, votes FROM entity_votes)
            UNION SELECT eid FROM (SELECT eid, type, votes FROM entity_votes EXCEPT SELECT * FROM counted))
        SELECT id FROM entities WHERE eid IN odd
        """,
    )
    if miscounted:
        yield make_finding(
            "entities", f"votes for the types of entities are miscounted ({miscounted.total:,})", miscounted,
            about="entities", repairable=True,
        )  # fmt: skip
    chained = select_rows(
        context,
        "SELECT e.id FROM entities e JOIN entities s ON s.eid = e.merged_into WHERE s.merged_into IS NOT NULL",
    )
    if chained:
        yield make_finding(
            "entities", f"entities are merged into one that is merged itself ({chained.total:,})", chained,
            about="entities", remedy="Split them in Entities and merge them again.",
        )  # fmt: skip


def check_links(context: CheckContext) -> Iterator[Finding]:
    """Provenance and supersession are queryable as the rows state them, resolve, and have no cycle."""
    stated = triggers.stated_links_sql()
    missing = select_rows(
        context,
        f"SELECT DISTINCT from_id FROM ({stated} EXCEPT SELECT from_id, rel, to_id FROM memory_links)",
    )
    stray = select_rows(
        context,
        f"SELECT DISTINCT from_id FROM (SELECT from_id, rel, to_id FROM memory_links EXCEPT {stated})",
    )
    if missing or stray:
        rows = rows_of_ids(list(dict.fromkeys((*missing.ids, *stray.ids))))
        yield make_finding("links", "the link table does not match the memories", rows, repairable=True)
    dangling = select_rows(
        context, "SELECT DISTINCT from_id FROM memory_links WHERE to_id NOT IN (SELECT id FROM memories)"
    )
    if dangling:
        yield make_finding(
            "links", f"memories name sources that are gone ({dangling.total:,})", dangling, remedy=_LOOK
        )
    circular = _find_cycles(
        context.connection.execute(
            "SELECT from_id, to_id FROM memory_links WHERE rel IN ('source', 'supersedes') "
            "AND from_id IN (SELECT to_id FROM memory_links)"
        )
    )
    if circular:
        yield make_finding(
            "links",
            f"memories derive from themselves ({len(circular):,})",
            rows_of_ids(circular),
            remedy=_LOOK,
        )


def _find_cycles(links: Iterable[tuple[str, str]]) -> list[str]:
    """What is on a cycle, or on a way between two: all that leads nowhere, or comes from nowhere, is taken away."""
    edges = set(links)
    edges = _prune_dead_ends(edges)
    edges = {(start, end) for end, start in _prune_dead_ends({(end, start) for start, end in edges})}
    return sorted({start for start, _ in edges})


def _prune_dead_ends(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges that are left when those into a dead end are taken away, again and again."""
    into: dict[str, list[str]] = {}
    ways: dict[str, int] = {}
    for start, end in edges:
        into.setdefault(end, []).append(start)
        ways[start] = ways.get(start, 0) + 1
    dead = [end for end in into if end not in ways]
    gone = set(dead)
    while dead:
        for start in into.get(dead.pop(), ()):
            ways[start] -= 1
            if not ways[start]:
                gone.add(start)
                dead.append(start)
    return {(start, end) for start, end in edges if start not in gone and end not in gone}
