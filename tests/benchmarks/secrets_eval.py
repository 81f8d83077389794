"""How many shapes of real keys are found, and how many look-alikes are taken for one.

python tests/benchmarks/secrets_eval.py [--show]    (--show names what was missed among the half for development)
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from memtui.engine.guards.secrets import find_secrets

sys.path.insert(0, str(Path(__file__).parent.parent / "engine" / "guards"))
from secret_shapes import LOOKALIKES, SHAPES, is_held, made, secrets

SEEDS = range(5)


def covers(text: str, key: str) -> bool:
    """At most six characters of the key are left outside of what was found."""
    place = text.index(key)
    inside = sum(max(0, min(one.end, place + len(key)) - max(one.start, place)) for one in find_secrets(text))
    return inside >= len(key) - 6


def disguised(key: str, chance: random.Random) -> dict[str, str]:
    """The key as it is found in pasted texts; one that is cut in two must show its prefix and some of the rest."""
    place = chance.randrange(len(key) // 2, len(key) - 4) if len(key) > 24 else 0
    return {
        "zero width": key[:9] + "\u200b" + key[9:],
        "full width": "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in key),
        "escaped line end before": "\\n" + key,
        **({"line break": key[:place] + "\n  " + key[place:]} if place else {}),
    }


def main() -> None:
    for name, half in (("dev", False), ("held", True)):
        vendors = {vendor for vendor, *_ in SHAPES if is_held(vendor) is half}
        missed: dict[str, int] = {}
        for seed in SEEDS:
            for vendor, text, key in secrets(seed):
                if vendor in vendors and not covers(text, key):
                    missed[vendor] = missed.get(vendor, 0) + 1
        found = len(vendors) - sum(missed.values()) / len(SEEDS)
        print(f"{name}: {found:.1f} of {len(vendors)} vendors found ({found / len(vendors):.0%})")
        if "--show" in sys.argv and not half:
            print("   missed:", missed)
        chance = random.Random(3)
        ways: dict[str, list[bool]] = {}
        for vendor, words, shape in SHAPES:
            if vendor in vendors and vendor not in missed and shape[0] != "{":
                for way, key in disguised(made(shape, chance), chance).items():
                    text = words.replace("{}", key)
                    ways.setdefault(way, []).append(covers(text, key))
                    if "--show" in sys.argv and not half and not ways[way][-1]:
                        print("  ", way, vendor)
        print("   ", ", ".join(f"{way} {sum(hits)}/{len(hits)}" for way, hits in ways.items()))
    wrong = [text for text in LOOKALIKES if find_secrets(text)]
    print(f"look-alikes: {len(wrong)} of {len(LOOKALIKES)} taken for a secret")
    if "--show" in sys.argv:
        for text in wrong:
            print("  ", [(one.kind, text[one.start : one.end][:60]) for one in find_secrets(text)])
    for name, text in (
        ("a message", "Ada told me that Joanna prefers trains, and the token ring joke is on page 12. " * 3),
        ("1 MB of prose", "Ada prefers trains over flights for anything under six hours. " * 16_000),
    ):
        best = min(_timed(text) for _ in range(5 if len(text) > 1000 else 300))
        print(f"{name}: {best * 1000:.3f} ms")


def _timed(text: str) -> float:
    start = time.perf_counter()
    find_secrets(text)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
