"""Checks of derived counts and links: mentions, type votes, provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtui.engine.records import Finding
from memtui.engine.store import triggers

from .findings import CheckContext, finding, of, rows

_LOOK = "Open them: correct or forget what is wrong, or restore a backup from before."


def mentions(scene: CheckContext) -> Iterator[Finding]:
    """Counts, times and votes are what the links say; what is merged leads straight to a survivor."""
    wrong = rows(
        scene,
        """
        SELECT id FROM entities WHERE mention_count <> (
            SELECT count(DISTINCT l.rid) FROM memory_entities l JOIN memories m ON m.rid = l.rid
            WHERE m.valid_until IS NULL AND l.eid IN (
                SELECT entities.eid UNION ALL SELECT g.eid FROM entities g WHERE g.merged_into = entities.eid))
        """,
    )
    if wrong:
        yield finding(
            "entities",
            f"mention counts of entities are wrong ({wrong.total:,})",
            wrong,
            about="entities",
            repairable=True,
        )
    undated = rows(
        scene,
        """
        SELECT DISTINCT m.id FROM memory_entities l JOIN memories m ON m.rid = l.rid
        WHERE l.at IS NOT CASE WHEN m.valid_until IS NULL THEN m.event_time END
        """,
    )
    if undated:
        yield finding(
            "entities", f"links of memories have another time ({undated.total:,})", undated, repairable=True
        )
    miscounted = rows(
        scene,
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
        yield finding(
            "entities", f"votes for the types of entities are miscounted ({miscounted.total:,})", miscounted,
            about="entities", repairable=True,
        )  # fmt: skip
    chained = rows(
        scene,
        "SELECT e.id FROM entities e JOIN entities s ON s.eid = e.merged_into WHERE s.merged_into IS NOT NULL",
    )
    if chained:
        yield finding(
            "entities", f"entities are merged into one that is merged itself ({chained.total:,})", chained,
            about="entities", remedy="Split them in Entities and merge them again.",
        )  # fmt: skip


def links(scene: CheckContext) -> Iterator[Finding]:
    """Provenance and supersession are queryable as the rows state them, resolve, and have no cycle."""
    stated = triggers.stated_links_sql()
    missing = rows(
        scene, f"SELECT DISTINCT from_id FROM ({stated} EXCEPT SELECT from_id, rel, to_id FROM memory_links)"
    )
    stray = rows(
        scene, f"SELECT DISTINCT from_id FROM (SELECT from_id, rel, to_id FROM memory_links EXCEPT {stated})"
    )
    if missing or stray:
        found = of(list(dict.fromkeys((*missing.ids, *stray.ids))))
        yield finding("links", "the link table does not match the memories", found, repairable=True)
    dangling = rows(
        scene, "SELECT DISTINCT from_id FROM memory_links WHERE to_id NOT IN (SELECT id FROM memories)"
    )
    if dangling:
        yield finding(
            "links", f"memories name sources that are gone ({dangling.total:,})", dangling, remedy=_LOOK
        )
    circular = _circular(
        scene.connection.execute(
            "SELECT from_id, to_id FROM memory_links WHERE rel IN ('source', 'supersedes') "
            "AND from_id IN (SELECT to_id FROM memory_links)"
        )
    )
    if circular:
        yield finding(
            "links", f"memories derive from themselves ({len(circular):,})", of(circular), remedy=_LOOK
        )


def _circular(links: Iterable[tuple[str, str]]) -> list[str]:
    """What is on a cycle, or on a way between two: all that leads nowhere, or comes from nowhere, is taken away."""
    edges = set(links)
    edges = _without_ends(edges)
    edges = {(start, end) for end, start in _without_ends({(end, start) for start, end in edges})}
    return sorted({start for start, _ in edges})


def _without_ends(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
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
