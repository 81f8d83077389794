"""The guide is true: every test that it names as the proof of a promise exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROMISES = ROOT / "memtui" / "guide" / "promises.md"
_NAMED = re.compile(r"^`(tests/[\w/]+\.py)::(test_\w+)`$", re.MULTILINE)


def test_every_test_that_a_promise_names_exists() -> None:
    text = PROMISES.read_text(encoding="utf-8")
    named = _NAMED.findall(text)
    assert len(named) == text.count("`tests/"), "a test is named in another form"
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_every_promise_has_a_test_before_the_next_one() -> None:
    text = PROMISES.read_text(encoding="utf-8")
    promises = re.split(r"^(?=\*\*|## )", text, flags=re.MULTILINE)
    bare = [one.splitlines()[0] for one in promises if one.startswith("**") and not _NAMED.search(one)]
    assert bare == []
