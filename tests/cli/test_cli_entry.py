"""The way in: help, versions, mistakes on the line, streams that are not as usual, what is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cli_kit import Cli, Program
from memtui import Memory, __version__
from memtui.cli.invocation import Invocation
from memtui.cli.root import COMMANDS, Commands, memtui_group


def test_the_version_is_told(cli: Cli) -> None:
    assert cli("--version").out == f"memtui {__version__}\n"


def test_every_command_is_in_the_help_and_can_be_loaded(cli: Cli) -> None:
    result = cli("--help")
    assert result.code == 0
    context = click.Context(memtui_group)
    for name, entry in COMMANDS.items():
        assert f"  {name} " in result.out
        assert entry.help.split(".")[0] in result.out
        assert isinstance(memtui_group, Commands)
        command = memtui_group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert cli(name, "--help").code == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["serch", "x"], "Did you mean 'search'"),
        (["frobnicate"], "no command 'frobnicate'"),
        (["--nope"], "--nope"),
        (["search", ""], "The query is missing"),
        (["remember"], "TEXT"),
        (["search", "x", "--limit", "many"], "many"),
        (["--db", "", "stats"], "--db needs a path"),
        (["--demo", "--db", "x", "stats"], "--demo"),
    ],
)
def test_a_mistake_on_the_line_exits_2_and_says_what_and_how(line: list[str], words: str, cli: Cli) -> None:
    result = cli(*line)
    assert result.code == 2
    assert result.out == ""
    assert words in result.err
    assert result.err.startswith("error: ")
    assert "\nhint: " in result.err


def test_with_json_an_error_is_json_too(cli: Cli) -> None:
    result = cli("search", "", "--json")
    assert result.code == 2
    assert set(result.json["error"]) == {"kind", "message", "hint", "exit_code"}
    assert result.json["error"]["exit_code"] == 2
    assert result.err.startswith("error: ")


def test_json_after_two_dashes_is_a_word_like_any_other(cli: Cli) -> None:
    assert cli("search", "--", "--json").out == ""


def test_without_a_terminal_the_app_is_refused(cli: Cli) -> None:
    cli("remember", "x")
    for line in ([], ["--readonly"], ["--demo"]):
        result = cli(*line)
        assert result.code == 2
        assert "terminal" in result.err


def test_a_wrong_configuration_is_bad_input(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[general]\nascii = 3\n")
    result = cli("stats", "--config", tmp_path / "c.toml")
    assert result.code == 3
    assert "line 2" in result.err


def test_the_options_of_the_door_may_stand_behind_the_command_too(cli: Cli, tmp_path: Path) -> None:
    before, behind = (cli("--db", tmp_path / "no.db", "stats"), cli("stats", "--db", tmp_path / "no.db"))
    assert before == behind
    assert before.code == 4
    assert "no.db" in before.err


def test_completion_prints_a_script_and_completes_commands(cli: Cli, program: Program) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_MEMTUI_COMPLETE" in cli("completion", shell).out
    assert cli("completion", "tcsh").code == 2
    answer = program(env={"_MEMTUI_COMPLETE": "bash_complete", "COMP_WORDS": "memtui re", "COMP_CWORD": "1"})
    words = answer.communicate()[0].decode().split()
    assert {"plain,remember", "plain,restore", "plain,redo"} <= set(words)


def imported(program: Program, line: str) -> set[str]:
    code = f"import sys; from memtui.cli import run; run({line}); print('|', *sys.modules)"
    out = program(code=code).communicate()[0].decode()
    return set(out.rpartition("|")[2].split())


def test_help_and_version_import_no_engine(program: Program) -> None:
    for line in ("['--version']", "['--help']"):
        modules = imported(program, line)
        assert not modules & {"apsw", "textual", "rich", "numpy", "msgspec", "logging", "platformdirs"}
        assert not [name for name in modules if name.startswith("memtui.engine.store")]
        assert not [name for name in modules if name.startswith("memtui.cli.") and name.endswith("ing")]


# Each takes a hundredth of a second or more, and a small command has no use for it.
TOO_HEAVY = {
    "asyncio", "ssl", "httpx2", "typing_extensions", "tempfile", "traceback", "numpy", "textual",
    "memtui.engine.models.llm", "memtui.engine.consolidation.compare.conflicts",
}  # fmt: skip


@pytest.mark.parametrize("command", ["stats", "list", "sessions", "history", "entities", "status", "review"])
def test_a_small_command_imports_nothing_heavy(command: str, program: Program, cli: Cli) -> None:
    assert cli("remember", "Ada likes tea").code == 0
    modules = imported(program, f"['{command}']")
    assert f"memtui.cli.{command.replace('list', 'list_')}" in modules
    assert not modules & TOO_HEAVY


@pytest.mark.parametrize("command", ["status", "review"])
def test_the_rules_of_review_are_loaded_only_if_a_note_waits_for_them(
    command: str, program: Program, cli: Cli
) -> None:
    assert cli("remember", "Ada likes tea").code == 0
    rules = "memtui.engine.consolidation.extract.statement_shapes"
    assert rules in imported(program, f"['{command}']")
    with Memory.open(os.environ["MEMTUI_DB"]) as memory:
        memory.jobs.run_now("embedding")
    assert rules not in imported(program, f"['{command}']")


def test_writing_a_fact_down_loads_no_client_for_endpoints(program: Program) -> None:
    modules = imported(program, "['remember', 'Ada likes tea']")
    assert "memtui.engine.models.ner.recogniser" in modules
    assert not modules & {"asyncio", "httpx2", "memtui.engine.models.llm"}


@pytest.mark.parametrize("line", [[], ["--db", "x.db", "--readonly"], ["--demo"]])
def test_opening_the_app_imports_no_click(line: list[str], program: Program) -> None:
    modules = imported(program, repr(line))
    assert "memtui.cli.open_app" in modules
    assert "click" not in modules


@pytest.mark.parametrize(
    "line",
    [
        ["--db", "x.db"],
        ["--db=x.db", "--readonly", "--allow-unsafe-fs"],
        ["--demo", "--config", "c.toml"],
        ["--db", "x.db", "--db", "y=z.db"],
        ["--db", ""],
        ["--db="],
    ],
)
def test_options_without_a_command_mean_the_same_as_before_one(line: list[str]) -> None:
    with memtui_group.make_context("memtui", [*line, "stats"]) as context:
        assert Invocation.without_command(line) == context.obj


@pytest.mark.parametrize(
    "line",
    [["--help"], ["stats"], ["--db"], ["--db", "--readonly"], ["--readonly=yes"], ["--nope=x"], ["--"]],
)
def test_any_other_line_is_not_for_the_app_alone(line: list[str]) -> None:
    assert Invocation.without_command(line) is None


def test_a_reader_that_leaves_early_ends_the_program_quietly(program: Program) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    running = program("--help", stdout=writing)
    os.close(writing)
    assert running.communicate()[1] == b""
    assert running.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["--help", "list", "list --json", "remember Likes tea", "export -"])
def test_output_that_cannot_be_written_is_an_error(program: Program, command: str) -> None:
    program("remember", "Likes coffee").communicate()
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        running = program(*command.split(), stdout=full)
        said = running.communicate()[1].decode()
    assert "No space left" in said and "hint: " in said and "Traceback" not in said
    assert running.returncode not in (0, 1, 70)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_change_whose_report_cannot_be_written_is_said_to_be_saved(program: Program) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        said = program("remember", "Likes tea", stdout=full).communicate()[1].decode()
    assert "memtui history shows it" in said
    assert b"Likes tea" in program("list").communicate()[0]


def test_closed_streams_are_no_crash() -> None:
    line = f"{sys.executable} -m memtui --version >&- 2>&-"
    root = Path(__file__).parents[2]
    assert subprocess.run(line, shell=True, cwd=root, check=False).returncode == 0


def test_an_encoding_without_the_character_is_no_crash(program: Program, tmp_path: Path) -> None:
    env = {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"}
    running = program("stats", "--db", str(tmp_path / "naïve ☃.db"), env=env)
    result = running.communicate()[1]
    assert running.returncode == 4
    assert result.isascii()
    assert b"\\u2603" in result


def test_arguments_that_are_no_utf8_are_shown_not_obeyed(program: Program, tmp_path: Path) -> None:
    running = program("stats", "--json", "--db", os.fsencode(tmp_path) + b"/\xff\x1b[2J.db")
    out, err = running.communicate()
    assert running.returncode == 4
    for text in (out, err):
        assert b"\x1b" not in text
        assert b"\xff" not in text


def test_a_fault_of_ours_is_told_without_what_it_was_working_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError("my secret memory")

    monkeypatch.setattr("memtui.cli._run_command", broken)
    result = cli("stats", "--json")
    assert result.code == 70
    assert "RuntimeError" in result.err
    assert result.json["error"]["kind"] == "Fault"
    assert "my secret memory" not in result.err + result.out
