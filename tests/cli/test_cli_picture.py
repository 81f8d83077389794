"""memtui picture: what is drawn, what is left out of it, and where it is written."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import memories
from memtui.ui.svg import self_contained_svg

OPTIONS = Options(background=False, embedder="off")
SECRET = "my key is sk-proj-" + "Ab3" * 16


@pytest.fixture
def known(home: Path) -> Path:
    """Facts, a secret among them, and Ada in two conversations."""
    path = home / "memory.db"
    with Memory.open(path, options=OPTIONS) as memory:
        memory.remember("Is allergic to walnuts", topic="health")
        memory.remember("Looks for another job", topic="work", tags=["private"])
        key = memory.remember("Has a key of the office", topic="work")
        with memory._core.change("import", "As another program may have written it") as op:
            memories.update(op.connection, key.rid, content=SECRET, attributes={"secrets": ["api_key"]})
        memory.record_turn("trip", "user", "Then Ada Ferreira met Bob in Lisbon")
        memory.record_turn("boat", "user", "Then Ada Ferreira met Carol", project="boat")
        memory.models.index_pending()
    return path


def shown(file: Path) -> str:
    """The words of a picture."""
    return html.unescape(re.sub(r"<[^>]+>", " ", file.read_text(encoding="utf-8"))).replace("\xa0", " ")


def test_a_picture_of_you_has_no_secret_and_nothing_beyond_its_filter(cli: Cli, known: Path) -> None:
    file = known.parent / "you.svg"
    result = cli("picture", "you", str(file), "--filter", "-tag:private")
    assert result.code == 0 and str(file) in result.out
    text = shown(file)
    assert "What is known" in text and "Is allergic to walnuts" in text and "-tag:private" in text
    assert "to review" not in text and "to read" not in text and "told" not in text
    assert "sk-proj" not in text and "my key" not in text and "another job" not in text
    picture = file.read_text(encoding="utf-8")
    assert "@font-face" not in picture and "url(http" not in picture
    # Nothing is overwritten without being told so.
    again = cli("picture", "you", str(file))
    assert again.code == 3 and "already exists" in again.err and file.read_text(encoding="utf-8") == picture
    assert (
        cli("picture", "you", str(file), "--force", "--light", "--size", "80x24", "--json").json["bytes"]
        > 1_000
    )
    assert "another job" in shown(file) and "sk-proj" not in shown(file)


def test_a_picture_of_an_entity_has_those_it_is_seen_with(cli: Cli, known: Path) -> None:
    file = known.parent / "ada.svg"
    assert cli("picture", "entity", "ada ferreira", str(file)).code == 0
    text = shown(file)
    assert {"Bob", "Carol", "Lisbon"} < set(text.split()) and "Ada Ferreira is seen with 3 others" in text
    assert not re.search("[\u2801-\u28ff]", text) and "<path class=" in file.read_text(encoding="utf-8")
    assert cli("picture", "entity", "Ada Ferreira", str(file), "--force", "-f", "project:boat").code == 0
    assert "Carol" in shown(file) and "Bob" not in shown(file)


def test_a_picture_of_the_timeline_has_its_rows(cli: Cli, known: Path) -> None:
    file = known.parent / "years.svg"
    assert cli("picture", "timeline", str(file)).code == 0
    text = shown(file)
    assert "Over time" in text and "Health" in text and "Everything" in text and "learned 3" in text
    assert (
        cli(
            "picture", "timeline", str(file), "--by", "person", "-f", "project:boat kind:episode", "--force"
        ).code
        == 0
    )
    assert "Carol" in shown(file) and "Bob" not in shown(file)


@pytest.mark.skipif(os.name == "nt", reason="modes of Unix")
def test_a_picture_is_readable_by_its_owner_only_and_whole_or_not_there(
    cli: Cli, known: Path, home: Path
) -> None:
    import resource

    picture = home / "you.svg"
    assert cli("picture", "you", str(picture)).code == 0
    assert picture.stat().st_mode & 0o777 == 0o600
    before = picture.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) - 100, limits[1]))
    try:
        failed = cli("picture", "you", str(picture), "--force")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert failed.code != 0 and str(picture) in failed.err and "hint: " in failed.err
    assert picture.read_bytes() == before and not list(home.glob("*.partial"))


def test_what_cannot_be_drawn_is_refused(cli: Cli, known: Path) -> None:
    file = str(known.parent / "no.svg")
    for arguments, code in (
        (("you",), 2),
        (("entity", file), 2),
        (("you", "Ada", file), 2),
        (("you", str(known.parent / "me.png")), 2),
        (("you", file, "--size", "10x10"), 2),
        (("you", file, "--filter", "kind:"), 3),
        (("entity", "Nobody", file), 3),
        (("you", str(known.parent / "none" / "no.svg")), 3),
    ):
        assert cli("picture", *arguments).code == code, arguments
    assert not Path(file).exists()


def test_dots_become_shapes_where_words_stay_words() -> None:
    line = '<text class="r1" x="0" y="20" textLength="48.8" clip-path="url(#l)">⠁a⣿&lt;</text>'
    drawn = self_contained_svg(line)
    assert drawn.count("a1.45") == 2 * 9  # two arcs for each of nine dots
    assert ">&#160;a&#160;&lt;</text>" in drawn
    assert self_contained_svg(line.replace("⠁", "b").replace("⣿", "c")).count("path") == 1  # the clip-path
