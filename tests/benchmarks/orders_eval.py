"""How many orders are recognised, and how many ordinary texts are taken for one. Prints counts only.

    python tests/benchmarks/orders_eval.py [--turns TURNS.jsonl] [FILE.jsonl ...]

Without a FILE: all of tests/data/orders/unseen, of which half of the ordinary texts were written to be mistaken. What people
and assistants say is counted apart: the half of tests/data/talks that nothing was trained on, and of TURNS (lines
with ``conv`` and ``text``) the conversations that nothing was trained on.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from memtui.engine.guards.instructions import find_instructions, find_overrides
from orders_train import DATA, said, talked


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "files", nargs="*", type=Path, default=sorted((DATA / "orders" / "unseen").glob("*.jsonl"))
    )
    arguments.add_argument("--turns", type=Path)
    given = arguments.parse_args()
    rows = [
        json.loads(line) for path in given.files for line in path.read_text(encoding="utf-8").splitlines()
    ]
    for language in (*sorted({row["lang"] for row in rows}), ""):
        for label in ("order", "ordinary"):
            show(
                f"{language or 'all'} {label}",
                [row["text"] for row in rows if row["label"] == label and language in ("", row["lang"])],
            )
    held = list(said("held"))
    for person in sorted({turn.group for turn in held}):
        show(f"turns of {person}", [turn.text for turn in held if turn.group == person])
    show("turns of all talks", [turn.text for turn in held])
    judged = list(by_speaker("held"))
    show("assistants' turns", [text for role, text in judged if role != "user"])
    # The person may give orders to their own assistant: of their words only what no person says is kept back.
    of_user = Counter(bool(find_overrides(text)) for role, text in judged if role == "user")
    print(
        f"{'turns of the person':24} kept back {of_user[True]:4} of {of_user.total():4}, as the doors judge them"
    )
    if given.turns:
        show("turns of the file", [turn.text for turn in talked(given.turns, to_judge=True)])


def by_speaker(half: str) -> Iterator[tuple[str, str]]:
    """The role and the text of each turn of the talks."""
    for name in json.loads((DATA / "talks" / "split.json").read_text(encoding="utf-8"))[half]:
        talk = json.loads((DATA / "talks" / f"{name}.json").read_text(encoding="utf-8"))
        for session in talk["sessions"]:
            yield from session["turns"]


def show(what: str, texts: Iterable[str]) -> None:
    found = Counter(bool(find_instructions(text)) for text in texts)
    print(
        f"{what:24} kept back {found[True]:4} of {found.total():4} ({found[True] / max(found.total(), 1):.1%})"
    )


if __name__ == "__main__":
    main()
