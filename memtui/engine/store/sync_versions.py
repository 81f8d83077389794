"""Stamps that only sync needs: of rows that are there or not, of rows that are one decision, of the names of an entity.

``sync_versions`` holds them by thing and aspect; ``sync_merged`` names what is to be sent although history does not show
that it changed.
"""

from __future__ import annotations

import apsw

from memtui.engine.records import Stamp

from . import stamps

ROW, VALUE, TITLE, READ, ALIASES = "row", "value", "title", "read", "aliases"
"""Whether a memory or entity is there; a row as a whole; parts of a session; the names of an entity."""
_TABLE = "sync_versions"


def read_versions(connection: apsw.Connection, thing: str) -> dict[str, Stamp]:
    """The stamps of a thing by aspect."""
    return stamps.read_stamps(connection, thing, table=_TABLE)


def write_version(connection: apsw.Connection, thing: str, stamp: Stamp) -> None:
    stamps.write_stamp(connection, thing, stamp, table=_TABLE)


def decide(
    connection: apsw.Connection, thing: str, aspect: str, at: int, actor: str, *, knowing: Stamp | None = None
) -> Stamp:
    """Stamp a decision of this device, and return the stamp."""
    own, ours = stamps.device(connection), read_versions(connection, thing).get(aspect)
    seen = stamps.join_stamps(ours.seen if ours else {}, knowing.seen if knowing else {})
    seen[own] = max(seen.get(own, 0) + 1, at, 1)
    stamp = Stamp(aspect=aspect, seen=seen, device=own, at=at, actor=actor)
    write_version(connection, thing, stamp)
    return stamp


def note_merged(connection: apsw.Connection, thing: str) -> None:
    """Note that what is here now is neither what was here nor what came: it is to be sent."""
    connection.execute("INSERT INTO sync_merged(thing) VALUES (?) ON CONFLICT DO NOTHING", (thing,))
