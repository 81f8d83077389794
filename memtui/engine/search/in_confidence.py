"""What was said in confidence: statements whose own words, or those of the turn they were drawn from, ask to keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store.sql import as_json

from . import lexicon
from .scope import Scope, rids_in_scope

MAX_CHARACTERS = 4_000
"""Characters of a text that are read."""
MOST_SHOWN = 100
"""Characters of the words that ask for it."""


def find_confided(
    connection: apsw.Connection, memories: Sequence[MemoryRecord], known: Scope | None = None
) -> dict[str, str]:
    """By the id of each memory said in confidence, the words of the person that ask for it.

    The words are empty where they stand in a turn outside ``known``, all that there is for whoever asks.
    """
    found = {
        one.id: words
        for one in memories
        if one.trust == "user" and (words := confidentiality_request(one.content))
    }
    derived_ids = {one.id for one in memories if one.kind != "episode" and one.id not in found}
    rows: list[Any] = connection.execute(
        """
        SELECT l.from_id, t.rid, substr(t.content, 1, ?) FROM json_each(?) wanted
        CROSS JOIN memory_links l ON l.from_id = wanted.value AND l.rel = 'source'
        JOIN memories t ON t.id = l.to_id WHERE t.kind = 'episode' AND t.trust = 'user' ORDER BY t.rid
        """,
        (MAX_CHARACTERS, as_json(sorted(derived_ids))),
    ).fetchall()
    asking = [(id, rid, words) for id, rid, content in rows if (words := confidentiality_request(content))]
    inside = None if known is None else rids_in_scope(connection, known, [rid for _, rid, _ in asking])
    for id, rid, words in asking:
        found[id] = words if inside is None or rid in inside else ""
    return found


def confidentiality_request(text: str) -> str:
    """The sentence of a text that asks to keep something from others; "" where none does."""
    match = lexicon.compiled_pattern("in confidence").search(text[:MAX_CHARACTERS])
    if match is None:
        return ""
    start = max(text.rfind(end, 0, match.start()) for end in ".!?\n") + 1
    stops = [index for end in ".!?\n" if (index := text.find(end, match.end())) >= 0]
    sentence = " ".join(text[start : min(stops, default=len(text))].split())
    return sentence if len(sentence) <= MOST_SHOWN else " ".join(match[0].split())
