"""The proof of an erase: pieces to look for in the bytes of files, traces of them for later, and asking another process.

``engine.proof`` runs in that process. This one may not read the bytes of a file that it has open (closing them would drop
SQLite's locks), and what it remembers proves nothing. The mark in the file says how far an erase has come.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import apsw
import msgspec

from memtui.engine.errors import StoreError
from memtui.engine.records import Record
from memtui.engine.records.erase import EraseProof, EraseRequest, RemainingText, SearchedFile
from memtui.engine.store import backup, file_replacement, metadata, tokens
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import as_json, json_text, scalar
from memtui.engine.store.tombstones import UNFINISHED, salt_of

from .closure import ErasedRows

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
    """A piece to search for. ``text``: a part of an erased text; "" for a vector, whose bytes are ``data``.

    ``word``: a single word; memtui's own words ("scheduler") are in every file. ``distinctive``: no kept row has the
    word, so it reveals the text.
    """

    text: str = ""
    data: bytes = b""
    word: bool = False
    distinctive: bool = False


def pieces_of(texts: Iterable[str]) -> list[Piece]:
    """The beginning, middle and end of each text, as far as they are long enough to tell it from others."""
    pieces: dict[str, None] = {}
    for text in texts:
        runs = [run.strip() for run in _SPLIT.split(text)]
        runs = [run for run in runs if len(run.encode("utf-8", "surrogatepass")) >= SHORTEST]
        for run in {0: runs[:1], 1: runs[len(runs) // 2 :][:1], 2: runs[-1:]}.values() if runs else ():
            for one in run:
                middle = max(0, (len(one) - _LONGEST) // 2)
                starts = (0,) if len(runs) >= _PER_TEXT else (0, middle, max(0, len(one) - _LONGEST))
                pieces.update(dict.fromkeys(one[start : start + _LONGEST] for start in starts))
    return [Piece(text=text) for text in pieces if len(text.encode("utf-8", "surrogatepass")) >= SHORTEST]


def rare_words(texts: Iterable[str]) -> set[str]:
    """Long words of the texts, as an index keeps them: those of them that nothing else has are worth looking for."""
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def stem_of(word: str) -> str:
    return (tokens.text_stems(word) or [word])[0]


def encoded_forms(piece: Piece, encoding: int) -> list[bytes]:
    """The bytes in which a file of this ``encoding`` (of its header: 1 is UTF-8) would hold the piece."""
    if piece.data:
        return [piece.data]
    plain = piece.text.encode("utf-8", "surrogatepass")
    forms = [plain]
    if not piece.text.isascii():
        forms.append(json.dumps(piece.text)[1:-1].encode())
    if encoding in _UTF16:
        forms.append(piece.text.encode(_UTF16[encoding], "surrogatepass"))
    return forms


def encoding_of(path: Path) -> int:
    """The text encoding in the header of a database: 1 UTF-8, 2 and 3 UTF-16; 1 for anything else."""
    with path.open("rb") as file:
        header = file.read(60)
    known = header.startswith(b"SQLite format 3\0") and len(header) == 60
    return int.from_bytes(header[56:60], "big") if known else 1


def search_file(path: Path, needles: Sequence[bytes], words: frozenset[int] = frozenset()) -> set[int]:
    """Which of the needles (each at least 8 bytes) stand in a file. Not for a file that this process has open in SQLite.

    ``words``: those that count only as a word, or as a whole term of a full-text index.
    """
    if not needles:
        return set()
    by_start: dict[bytes, list[int]] = {}
    for number, needle in enumerate(needles):
        by_start.setdefault(needle[:8], []).append(number)
    marks = {mark_of(start, _FACTOR, _BITS) for start in by_start}
    needles_found: set[int] = set()
    for data, offset, _ in find_marked_places(path, marks, _FACTOR, _BITS, max(map(len, needles))):
        sought = by_start.get(data[offset : offset + 8])
        met = [
            one
            for one in sought or ()
            if data.startswith(needles[one], offset)
            and (one not in words or stands_alone(data, offset, len(needles[one])))
        ]
        if sought and met:
            needles_found.update(met)
            sought[:] = [one for one in sought if one not in met]
    return needles_found


def mark_of(start: bytes, factor: int, bits: int) -> int:
    """A small number for the first 8 bytes of something to look for: see ``find_marked_places``."""
    return (int.from_bytes(start[:8], "little") * factor & (1 << 64) - 1) >> (64 - bits)


def find_marked_places(
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


def stands_alone(data: bytes, index: int, length: int) -> bool:
    """Columns follow each other without a gap ("assistant" and "scratchpad"); before a term FTS5 puts its length."""
    before, after = data[max(index - 1, 0) : index], data[index + length : index + length + 1]
    return not after.isalpha() or before in (bytes([length]), b"0")


_MOST = 4_000
_TRACE_BITS = 20
"""Bits of a mark: so few that the first bytes cannot be read from it."""
_UTF_8 = 1


class PieceHash(Record):
    """A piece in one of its forms: ``length`` in bytes. ``word``: a single word. ``data``: of a vector."""

    length: int
    mark: int
    hash: bytes
    word: bool = False
    data: bool = False


def traces_of(pieces: Sequence[Piece], salt: bytes) -> tuple[PieceHash, ...]:
    """At most 4,000 of them, from everywhere in what there is."""
    traces = [
        PieceHash(
            length=len(form), mark=mark_of(form, _mark_factor(salt), _TRACE_BITS), hash=_hash_form(form, salt), word=piece.word,
            data=bool(piece.data),
        )
        for piece in pieces
        for form in encoded_forms(piece, _UTF_8)
    ]  # fmt: skip
    return tuple(traces[:: -(-len(traces) // _MOST) or 1])


def find_traces(path: Path, traces: Sequence[PieceHash], salt: bytes) -> list[Piece]:
    """The pieces that stand in a file. Not for a file that this process has open in SQLite."""
    if not traces:
        return []
    sought: dict[int, list[PieceHash]] = {}
    for trace in traces:
        sought.setdefault(trace.mark, []).append(trace)
    pieces_found: dict[Piece, None] = {}
    longest = max(trace.length for trace in traces)
    for data, offset, mark in find_marked_places(path, sought, _mark_factor(salt), _TRACE_BITS, longest):
        for trace in list(sought[mark]):
            form = data[offset : offset + trace.length]
            if trace.word and not stands_alone(data, offset, trace.length):
                continue
            if len(form) == trace.length and _hash_form(form, salt) == trace.hash:
                sought[mark].remove(trace)
                pieces_found[_decode_piece(form, trace)] = None
    return list(pieces_found)


def _decode_piece(form: bytes, trace: PieceHash) -> Piece:
    if trace.data:
        return Piece(data=form)
    text = form.decode("utf-8", "surrogatepass")
    return Piece(
        text=json.loads(f'"{text}"'), word=trace.word
    )  # a piece has no character that JSON would escape


def _hash_form(form: bytes, salt: bytes) -> bytes:
    return blake2b(form, key=salt, digest_size=16, person=b"piece").digest()


def _mark_factor(salt: bytes) -> int:
    return int.from_bytes(blake2b(b"", key=salt, digest_size=8, person=b"mark").digest(), "big") | 1


__all__ = ["Piece", "known_pieces", "pieces_of", "prove_erased", "rare_pieces"]

_SECONDS = 3_600
_VECTOR_BYTES = 48
_MOST_QUESTIONS = 20


class ProofRequest(Record):
    """The request to the other process, on standard input because everybody can see arguments.

    ``questions``: what to ask the public API, in which nothing of ``ids`` may be found.
    """

    path: Path
    files: tuple[Path, ...]
    ids: tuple[str, ...]
    pieces: tuple[Piece, ...]
    questions: tuple[str, ...]
    traces: tuple[PieceHash, ...] = ()
    salt: bytes = b""


class ProofResult(Record):
    """The result. ``leftovers``: pieces in the files that belong to no row, and memories that were still found."""

    files: tuple[SearchedFile, ...]
    kept: tuple[RemainingText, ...]
    leftovers: int
    problems: tuple[str, ...] = ()


def known_pieces(connection: apsw.Connection, closure: ErasedRows, texts: Iterable[str]) -> list[Piece]:
    """Before the rows go: parts of the texts, of summaries of them, and of the vectors made from them."""
    pieces = pieces_of(
        [*texts, *closure.derived_texts, *(title for title in closure.sessions.values() if title)]
    )
    for (vector,) in connection.execute(
        "SELECT vector FROM embeddings WHERE rid IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT vectors FROM word_vectors WHERE rid IN (SELECT value FROM json_each(?1))",
        (as_json(closure.memory_rids),),
    ):
        assert isinstance(vector, bytes)
        if len(vector) >= _VECTOR_BYTES:
            pieces.append(Piece(data=vector[:_VECTOR_BYTES]))
    return pieces


def rare_pieces(connection: apsw.Connection, closure: ErasedRows, texts: Iterable[str]) -> list[Piece]:
    """After the rows have gone: long words that no other memory has. The index may not have them either."""
    rare = []
    for word in sorted(rare_words(texts)):
        stem = stem_of(word)
        if scalar(connection, "SELECT 1 FROM memories_vocab WHERE term = ?", (stem,)) is None:
            text = stem if len(stem) >= SHORTEST else word
            rare.append(Piece(text=text, word=True, distinctive=closure.texts.has_distinctive(word)))
    return rare


def files_of(path: Path) -> list[Path]:
    """The memory, its log, everything of it in the folder of backups, and what a restore set aside."""
    beside = [path, *(path.with_name(path.name + end) for end in ("-wal", "-journal"))]
    beside += [one for one in backup.files_in_backup_folder(path) if not one.is_symlink()]
    return [one for one in (*beside, *file_replacement.places_aside(path)) if one.is_file()]


def prove_erased(
    connections: Connections, ids: Sequence[str], pieces: Sequence[Piece], problems: Sequence[str],
    traces: Sequence[PieceHash] = (),
) -> EraseProof:  # fmt: skip
    """Ask another process to look for it. Raises StoreError when that process fails.

    ``traces``: what is known of pieces that are themselves erased.
    """
    questions = list(dict.fromkeys(piece.text for piece in pieces if piece.text))[:_MOST_QUESTIONS]
    if connections.path is None:
        return _in_memory(connections, ids, pieces)
    request = ProofRequest(
        path=connections.path, files=tuple(files_of(connections.path)), ids=tuple(ids), pieces=tuple(pieces),
        questions=tuple(questions), traces=tuple(traces), salt=_read_salt(connections),
    )  # fmt: skip
    try:
        # -P: nothing is imported from the current folder.
        process = subprocess.run(
            [sys.executable, "-P", "-m", "memtui.engine.proof"],
            input=msgspec.json.encode(request, enc_hook=str),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env=_child_environment(),
        )
        answer = msgspec.json.decode(
            process.stdout, type=ProofResult, dec_hook=lambda type, value: type(value)
        )
    except (subprocess.SubprocessError, msgspec.MsgspecError) as error:
        raise StoreError(
            "The erase is not proven: the process that searches for the erased text failed.",
            "The memories are erased; memtui erase --resume repeats the proof.",
        ) from error
    failures = [*problems, *answer.problems]
    if answer.leftovers:
        where = ", ".join(file.path.name for file in answer.files if file.found)
        failures.append(f"{answer.leftovers} pieces of it are still in the files: {where}")
    return EraseProof(
        memories=len(ids), pieces=len(pieces) + len(traces), found=answer.leftovers, files=answer.files,
        bytes=sum(file.bytes for file in answer.files), questions=len(questions), complete=not failures,
        kept=answer.kept, problems=tuple(failures),
    )  # fmt: skip


def _read_salt(connections: Connections) -> bytes:
    with connections.read() as connection:
        return salt_of(connection)


def _child_environment() -> dict[str, str]:
    """This process finds memtui; so must the other one."""
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}


def _in_memory(connections: Connections, ids: Sequence[str], pieces: Sequence[Piece]) -> EraseProof:
    """A memory that is in this process only has no files to look at."""
    with connections.read() as connection:
        left = int(
            scalar(
                connection,
                "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                (as_json(ids),),
            )
        )
    return EraseProof(
        memories=len(ids), pieces=len(pieces), found=left, files=(), bytes=0, questions=0, complete=not left,
        notes=("This memory lives in this process only: there are no files to look at.",),
    )  # fmt: skip


class PendingErase(Record):
    """A pending erase. ``ids`` once the file no longer holds them; until then ``request`` finds them.

    ``memories`` is how many, ``at`` when it was begun, Unix seconds. ``traces``: of what to look for in the files,
    when the words themselves are erased.
    """

    request: EraseRequest
    memories: int
    at: int
    ids: tuple[str, ...] = ()
    traces: tuple[PieceHash, ...] = ()


def read_pending_erase(connection: apsw.Connection) -> PendingErase | None:
    text = metadata.get(connection, UNFINISHED)
    return msgspec.json.decode(text, type=PendingErase) if text else None


def put_pending_erase(connection: apsw.Connection, pending: PendingErase) -> None:
    metadata.set_value(connection, UNFINISHED, json_text(pending))


def remove_pending_erase(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM memory_metadata WHERE key = ?", (UNFINISHED,))
