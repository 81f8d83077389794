"""Embedders and extractors of other packages: chosen by name in the options; one that cannot be used says why."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import memtui
import pytest
from memtui import DegradedError, EmbeddingFunction, Memory
from memtui.engine.consolidation.extract.protocol import Draft
from memtui.engine.errors import InputError
from memtui.engine.models.function_embedder import FunctionEmbedder
from memtui.engine.records import Options

# What the guide tells others to write is what is tried here.
GUIDE = Path(memtui.__file__).parent / "guide" / "python.md"
EXAMPLE = GUIDE.read_text(encoding="utf-8").partition("# memtui_example.py\n")[2].partition("```")[0]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "packages"
    info = folder / "example-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "memtui_example.py").write_text(EXAMPLE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[memtui.embedders]\nletters = memtui_example:Letters\nbroken = memtui_example:Nothing\n"
        "[memtui.extractors]\nshouted = memtui_example:Shouted\n"
    )
    monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("memtui_example", None)


def opened(**choices: str) -> Memory:
    return Memory.open(":memory:", options=Options(background=False, **choices))  # type: ignore[arg-type]


def test_a_package_brings_an_embedder(package: None) -> None:
    with opened(embedder="package", embedder_package="letters") as memory:
        near = memory.remember("zzz zzz")
        memory.remember("aaa")
        memory.models.index_pending()
        [hit, *_] = memory.search("zz").hits
        assert hit.memory.id == near.id and hit.retrievers["vector"].rank == 1


def test_a_package_brings_an_extractor(package: None) -> None:
    with opened(embedder="off", extractor="shouted") as memory:
        memory.record_turn("talk", "user", "I AM ALLERGIC TO NUTS")
        memory.record_turn("talk", "user", "i live in Porto")
        asyncio.run(memory.consolidate("talk"))
        [fact] = memory.view.page("kind:fact")
        assert fact.content == "I AM ALLERGIC TO NUTS"


@pytest.mark.parametrize("name", ["broken", "missing", ""])
def test_an_embedder_that_cannot_be_used_says_why(package: None, name: str) -> None:
    with opened(embedder="package", embedder_package=name) as memory:
        memory.remember("words are found without vectors")
        found = memory.search("words")
        assert len(found.hits) == 1
        [vectors] = [retriever for retriever in found.retrievers if retriever.retriever == "vector"]
        assert (
            vectors.state == "unavailable"
            and {"broken": "Nothing", "missing": "missing", "": "is named"}[name] in vectors.why
        )


def test_an_extractor_that_is_not_there_is_refused_with_those_that_are(package: None) -> None:
    with opened(embedder="off", extractor="missing") as memory:
        memory.record_turn("talk", "user", "I AM HERE")
        with pytest.raises(InputError, match="missing") as raised:
            asyncio.run(memory.consolidate("talk"))
        assert "shouted" in raised.value.hint


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "memtui-example"
version = "1.0"

[project.entry-points."memtui.importers"]
diary = "memtui_diary"

[tool.hatch.build.targets.wheel]
only-include = ["memtui_example.py", "memtui_diary.py"]
"""
DIARY = """
from memtui import Turn

name, label = "diary", "Diary"


def sniff(head):
    return head.raw.startswith(b"Dear diary")


def read(stream):
    for number, line in enumerate(stream.lines()):
        key = f"diary:{number}"
        yield Turn(session_id="diary:1", role="user", content=line.decode(), source_key=key, source="import:diary")
"""
USE = """
import asyncio, sys
from memtui import Memory, Options

options = Options(background=False, embedder="package", embedder_package="letters", extractor="shouted")
with Memory.open(":memory:", options=options) as memory:
    report = memory.files.import_paths([sys.argv[1]])
    asyncio.run(memory.consolidate("diary:1"))
    memory.models.index_pending()
    [fact] = memory.view.page("kind:fact")
    print(report.imported, fact.content, "vector" in memory.search("TUN").hits[0].retrievers, sep="|")
"""


def test_a_package_that_pip_installed_brings_a_format_an_embedder_and_an_extractor(tmp_path: Path) -> None:
    source, installed = tmp_path / "source", tmp_path / "installed"
    source.mkdir()
    entry_points = GUIDE.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    (source / "pyproject.toml").write_text(PROJECT + entry_points)
    (source / "memtui_example.py").write_text(EXAMPLE)
    (source / "memtui_diary.py").write_text(DIARY)
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run(
        [*pip, "--disable-pip-version-check", "--target", installed, source], check=True, timeout=120
    )
    diary = tmp_path / "diary.txt"
    diary.write_text("Dear diary\nI AM ALLERGIC TO NUTS\n")
    done = subprocess.run(
        [sys.executable, "-c", USE, diary],
        env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("2|I AM ALLERGIC TO NUTS|True", "")


FUNCTIONS = GUIDE.read_text(encoding="utf-8").partition("## Functions of your own")[2]
FUNCTIONS = FUNCTIONS.partition("```python\n")[2].partition("```")[0]


def test_a_program_gives_functions_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the guide shows, run as it is there."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(FUNCTIONS, names)
    with names["memory"] as memory:
        near = memory.remember("uuu uuu")
        memory.remember("aaa")
        memory.models.index_pending()
        [hit, *_] = memory.search("uu").hits
        assert hit.memory.id == near.id and hit.retrievers["vector"].rank == 1
        memory.record_turn("talk", "user", "I AM ALLERGIC TO NUTS")
        memory.record_turn("talk", "user", "i live in Porto")
        asyncio.run(memory.consolidate("talk"))
        assert memory.view.count('kind:fact "allergic to nuts"') == 1
        assert memory.view.count("kind:fact") == 3
        assert memory.models.accurate_ner_available
        boat = memory.remember("sails with Blue Heron")
        asyncio.run(memory.models.enrich(boat.id))
        assert "Blue Heron" in [one.canonical_name for one in memory.view.entities_of(boat.id)]


def _fails(given: object) -> list[object]:
    raise ValueError("no weights")


@pytest.mark.parametrize(
    ("embed", "said"),
    [
        (_fails, "ValueError: no weights"),
        (lambda texts: [[1.0, 2.0] for _ in texts], "shape (1, 2)"),
        (lambda texts: [1.0, 2.0, 3.0], "shape (3,)"),
        (lambda texts: [["a", "b", "c"] for _ in texts], "ValueError"),
        (lambda texts: [[1.0, float("nan"), 0.0] for _ in texts], "not finite"),
    ],
)
def test_vectors_of_another_shape_are_refused_and_words_still_found(embed: Any, said: str) -> None:
    with pytest.raises(DegradedError) as raised:
        FunctionEmbedder(EmbeddingFunction(name="mine", dims=3, embed=embed)).embed(["one text"])
    assert said in raised.value.message
    options = Options(background=False, embedder=EmbeddingFunction(name="mine", dims=3, embed=embed))
    with Memory.open(":memory:", options=options) as memory:
        memory.remember("words are found without vectors")
        assert len(memory.search("words").hits) == 1
        assert memory.stats().embedded == 0


def test_an_embedding_function_that_makes_no_sense_is_refused_at_once() -> None:
    for name, dims, embed in ((" ", 3, _fails), ("mine", 0, _fails), ("mine", 3, "no function")):
        with pytest.raises(InputError):
            EmbeddingFunction(name=name, dims=dims, embed=embed)  # type: ignore[arg-type]


def test_an_extractor_function_that_gives_no_drafts_leaves_the_session_pending() -> None:
    bad: list[tuple[Any, str]] = [
        (_fails, "ValueError: no weights"),
        (lambda turns: ["a text"], "a str"),
        (lambda turns: [Draft(kind="fact", content=" ", sources=(turns[0].id,))], "without a text"),
        (lambda turns: [Draft(kind="fact", content="Likes tea", sources=("ep_none",))], "without its turns"),
        (lambda turns: [Draft(kind="fact", content="Likes tea", sources=())], "without its turns"),
    ]
    for extractor, said in bad:
        options = Options(background=False, embedder="off", extractor=extractor)
        with Memory.open(":memory:", options=options) as memory:
            memory.record_turn("talk", "user", "I like tea")
            [failed] = asyncio.run(memory.consolidate("talk")).failed
            assert said in str(failed)
            assert [one.session_id for one in memory.pending_sessions()] == ["talk"]
            assert memory.view.count("kind:fact") == 0


def test_a_name_finder_that_gives_no_names_is_passed_over_with_the_reason() -> None:
    """Alone in its strategy: what fails is an error, and nothing is linked."""
    bad: list[tuple[Any, str]] = [
        (_fails, "ValueError: no weights"),
        (lambda text: ["Ada"], "gave 'Ada'"),
        (lambda text: [("ada", "boat")], "boat"),
        (lambda text: [("ada", 3)], "3"),
    ]
    for finder, said in bad:
        options = Options(
            background=False,
            embedder="off",
            name_finder=finder,
            strategies={"mine": ("regex",)},
            enrichment="mine",
        )
        with Memory.open(":memory:", options=options) as memory:
            one = memory.remember("tea with ada")
            with pytest.raises(DegradedError) as raised:
                asyncio.run(memory.models.enrich(one.id))
            assert said in raised.value.message
            assert memory.view.enrichment_of(one.id) is None
