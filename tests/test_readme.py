"""The README is true: its commands are the ones that run, what it points at exists, and it stays short.

Its examples are tried with those of the guide, in ``test_guide.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.guide import ORDER

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
MOST_WORDS = 1_300


def test_ci_runs_the_second_command_and_nothing_else() -> None:
    commands = re.findall(r"```sh\n(python3 -m venv .*?)\n```", README.read_text(encoding="utf-8"))
    assert len(commands) == 2
    assert commands[0].endswith(".venv/bin/memtui --demo")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script[-1] == commands[1]
    assert script[:-1] == [
        "#!/usr/bin/env bash",
        "# What the README's second command does, and nothing else.",
        "set -euo pipefail",
        'cd "$(dirname "$0")/.."',
    ]


def test_what_it_points_at_exists() -> None:
    text = README.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [target for target in targets if not (ROOT / target).exists()] == []
    assert {f"memtui/guide/{topic}.md" for topic in ORDER} <= {*targets}


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= MOST_WORDS
