"""Symbolic links in the place of lock files and of the folder of backups: an error in words, and nobody else's files touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import StoreError
from memtui.engine.records import Options
from memtui.engine.store import backup, locks

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


@pytest.mark.parametrize("kind", locks.KINDS)
@pytest.mark.parametrize("leads_to", ["itself", "a file", "nowhere"])
def test_a_lock_that_is_a_link_is_refused_in_words(kind: str, leads_to: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    other = tmp_path / "other"
    if leads_to == "a file":
        other.write_text("theirs")
    place = tmp_path / f"memory.db.{kind}"
    place.symlink_to(place if leads_to == "itself" else other)
    with pytest.raises(StoreError, match="symbolic link") as caught:
        locks.work_lock(path, kind).acquire()
    assert str(place) in caught.value.message and "Move it away" in caught.value.hint
    assert other.exists() == (leads_to == "a file")


def test_an_import_beside_a_linked_lock_says_so(tmp_path: Path) -> None:
    said = tmp_path / "turns.jsonl"
    said.write_text('{"role": "user", "content": "Ada likes tea", "session_id": "s"}\n')
    (tmp_path / "memory.db.import").symlink_to("memory.db.import")
    with Memory.open(tmp_path / "memory.db", options=OPTIONS) as memory:
        with pytest.raises(StoreError, match="symbolic link"):
            memory.files.import_paths([said])
        assert memory.stats().active == 0


@pytest.mark.parametrize("leads_to", ["backups", "nowhere"])
def test_a_folder_of_backups_that_leads_nowhere_is_told_in_words(leads_to: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", options=OPTIONS) as memory:
        memory.remember("Ada likes tea")
        (tmp_path / "backups").symlink_to(leads_to)
        with pytest.raises(StoreError) as caught:
            memory.backups.make()
        assert "link" in caught.value.hint
        if leads_to == "backups":
            with pytest.raises(StoreError, match="cannot be read"):
                memory.backups.all()


def test_a_repair_closes_only_what_belongs_to_the_memory(tmp_path: Path) -> None:
    """A linked folder of backups may hold anything of anybody."""
    theirs = tmp_path / "theirs"
    (theirs / "folder").mkdir(parents=True)
    (theirs / "letter.txt").write_text("theirs")
    for place in (theirs, theirs / "folder"):
        place.chmod(0o755)
    (theirs / "letter.txt").chmod(0o644)
    home = tmp_path / "home"
    home.mkdir()
    (home / "backups").symlink_to(theirs)
    with Memory.open(home / "memory.db", options=OPTIONS) as memory:
        memory.remember("Ada likes tea")
        made = memory.backups.make().path
        made.chmod(0o644)
        told = [finding.message for finding in memory.files.check().findings]
        assert not any("letter.txt" in message or "theirs/folder" in message for message in told), told
        memory.files.check(repair=True)
    assert made.stat().st_mode & 0o777 == 0o600
    assert (theirs / "letter.txt").stat().st_mode & 0o777 == 0o644
    for place in (theirs, theirs / "folder"):
        assert place.stat().st_mode & 0o777 == 0o755
    assert len(backup.find_backups(home / "memory.db")) >= 1
