"""Whom a prompt means that says "my son", or "his son" where another asks: the names that facts give to those people."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import apsw

from memtui.engine import word_lists
from memtui.engine.store import memories
from memtui.engine.store.tokens import fold_text

from . import lexicon
from .scope import Scope

MOST = 4
"""So many names at most, those of newer facts first."""
_LOOKED_AT = 40
_LIST = Path(__file__).parent / "words" / "phrases.txt"
_ASKED = rf"(?:{word_lists.read_expression(_LIST, 'POSSESSIVE')})"
_MINE = rf"(?:{word_lists.read_expression(_LIST, 'MINE')})"
_CALLED = r"(?:['’]s name is|,? (?:is )?(?:called|named)|,? hei(?:ß|ss)t|,? s['’]appelle|,? se llama|,)?"
_asked = re.compile(rf"\b{_ASKED}\s+(\w+)(?:\s+(\w+))?", re.IGNORECASE)
# "My little son Elias", "my boss is called Henrike"; "Elias is my son".
_named_after = re.compile(
    rf"(?:^|\b(?i:{_MINE})\s+(?:\w+\s+)??)(\w+)(?i:{_CALLED})\s+([^\W\d_a-zß-öø-ÿ][\w’-]+)"
)
_named_before = re.compile(
    rf"\b([^\W\d_a-zß-öø-ÿ][\w’-]+)(?:,| is| ist| est| es)\s(?i:{_MINE})\s+(?:\w+\s+)??(\w+)"
)


def asked_relations(prompt: str) -> frozenset[str]:
    """The words that facts have for those who belong to the person and of whom a prompt speaks ("my son"); folded."""
    found: set[str] = set()
    for mine in _asked.finditer(prompt):
        for word in mine.groups():
            if synonyms := lexicon.kinship_words().get(fold_text(word or "")):
                found |= synonyms
                break
    return frozenset(found)


def relation_names(connection: apsw.Connection, kin: Collection[str], scope: Scope, now: float) -> list[str]:
    """The names that facts of the scope give to them."""
    if not kin:
        return []
    rows = connection.execute(
        f"""
        SELECT f.rowid FROM facts_fts f CROSS JOIN memories m ON m.rid = f.rowid
        WHERE facts_fts MATCH :match AND m.valid_until IS NULL AND {scope.where}
        ORDER BY f.rowid DESC LIMIT {_LOOKED_AT}
        """,
        {**scope.bindings, "match": " OR ".join(f'"{one}"' for one in sorted(kin))},
    )
    found: dict[str, None] = {}
    for memory in memories.by_rid(connection, [rid for (rid,) in rows], now):
        pairs = [(kind, name) for kind, name in _named_after.findall(memory.content)]
        pairs += [(kind, name) for name, kind in _named_before.findall(memory.content)]
        found |= dict.fromkeys(name.removesuffix("’s") for kind, name in pairs if fold_text(kind) in kin)
    return list(found)[:MOST]
