"""Hostile texts through every verb of the engine and every command: kept as they came, shown as what they are.

Passes with 0 crashes, 0 control bytes on a terminal, and the text found again. Must fail on: removing ``visible_text()``.
(The screens: tests/ui/test_hostile_screens.py.)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory, log
from memtui.cli import output, run
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records import Options
from payloads import HOSTILE

pytestmark = pytest.mark.hostile

OPTIONS = Options(background=False)
# What may leave a program for a terminal: printable text and line ends.
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def kept(text: str) -> str:
    """As it is stored: a lone surrogate cannot be."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@pytest.fixture(scope="module")
def full_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory whose every text is hostile."""
    place = tmp_path_factory.mktemp("hostile") / "memory.db"
    with Memory.open(place, options=OPTIONS) as memory:
        for number, text in enumerate(HOSTILE):
            memory.record_turn(f"s{number} {text}"[:400], "user", text, source=text[:400], project=text[:400])
            note = text.replace("\0", "")
            memory.correct(
                memory.remember(f"{number} {note}", source=text[:400]).id, f"again {number} {note}"
            )
        memory.models.index_pending()
    return place


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_the_engine_keeps_and_finds_a_hostile_text(text: str) -> None:
    with Memory.open(":memory:", options=OPTIONS) as memory:
        turn = memory.record_turn("talk", "user", text)
        assert memory.get(turn.id).content == turn.content == kept(text)
        try:
            fact = memory.remember(text)
        except InputError as error:
            assert "NUL" in error.message
        else:
            assert fact.content == kept(text).strip()
            memory.tag(fact.id, add=["x"])
            memory.forget(memory.correct(fact.id, f"{text}!").id)
            for _ in range(4):
                memory.undo()
        for act in (
            lambda: memory.search(text), lambda: memory.explain(text, turn.id), lambda: memory.search("x", filter=text),
            lambda: memory.view.page(text), lambda: memory.view.count(text), lambda: memory.view.sessions(text=text),
            lambda: memory.get(text), lambda: memory.tag(turn.id, add=[text]), lambda: memory.view.session(text),
        ):  # fmt: skip
            try:
                act()
            except InputError as error:
                assert error.hint
        memory.models.index_pending()
        assert memory.files.check(deep=True).ok
        assert memory.get(turn.id).content == kept(text)


def test_a_hostile_text_is_found_by_its_words(full_place: Path) -> None:
    with Memory.open(full_place, options=OPTIONS) as memory:
        for word, text in (
            ("clipboard", HOSTILE[0]),
            ("clears", HOSTILE[1]),
            ("backspace", HOSTILE[6]),
            ("東京", HOSTILE[10]),
        ):
            contents = [
                hit.memory.content for hit in memory.search(word, filter="kind:episode", limit=50).hits
            ]
            assert text in contents, word


COMMANDS = [
    ["stats"], ["check", "--deep"], ["doctor"], ["history"], ["sessions"], ["review"], ["show", "ID"], ["show", "TURN"],
    ["search", "again"], ["search", "QUERY"], ["search", "x", "--filter", "QUERY"], ["search", "QUERY", "--explain"],
    ["show", "QUERY"], ["remember", "QUERY"], ["correct", "ID", "QUERY"], ["tag", "ID", "QUERY"], ["forget", "QUERY"],
    ["import", "QUERY"], ["QUERY"], ["search", "--QUERY"], ["--db", "QUERY", "stats"],
    ["observations"], ["observations", "QUERY"], ["observations", "add", "QUERY"], ["observations", "--source", "QUERY"],
    ["scratchpad", "write", "QUERY", "QUERY"], ["scratchpad", "write", "key", "QUERY"], ["scratchpad", "search", "QUERY"],
    ["scratchpad", "read", "QUERY"], ["scratchpad", "delete", "QUERY"],
]  # fmt: skip


@pytest.fixture
def terminal(
    full_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[pytest.CaptureFixture[str]]:
    copy = tmp_path / "memory.db"
    copy.write_bytes(full_place.read_bytes())
    copy.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMTUI_DB", str(copy))
    monkeypatch.chdir(tmp_path)
    yield capfd
    log.stop()


def shown(terminal: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str]:
    terminal.readouterr()
    code = run(arguments)
    out, err = terminal.readouterr()
    assert "Traceback" not in err
    return code, out + err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_a_control_character(
    command: list[str], terminal: pytest.CaptureFixture[str]
) -> None:
    with Memory.open(os.environ["MEMTUI_DB"], readonly=True, options=OPTIONS) as memory:
        facts = [row.id for row in memory.view.page("kind:fact", limit=100)]
        turns = [row.id for row in memory.view.page("kind:episode", limit=100)]
    if "QUERY" not in " ".join(command) and ({"ID", "TURN"} & {*command}):
        runs = [
            [{"ID": a, "TURN": b}.get(part, part) for part in command]
            for a, b in zip(facts, turns, strict=True)
        ]
    elif any("QUERY" in part for part in command):
        texts = [text for text in HOSTILE if "\0" not in text and not re.search("[\ud800-\udfff]", text)]
        runs = [[part.replace("QUERY", text).replace("ID", facts[0]) for part in command] for text in texts]
    else:
        runs = [command]
    for arguments in runs:
        code, printed = shown(terminal, arguments)
        assert code in (0, 1, 2, 3, 4, 5)
        found = CONTROL.search(printed)
        assert found is None, (arguments, printed[max(0, found.start() - 40) : found.end() + 40])


def test_json_carries_the_text_as_it_is_stored(terminal: pytest.CaptureFixture[str]) -> None:
    code, printed = shown(terminal, ["search", "clipboard", "--filter", "kind:episode", "--json"])
    assert code == 0
    assert HOSTILE[0] in [hit["memory"]["content"] for hit in json.loads(printed)["hits"]]
    assert CONTROL.search(printed) is None, "JSON escapes what a terminal would obey"


def test_the_errors_of_the_engine_are_shown_as_text(
    terminal: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A message may carry a path or an argument of any kind."""
    for text in HOSTILE[:4]:
        path = tmp_path / text.replace("/", "_")[:80] / "memory.db"
        try:
            Memory.open(path, readonly=True)
        except MemtuiError as error:
            assert text[:5] in error.message
        _, printed = shown(terminal, ["--db", str(path), "stats"])
        assert CONTROL.search(printed) is None


def test_the_harness_catches_a_program_without_visible(
    terminal: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("visible_text", "one_line"):
        monkeypatch.setattr(output, name, lambda text, *_, **__: text, raising=False)
    _, printed = shown(terminal, ["history"])
    assert CONTROL.search(printed)
