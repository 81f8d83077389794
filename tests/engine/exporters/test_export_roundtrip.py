"""A complete export, read into an empty memory, gives the same memory; into another one, what it lacks."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Options, Profile
from memtui.engine.store import export_rows

from sizes import examples

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
NOW = 1_760_000_000.0

texts = st.one_of(
    st.sampled_from(
        [
            "Ada Lovelace lives in Lisbon", "Ada met Grace Hopper at Acme", "他住在北京", "it's 50% “C++”\n\nand\ttabs",
            "line\u2028separator and \x1b[31mred", "---\n# not a header: [[x]]",
        ]
    ),
    st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip()) and "\0" not in text),
)  # fmt: skip
VERBS = ("turn", "remember", "observe", "correct", "forget", "restore", "confirm", "tag", "note", "ask", "index",
         "merge", "split", "link", "unlink", "apart", "rename", "hide", "describe", "profile", "undo")  # fmt: skip
steps = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 99), texts), min_size=1, max_size=14)


def opened(path: Path) -> Memory:
    return Memory.open(path, clock=lambda: NOW, options=OPTIONS)


def lived(memory: Memory, life: list[tuple[str, int, str]]) -> None:
    """Do what the steps say, as far as the memory lets itself."""
    for verb, number, text in life:
        try:
            _step(memory, verb, number, text)
        except (MemtuiError, IndexError):
            pass


def _step(memory: Memory, verb: str, number: int, text: str) -> None:
    def one(filter: str) -> str:
        rows = memory.view.page(filter, limit=100)
        return rows[number % len(rows)].id if rows else "none"

    def name() -> str:
        names = memory.entities.page()
        return names[number % len(names)].id if names else "none"

    acts: dict[str, Callable[[], Any]] = {
        "turn": lambda: memory.record_turn(f"s{number % 3}", "user", text),
        "remember": lambda: memory.remember(text, tags=["travel"] if number % 2 else ()),
        "observe": lambda: memory.observations.remember_one(text, "lesson"),
        "correct": lambda: memory.correct(one("kind:fact"), text),
        "forget": lambda: memory.forget(one("")),
        "restore": lambda: memory.restore(one("is:trash")),
        "confirm": lambda: memory.confirm(one("kind:fact")),
        "tag": lambda: memory.tag(one(""), add=[f"t{number % 4}"]),
        "note": lambda: memory.scratchpad.set(f"k{number % 3}", text),
        "ask": lambda: memory.questions.expect(text[:40], one("kind:fact")),
        "index": lambda: memory.models.index_pending(),
        "merge": lambda: memory.entities.merge(name(), memory.entities.page()[0].id),
        "rename": lambda: memory.entities.rename(name(), text[:40]),
        "hide": lambda: memory.entities.not_an_entity(name()),
        "split": lambda: memory.entities.split(name(), memory.entities.get(name()).entity.aliases[-1]),
        "link": lambda: memory.entities.link(one(""), name()),
        "unlink": lambda: memory.entities.unlink(one("entity:*"), name()),
        "apart": lambda: memory.entities.keep_apart(name(), memory.entities.page()[-1].id),
        "describe": lambda: memory.entities.describe(name(), text),
        "profile": lambda: memory.questions.save_profile(Profile(name=f"p{number % 3}", k=number + 1)),
        "undo": lambda: memory.undo(),
    }
    acts[verb]()


@hypothesis.given(life=steps, history=st.booleans())
@hypothesis.settings(max_examples=examples(15))
def test_a_round_trip_gives_an_equal_content_hash(life: list[tuple[str, int, str]], history: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with opened(place / "a.db") as memory:
            lived(memory, life)
            report = memory.files.export(place / "all.jsonl", history=history)
            wanted = memory.files.content_hash()
            assert report.content_hash == wanted
        with opened(place / "b.db") as again:
            empty = again.files.content_hash()
            came = again.files.import_paths([place / "all.jsonl"])
            assert came.reasons.keys() <= {"history of the other file"}, (came.reasons, came.warnings)
            assert again.files.content_hash() == wanted
            assert again.files.check(deep=True).ok, again.files.check(deep=True).findings
            assert again.files.import_paths([place / "all.jsonl"]).operation is None
            assert again.files.content_hash() == wanted
            if came.operation is not None:
                again.undo(came.operation.op_id)
                assert again.files.content_hash() == empty


def test_a_line_that_is_refused_keeps_none_out_that_shares_its_statement(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        for number in range(200):
            memory.remember(f"Train {number} leaves at {number} minutes past the hour")
        memory.files.export(tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    facts = [place for place, line in enumerate(lines) if "Train " in line]
    for place, odd in ((facts[20], {"id": "ep_0"}), (facts[90], {"tags": {"a": 1}})):
        lines[place] = json.dumps(json.loads(lines[place]) | odd)
    lines.insert(facts[150], lines[facts[150]])  # once more, in the same statement
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    with opened(tmp_path / "b.db") as again:
        report = again.files.import_paths([tmp_path / "all.jsonl"])
        assert (report.imported, report.kinds, report.reasons) == (
            198,
            {"fact": 198},
            {"cannot be stored": 2},
        )
        numbers = [int(one.content.split()[1]) for one in again.view.page(limit=300)]
        assert sorted(numbers) == [number for number in range(200) if number not in (20, 90)]
        assert again.files.check(deep=True).ok


def test_a_secret_that_comes_back_gets_no_vector(tmp_path: Path) -> None:
    key = "sk-" + "proj-9aB8cD7eF6gH5iJ4kL3mN2oP1qR0sT9uV8wX7yZ6"
    with Memory.open(tmp_path / "a.db", options=Options(background=False)) as memory:
        memory.record_turn("s", "user", f"my key is {key}")
        memory.record_turn("s", "user", "and I like tea")
        memory.files.export(tmp_path / "all.jsonl")
    with Memory.open(tmp_path / "b.db", options=Options(background=False)) as again:
        again.files.import_paths([tmp_path / "all.jsonl"])
        again.models.index_pending()
        assert (again.stats().active, again.stats().embedded) == (2, 1)


def test_links_that_are_still_to_be_made_do_not_change_the_hash(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        said = {"role": "user", "content": "Ada Lovelace lives in London with Charles Babbage"}
        (tmp_path / "said.jsonl").write_text(json.dumps(said))
        memory.files.import_paths([tmp_path / "said.jsonl"])
        assert not memory.entities.page()
        pending = memory.files.export(tmp_path / "pending.jsonl").content_hash
        memory.models.index_pending()
        assert memory.entities.page()
        assert memory.files.content_hash() == pending
        memory.entities.rename(memory.entities.page()[0].id, "Ada King")
        assert memory.files.content_hash() != pending
    with opened(tmp_path / "b.db") as again:
        again.files.import_paths([tmp_path / "pending.jsonl"])
        again.models.index_pending()
        assert again.files.content_hash() == pending


@pytest.mark.parametrize("linked", [True, False])
def test_an_export_that_was_changed_is_told(tmp_path: Path, linked: bool) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.remember("Ada Lovelace lives in London")
        if linked:
            memory.models.index_pending()
        memory.files.export(tmp_path / "all.jsonl")
    whole = tmp_path / "all.jsonl"
    changed = tmp_path / "changed.jsonl"
    changed.write_text(whole.read_text().replace("lives in London", "lives in Paris"))
    cut = tmp_path / "cut.jsonl"
    lines = whole.read_text().splitlines(keepends=True)
    cut.write_text("".join(line for line in lines if '"line":"memory"' not in line))
    for path, told in ((whole, False), (changed, True), (cut, True)):
        with opened(tmp_path / f"{path.stem}.db") as again:
            for dry_run in (True, False):
                report = again.files.import_paths([path], dry_run=dry_run)
                assert any("changed after it was written" in one for one in report.warnings) is told


def test_an_export_whose_hash_counts_names_that_were_found_still_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "a.db") as memory, monkeypatch.context() as before:
        with_found = property(lambda digest: export_rows._digest_text(digest._with_found))
        before.setattr(export_rows.Digest, "text", with_found)
        memory.remember("Ada Lovelace lives in London")
        memory.models.index_pending()
        old = memory.files.export(tmp_path / "all.jsonl").content_hash
        before.undo()
        assert memory.files.content_hash() != old
    with opened(tmp_path / "b.db") as again:
        assert again.files.import_paths([tmp_path / "all.jsonl"]).warnings == ()


def test_an_export_whose_hash_counts_the_order_of_tags_still_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "a.db") as memory, monkeypatch.context() as before:
        before.setattr(export_rows, "_sort_unordered", lambda line: {})
        memory.remember("Ada Lovelace lives in London", tags=["b", "a"])
        old = memory.files.export(tmp_path / "all.jsonl").content_hash
        before.undo()
        assert memory.files.content_hash() != old
    with opened(tmp_path / "b.db") as again:
        assert again.files.import_paths([tmp_path / "all.jsonl"]).warnings == ()


def test_a_line_whose_tags_are_no_list_keeps_no_other_line_out(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        for fact in ("Ada Lovelace lives in London", "Ada Lovelace likes tea"):
            memory.remember(fact, tags=["a", "b"])
        memory.files.export(tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text()
    (tmp_path / "all.jsonl").write_text(lines.replace('["a","b"]', '{"a":1,"b":2}', 1))
    with opened(tmp_path / "b.db") as again:
        again.files.import_paths([tmp_path / "all.jsonl"])
        assert again.view.count("kind:fact") == 1


def _lines(tmp_path: Path) -> list[dict[str, Any]]:
    """The export of a fact that rules drew, as lines."""
    with opened(tmp_path / "first.db") as memory:
        memory.record_turn("monday", "user", "I am allergic to peanuts.", event_time=NOW)
        asyncio.run(memory.consolidate("monday"))
        memory.files.export(tmp_path / "first.jsonl")
    return [json.loads(line) for line in (tmp_path / "first.jsonl").read_text().splitlines()]


def _taken(tmp_path: Path, lines: list[dict[str, Any]]) -> tuple[Any, Any]:
    path = tmp_path / "second.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with opened(tmp_path / "second.db") as memory:
        report = memory.files.import_paths([path])
        (fact,) = memory.view.page("kind:fact")
    return report, fact


def test_a_topic_of_a_later_version_keeps_no_memory_out(tmp_path: Path) -> None:
    lines = _lines(tmp_path)
    for line in lines:
        if line.get("kind") == "fact":
            line["topic"] = "weather"
    report, fact = _taken(tmp_path, lines)
    assert fact.topic is None
    assert len(report.warnings) == 1
    assert "topic unknown" in report.warnings[0]


@pytest.mark.parametrize("before", [True, False])
def test_facts_from_before_there_were_topics_get_that_of_their_tag(tmp_path: Path, before: bool) -> None:
    lines = _lines(tmp_path)
    if before:
        lines[0]["lines"]["memory"] = "kind, event_time, created_at"
    for line in lines:
        if line.get("kind") == "fact":
            line.pop("topic", None)
            line |= {"tags": ["health"], "decay_rate": 0.1, "confidence": 0.8}
            assert line["attributes"]["extractor"] == "keyword"
    _, fact = _taken(tmp_path, lines)
    assert (fact.topic, fact.decay_rate) == (("health", 0.0) if before else (None, 0.1))
