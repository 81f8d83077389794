"""Replacing an agent's configuration file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from memtui.connect.files import Edit, write_edit
from memtui.engine.errors import InputError


def test_the_old_text_stays_beside_the_new_and_the_mode_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"a = 1\r\n")
    file.chmod(0o640)
    backup = write_edit(Edit(path=file, before="a = 1\r\n", after="a = 2\n"))
    assert backup is not None
    assert backup.read_bytes() == b"a = 1\r\n"
    assert file.read_bytes() == b"a = 2\n"
    assert {stat.S_IMODE(place.stat().st_mode) for place in (file, backup)} == {0o640}
    second = write_edit(Edit(path=file, before="a = 2\n", after="a = 3\n"))
    assert second not in (None, backup)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_new_file_and_its_folder_are_private(tmp_path: Path) -> None:
    file = tmp_path / "new" / "settings.json"
    assert write_edit(Edit(path=file, before=None, after="{}")) is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text("{ }")
    with pytest.raises(InputError, match="changed by another program"):
        write_edit(Edit(path=file, before="{}", after='{"a": 1}'))
    assert [place.read_text() for place in tmp_path.iterdir()] == ["{ }"]


def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f.json"
    file.write_text("{}")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        write_edit(Edit(path=file, before="{}", after='{"a": 1}'))
    assert file.read_text() == "{}"
    assert not list(tmp_path.glob(".*"))
