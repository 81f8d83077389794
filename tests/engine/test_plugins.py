"""Embedders and extractors of other packages: chosen by name in the options; one that cannot be used says why."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import memtui
import pytest
from memtui import Memory
from memtui.engine.errors import InputError
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
        assert hit.memory.id == near.id and hit.arms["vector"].rank == 1


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
        [vectors] = [arm for arm in found.arms if arm.arm == "vector"]
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
