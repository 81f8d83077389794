"""Limits by the minute, and the file of counts."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from memtui.access.admission import RateLimit
from memtui.access.counts import KEPT_DAYS, AdmissionCounts
from memtui.present.access import refusals_line, token_use_text


def test_one_too_many_in_a_minute_waits_until_it_is_over() -> None:
    now = [0.0]
    limit = RateLimit(2, clock=lambda: now[0])
    assert [limit.seconds_to_wait("a") for _ in range(2)] == [0, 0]
    now[0] = 20
    assert limit.seconds_to_wait("a") == 41
    assert limit.seconds_to_wait("b") == 0
    now[0] = 60
    assert limit.seconds_to_wait("a") == 0
    assert not any(RateLimit(0).seconds_to_wait("a") for _ in range(5))


def test_a_limit_for_many_addresses_keeps_those_that_come_back() -> None:
    limit = RateLimit(1, clock=lambda: 0.0)
    assert limit.seconds_to_wait("often") == 0
    for number in range(25_000):
        limit.seconds_to_wait(f"10.{number}")
        assert limit.seconds_to_wait("often") > 0
    assert len(limit._begun) <= 10_000


def test_servers_add_to_the_same_counts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, now = tmp_path / "state" / "access.json", [1_800_000_000.0]
    one, two = AdmissionCounts(path, clock=lambda: now[0]), AdmissionCounts(path, clock=lambda: now[0])
    assert one.read_counts().tokens == {}
    with caplog.at_level(logging.WARNING, "memtui.access"):
        for counts in (one, two, one):
            counts.count_admission("t1", "10.0.0.1")
            counts.count_refusal("unknown token", "10.0.0.9")
        one.count_refusal("foreign host", "10.0.0.8")
        one.save_counts()
        two.save_counts()
        one.save_counts()
    found = two.read_counts()
    assert found.tokens["t1"].requests == 3
    assert {(each.reason, each.count) for each in found.refused} == {
        ("unknown token", 3),
        ("foreign host", 1),
    }
    assert caplog.messages == [
        "refused requests: 1 foreign host, 2 unknown token",
        "refused requests: 1 unknown token",
    ]
    lines = [refusals_line(each, now[0]) for each in found.refused_since(now[0] - 60)]
    assert "refused 3 times: unknown token, the last now from 10.0.0.9" in lines
    assert token_use_text(found.tokens["t1"], now[0]) == "3 requests, the last now from 10.0.0.1"
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
    now[0] += (KEPT_DAYS + 1) * 86_400
    one.count_refusal("no token", "10.0.0.9")
    one.save_counts(last=True)
    assert [each.reason for each in one.read_counts().refused] == ["no token"]


def test_counts_that_cannot_be_saved_are_kept_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "access.json"
    counts = AdmissionCounts(path)
    path.mkdir()
    with caplog.at_level(logging.WARNING, "memtui.access"):
        for _ in range(2):
            counts.count_admission("t1", "10.0.0.1")
            counts.save_counts()
    assert len(caplog.messages) == 1
    path.rmdir()
    counts.save_counts()
    assert counts.read_counts().tokens["t1"].requests == 2
    path.write_bytes(b"{")
    assert counts.read_counts().tokens == {}
