"""Tokens: shown once, kept as hashes beside the settings, for one memory, and over when they are revoked."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from memtui import FilterError, InputError, Memory, NotFoundError
from memtui.access.tokens import Token, TokenFile, resolved_path
from memtui.engine.guards.secrets import redact_secrets
from memtui.engine.records import Options

NOW = 1_800_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(tmp_path: Path, clock: Clock) -> TokenFile:
    return TokenFile(tmp_path / "config" / "tokens.json", clock=clock)


def test_a_token_opens_its_memory_until_it_is_revoked(tokens: TokenFile, place: Path, tmp_path: Path) -> None:
    made = tokens.add_token("laptop", place, project="boat", filter="-tag:private", readonly=True)
    here = resolved_path(place)
    found = TokenFile(tokens.path).check_token(made.text, here)
    assert found == made.token
    assert (made.token.name, made.token.project, made.token.readonly) == ("laptop", "boat", True)
    assert tokens.check_token("", here) == "no token"
    last = "A" if made.text[-1] != "A" else "B"
    for wrong in (
        made.text[:-1] + last,
        made.text[:-1],
        made.text + "A",
        made.text.upper(),
        "memtui_",
        "\ud800",
        "ä",
    ):
        assert tokens.check_token(wrong, here) == "unknown token", wrong
    assert tokens.check_token(made.text, resolved_path(tmp_path / "other.db")) == "token for something else"
    assert tokens.check_token(made.text, here, "browser") == "token for something else"
    running = TokenFile(tokens.path)
    assert isinstance(running.check_token(made.text, here), Token)
    assert [one.name for one in tokens.revoke("laptop", place)] == ["laptop"]
    assert running.check_token(made.text, here) == "revoked token"
    with pytest.raises(NotFoundError):
        tokens.revoke("laptop", place)
    again = tokens.add_token("laptop", place)
    assert isinstance(running.check_token(again.text, here), Token)
    assert running.check_token(made.text, here) == "revoked token"


def test_a_token_ends_at_its_time(tokens: TokenFile, place: Path, clock: Clock) -> None:
    made = tokens.add_token("guest", place, expires_at=int(NOW) + 60)
    clock.now += 59
    assert isinstance(tokens.check_token(made.text, resolved_path(place)), Token)
    clock.now += 1
    assert tokens.check_token(made.text, resolved_path(place)) == "expired token"
    tokens.add_token("guest", place)
    assert len(tokens.list_tokens(place)) == 2
    clock.now += 91 * 86_400
    tokens.add_token("other", place)
    assert [one.name for one in tokens.list_tokens(place)] == ["guest", "other"], (
        "what ended long ago is left out"
    )


def test_what_cannot_be_a_token_is_refused(tokens: TokenFile, place: Path) -> None:
    tokens.add_token("laptop", place)
    for name in ("laptop", "", " ", " x", "x" * 65, "a\nb", "\u202e", "sk-" + "a1B2" * 12):
        with pytest.raises(InputError):
            tokens.add_token(name, place)
    with pytest.raises(FilterError):
        tokens.add_token("a", place, filter="kind:")
    for scope in (
        {"filter": " "},
        {"project": ""},
        {"expires_at": int(NOW)},
        {"kind": "browser", "project": "x"},
    ):
        with pytest.raises(InputError):
            tokens.add_token("a", place, **scope)  # type: ignore[arg-type]
    assert len(tokens.list_tokens()) == 1


def test_no_file_has_a_token_and_the_memory_has_nothing_of_it(
    tokens: TokenFile, place: Path, tmp_path: Path
) -> None:
    made = tokens.add_token("laptop", place)
    with Memory.open(place, options=Options(background=False)) as memory:
        memory.remember("Ada likes tea")
        memory.files.export(tmp_path / "export.jsonl")
        memory.backups.make()
    secret = made.text.split("_", 2)[2].encode()
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(kept) > 3
    assert not [path for path, content in kept.items() if secret in content or made.text.encode() in content]
    carries = [path for path, content in kept.items() if made.token.digest.encode() in content]
    assert carries == [tokens.path]
    assert len(secret) >= 43
    assert tokens.add_token("other", place).text != made.text
    if os.name == "posix":
        assert tokens.path.stat().st_mode & 0o777 == 0o600
        assert tokens.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_token_in_a_text_is_a_secret(tokens: TokenFile, place: Path) -> None:
    text = tokens.add_token("laptop", place).text
    assert text not in redact_secrets(f"use {text} for it")[0]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": 2, "tokens": []}', b"\xff\xfe", b'{"tokens": [{}]}']
)
def test_a_damaged_file_lets_nobody_in_and_is_not_replaced(
    content: bytes, tokens: TokenFile, place: Path
) -> None:
    text = tokens.add_token("laptop", place).text
    tokens.path.write_bytes(content)
    for use in (
        lambda: tokens.check_token(text, resolved_path(place)),
        tokens.list_tokens,
        lambda: tokens.add_token("b", place),
    ):
        with pytest.raises(InputError):
            use()
    assert tokens.path.read_bytes() == content


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_file_that_others_may_write_lets_nobody_in(tokens: TokenFile, place: Path) -> None:
    text = tokens.add_token("laptop", place).text
    tokens.path.chmod(0o660)
    with pytest.raises(InputError, match="660"):
        TokenFile(tokens.path).check_token(text, resolved_path(place))


def test_two_that_add_at_once_lose_none(tokens: TokenFile, place: Path) -> None:
    files = [TokenFile(tokens.path) for _ in range(6)]
    threads = [threading.Thread(target=one.add_token, args=(f"n{at}", place)) for at, one in enumerate(files)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.name for one in tokens.list_tokens(place)} == {f"n{at}" for at in range(6)}
