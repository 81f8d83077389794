"""memtui tokens: printed once, listed without it, revoked; and what doctor says of them."""

from __future__ import annotations

from pathlib import Path

from cli_kit import Cli
from memtui.access.counts import AdmissionCounts
from memtui.access.tokens import TokenFile


def test_a_token_is_printed_once_listed_and_revoked(cli: Cli, home: Path) -> None:
    assert cli("tokens").code == 1
    made = cli("tokens", "add", "laptop", "--project", "boat\x1b[31m", "--agent-readonly", "--expires", "30d")
    assert made.code == 0
    text = made.out.strip()
    assert text.startswith("memtui_")
    assert "shown once" in made.err
    assert "reads project boat" in made.err
    plain = cli("tokens", "add", "pad", "--json").json
    assert plain["token"].startswith("memtui_")
    counts = AdmissionCounts()
    counts.count_admission(plain["id"], "10.0.0.7")
    counts.count_refusal("unknown token", "10.0.0.9")
    counts.save_counts()
    listed = cli("tokens", "list")
    assert listed.code == 0
    shown = listed.out + listed.err
    assert "1 request, the last now from 10.0.0.7" in shown
    assert "never used" in shown
    assert "refused once: unknown token, the last now from 10.0.0.9" in shown
    assert "\x1b[31m" not in shown
    everything = cli("tokens", "--json")
    assert [one["name"] for one in everything.json["tokens"]] == ["laptop", "pad"]
    assert everything.json["tokens"][1]["use"]["requests"] == 1
    kept = TokenFile().list_tokens()
    for output in (shown, everything.out):
        for secret in (text, plain["token"], *(one.digest for one in kept)):
            assert secret not in output
    printed = cli("doctor").out
    assert "2 tokens for agents over HTTP" in printed
    assert "refused once: unknown token" in printed
    assert cli("tokens", "revoke", "laptop").out.startswith("revoked")
    assert cli("tokens", "revoke", "laptop").code == 3
    assert "revoked now" in cli("tokens").out
    assert cli("tokens", "--db", home / "other.db").code == 1
    TokenFile().path.write_text("{")
    assert cli("tokens").code == 3
    assert cli("doctor").code == 3


def test_what_makes_no_token_says_what_and_how(cli: Cli) -> None:
    for words, code in (
        (["add"], 2), (["list", "x"], 2), (["revoke"], 2), (["revoke", "x", "--project", "boat"], 2),
        (["add", "x", "--filter", "kind:"], 3), (["add", "x", "--filter", " "], 3), (["add", "x", "--expires", "soon"], 3),
        (["add", "x", "--browser", "--project", "boat"], 3), (["add", "x", "--readonly"], 4), (["add", "x", "--demo"], 2),
    ):  # fmt: skip
        result = cli("tokens", *words)
        assert (result.code, result.out) == (code, ""), words
        assert "hint: " in result.err, words
    assert not TokenFile().path.exists()
