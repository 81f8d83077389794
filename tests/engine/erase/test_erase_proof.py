"""What a proof says is so: what it could not look for it tells, and what it found once it finds again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from erase_kit import CJK, FACT, KEPT, rows
from hypothesis import given
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.erase import eraser
from memtui.engine.erase import proof as proofs
from memtui.engine.erase.proof import Piece, pieces_of
from memtui.engine.erase.selection import select_erased_rows
from memtui.engine.records.erase import EraseRequest
from memtui.engine.store import recalls

pytestmark = pytest.mark.usefixtures("near")
SALT = b"0123456789abcdef"
PROVE = proofs.prove_erased


def _die(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_vectors_of_the_text_and_of_its_words_are_looked_for(memory: Memory) -> None:
    fact = memory.remember(FACT)
    whole, words = bytes(range(60)), bytes(range(100, 200))
    with memory._core.connections.write() as connection:
        connection.execute(
            "INSERT INTO embeddings(model_id, rid, dims, dtype, vector) VALUES ('m', ?, 60, 'int8', ?)",
            (fact.rid, whole),
        )
        connection.execute(
            "INSERT INTO word_vectors(model_id, rid, dims, vectors) VALUES ('m', ?, 50, ?)", (fact.rid, words)
        )
    with memory._core.connections.read() as connection:
        found = proofs.known_pieces(
            connection, select_erased_rows(connection, EraseRequest(ids=(fact.id,))), []
        )
    assert {whole[:48], words[:48]} <= {piece.data for piece in found}


@pytest.mark.parametrize("killed", [False, True])
def test_a_proof_that_found_something_finds_it_again_until_it_is_gone(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    facts = [memory.remember(text).id for text in (FACT, CJK)]
    memory.remember(KEPT)
    own = memory.backups.make("manual").path.with_name(f"{home.stem}-mine.bin")
    own.write_bytes(b"\0" * 5_000 + FACT.encode() + b"\0" * 100 + CJK.encode() + b"\0")
    plan = memory.files.plan_erase(facts)
    if killed:
        monkeypatch.setattr(proofs, "prove_erased", _die)
        with pytest.raises(KeyboardInterrupt):
            memory.files.erase(plan)
        monkeypatch.setattr(proofs, "prove_erased", PROVE)
    else:
        assert not memory.files.erase(plan).complete
    mark = rows(home, "SELECT value FROM memory_metadata WHERE key = 'erase_unfinished'")[0][0]
    assert not [word for word in (*FACT.split()[1:], "zxqvelvet", "王小明") if word in mark and len(word) > 4]
    for _ in range(2):
        proof = memory.files.resume_erase()
        assert proof is not None
        assert not proof.complete
        assert proof.pieces >= 6
        assert proof.found >= 6
        assert {file.path for file in proof.files if file.found} == {own}
        assert any(problem.endswith(f"are still in the files: {own.name}") for problem in proof.problems)
        assert memory.files.unfinished_erase() is not None
    own.unlink()
    proof = memory.files.resume_erase()
    assert proof is not None
    assert (proof.complete, proof.found, proof.notes) == (True, 0, ())
    assert memory.files.unfinished_erase() is None


def test_a_text_too_short_to_look_for_is_told_and_gone_where_it_stands_alone(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    place = tmp_path / "in.jsonl"
    lines = [
        {"role": "user", "content": text, "session": "s", "title": "pw x7q"} for text in ("pw x7q", KEPT)
    ]
    place.write_text("\n".join(map(json.dumps, lines)) + "\n")
    memory.files.import_paths([place])
    memory.scratchpad.set("k", "pw x7q")
    memory.scratchpad.set("other", "said it: pw x7q, or so")
    with memory._core.operation("ask", "Asked") as op:
        for query in ("pw  x7q", "what is the pw?"):
            recalls.add(op.connection, at=1, agent="a", session_id="s", query=query, memory_ids=[])
    turn = next(one.id for one in memory.view.page() if one.content == "pw x7q")
    proof = memory.files.erase(memory.files.plan_erase([turn]))
    assert (proof.complete, proof.pieces, proof.notes) == (True, 0, (eraser.TOO_SHORT,))
    assert rows(home, "SELECT title FROM sessions_consolidations") == [(None,)]
    assert rows(home, "SELECT key FROM scratchpad") == [("other",)]
    assert rows(home, "SELECT query FROM recalls") == [("what is the pw?",)]
    assert rows(home, "SELECT count(*) FROM changes WHERE instr(before, '\"pw x7q\"')") == [(0,)]


@given(st.lists(st.text(min_size=8, max_size=60), min_size=1, max_size=5), st.binary(max_size=60))
def test_traces_find_what_they_are_of_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], before: bytes
) -> None:
    place = tmp_path_factory.getbasetemp() / "traces"
    known = pieces_of(texts)
    place.write_bytes(
        before + b"".join(piece.text.encode("utf-8", "surrogatepass") + b"\0" for piece in known)
    )
    assert set(proofs.find_traces(place, proofs.traces_of(known, SALT), SALT)) == set(known)
    assert proofs.find_traces(place, proofs.traces_of(known, SALT), b"another salt") == []
    place.write_bytes(before)
    standing = {piece for piece in known if piece.text.encode("utf-8", "surrogatepass") in before}
    assert set(proofs.find_traces(place, proofs.traces_of(known, SALT), SALT)) == standing


def test_traces_are_of_vectors_words_and_escapes_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "_CHUNK", 64)
    place = tmp_path / "file"
    vector, word, text = (
        Piece(data=bytes(range(48))),
        Piece(text="flowerpot", word=True),
        Piece(text="für Jürgen"),
    )
    known = proofs.traces_of([vector, word, text], SALT)
    shapes: dict[bytes, list[Piece]] = {
        b"x" * 61 + vector.data: [vector],
        b"x" * 60 + b"\0flowerpot\0": [word],
        b"flowerpots": [],
        b"x" * 130 + json.dumps(text.text).encode(): [text],
    }
    for content, found in shapes.items():
        place.write_bytes(content)
        assert proofs.find_traces(place, known, SALT) == found
    many = [Piece(text=f"number {number:09}") for number in range(9_000)]
    assert 2_000 < len(proofs.traces_of(many, SALT)) <= 4_000
