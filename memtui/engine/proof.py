"""``python -m memtui.engine.proof``: search the bytes of all files, and the public API, for erased text.

Runs in a process of its own (``erase.proof``): asked on standard input, it answers on standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from memtui.engine.erase import columns
from memtui.engine.erase.proof import (
    Piece,
    ProofRequest,
    ProofResult,
    encoded_forms,
    encoding_of,
    find_traces,
    search_file,
)
from memtui.engine.errors import MemtuiError, NotFoundError
from memtui.engine.memory import Memory
from memtui.engine.records import Options
from memtui.engine.records.erase import RemainingText, SearchedFile
from memtui.engine.store.connection import connect
from memtui.engine.store.sql import as_json, scalar

_SHOWN = 3
# An image of a row that went is no innocent holder of its words: redo would bring it back.
_IN_HISTORY = """
SELECT count(*) FROM changes WHERE tbl = 'memories' AND act = 'delete'
AND before ->> 'id' IN (SELECT value FROM json_each(?))
"""


class _TraceFound(NamedTuple):
    file: Path
    piece: Piece


def run_proof(request: ProofRequest) -> ProofResult:
    """Look at the bytes first: this process has nothing open in SQLite by then."""
    hits = list(_search_bytes(request))
    found = dict.fromkeys(request.files, 0)
    kept: dict[RemainingText, None] = {}
    problems: list[str] = []
    for file in request.files:
        here = [hit.piece for hit in hits if hit.file == file]
        try:
            with _row_source_of(request.path, file) as connection:
                for piece in here:
                    holders = _kept_rows_with(connection, piece)
                    if piece.distinctive or not piece.word:  # another word alone is not the text
                        kept.update(dict.fromkeys(RemainingText(where=where, file=file) for where in holders))
                    found[file] += not (
                        holders or (piece.word and _is_word_of_memory(connection, piece.text))
                    )
                left = scalar(
                    connection,
                    "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                    (as_json(request.ids),),
                )
                if left:
                    problems.append(f"{left} of the memories are in {file.name}")
                if left := scalar(connection, _IN_HISTORY, (as_json(request.ids),)):
                    problems.append(f"{left} of the memories are in the history of {file.name}")
        except (MemtuiError, apsw.Error) as error:
            found[file] += len(here)
            problems.append(f"{file.name} cannot be read: {error}")
    problems += _search_again(request)
    return ProofResult(
        files=tuple(
            SearchedFile(path=file, bytes=file.stat().st_size if file.exists() else 0, found=found[file])
            for file in request.files
        ),
        kept=tuple(kept),
        leftovers=sum(found.values()),
        problems=tuple(problems),
    )


def _search_bytes(request: ProofRequest) -> Iterator[_TraceFound]:
    for file in request.files:
        encoding = encoding_of(file)
        needles: list[tuple[Piece, bytes]] = [
            (piece, form) for piece in request.pieces for form in encoded_forms(piece, encoding)
        ]
        words = frozenset(number for number, (piece, _) in enumerate(needles) if piece.word)
        met = search_file(file, [form for _, form in needles], words)
        known = find_traces(file, request.traces, request.salt)
        for piece in dict.fromkeys([*(needles[number][0] for number in sorted(met)), *known]):
            yield _TraceFound(file, piece)


@contextmanager
def _row_source_of(memory: Path, file: Path) -> Iterator[apsw.Connection]:
    """The rows that a file belongs to: those of the memory for its log."""
    mine = (
        file.name.removesuffix("-wal").removesuffix("-journal") == memory.name
        and file.parent == memory.parent
    )
    with closing(connect(memory if mine else file, write=False, immutable=not mine)) as connection:
        yield connection


def _kept_rows_with(connection: apsw.Connection, piece: Piece) -> list[str]:
    """What was kept and has the piece as well."""
    if piece.text:
        return columns.rows_with_text(connection, piece.text, _SHOWN)
    rows = connection.execute(
        "SELECT m.id FROM memories m WHERE m.rid IN (SELECT rid FROM embeddings WHERE substr(vector, 1, ?1) = ?2 "
        "UNION SELECT rid FROM word_vectors WHERE substr(vectors, 1, ?1) = ?2) LIMIT ?3",
        (len(piece.data), piece.data, _SHOWN),
    )
    return [f"the vector of {id}" for (id,) in rows]


def _is_word_of_memory(connection: apsw.Connection, word: str) -> bool:
    """Whether the word is memtui's own, or the index has it from a kept text that spells it otherwise."""
    if columns.is_word_of_schema(connection, word):
        return True
    rows = connection.execute(
        "SELECT 1 FROM memories_fts f JOIN memories m ON m.rid = f.rowid WHERE memories_fts MATCH ? LIMIT 1",
        (f'"{word}"*',),
    )
    return rows.fetchone() is not None


def _search_again(request: ProofRequest) -> list[str]:
    """What the API still finds, in the words in which anybody would ask for it."""
    problems: list[str] = []
    gone = frozenset(request.ids)
    with Memory.open(
        request.path, readonly=True, options=Options(embedder="off", background=False)
    ) as memory:
        for id in request.ids:
            try:
                memory.get(id)
            except NotFoundError:
                continue
            problems.append(f"{id} can still be read")
        for question in request.questions:
            if gone.intersection(hit.memory.id for hit in memory.search(question, preview=True).hits):
                problems.append("a search still finds it")
                break
    return problems


def main() -> None:
    request = msgspec.json.decode(
        sys.stdin.buffer.read(), type=ProofRequest, dec_hook=lambda type, value: type(value)
    )
    sys.stdout.buffer.write(msgspec.json.encode(run_proof(request), enc_hook=str))


if __name__ == "__main__":
    main()
