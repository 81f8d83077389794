"""The vault: names that every system can have, valid headers, links that lead somewhere, and nobody else's files."""

from __future__ import annotations

import asyncio
import re
import stat
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.exporters import markdown_text
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
NOW = 1_760_000_000.0
HOSTILE = "---\nid: x\n--- [[People/Nobody]] ![](http://x.test/a.png) <script>1</script> #tag %%c%% \\<b> $x$"


@pytest.fixture
def memory(place: Path) -> Any:
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as memory:
        memory.record_turn("harbour", "user", "Ada Lovelace takes the ferry to Lisbon")
        memory.record_turn("harbour", "user", HOSTILE)
        turn = memory.record_turn("kitchen", "user", "他住在北京, said Ada Lovelace")
        memory.remember("Ada Lovelace prefers trains: over flights?", tags=["slow-travel"])
        fact = memory.remember(HOSTILE)
        memory.remember("CON")
        memory.remember("日" * 200)
        memory.forget(memory.remember("Owns a blue car").id)
        with memory._core.operation("test", "test") as op:
            op.connection.execute(
                "UPDATE memories SET source_ids = json_array(?) WHERE id = ?", (turn.id, fact.id)
            )
        memory.models.index_pending()
        names = {entity.canonical_name: entity.id for entity in memory.entities.page()}
        memory.entities.retype(names["Ada Lovelace"], "person")
        memory.entities.retype(names["Lisbon"], "location")
        memory.entities.rename(names["Lisbon"], "Lisbon: [[a/b]] | ..")
        yield memory


def tree(vault: Path) -> dict[str, bytes]:
    return {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def test_every_link_leads_somewhere_and_every_header_is_yaml(memory: Memory, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    vault = tmp_path / "vault"
    report = memory.files.export(vault, format="markdown")
    notes = {path: data.decode() for path, data in tree(vault).items() if path.endswith(".md")}
    assert sum(report.counts.values()) == len(notes) == len([p for p in notes if "ep_" not in p])
    links = 0
    for path, text in notes.items():
        for target, anchor in re.findall(r"(?<!\\)\[\[([^\]|#]+)(?:#\^([^\]|]+))?", text):
            links += 1
            assert f"{target}.md" in notes, (path, target)
            assert not anchor or f"\n^{anchor}\n" in notes[f"{target}.md"]
        if path != "Index.md":
            header = yaml.safe_load(text.split("---\n")[1])
            assert header.get("id") or header.get("date")
    assert links > 15
    told = "".join(notes.values())
    assert "[[People/Nobody" not in told and "![](" not in told and not re.search(r"(?<!\\)<script", told)
    assert "blue car" not in told
    assert "[[People/Ada Lovelace|Ada Lovelace]]" in told and "[[Days/" in told
    assert {stat.S_IMODE(path.stat().st_mode) for path in vault.rglob("*.md")} == {0o600}
    assert stat.S_IMODE(vault.stat().st_mode) == 0o700


def test_the_same_memory_gives_the_same_bytes_and_a_filter_narrows(memory: Memory, tmp_path: Path) -> None:
    memory.files.export(tmp_path / "a", format="markdown")
    memory.files.export(tmp_path / "b", format="markdown")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    memory.files.export(tmp_path / "c", format="markdown", filter="kind:fact trains")
    assert sorted(path.split("/")[0] for path in tree(tmp_path / "c")) == [
        ".memtui-vault.json", "Facts", "Index.md", "People",
    ]  # fmt: skip


def test_renewing_a_vault_touches_only_its_own_notes(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    memory.files.export(vault, format="markdown")
    gone = memory.view.page("trains")[0]
    own = vault / "People" / "Ada Lovelace.md"
    own.write_text("my own words")
    (vault / "mine.md").write_text("mine")
    (vault / "Facts" / "mine.md").write_text("mine too")
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "Days").rename(outside / "Days")
    (vault / "Days").symlink_to(outside / "Days")
    days = tree(outside)
    memory.forget(gone.id)
    memory.record_turn("kitchen", "user", "And one more")
    new = memory.remember("Something new")
    report = memory.files.export(vault, format="markdown")
    found = tree(vault)
    assert found["mine.md"] == b"mine" and found["Facts/mine.md"] == b"mine too"
    assert own.read_text() == "my own words" and "People/Ada Lovelace.md" in report.kept
    assert not any(gone.id in path for path in found) and any(new.id in path for path in found)
    assert tree(outside) == days
    memory.files.export(vault, format="markdown")
    assert own.read_text() == "my own words"


def test_a_folder_of_others_is_refused_and_a_cancelled_export_leaves_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.md").write_text("mine")
    (tmp_path / "link").symlink_to(other)
    for bad in (other, tmp_path / "link", other / "mine.md", tmp_path / "no" / "such"):
        with pytest.raises(InputError):
            memory.files.export(bad, format="markdown", force=True)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert memory.files.export(tmp_path / "vault", format="markdown", cancelled=lambda: True).cancelled
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert tree(other) == {"mine.md": b"mine"}


@hypothesis.given(
    st.one_of(st.text(), st.sampled_from(["con", "NUL.txt", "lpt1", "..", ".hidden", "a/b", "x" * 500]))
)
def test_a_file_name_is_one_that_every_system_can_have(text: str) -> None:
    name = markdown_text.file_name(text, "unnamed")
    assert name and len(name.encode("utf-8", "surrogatepass")) <= 121
    assert not re.search(r'[\\/:*?"<>|#^\[\]\x00-\x1f]', name)
    assert name == name.strip(" .")
    assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name.casefold())


@hypothesis.given(st.text())
def test_a_header_is_valid_yaml_whatever_is_in_it(text: str) -> None:
    yaml = pytest.importorskip("yaml")
    header = markdown_text.yaml_frontmatter({"a": text, "b": [text]})
    text = re.sub(r"\[(?=\[)", "[ ", text)
    assert yaml.safe_load(header.split("\n", 1)[1].rsplit("---\n", 1)[0]) == {"a": text, "b": [text]}


def test_a_person_s_note_tells_facts_whole_and_files_are_named_by_whole_words(tmp_path: Path) -> None:
    fact = "Ada had a rash from tahini: no sesame until the test with the allergist on Thursday 3 December, she said"
    with Memory.open(tmp_path / "memory.db", options=Options(background=False, embedder="off")) as memory:
        id = memory.remember(fact).id
        memory.models.index_pending()
        memory.files.export(tmp_path / "vault", format="markdown")
    name = f"Ada had a rash from tahini no sesame until the test with {id}"
    assert f"[[Facts/{name}|{fact}]]" in (tmp_path / "vault/People/Ada.md").read_text()
    assert (tmp_path / f"vault/Facts/{name}.md").exists()


@pytest.mark.parametrize("actor", ["person", "agent:cursor"])
def test_the_note_of_a_corrected_fact_marks_what_it_was_drawn_from(tmp_path: Path, actor: str) -> None:
    with Memory.open(tmp_path / "m.db", clock=lambda: NOW, options=OPTIONS) as memory:
        turn = memory.record_turn("monday", "user", "I work at Initech")
        fact = memory.remember("The user works at Initech")
        with memory._core.operation("test", "test") as op:
            op.connection.execute(
                "UPDATE memories SET source_ids = json_array(?), confirmed_at = NULL WHERE id = ?",
                (turn.id, fact.id),
            )
        new = memory.acting_as(actor).correct(fact.id, "The user works at Globex")
        memory.files.export(tmp_path / "vault", format="markdown")
    (note,) = (tmp_path / "vault").rglob(f"*{new.id.removeprefix('fact_')}*.md")
    (source,) = [
        line for line in note.read_text(encoding="utf-8").splitlines() if "I work at Initech" in line
    ]
    mark = (
        "corrected on 9 Oct 2025"
        if actor == "person"
        else "an agent (cursor) says otherwise since 9 Oct 2025"
    )
    assert source.endswith(f"]] *({mark})*")


def test_a_fact_that_may_have_changed_and_one_in_the_trash_are_marked_wherever_they_are_listed(
    tmp_path: Path,
) -> None:
    with Memory.open(tmp_path / "m.db", clock=lambda: NOW, options=OPTIONS) as memory:
        for day, text in (("monday", "My boss is Anna Holm."), ("friday", "My boss is now Peter Lund.")):
            memory.record_turn(day, "user", text)
            asyncio.run(memory.consolidate(day))
        old, new = (
            next(one for one in memory.view.page("kind:fact") if name in one.content)
            for name in ("Anna Holm", "Peter Lund")
        )
        gone = memory.remember("Anna Holm plays chess")
        memory.forget(gone.id)
        memory.models.index_pending()
        memory.files.export(tmp_path / "vault", format="markdown")
        memory.files.export(tmp_path / "all", format="markdown", filter="is:active,trash")
        (card,) = memory.review.items(kinds=["conflict"])
        memory.review.decide(card, "both")
        memory.files.export(tmp_path / "decided", format="markdown")
    mark = "*(may have changed; said on 9 Oct 2025)*"
    notes = {path: data.decode() for path, data in tree(tmp_path / "vault").items()}
    for place in ("Index.md", "People/Anna Holm.md"):
        (line,) = [line for line in notes[place].splitlines() if old.id in line]
        assert line.endswith(mark), place
    (note,) = [text for path, text in notes.items() if old.id in path]
    assert "## Not decided\n\n- may have changed; said on 9 Oct 2025: [[Facts/" in note
    assert new.id in note.partition("## Not decided")[2]
    index = (tmp_path / "all/Index.md").read_text()
    (line,) = [line for line in index.splitlines() if gone.id in line]
    assert line.endswith(" *(forgotten on 9 Oct 2025)*")
    assert "may have changed" not in (tmp_path / "decided/Index.md").read_text()
