"""What the command line prints: visible, aligned, coloured only where that is wanted; safe JSON."""

from __future__ import annotations

import json
import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memtui.cli import output

HOSTILE = "a\x1b]52;c;eA==\x07b\x9b2Jc\u202ed\x7f[/]\r\ne\U000e0041"


class Terminal:
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_text_is_printed_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    output.out(HOSTILE)
    output.err(HOSTILE)
    output.out(output.row("x", HOSTILE, output.paint(HOSTILE, "bold")))
    result = capsys.readouterr()
    for text in (result.out, result.err):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert "␛]52" in text


@given(st.text())
@example(HOSTILE)
def test_json_is_what_was_given_and_safe_to_print(text: str) -> None:
    data = output.json_bytes({"text": text}).decode()
    assert json.loads(data) == {"text": text}
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0041]", data)


def test_json_takes_a_file_name_that_is_not_utf8() -> None:
    assert json.loads(output.json_bytes({"path": ["a\udcff"]})) == {"path": ["a?"]}


def test_a_table_is_aligned_by_cells() -> None:
    rows = [["a", "1", "x"], ["漢字", "22", "yy"], [output.Painted("\x1b[1mb\x1b[0m"), "3", "z"]]
    assert output.table(rows, right=[1]) == ["a      1  x", "漢字  22  yy", "\x1b[1mb\x1b[0m      3  z"]
    assert output.table([]) == []


def test_colour_needs_a_terminal_and_nobody_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert output.paint("x", "bold") == "x"
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert output.paint("x\x1b", "bold") == "\x1b[1mx␛\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.paint("x", "bold") == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert output.paint("x", "bold") == "x"


def test_long_text_is_cut_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "word " * 100
    assert len(output.cut_to_terminal(text)) == 499
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "50")
    assert len(output.cut_to_terminal(text, used=10)) == 40
