"""What an erase still knows of the pieces when its process has gone: enough to find them again, and no word of them.

A proof that could not be made, or that found something, is made again later, by whatever process. The file may not
hold the pieces for that long. Of each there is its length, a small salted mark of its first bytes, by which the places
are found that may be it, and a salted hash that tells whether one is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from memtui.engine.records import Record

from .pieces import Piece, forms, mark_of, places, stands_alone

_MOST = 4_000
_BITS = 20
"""Of a mark: so few that nobody reads the first bytes out of it."""
_UTF_8 = 1


class Trace(Record):
    """A piece in one of its forms: ``length`` in bytes. ``word``: a single word. ``data``: of a vector."""

    length: int
    mark: int
    hash: bytes
    word: bool = False
    data: bool = False


def traces_of(pieces: Sequence[Piece], salt: bytes) -> tuple[Trace, ...]:
    """At most 4,000 of them, from everywhere in what there is."""
    found = [
        Trace(
            length=len(form), mark=mark_of(form, _factor(salt), _BITS), hash=_hash(form, salt), word=piece.word,
            data=bool(piece.data),
        )
        for piece in pieces
        for form in forms(piece, _UTF_8)
    ]  # fmt: skip
    return tuple(found[:: -(-len(found) // _MOST) or 1])


def find(path: Path, traces: Sequence[Trace], salt: bytes) -> list[Piece]:
    """The pieces that stand in a file. Not for a file that this process has open in SQLite."""
    if not traces:
        return []
    waiting: dict[int, list[Trace]] = {}
    for trace in traces:
        waiting.setdefault(trace.mark, []).append(trace)
    found: dict[Piece, None] = {}
    longest = max(trace.length for trace in traces)
    for data, place, mark in places(path, waiting, _factor(salt), _BITS, longest):
        for trace in list(waiting[mark]):
            form = data[place : place + trace.length]
            if trace.word and not stands_alone(data, place, trace.length):
                continue
            if len(form) == trace.length and _hash(form, salt) == trace.hash:
                waiting[mark].remove(trace)
                found[_piece(form, trace)] = None
    return list(found)


def _piece(form: bytes, trace: Trace) -> Piece:
    if trace.data:
        return Piece(data=form)
    text = form.decode("utf-8", "surrogatepass")
    return Piece(
        text=json.loads(f'"{text}"'), word=trace.word
    )  # a piece has no character that JSON would escape


def _hash(form: bytes, salt: bytes) -> bytes:
    return blake2b(form, key=salt, digest_size=16, person=b"piece").digest()


def _factor(salt: bytes) -> int:
    return int.from_bytes(blake2b(b"", key=salt, digest_size=8, person=b"mark").digest(), "big") | 1
