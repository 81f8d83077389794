"""The set of memories, sessions and names that an erase deletes, and what of kept rows tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from memtui.engine.memories import validation
from memtui.engine.records.erase import Carrier, EraseRequest

from .matching import ErasedTexts

_TITLE = 300
COLUMNS = "m.rid, m.id, m.kind, m.content, m.session_id, m.source_key, m.source_role, m.event_time"
"""Columns of ``MemoryRow``, of a memory ``m``."""


class MemoryRow(NamedTuple):
    """A memory, and the reason why it is erased."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    why: str = ""
    chosen: bool = False


class FormerMemory(NamedTuple):
    """The last state of a memory in history. ``live``: it is in the file again. ``drawn_from``, ``replaced``: ids of others."""

    row: MemoryRow
    drawn_from: frozenset[str]
    replaced: frozenset[str]
    live: bool


def title_of(text: str) -> str:
    """The title of a row in the plan: the beginning of its text, without secrets."""
    return validation.without_secrets(text)[:_TITLE]


_MAX_OPTIONAL_CARRIERS = 200


class ErasedRows:
    """What goes. ``taken_back``: memories that only history still has (taken back since), by rid."""

    def __init__(self, request: EraseRequest) -> None:
        self.request = request
        self.rows: dict[str, MemoryRow] = {}
        self.taken_back: dict[int, MemoryRow] = {}
        self.optional_carriers: dict[str, Carrier] = {}
        self.unlisted: set[str] = set()
        """What would be offered if it were not so much."""
        self.sessions: dict[str, str] = {}
        """Those that go as a whole, with their titles."""
        self.sessions_gone: set[int] = set()
        """Keys of those that only history still has."""
        self.entities: dict[int, tuple[str, str]] = {}
        """eid to (id, name)."""
        self.texts = ErasedTexts()
        self.contents: dict[str, None] = {}
        """The texts that go, here or elsewhere, in full."""
        self.sessions_losing_turns: dict[int, bool] = {}
        """Key of a session that loses a turn -> whether its current summary was made from that turn."""
        self.derived_texts: dict[str, None] = {}
        """Texts derived from erased ones: summaries and errors of sessions, current or in history."""
        self.exposed: list[int] = []
        """Turns that stay, and that only facts which go keep from agents."""
        self.labels: dict[str, str] = {}
        """Names of sessions, projects, agents ... that tell of them, to what these are called from now on."""

    def add_erased_text(self, text: str) -> None:
        self.texts.add(text)
        self.contents[text] = None

    def add_row(self, columns: Sequence[Any], why: str, *, chosen: bool = False) -> str:
        """A row of ``COLUMNS`` goes. Returns its id."""
        row = MemoryRow._make((*columns, why, chosen))
        self.rows[row.id] = row
        self.add_erased_text(row.content)
        return row.id

    def add_former(self, gone: FormerMemory, why: str, *, chosen: bool = False) -> str:
        """What only history still has goes. Returns its id."""
        if not gone.live:
            self.taken_back[gone.row.rid] = gone.row._replace(why=why, chosen=chosen)
        self.add_erased_text(gone.row.content)
        return gone.row.id

    def add_optional_carrier(self, columns: Sequence[Any], why: str, *, fate_else: str = "") -> None:
        """A row of ``COLUMNS`` stays unless the person says that it goes as well."""
        id = str(columns[1])
        if id in self.optional_carriers:
            return
        if len(self.optional_carriers) >= _MAX_OPTIONAL_CARRIERS:
            self.unlisted.add(id)
            return
        self.optional_carriers[id] = Carrier(
            key=id, place="memory", title=title_of(str(columns[3])), why=f"{why} (kept as you wished)" if fate_else else why,
            outcome="kept", choice=True, kind=str(columns[2]),
        )  # fmt: skip

    @property
    def memory_ids(self) -> frozenset[str]:
        return frozenset(self.rows) | frozenset(row.id for row in self.taken_back.values())

    @property
    def every_row(self) -> list[MemoryRow]:
        """What goes, each memory once, whether the file has it or only history."""
        return [*self.rows.values(), *(row for row in self.taken_back.values() if row.id not in self.rows)]

    @property
    def memory_rids(self) -> list[int]:
        return sorted([row.rid for row in self.rows.values()])

    @property
    def every_rid(self) -> set[int]:
        return {*self.memory_rids, *self.taken_back}


def has_erased_words(value: Any, closure: ErasedRows) -> bool:
    """Whether a JSON value has words of the texts in it."""
    if isinstance(value, str):
        return closure.texts.mentions_any(value)
    if isinstance(value, dict):
        return any(has_erased_words(one, closure) for pair in value.items() for one in pair)
    return isinstance(value, list) and any(has_erased_words(one, closure) for one in value)


def quoting_notes(noted: dict[str, Any], closure: ErasedRows) -> dict[str, Any]:
    """Those of the attributes of a memory that have the texts in them."""
    return {
        key: value
        for key, value in noted.items()
        if contains_erased_text(key, closure)
        or contains_erased_text(value, closure)
        or (key == "conflict_reason" and _reason_quotes_text(str(value), closure))
    }


def _reason_quotes_text(reason: str, closure: ErasedRows) -> bool:
    return closure.texts.mentions_any(reason) or closure.texts.without_quotations(reason) != reason


def contains_erased_text(value: Any, closure: ErasedRows) -> bool:
    """As ``has_erased_words``, but a sentence of a text is no quotation of it: whole texts, long runs, words that are rare."""
    if isinstance(value, dict):
        return any(contains_erased_text(one, closure) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return any(contains_erased_text(one, closure) for one in value)
    return isinstance(value, str) and (
        closure.texts.carried_by(value) or closure.texts.has_distinctive(value)
    )


def censor_value(value: Any, closure: ErasedRows) -> Any:
    """A JSON value in which what carries the texts is covered."""
    if isinstance(value, str):
        return closure.texts.censor(value) if contains_erased_text(value, closure) else value
    if isinstance(value, list):
        return [censor_value(one, closure) for one in value]
    if isinstance(value, dict):
        return {str(censor_value(key, closure)): censor_value(one, closure) for key, one in value.items()}
    return value
