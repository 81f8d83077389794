"""Which backups are kept: dense lately, thin long ago, within the space there is."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.records.backups import Backup
from memtui.engine.store.backup import backup_budget, backups_to_keep, backups_within, find_backups

HOUR, DAY = 3_600, 86_400
NOW = datetime(2026, 11, 20, 15, 10, tzinfo=UTC).timestamp()


def made(*ages: float, size: int = 100) -> list[Backup]:
    return [Backup(path=Path(f"{age}.db"), at=int(NOW - age), reason="scheduled", size=size) for age in ages]


def ages(backups: list[Backup]) -> list[float]:
    return [NOW - backup.at for backup in backups]


def test_all_of_the_last_three_hours_are_kept() -> None:
    assert len(backups_to_keep(made(*range(0, 3 * HOUR, 600)), NOW, UTC)) == 18


def test_then_one_an_hour_for_two_days() -> None:
    found = backups_to_keep(made(*range(3 * HOUR + 1, 2 * DAY, 1_800)), NOW, UTC)
    hours = {int((NOW - age) // HOUR) for age in ages(found)}
    assert len(found) == len(hours)
    assert 45 <= len(found) <= 46


def test_a_memory_used_for_years_keeps_seven_days_four_weeks_six_months_beyond_that() -> None:
    there: list[Backup] = []
    now = NOW - 500 * DAY
    while now < NOW:  # as the rotation goes: after every backup
        there = backups_to_keep(
            [*there, Backup(path=Path(str(now)), at=int(now), reason="scheduled", size=1)], now, UTC
        )
        now += 5 * HOUR
    there = backups_to_keep(there, NOW, UTC)
    old = sorted(age / DAY for age in (NOW - backup.at for backup in there) if age > 2 * DAY)
    assert len(old) == 7 + 4 + 6
    assert old[6] < 10
    assert 25 < old[10] < 38
    assert 170 < old[16] < 240
    assert max(later - earlier for earlier, later in pairwise(old)) <= 36


@given(st.lists(st.integers(-DAY, 400 * DAY), max_size=200))
def test_the_latest_is_always_kept_and_nothing_is_invented(given_ages: list[int]) -> None:
    there = made(*given_ages)
    keep = backups_to_keep(there, NOW, UTC)
    assert set(map(str, ages(keep))) <= set(map(str, ages(there)))
    assert len({id(backup) for backup in keep}) == len(keep)
    if there:
        assert max(backup.at for backup in keep) == max(backup.at for backup in there)
    # Keeping again what was kept lets nothing more go.
    assert sorted(ages(backups_to_keep(keep, NOW, UTC))) == sorted(ages(keep))


def test_space_is_made_by_letting_the_oldest_go_but_never_the_latest() -> None:
    there = made(10, 20, 30, size=100)
    assert ages(backups_within(there, 250)) == [10, 20]
    assert ages(backups_within(there, 50)) == [10]


def test_the_budget_is_five_gigabytes_or_a_fifth_of_what_is_free() -> None:
    assert backup_budget(10**12, 0) == 5_000_000_000
    assert backup_budget(10**9, 0) == pytest.approx(2 * 10**8)
    # What backups take counts as free, else every run would let one more go.
    assert backup_budget(10**9 - 10**8, 10**8) == pytest.approx(2 * 10**8)


def test_only_files_that_carry_a_backups_name_are_backups(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in (
        "memory-20261120T151000Z-scheduled.db", "memory-20261120T151000Z-2-restore.db", "memory-20261121T000000Z-x.partial",
        "memory-2-20261120T151000Z-scheduled.db", "notes.db", "memory-20261120T151000Z-scheduled.db-journal",
    ):  # fmt: skip
        (folder / name).write_bytes(b"x" * 7)
    (folder / "memory-20261119T000000Z-link.db").symlink_to(folder / "notes.db")
    found = find_backups(tmp_path / "memory.db")
    assert {(backup.reason, backup.size) for backup in found} == {("scheduled", 7), ("restore", 7)}
    assert {backup.at for backup in found} == {datetime(2026, 11, 20, 15, 10, tzinfo=UTC).timestamp()}
    assert find_backups(tmp_path / "elsewhere" / "memory.db") == []
