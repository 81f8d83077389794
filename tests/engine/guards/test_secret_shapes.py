"""Keys of many vendors are found, whatever surrounds or splits them; what only looks like a key is not."""

from __future__ import annotations

import random
import time

import pytest
from memtui.engine.guards.secrets import find_secrets, redact_secrets
from memtui.engine.guards.secrets.tokens import _load_rules
from secret_shapes import LOOKALIKES, SHAPES, is_held, made, secrets


def _covered(text: str, key: str) -> bool:
    """At most six characters of the key are left after redaction."""
    place = text.index(key)
    found = find_secrets(text)
    return (
        sum(max(0, min(one.end, place + len(key)) - max(one.start, place)) for one in found) >= len(key) - 6
    )


@pytest.mark.parametrize("held", [False, True], ids=["dev", "held"])
def test_keys_of_nearly_all_vendors_are_found(held: bool) -> None:
    those = [(text, key) for vendor, text, key in secrets() if is_held(vendor) is held]
    missed = [text for text, key in those if not _covered(text, key)]
    assert len(those) > 60
    assert len(missed) <= len(those) // 20, missed  # measured: 1 of 66, 1 of 73


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_only_looks_like_a_key_is_left_alone(text: str) -> None:
    assert [(one.kind, text[one.start : one.end]) for one in find_secrets(text)] == []


@pytest.mark.parametrize(
    "disguise",
    [
        lambda key: key[:9] + "\u200b" + key[9:],
        lambda key: key[:5] + "\u2060\ufeff" + key[5:],
        lambda key: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in key),
        lambda key: "line one\\n" + key,
        lambda key: key[: len(key) // 2] + "\n  " + key[len(key) // 2 :],
        lambda key: '"' + key[: len(key) // 2] + '" + \\\n    "' + key[len(key) // 2 :] + '"',
        lambda key: "> " + key[: len(key) // 2] + "\r\n> " + key[len(key) // 2 :],
    ],
    ids=["zero width", "joiner", "full width", "escape", "line end", "joined strings", "quoted mail"],
)
def test_a_disguised_key_is_found_whole(disguise) -> None:  # type: ignore[no-untyped-def]
    chance = random.Random(1)
    plain = [
        "ghp_{B36}", "AKIA{T16}", "sk-ant-api03-{w93}AA", "glpat-{w20}", "sk_live_{B24}", "hf_{a34}", "npm_{B36}",
    ]  # fmt: skip
    for key in (made(shape, chance) for shape in plain):
        text = f"the key is {disguise(key)} and that is all."
        redacted, kinds = redact_secrets(text)
        assert len(kinds) == 1, text
        assert key[-6:] not in redacted, text
        assert redacted.startswith("the key is ")
        assert redacted.endswith("and that is all.")


def test_lines_of_ordinary_text_are_not_joined_to_a_key() -> None:
    chance = random.Random(2)
    for shape in ("ghp_{B36}", "sk-ant-api03-{w93}AA", "xoxb-{d12}-{d13}-{B24}"):
        key = made(shape, chance)
        redacted, _ = redact_secrets(f"{key}\nSecond line, which-says-more.\nhttps://example.org/page2")
        assert redacted.endswith("]\nSecond line, which-says-more.\nhttps://example.org/page2")


def test_each_rule_has_its_words_in_small_letters_and_a_pattern_that_runs() -> None:
    assert len(_load_rules()) > 250
    for rule in _load_rules():
        assert all(word == word.lower() for word in rule.words)
        find_secrets(" ".join(f"{word}: x1y2z3x1y2z3x1y2z3 {word}{'a1b2c3d4e5' * 5}" for word in rule.words))


@pytest.mark.parametrize(
    "piece",
    [
        " ".join(word for rule in _load_rules() for word in rule.words) + " abcdefghijklmnop ",
        "".join(word for rule in _load_rules() for word in rule.words),
        "cloudflare api key is ", "AKIA0\n", "sk-abc123\n", "ab1-\n", "t3blbkfj", "１２ａｂ\u200b",
    ],
    ids=["words", "glued words", "vendor", "lines", "sk lines", "parts", "middle", "wide"],
)  # fmt: skip
def test_time_is_linear_in_text_made_of_the_words_of_rules(piece: str) -> None:
    times = []
    for length in (40_000, 200_000):
        text = piece * (length // len(piece))
        start = time.thread_time()
        find_secrets(text)
        times.append(time.thread_time() - start)
    assert times[1] < 15 * times[0] + 0.04, times
    assert times[1] < 4, times


def test_shapes_name_many_vendors() -> None:
    assert len({vendor for vendor, *_ in SHAPES}) >= 120
    assert len(LOOKALIKES) >= 100
