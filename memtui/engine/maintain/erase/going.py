"""The memories, sessions and names that an erase takes, as they are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .matching import Texts
from .records import Carrier, Request
from .taken_back import Gone

COLUMNS = "m.rid, m.id, m.kind, m.content, m.session_id, m.source_key, m.source_role, m.event_time"
"""Of a memory ``m``, as ``Row`` has them."""

_MOST_OFFERED = 200


class Row(NamedTuple):
    """A memory as it stands in the file, and why it goes."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    why: str
    chosen: bool = False


class Closure:
    """What goes. ``gone``: memories that only history still has (taken back since), by rid."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.rows: dict[str, Row] = {}
        self.gone: dict[int, Gone] = {}
        self.offered: dict[str, Carrier] = {}
        self.unlisted: set[str] = set()
        """What would be offered if it were not so much."""
        self.sessions: dict[str, str] = {}
        """Those that go as a whole, with their titles."""
        self.sessions_gone: set[int] = set()
        """Keys of those that only history still has."""
        self.entities: dict[int, tuple[str, str]] = {}
        """eid to (id, name)."""
        self.texts = Texts()
        self.contents: dict[str, None] = {}
        """The texts that go, here or elsewhere, in full."""
        self.retold: dict[int, bool] = {}
        """Keys of sessions that lose a turn; whether the summary that they have now was made of it."""
        self.told: dict[str, None] = {}
        """What was made of them and goes as well, or stands in history: summaries and errors of sessions."""
        self.labels: dict[str, str] = {}
        """Names of sessions, projects, agents ... that tell of them, to what these are called from now on."""

    def add_text(self, text: str) -> None:
        self.texts.add(text)
        self.contents[text] = None

    def take(self, columns: Sequence[Any], why: str, *, chosen: bool = False) -> str:
        """A row of ``COLUMNS`` goes. Returns its id."""
        taken = Row._make((*columns, why, chosen))
        self.rows[taken.id] = taken
        self.add_text(taken.content)
        return taken.id

    def take_gone(self, gone: Gone, why: str, *, chosen: bool = False) -> str:
        """What only history still has goes. Returns its id."""
        if not gone.live:
            self.gone[gone.rid] = gone._replace(why=why, chosen=chosen)
        self.add_text(gone.content)
        return gone.id

    def offer(self, columns: Sequence[Any], why: str, *, fate_else: str = "") -> None:
        """A row of ``COLUMNS`` stays unless the person says that it goes as well."""
        id = str(columns[1])
        if id in self.offered:
            return
        if len(self.offered) >= _MOST_OFFERED:
            self.unlisted.add(id)
            return
        self.offered[id] = Carrier(
            key=id, place="memory", title=str(columns[3]), why=f"{why} (kept as you wished)" if fate_else else why,
            fate="kept", choice=True, kind=str(columns[2]),
        )  # fmt: skip

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.rows) | frozenset(row.id for row in self.gone.values())

    @property
    def every_row(self) -> list[Row | Gone]:
        """What goes, each memory once, whether the file has it or only history."""
        return [*self.rows.values(), *(row for row in self.gone.values() if row.id not in self.rows)]

    @property
    def rids(self) -> list[int]:
        return sorted([row.rid for row in self.rows.values()])

    @property
    def every_rid(self) -> set[int]:
        return {*self.rids, *self.gone}
