"""What may harm somebody, in the context block: facts about health, diet and "must not" of those whom a prompt is about.

They come without a shared word: "plan a dinner for Ada" brings that Ada eats no meat. Whom a fact is about is known from its
links to people. A prompt that names somebody brings theirs, one about a group anybody's, any other the person's own; all of
them only where the prompt is about what they matter for (food, medicine, an outing, a journey), or names somebody. A
question for one thing ("when is Ada's birthday?") brings none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

import apsw

from memtui.engine.records import MemoryRecord, Record
from memtui.engine.store import memories
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import text_words

from . import lexicon
from .retrievers import entity
from .scope import Scope, newest_facts, rids_in_scope

MOST = 8
"""So many facts at most are in a block for what they warn of."""
WISHES = 6
"""So many more at most for how meals shall be."""
_LOOKED_AT = 200
_MATTER_FOR = frozenset({"food", "medicine", "outing", "travel", "contact"})
_EATEN_TOGETHER = "food"
HEALTH = "health"
_OWN = re.compile(
    r"\b(?:I|me|my|we|our|us|ich|mir|wir|uns|je|nous|yo|nosotros)\b|\bj['’]|\bmein\w*", re.IGNORECASE
)
_PARTS = re.compile(r"[;.]|\b(?:and|but|und|aber|et|mais|y|pero)\b")
_SAYS = r"\s+(?:said|says|told|tells|thinks|recommends|advised|sagt\w*|meint\w*|dit|dice|dijo)\b"
_OF_SOMEBODY = re.compile(
    r"(?:he|she|his|her|him|they|their|er|seine?|ihre?|il|elle|lui|él|ella)(?:['’]\w+)?\b", re.IGNORECASE
)


class VitalFact(Record):
    """A fact that is in the block for what it warns of. ``reason``: a few words, with whom it is about where that is certain."""

    memory: MemoryRecord
    reason: str


class _PromptPeople(Record):
    """``named``: the people whom a prompt names; ``kinds``: those that it speaks of; ``topics``: what it is about."""

    named: dict[int, str]
    kinds: frozenset[str]
    topics: frozenset[str]


def find_warnings(
    connection: apsw.Connection,
    prompt: str,
    scope: Scope,
    now: float,
    *,
    names: bool,
    told_rids: Collection[int],
    refused: Callable[[MemoryRecord], str],
) -> list[VitalFact]:
    """The facts, those about the people named first; what may harm before what is not eaten, newer ones first.

    ``names``: whether names are looked up at all. They are known from all memories: for whoever is confined they are not.

    ``told_rids``: facts that are in the block already. ``refused`` tells why an agent may not be told a memory, or "".
    """
    if lexicon.asks_for_one_thing(prompt):
        return []
    prompt_people = _read_prompt(connection, prompt, names=names)
    if not (prompt_people.topics or prompt_people.named):
        return []
    rids = _health_candidates(connection, prompt_people, scope)
    about = _people_of_facts(connection, rids) if names else {}
    ranked, wishes = [], []
    for memory in memories.by_rid(connection, [rid for rid in rids if rid not in told_rids], now):
        words = set(text_words(memory.content))
        marks = [mark for word in words for mark in lexicon.lists_marking(word)]
        found = _reason_for(prompt_people, memory, words, marks, about.get(memory.rid, {}))
        if found is not None:
            reason = found[1] if names else HEALTH
            # A condition or a medicine by name before a diet or a habit.
            key = (found[0], "health" not in marks, -memory.event_time, -memory.rid)
            ranked.append((key, VitalFact(memory=memory, reason=reason)))
        elif _is_wish(prompt_people, marks, about.get(memory.rid, {})):
            wishes.append(VitalFact(memory=memory, reason="food"))
    best = (one for _, one in sorted(ranked, key=lambda one: one[0]))
    wishes.sort(key=lambda one: (-one.memory.event_time, -one.memory.rid))
    return [
        *islice((one for one in best if not refused(one.memory)), MOST),
        *islice((one for one in wishes if not refused(one.memory)), WISHES),
    ]


def warnings_of_others(
    connection: apsw.Connection, prompt: str, facts: Sequence[MemoryRecord], *, names: bool
) -> set[int]:
    """The rids of those facts that warn of what may harm people whom a prompt does not mean."""
    if not names:
        return set()
    prompt_people, about = (
        _read_prompt(connection, prompt, names=names),
        _people_of_facts(connection, [fact.rid for fact in facts]),
    )
    found = set()
    for fact in facts:
        words = set(text_words(fact.content))
        if fact.topic != "health" and not _is_health_warning(
            [mark for word in words for mark in lexicon.lists_marking(word)]
        ):
            continue
        people = about.get(fact.rid, {}).keys()
        kinds = {name for name, listed in lexicon.words_for_people().items() if listed.listed_among(words)}
        others = bool(prompt_people.named and people) and prompt_people.named.keys().isdisjoint(people)
        if others or (prompt_people.kinds and kinds and prompt_people.kinds.isdisjoint(kinds)):
            found.add(fact.rid)
    return found


def _read_prompt(connection: apsw.Connection, prompt: str, *, names: bool) -> _PromptPeople:
    words = set(text_words(prompt))
    topics = frozenset(lexicon.topics_asked_about(words)) & _MATTER_FOR
    named: dict[int, str] = {}
    if names:
        found = {one.eid: one.name for one in entity.entities_named(connection, prompt)}
        rows = connection.execute(
            "SELECT eid FROM entities WHERE type = 'person' AND eid IN (SELECT value FROM json_each(?))",
            (as_json(found),),
        )
        named = {eid: found[eid] for (eid,) in rows}
    return _PromptPeople(named=named, kinds=lexicon.kinds_of_people(words), topics=topics)


def _health_candidates(connection: apsw.Connection, prompt_people: _PromptPeople, scope: Scope) -> list[int]:
    """Facts that speak of health, the newest; and those linked to the people named."""
    lists = [lexicon.vital_lists()[name] for name in ("health", "diet")]
    if _EATEN_TOGETHER in prompt_people.topics:
        lists += [topic.strong for topic in lexicon.load_topics() if topic.name == _EATEN_TOGETHER]
    match = " OR ".join(
        [
            *(f'"{one}"*' for word_list in lists for one in word_list.beginnings),
            *(f'"{one}"' for word_list in lists for one in word_list.whole),
        ]
    )
    rids = newest_facts(connection, scope, match, _LOOKED_AT)
    for eid in prompt_people.named:
        linked = connection.execute(
            """
            SELECT me.rid FROM entities e CROSS JOIN memory_entities me ON me.eid = e.eid
            CROSS JOIN memories m ON m.rid = me.rid
            WHERE (e.eid = ?1 OR e.merged_into = ?1) AND m.kind = 'fact' AND m.valid_until IS NULL
            ORDER BY me.at DESC, me.rid DESC LIMIT ?2
            """,
            (eid, _LOOKED_AT),
        )
        rids += [rid for (rid,) in linked]
    inside = rids_in_scope(connection, scope, rids)
    return [rid for rid in dict.fromkeys(rids) if rid in inside]


def _people_of_facts(connection: apsw.Connection, rids: Collection[int]) -> dict[int, dict[int, str]]:
    """Of each fact, the people it is linked to."""
    rows = connection.execute(
        """
        SELECT me.rid, survivor.eid, survivor.canonical_name
        FROM json_each(?) wanted CROSS JOIN memory_entities me ON me.rid = wanted.value
        CROSS JOIN entities e ON e.eid = me.eid
        JOIN entities survivor ON survivor.eid = coalesce(e.merged_into, e.eid)
        WHERE survivor.type = 'person' AND NOT survivor.hidden
        """,
        (as_json(rids),),
    )
    found: dict[int, dict[int, str]] = {}
    for rid, eid, name in rows:
        found.setdefault(rid, {})[eid] = name
    return found


def _reason_for(
    prompt_people: _PromptPeople,
    memory: MemoryRecord,
    words: Collection[str],
    marks: Collection[str],
    about: dict[int, str],
) -> tuple[int, str] | None:
    """How near a fact is to those whom the prompt is about, 0 the nearest, and whom it is about; None where it is not told.

    ``words``: its words; ``marks``: the lists that they stand in.
    """
    if memory.topic != "health" and not _is_health_warning(marks):
        return None
    if named := [name for eid, name in about.items() if eid in prompt_people.named]:
        return 0, _people_in_danger(memory.content, named)
    if not any(lexicon.strong_mark(topic) in marks for topic in prompt_people.topics):
        return None
    kinds = {name for name, listed in lexicon.words_for_people().items() if listed.listed_among(words)}
    if meant := prompt_people.kinds & kinds:
        return 0, _people_in_danger(
            memory.content, about.values()
        ) if about else f"{HEALTH}: your {', '.join(sorted(meant))}"
    if prompt_people.kinds and kinds:
        return None  # it is about others than those who are meant
    others = not prompt_people.named and (
        bool(prompt_people.kinds) or _EATEN_TOGETHER in prompt_people.topics
    )
    if about:
        return (2, _people_in_danger(memory.content, about.values())) if others else None
    if _OF_SOMEBODY.match(memory.content):  # whom it means was not certain when it was drawn
        return (2, HEALTH) if others else None
    if not kinds:
        return 1, f"{HEALTH}: you" if _OWN.search(memory.content) else HEALTH
    return (2, f"{HEALTH}: your {', '.join(sorted(kinds))}") if others else None


def _people_in_danger(content: str, names: Iterable[str]) -> str:
    """Whom the fact is about: those named in the parts with the danger, not who said it, nor who stands in another part."""
    parts = [part for part in _PARTS.split(content) if _has_danger(part)]
    found = [
        name for name in names
        if any(re.search(rf"\b{re.escape(name)}\b(?!{_SAYS})", part) for part in parts)
    ]  # fmt: skip
    return f"{HEALTH}: {', '.join(found)}" if found else HEALTH


def _has_danger(part: str) -> bool:
    return any(
        mark in ("health", "diet") for word in text_words(part) for mark in lexicon.lists_marking(word)
    )


def _is_wish(prompt_people: _PromptPeople, marks: Collection[str], about: Mapping[int, str]) -> bool:
    """Whether a fact says how meals shall be, of those whom a prompt about food means."""
    if (
        _EATEN_TOGETHER not in prompt_people.topics
        or "wish" not in marks
        or lexicon.strong_mark(_EATEN_TOGETHER) not in marks
    ):
        return False
    return not (prompt_people.named and about) or not prompt_people.named.keys().isdisjoint(about)


def _is_health_warning(marks: Collection[str]) -> bool:
    """Whether words tell of health: a condition by name, or a rule about what may harm or is not eaten."""
    health = sum(mark == "health" for mark in marks)
    return (
        ("diet" in marks and "rule" in marks)
        or health > 1
        or (health == 1 and ("rule" in marks or lexicon.strong_mark("food") in marks))
    )
