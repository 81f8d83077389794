"""The order of the rooms, and what is not loaded before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import grimp
import pytest
from memtui import Memory
from memtui.engine.records import Options

from source_tree import Source, classes, platform_uses, used_names, uses_of_the_platform

ROOT = Path(__file__).parent.parent
HEAVY = (
    "numpy",
    "tokenizers",
    "openai",
    "spacy",
    "onnxruntime",
    "wordllama",
    "sqlite_vec",
    "mcp",
    "agents",
    "apscheduler",
    "dateparser",
)


def _modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running the code."""
    program = textwrap.dedent(code) + "\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stdout.split())


def test_nothing_imports_upward() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--config", "pyproject.toml", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout


def _in_circles(package: str) -> set[str]:
    """The modules of a package that import each other in a circle, or lie between two such circles.

    Imports within functions and for types count: whoever reads one file of a circle has to read them all.
    """
    graph = grimp.build_graph("memtui", cache_dir=None)
    inside = {name for name in graph.modules if f"{name}.".startswith(f"{package}.")}
    left = {name: graph.find_modules_directly_imported_by(name) & inside for name in inside}
    while True:
        imported = set().union(*left.values())
        ends = {name for name, imports in left.items() if not imports or name not in imported}
        if not ends:
            return set(left)
        left = {name: imports - ends for name, imports in left.items() if name not in ends}


@pytest.mark.parametrize("package", ["memtui.engine", "memtui.ui"])
def test_no_imports_go_in_a_circle(package: str) -> None:
    assert not _in_circles(package)


# Bases that carry no behaviour of their own into a class: what they are is said by their name.
_KINDS = {
    "Protocol",
    "NamedTuple",
    "Record",
    "Struct",
    "Section",
    "Enum",
    "TypedDict",
    "Message",
    "Exception",
}


def _mixed(sources: Collection[Source], made: Collection[str]) -> dict[str, list[str]]:
    """Classes with two bases of our own, or with one that nothing else inherits and nobody makes: a mixin."""
    ours = {source.name: source for source in sources}

    def is_kind(name: str, below: tuple[str, ...] = ()) -> bool:
        source = ours.get(name)
        above = source.bases if source is not None and name not in below else ()
        return name in _KINDS or any(is_kind(base, (*below, name)) for base in above)

    heirs = Counter(base for source in sources for base in set(source.bases))
    found = {}
    for source in sources:
        bases = [base for base in source.bases if base in ours and base != "Generic" and not is_kind(base)]
        if len(bases) > 1 or any(heirs[base] == 1 and base not in made for base in bases):
            found[source.name] = bases
    return found


def test_no_class_is_made_of_mixins() -> None:
    door, wheel = Source("Door", "a.py", ()), Source("Wheel", "a.py", ("Widget",))
    assert _mixed([door, wheel, Source("Car", "a.py", ("Wheel", "Door"))], made={"Door", "Wheel"}) == {
        "Car": ["Wheel", "Door"]
    }
    assert _mixed([wheel, Source("Car", "a.py", ("Wheel",))], made=()) == {"Car": ["Wheel"]}
    assert _mixed([wheel, Source("Car", "a.py", ("Wheel",))], made={"Wheel"}) == {}
    assert _mixed(list(classes()), used_names()) == {}


def test_the_engine_works_without_textual_and_without_models() -> None:
    loaded = _modules_after(
        """
        import sys
        sys.modules["textual"] = None  # importing it fails
        from memtui import Memory
        from memtui.engine.records import Options
        # The thread that makes vectors loads a model when writing pauses, on a slow machine before the end.
        with Memory.open(":memory:", options=Options(background=False)) as memory:
            fact = memory.remember("Prefers trains over flights")
            memory.correct(fact.id, "Prefers trains over flights under six hours")
            memory.record_turn("s", "user", "hello from Ghent")
            assert memory.view.count() == 2
            memory.undo()
        """
    )
    assert not loaded.intersection(HEAVY)


@pytest.mark.parametrize("module", ["memtui", "memtui.cli", "memtui.ui.app"])
def test_importing_loads_no_model_and_no_engine_work(module: str) -> None:
    loaded = _modules_after(f"import {module}")
    assert not loaded.intersection(HEAVY)
    assert "memtui.engine.memory" not in loaded


def test_opening_a_memory_loads_only_what_its_first_rows_need() -> None:
    loaded = _modules_after("""
        from memtui import Memory
        with Memory.open(":memory:") as memory:
            memory.view.page(limit=8)
    """)
    assert "memtui.engine.memory" in loaded
    later = (
        "models.ner",
        "jobs.scheduler",
        "backups",
        "consolidation",
        "exporters",
        "importers",
        "search.time_expressions",
        "store.check",
    )
    assert all(find_spec(f"memtui.engine.{name}") for name in later)
    assert not loaded.intersection(f"memtui.engine.{name}" for name in later)
    assert not loaded.intersection({"json", "hashlib", "numpy", "openai"})


def test_a_memory_is_told_from_a_store_of_another_program_without_sqlite_and_importers(
    tmp_path: Path,
) -> None:
    """The app waits for it before its first paint, where --db names the file."""
    path = tmp_path / "memory.db"
    Memory.open(path, options=Options(background=False)).close()
    loaded = _modules_after(f"""
        from pathlib import Path
        from memtui.cli.store_copy import foreign_store
        assert foreign_store(Path({str(path)!r})) is None
    """)
    assert not loaded.intersection({"apsw", "memtui.engine.importers", "memtui.engine.store"})


def test_the_tools_of_agents_load_without_the_patterns_of_comparison() -> None:
    """An MCP client waits for its server: these patterns would take a fifth of that."""
    loaded = _modules_after("import memtui.engine.tools.registry")
    assert "memtui.engine.consolidation.extract.protocol" in loaded
    assert "memtui.engine.consolidation.compare" not in loaded


def test_opening_a_memory_takes_little_more_than_what_it_is_made_of() -> None:
    """The app waits for it before it can show a row. Beside a process that only loads SQLite and msgspec: 2 to 3 times."""
    bare = _processor_time("import apsw, msgspec")
    opened = _processor_time("""
        from memtui import Memory
        with Memory.open(":memory:") as memory:
            memory.view.page(limit=8)
    """)
    assert opened < 5 * bare


def _processor_time(code: str) -> float:
    """Seconds of processor time of a fresh interpreter that runs the code, the median of five."""
    program = textwrap.dedent(code) + "\nimport time; print(time.process_time())"
    return median(
        float(
            subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
            ).stdout
        )
        for _ in range(5)
    )


def test_types_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("platform", ["win32", pytest.param("darwin", marks=pytest.mark.long)])
def test_types_hold_on_other_systems(platform: str) -> None:
    """The types of the standard library have no name that is not there: termios, killpg, SIGHUP."""
    mypy = [sys.executable, "-m", "mypy", "--no-error-summary", "--platform", platform]
    done = subprocess.run(
        [*mypy, "--cache-dir", f".mypy_cache/{platform}"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


def test_one_module_knows_what_differs_between_systems() -> None:
    flagged = "import termios\nos.chmod(p, 1)\nnew.replace(old)\nPopen(c, process_group=0)\nsys.platform"
    assert len(list(platform_uses(ast.parse(flagged)))) == 5
    assert not list(platform_uses(ast.parse("text.replace('a', 'b')\nreplace(record, a=1)")))
    elsewhere = {place for place in uses_of_the_platform() if not place.startswith("operating_system.py")}
    assert elsewhere == set()


def test_the_code_is_tidy() -> None:
    for arguments in (["check", "."], ["format", "--check", "."]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments], capture_output=True, text=True, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout
