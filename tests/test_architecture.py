"""The order of the rooms, and what is not loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("numpy", "tokenizers", "openai", "spacy", "onnxruntime", "wordllama", "sqlite_vec", "mcp", "agents")


def _modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running the code."""
    program = textwrap.dedent(code) + "\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stdout.split())


def test_nothing_imports_upward() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--config", "pyproject.toml", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout


def test_the_engine_works_without_textual_and_without_models() -> None:
    loaded = _modules_after(
        """
        import sys
        sys.modules["textual"] = None  # importing it fails
        from memtui import Memory
        with Memory.open(":memory:") as memory:
            fact = memory.remember("Prefers trains over flights")
            memory.correct(fact.id, "Prefers trains over flights under six hours")
            memory.record_turn("s", "user", "hello from Ghent")
            assert memory.view.count() == 2
            memory.undo()
        """
    )
    assert not loaded.intersection(HEAVY)


@pytest.mark.parametrize("module", ["memtui", "memtui.cli", "memtui.ui.app"])
def test_importing_loads_no_model_and_no_engine_work(module: str) -> None:
    loaded = _modules_after(f"import {module}")
    assert not loaded.intersection(HEAVY)
    assert "memtui.engine.memory" not in loaded


def test_opening_a_memory_loads_only_what_its_first_rows_need() -> None:
    loaded = _modules_after("""
        from memtui import Memory
        with Memory.open(":memory:") as memory:
            memory.view.page(limit=8)
    """)
    assert "memtui.engine.memory" in loaded
    later = (
        "models.ner",
        "maintain.schedule.jobs",
        "maintain.backups",
        "store.check",
        "store.portable",
        "search.moments",
    )
    assert not loaded.intersection(f"memtui.engine.{name}" for name in later)
    assert not loaded.intersection({"json", "hashlib", "numpy", "openai"})
    # The list of the app waits for each of them.
    assert len([name for name in loaded if name.startswith("memtui.engine.")]) <= 92


def test_types_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


def test_the_code_is_tidy() -> None:
    for arguments in (["check", "."], ["format", "--check", "."]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments], capture_output=True, text=True, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout
