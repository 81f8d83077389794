"""What to look for in the bytes of files, and looking: any number of pieces in one pass over a file.

A piece has no character that JSON would escape, so that it stands in an image of history as it does in a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memtui.engine.records import Record
from memtui.engine.store import words

SHORTEST = 8
"""Bytes: shorter ones stand in every file."""
_LONGEST = 40
_PER_TEXT = 3
_SPLIT = re.compile('[\\x00-\\x1f"\\\\\\x7f]+')
_WORD = re.compile(r"[A-Za-z]{8,}")
_CHUNK = 8 * 1024 * 1024
_BITS = 22
_FACTOR = 0x9E3779B97F4A7C15
_UTF16 = {2: "utf-16-le", 3: "utf-16-be"}


class Piece(Record):
    """``text``: a part of an erased text, "" for a vector, of which ``data`` are some bytes.

    ``word``: a single word; one that memtui uses itself ("scheduler") is in every file. ``telling``: one by which the
    text is known, so that it is told who has it.
    """

    text: str = ""
    data: bytes = b""
    word: bool = False
    telling: bool = False


def pieces_of(texts: Iterable[str]) -> list[Piece]:
    """The beginning, middle and end of each text, as far as they are long enough to tell it from others."""
    found: dict[str, None] = {}
    for text in texts:
        runs = [run.strip() for run in _SPLIT.split(text)]
        runs = [run for run in runs if len(run.encode("utf-8", "surrogatepass")) >= SHORTEST]
        for run in {0: runs[:1], 1: runs[len(runs) // 2 :][:1], 2: runs[-1:]}.values() if runs else ():
            for one in run:
                middle = max(0, (len(one) - _LONGEST) // 2)
                starts = (0,) if len(runs) >= _PER_TEXT else (0, middle, max(0, len(one) - _LONGEST))
                found.update(dict.fromkeys(one[start : start + _LONGEST] for start in starts))
    return [Piece(text=text) for text in found if len(text.encode("utf-8", "surrogatepass")) >= SHORTEST]


def rare_words(texts: Iterable[str]) -> set[str]:
    """Long words of the texts, as an index keeps them: those of them that nothing else has are worth looking for."""
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def stem_of(word: str) -> str:
    return (words.stems(word) or [word])[0]


def forms(piece: Piece, encoding: int) -> list[bytes]:
    """The bytes in which a file of this ``encoding`` (of its header: 1 is UTF-8) would hold the piece."""
    if piece.data:
        return [piece.data]
    plain = piece.text.encode("utf-8", "surrogatepass")
    found = [plain]
    if not piece.text.isascii():
        found.append(json.dumps(piece.text)[1:-1].encode())
    if encoding in _UTF16:
        found.append(piece.text.encode(_UTF16[encoding], "surrogatepass"))
    return found


def encoding_of(path: Path) -> int:
    """The text encoding in the header of a database: 1 UTF-8, 2 and 3 UTF-16; 1 for anything else."""
    with path.open("rb") as file:
        header = file.read(60)
    known = header.startswith(b"SQLite format 3\0") and len(header) == 60
    return int.from_bytes(header[56:60], "big") if known else 1


def search(path: Path, needles: Sequence[bytes], words: frozenset[int] = frozenset()) -> set[int]:
    """Which of the needles (each at least 8 bytes) stand in a file. Not for a file that this process has open in SQLite.

    ``words``: those that count only as a word, or as a whole term of a full-text index.
    """
    if not needles:
        return set()
    by_start: dict[bytes, list[int]] = {}
    for number, needle in enumerate(needles):
        by_start.setdefault(needle[:8], []).append(number)
    marks = {mark_of(start, _FACTOR, _BITS) for start in by_start}
    found: set[int] = set()
    for data, place, _ in places(path, marks, _FACTOR, _BITS, max(map(len, needles))):
        waiting = by_start.get(data[place : place + 8])
        met = [
            one
            for one in waiting or ()
            if data.startswith(needles[one], place)
            and (one not in words or stands_alone(data, place, len(needles[one])))
        ]
        if waiting and met:
            found.update(met)
            waiting[:] = [one for one in waiting if one not in met]
    return found


def mark_of(start: bytes, factor: int, bits: int) -> int:
    """A small number for the first 8 bytes of something to look for: see ``places``."""
    return (int.from_bytes(start[:8], "little") * factor & (1 << 64) - 1) >> (64 - bits)


def places(
    path: Path, marks: Iterable[int], factor: int, bits: int, longest: int
) -> Iterator[tuple[bytes, int, int]]:
    """(bytes, place in them, mark) wherever 8 bytes of a file have one of the marks; more than once near a border.

    ``longest``: so many bytes from the place on are there, if the file has them.
    """
    import numpy as np

    table = np.zeros(1 << bits, dtype=bool)
    table[list(marks)] = True
    rest = b""
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            data = rest + block
            for offset in range(min(8, max(0, len(data) - 7))):
                numbers = np.frombuffer(data, "<u8", (len(data) - offset) // 8, offset)
                here = (numbers * np.uint64(factor)) >> np.uint64(64 - bits)
                for hit in np.flatnonzero(table[here]):
                    yield data, offset + 8 * int(hit), int(here[hit])
            rest = data[-(longest + 8) :]


def stands_alone(data: bytes, place: int, length: int) -> bool:
    """Columns follow each other without a gap ("assistant" and "scratchpad"); before a term FTS5 puts its length."""
    before, after = data[max(place - 1, 0) : place], data[place + length : place + length + 1]
    return not after.isalpha() or before in (bytes([length]), b"0")
