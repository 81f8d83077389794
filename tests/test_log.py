"""The log file: private, rotated, one line an entry, without secrets and without memory text of errors."""

from __future__ import annotations

import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import log

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.fixture(autouse=True)
def stopped() -> Iterator[None]:
    yield
    log.stop()


def logger() -> logging.Logger:
    return logging.getLogger("memtui.test")


def test_the_log_is_for_its_owner_only(tmp_path: Path) -> None:
    place = log.start(tmp_path / "new" / "logs")
    assert place is not None
    logger().info("hello")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert place.read_text().endswith("INFO memtui.test: hello\n")


def test_a_secret_does_not_reach_the_log(tmp_path: Path) -> None:
    place = log.start(tmp_path)
    assert place is not None
    logger().warning("endpoint refused the key %s", KEY)
    assert KEY not in place.read_text()
    assert "refused the key [redacted: " in place.read_text()


def test_an_entry_stays_on_its_line_whatever_it_holds(tmp_path: Path) -> None:
    place = log.start(tmp_path)
    assert place is not None
    logger().info("a\nb\r\x1b[2J\u202e\udcff\x9b é 漢")
    text = place.read_text("utf-8")
    assert text.count("\n") == 1
    assert "a\\nb\\r\\x1b[2J\\u202e\\udcff\\x9b é 漢" in text


def test_of_an_error_only_its_kind_and_place_are_logged(tmp_path: Path) -> None:
    place = log.start(tmp_path)
    assert place is not None
    try:
        try:
            raise KeyError("what Ada told me")
        except KeyError as error:
            raise ValueError("a private memory") from error
    except ValueError:
        logger().exception("it broke")
    text = place.read_text()
    assert "private" not in text
    assert "Ada" not in text
    assert "ValueError at test_log.py:" in text
    assert "after KeyError at test_log.py:" in text


def test_debug_entries_are_not_written(tmp_path: Path) -> None:
    place = log.start(tmp_path)
    assert place is not None
    logger().debug("the text of a memory")
    assert place.read_text() == ""


def test_the_log_is_rotated_and_its_older_parts_are_private_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LARGEST", 2_000)
    log.start(tmp_path)
    for number in range(200):
        logger().info("entry %d", number)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["memtui.log", "memtui.log.1", "memtui.log.2", "memtui.log.3"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all(file.stat().st_size <= 2_000 for file in files)


def test_without_a_place_for_it_there_is_no_log_and_no_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert log.start(tmp_path / "file") is None
    logger().error("hello")
    assert capsys.readouterr().err == ""


def test_the_log_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / log.FILE_NAME).symlink_to(tmp_path / "elsewhere")
    assert log.start(tmp_path / "logs") is None
    assert not (tmp_path / "elsewhere").exists()


def test_importing_it_does_nothing() -> None:
    code = "import sys, memtui.log; print('logging' in sys.modules, 'platformdirs' in sys.modules)"
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
