"""Salted hashes of erased memories' source keys, so that no import brings them back."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from .sql import scalar

UNFINISHED = "erase_unfinished"
"""The row of ``memory_metadata`` that says how far an erase has come; gone when it was proven."""

SALT = "erase_salt"
_SPAN = 300
"""Seconds by which the clocks of two programs that tell the same turn may lie apart, at least."""

OTHER_SALTS = "erase_salts_of_others"
"""Metadata: salts in hex, with spaces between them."""


def keys_hash(key: str, salt: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(key.encode("utf-8", "surrogatepass"), key=salt, digest_size=32).digest()


def turn_keys(session_id: str, role: str, content: str, at: int) -> list[str]:
    """What an erased turn is known by whatever its source calls it: its words, at about its time (0: not known)."""
    return [_turn_key(session_id, role, content, when) for when in (str(at // _SPAN if at else 0), "ever")]


def keys_of_turn(session_id: str, role: str, content: str, at: int) -> list[str]:
    """Those of ``turn_keys`` that tell that a turn was erased: the same words said again much later were not."""
    span = at // _SPAN
    times = [str(one) for one in (0, span - 1, span, span + 1)] if at else ["ever"]
    return [_turn_key(session_id, role, content, when) for when in times]


def _turn_key(session_id: str, role: str, content: str, when: str) -> str:
    return "\0".join(("turn", session_id, role, when, content))


def title_key(session_id: str, title: str) -> str:
    """What a title is known by that went, or was taken from its session, with the words that it quoted."""
    return "\0".join(("title", session_id, " ".join(title.split())))


def note_key(kind: str, content: str) -> str:
    """What a fact, reflection or observation is known by whatever its source calls it: it may have it twice."""
    return "\0".join(("note", kind, " ".join(content.split())))


def drawn_key(turn_id: str, content: str) -> str:
    """What a text is known by that was drawn from a turn which stays: reading the turn again does not draw it again."""
    return "\0".join(("drawn", turn_id, " ".join(content.casefold().split())))


def add(connection: apsw.Connection, keys: Iterable[str]) -> None:
    """Remember what was erased by these keys, in the caller's transaction."""
    salt = salt_of(connection)
    connection.executemany(
        "INSERT INTO erased_keys(hash) VALUES (?) ON CONFLICT DO NOTHING",
        [(keys_hash(key, salt),) for key in keys],
    )


def all_hashes(connection: apsw.Connection) -> list[bytes]:
    """Every hash, under whichever of ``salts_of`` it was made."""
    return [bytes(hash) for (hash,) in connection.execute("SELECT hash FROM erased_keys ORDER BY hash")]


def add_hashes(connection: apsw.Connection, salts: Iterable[bytes], hashes: Iterable[bytes]) -> None:
    """Remember what another file knows as erased, which hashed it under its own salts."""
    known = salts_of(connection)
    others = [*known[1:], *(salt for salt in salts if salt not in known)]
    connection.execute(
        "INSERT INTO memory_metadata(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (OTHER_SALTS, " ".join(salt.hex() for salt in others)),
    )
    connection.executemany(
        "INSERT INTO erased_keys(hash) VALUES (?) ON CONFLICT DO NOTHING", [(hash,) for hash in hashes]
    )


def salt_of(connection: apsw.Connection, database: str = "main") -> bytes:
    salt = scalar(connection, f"SELECT value FROM {database}.memory_metadata WHERE key = 'erase_salt'")
    return bytes.fromhex(str(salt))


def salts_of(connection: apsw.Connection, database: str = "main") -> list[bytes]:
    """Every salt that a hash of the file may have: its own, then those of files whose keys a restore carried over."""
    others = scalar(connection, f"SELECT value FROM {database}.memory_metadata WHERE key = ?", (OTHER_SALTS,))
    return [salt_of(connection, database), *map(bytes.fromhex, str(others or "").split())]


def erased_among(connection: apsw.Connection, keys: Iterable[str], database: str = "main") -> set[str]:
    """Those of the keys whose row was erased for good from a ``database`` of the connection."""
    if scalar(connection, f"SELECT 1 FROM {database}.erased_keys LIMIT 1") is None:
        return set()
    salts = salts_of(connection, database)
    look = f"SELECT 1 FROM {database}.erased_keys WHERE hash = ?"
    return {key for key in keys if any(scalar(connection, look, (keys_hash(key, salt),)) for salt in salts)}
