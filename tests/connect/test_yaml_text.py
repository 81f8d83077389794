"""Setting and removing one mapping in the text of a YAML file."""

from __future__ import annotations

import pytest
import yaml
from memtui.connect.yaml_text import load, remove, set_values

PATH = ("extensions", "memtui")
VALUES = {"cmd": "/opt/memtui", "args": ["mcp", "--filter=-tag: #private"], "enabled": True}


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        "a: 1",
        "",
        "# only a comment\n",
        "extensions:\n  other:\n    args:\n    - a\n    - b  # c\n\n# tail\nX: 1\n",
        "extensions:\n    other:\n        text: |\n            hello\n            there\nY: 2\n",
        "extensions: {other: {enabled: true}}  # flow\n",
        "---\nextensions:\n- not: a mapping\n".replace("- not: a mapping", "  o: {}"),
        "{extensions: {o: 1}, b: 'x, }'}\n",
    ],
)
def test_a_mapping_comes_and_goes_and_nothing_else_moves(text: str) -> None:
    changed = set_values(text, PATH, VALUES)
    expected = load(text)
    expected.setdefault("extensions", {})["memtui"] = VALUES
    assert yaml.safe_load(changed) == expected
    assert set_values(changed, PATH, VALUES) == changed
    assert remove(changed, PATH) == text


@pytest.mark.parametrize(
    "text", ["extensions:\n", "extensions: {}\n", "extensions: ~ # none\n", "{extensions: {}, b: 1}\n", "{extensions, b: 1}"]
)  # fmt: skip
def test_a_key_without_a_value_is_filled(text: str) -> None:
    changed = set_values(text, PATH, VALUES)
    assert yaml.safe_load(changed)["extensions"] == {"memtui": VALUES}
    assert yaml.safe_load(changed).get("b") == yaml.safe_load(text).get("b")


def test_keys_of_the_mapping_that_are_not_named_stay() -> None:
    text = "extensions:\n  memtui:\n    args:\n    - old\n    envs:\n      A: '1' # mine\n    cmd: x\nz: 1\n"
    assert set_values(text, PATH, VALUES) == (
        "extensions:\n  memtui:\n    args: [mcp, '--filter=-tag: #private']\n    envs:\n      A: '1' # mine\n"
        "    cmd: /opt/memtui\n    enabled: true\nz: 1\n"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [1\n", "not valid YAML"),
        ("- a\n", "not a mapping"),
        ("extensions: 3\n", "its extensions is not a mapping"),
        ("extensions:\n  memtui: 3\n", "its extensions.memtui is not a mapping"),
        ("a: 1\n---\nb: 2\n", "not valid YAML"),
        ("base: &b\n  x: 1\nextensions: *b\n", "without touching more"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        set_values(text, PATH, VALUES)
