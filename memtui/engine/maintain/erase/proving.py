"""The proof of an erase, made by another process: see ``engine.proof``, which runs in it.

This process may not read the bytes of a file that it has open (closing them would drop SQLite's locks), and what it
remembers proves nothing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw
import msgspec

from memtui.engine.errors import StoreError
from memtui.engine.records import Record
from memtui.engine.store import backup, exchange
from memtui.engine.store.connection import Connections
from memtui.engine.store.erased import salt_of
from memtui.engine.store.sql import as_json, scalar

from .going import Closure
from .pieces import SHORTEST, Piece, pieces_of, rare_words, stem_of
from .records import ErasureProof, SearchedFile, StillThere
from .traces import Trace

__all__ = ["Piece", "known_pieces", "pieces_of", "prove", "rare_pieces"]

_SECONDS = 3_600
_VECTOR_BYTES = 48
_MOST_QUESTIONS = 20


class Inquiry(Record):
    """What the other process is asked (on its standard input: arguments can be seen by everybody).

    ``questions``: what to ask the public API, in which nothing of ``ids`` may be found.
    """

    path: Path
    files: tuple[Path, ...]
    ids: tuple[str, ...]
    pieces: tuple[Piece, ...]
    questions: tuple[str, ...]
    traces: tuple[Trace, ...] = ()
    salt: bytes = b""


class Answer(Record):
    """``leftovers``: pieces that stand in files and belong to no row, or memories that were found after all."""

    files: tuple[SearchedFile, ...]
    kept: tuple[StillThere, ...]
    leftovers: int
    told: tuple[str, ...] = ()


def known_pieces(connection: apsw.Connection, closure: Closure, texts: Iterable[str]) -> list[Piece]:
    """Before the rows go: parts of the texts, of what was told of them, and of the vectors made from them."""
    found = pieces_of([*texts, *closure.told, *(title for title in closure.sessions.values() if title)])
    for (vector,) in connection.execute(
        "SELECT vector FROM embeddings WHERE rid IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT vectors FROM word_vectors WHERE rid IN (SELECT value FROM json_each(?1))",
        (as_json(closure.rids),),
    ):
        assert isinstance(vector, bytes)
        if len(vector) >= _VECTOR_BYTES:
            found.append(Piece(data=vector[:_VECTOR_BYTES]))
    return found


def rare_pieces(connection: apsw.Connection, closure: Closure, texts: Iterable[str]) -> list[Piece]:
    """After the rows have gone: long words that no other memory has. The index may not have them either."""
    found = []
    for word in sorted(rare_words(texts)):
        stem = stem_of(word)
        if scalar(connection, "SELECT 1 FROM memories_vocab WHERE term = ?", (stem,)) is None:
            text = stem if len(stem) >= SHORTEST else word
            found.append(Piece(text=text, word=True, telling=closure.texts.tells(word)))
    return found


def files_of(path: Path) -> list[Path]:
    """The memory, its log, everything of it in the folder of backups, and what a restore set aside."""
    beside = [path, *(path.with_name(path.name + end) for end in ("-wal", "-journal"))]
    beside += [one for one in backup.places_of(path) if not one.is_symlink()]
    return [one for one in (*beside, *exchange.places_aside(path)) if one.is_file()]


def prove(
    connections: Connections, ids: Sequence[str], pieces: Sequence[Piece], problems: Sequence[str],
    traces: Sequence[Trace] = (),
) -> ErasureProof:  # fmt: skip
    """Ask another process to look for it. Raises StoreError when that process fails.

    ``traces``: what is known of pieces when nobody has the pieces themselves any more.
    """
    questions = list(dict.fromkeys(piece.text for piece in pieces if piece.text))[:_MOST_QUESTIONS]
    if connections.path is None:
        return _in_memory(connections, ids, pieces)
    inquiry = Inquiry(
        path=connections.path, files=tuple(files_of(connections.path)), ids=tuple(ids), pieces=tuple(pieces),
        questions=tuple(questions), traces=tuple(traces), salt=_salt(connections),
    )  # fmt: skip
    asked = subprocess.run(
        [sys.executable, "-m", "memtui.engine.proof"],
        input=msgspec.json.encode(inquiry, enc_hook=str),
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        env=_environment(),
    )
    if asked.returncode:
        raise StoreError(
            "The erase could not be proven: the process that looks for it failed.",
            "The memories are erased; memtui erase --resume proves it again.",
        )
    answer = msgspec.json.decode(asked.stdout, type=Answer, dec_hook=lambda type, value: type(value))
    told = [*problems, *answer.told]
    if answer.leftovers:
        where = ", ".join(file.path.name for file in answer.files if file.found)
        told.append(f"{answer.leftovers} pieces of it are still in the files: {where}")
    return ErasureProof(
        memories=len(ids), pieces=len(pieces) + len(traces), found=answer.leftovers, files=answer.files,
        bytes=sum(file.bytes for file in answer.files), questions=len(questions), complete=not told,
        kept=answer.kept, problems=tuple(told),
    )  # fmt: skip


def _salt(connections: Connections) -> bytes:
    with connections.read() as connection:
        return salt_of(connection)


def _environment() -> dict[str, str]:
    """This process finds memtui; so must the other one."""
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}


def _in_memory(connections: Connections, ids: Sequence[str], pieces: Sequence[Piece]) -> ErasureProof:
    """Of a memory that lives in this process there are no files to look at."""
    with connections.read() as connection:
        left = int(
            scalar(
                connection,
                "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                (as_json(ids),),
            )
        )
    return ErasureProof(
        memories=len(ids), pieces=len(pieces), found=left, files=(), bytes=0, questions=0, complete=not left,
        notes=("This memory lives in this process only: there are no files to look at.",),
    )  # fmt: skip
