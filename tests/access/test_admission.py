"""What a request passes before it is answered, one check at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from memtui.access.admission import MOST_FAILURES, Admission, Headers, Refused
from memtui.access.counts import AdmissionCounts
from memtui.access.headers import Listening
from memtui.access.tokens import NewToken, TokenFile

HERE = {"host": ["127.0.0.1:6368"]}


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


@pytest.fixture
def made(tokens: TokenFile, place: Path) -> NewToken:
    return tokens.add_token("laptop", place)


def admission(
    tokens: TokenFile, place: Path, *, behind_proxy: bool = False, per_minute: int = 0, names: tuple[str, ...] = ()
) -> Admission:  # fmt: skip
    return Admission(
        Listening("127.0.0.1", names), tokens, place, AdmissionCounts(place.with_name("counts")), kind="agent",
        behind_proxy=behind_proxy, per_minute=per_minute,
    )  # fmt: skip


def refusal(work: Callable[[], object]) -> tuple[int, str | None]:
    with pytest.raises(Refused) as caught:
        work()
    return caught.value.status, caught.value.reason


def test_headers_that_are_doubled_missing_or_foreign_are_refused(tokens: TokenFile, place: Path) -> None:
    door = admission(tokens, place)
    door.check_headers(HERE)
    door.check_headers({**HERE, "origin": ["http://127.0.0.1:6368"], "x-forwarded-proto": ["http"]})
    cases: list[tuple[Headers, tuple[int, str]]] = [
        ({}, (421, "foreign host")),
        ({"host": ["127.0.0.1", "127.0.0.1"]}, (421, "foreign host")),
        ({"host": ["evil.example"]}, (421, "foreign host")),
        ({**HERE, "origin": ["http://evil.example"]}, (403, "foreign origin")),
        ({**HERE, "origin": ["http://127.0.0.1:6368", "http://127.0.0.1:6368"]}, (403, "foreign origin")),
    ]
    for headers, expected in cases:
        assert refusal(lambda headers=headers: door.check_headers(headers)) == expected  # type: ignore[misc]
    behind = admission(tokens, place, behind_proxy=True, names=("app.example",))
    behind.check_headers({"host": ["app.example"], "origin": ["https://app.example"]})
    open_line: Headers = {"host": ["app.example"], "x-forwarded-proto": ["http"]}
    assert refusal(lambda: behind.check_headers(open_line)) == (403, "not encrypted")


def test_only_a_proxy_says_who_asks(tokens: TokenFile, place: Path) -> None:
    claimed: Headers = {"x-forwarded-for": ["1.1.1.1, 10.0.0.9"]}
    assert admission(tokens, place).caller_address(claimed, "127.0.0.1") == "127.0.0.1"
    behind = admission(tokens, place, behind_proxy=True)
    assert behind.caller_address(claimed, "127.0.0.1") == "10.0.0.9"
    assert behind.caller_address({}, "127.0.0.1") == "127.0.0.1"


def test_a_token_that_asks_too_often_waits_and_another_does_not(
    tokens: TokenFile, place: Path, made: NewToken
) -> None:
    door, other = admission(tokens, place, per_minute=2), tokens.add_token("other", place)
    assert [door.admit(made.text, "a").name for _ in range(2)] == ["laptop", "laptop"]
    with pytest.raises(Refused) as caught:
        door.admit(made.text, "a")
    assert (caught.value.status, caught.value.reason) == (429, "too many requests")
    assert 0 < caught.value.wait <= 61
    assert door.admit(other.text, "a").name == "other"


def test_failures_make_an_address_wait_and_lock_nobody_out(
    tokens: TokenFile, place: Path, made: NewToken
) -> None:
    door = admission(tokens, place)
    found = [refusal(lambda: door.admit("memtui_wrong", "a")) for _ in range(MOST_FAILURES + 1)]
    assert found[:-1] == [(401, "unknown token")] * MOST_FAILURES
    assert found[-1] == (429, "too many failures")
    assert refusal(lambda: door.admit("memtui_wrong", "b")) == (401, "unknown token")
    assert door.admit(made.text, "a") == made.token
    tokens.path.write_text("{")
    assert refusal(lambda: door.admit(made.text, "a")) == (503, "tokens cannot be read")
