"""A memory in a folder of its own. Where a test is not about the other process, the proof is made in this one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from erase_kit import open_memory
from memtui import Memory
from memtui.engine import proof
from memtui.engine.erase import proof as proofs


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder / "memory.db"


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with open_memory(home) as opened:
        yield opened


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof in this process, which takes a tenth of the time: only where nobody else has the file open."""

    def run(command: list[str], *, input: bytes, **_: Any) -> SimpleNamespace:
        assert command[1:] == ["-P", "-m", "memtui.engine.proof"]
        request = msgspec.json.decode(
            input, type=proofs.ProofRequest, dec_hook=lambda type, value: type(value)
        )
        return SimpleNamespace(stdout=msgspec.json.encode(proof.run_proof(request), enc_hook=str))

    monkeypatch.setattr(
        proofs, "subprocess", SimpleNamespace(run=run, SubprocessError=subprocess.SubprocessError)
    )
