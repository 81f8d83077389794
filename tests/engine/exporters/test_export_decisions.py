"""Two memories that start alike, each decides, exports go across: both end with the same decisions, and neither loses one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from memtui import Memory
from memtui.engine.records import ImportReport, MemoryRecord, Options

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
START = 1_700_000_000.0
DAY = 86_400


class Device:
    """A memory with a clock of its own, which may be wrong."""

    def __init__(self, place: Path, name: str, clock: list[float]) -> None:
        self.place = place
        self.name = name
        self.clock = clock
        self.path = place / name / "memory.db"
        self.path.parent.mkdir()
        self.memory = Memory.open(self.path, clock=lambda: self.clock[0], options=OPTIONS)
        self._exports = 0

    def export(self) -> Path:
        self._exports += 1
        path = self.place / f"{self.name}-{self._exports}.jsonl"
        self.memory.files.export(path)
        return path

    def take(self, path: Path, dry_run: bool = False) -> ImportReport:
        return self.memory.files.import_paths([path], dry_run=dry_run)

    def fact(self, words: str) -> MemoryRecord:
        (found,) = self.memory.view.page(f'"{words}" kind:fact')
        return found

    def facts(self) -> list[str]:
        return sorted(one.content for one in self.memory.view.page("kind:fact"))


class Pair(NamedTuple):
    laptop: Device
    desktop: Device

    def cross(self) -> None:
        """What both decided goes across, until nothing is new."""
        for _ in range(2):
            here, there = self.laptop.export(), self.desktop.export()
            self.desktop.take(here)
            self.laptop.take(there)

    def alike(self) -> bool:
        return self.laptop.memory.files.content_hash() == self.desktop.memory.files.content_hash()


FACTS = ("The user works at Initech", "The user lives in Oslo", "The user has a cat", "The user likes tea")


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        laptop, desktop = (Device(tmp_path, name, [START]) for name in ("laptop", "desktop"))
        for device in (laptop, desktop):
            stack.callback(device.memory.close)
        for fact in FACTS:
            laptop.memory.actor = "agent:claude"
            laptop.memory.remember(fact)
        laptop.memory.actor = "person"
        laptop.memory.scratchpad.set("port", "8080")
        desktop.take(laptop.export())
        for device in (laptop, desktop):
            device.clock[0] += DAY
        assert laptop.memory.files.content_hash() == desktop.memory.files.content_hash()
        yield Pair(laptop, desktop)


def test_each_decides_about_something_else_and_both_end_alike(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    laptop.memory.tag(laptop.fact("tea").id, add=["drinks"])
    desktop.memory.forget(desktop.fact("cat").id)
    desktop.memory.confirm(desktop.fact("Oslo").id)
    desktop.memory.pin(desktop.fact("Oslo").id)
    desktop.memory.tag(desktop.fact("tea").id, add=["kitchen"])
    desktop.memory.classify(desktop.fact("tea").id, topic="preference")
    pair.cross()
    for device in pair:
        assert device.facts() == ["The user likes tea", "The user lives in Oslo", "The user works at Globex"]
        assert device.fact("tea").tags == ("drinks", "kitchen")
        assert device.fact("tea").topic == "preference"
        assert device.fact("Oslo").protected
        assert device.fact("Oslo").pinned
        assert not device.memory.review.items()
    assert pair.alike()


def test_the_report_says_what_was_merged_and_a_dry_run_says_the_same(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    laptop.memory.forget(laptop.fact("cat").id)
    laptop.memory.tag(laptop.fact("tea").id, add=["drinks", "kitchen"])
    export = laptop.export()
    expected = desktop.take(export, dry_run=True)
    before = desktop.memory.files.content_hash()
    done = desktop.take(export)
    assert done.decisions == expected.decisions == {"correction": 1, "forgotten": 1, "tag": 2}
    assert done.kinds["fact"] == expected.kinds["fact"] == 1
    assert desktop.memory.files.content_hash() != before
    assert done.operation is not None
    assert "1 correction, 1 forgotten and 2 tags" in done.operation.label


def test_the_same_file_again_changes_nothing(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    desktop.memory.forget(desktop.fact("Initech").id)
    laptop.memory.scratchpad.set("port", "9090")
    export = laptop.export()
    assert desktop.take(export).operation is not None
    state, cards = desktop.memory.files.content_hash(), desktop.memory.review.items()
    again = desktop.take(export)
    assert (again.imported, again.decisions, again.operation) == (0, {}, None)
    assert desktop.memory.files.content_hash() == state
    assert [one.id for one in desktop.memory.review.items()] == [one.id for one in cards]


def test_one_undo_takes_all_of_it_back_and_it_can_be_imported_again(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    laptop.memory.forget(laptop.fact("cat").id)
    laptop.memory.tag(laptop.fact("tea").id, add=["drinks"])
    laptop.memory.scratchpad.set("port", "9090")
    export, before = laptop.export(), desktop.memory.files.content_hash()
    first = desktop.take(export)
    after = desktop.memory.files.content_hash()
    desktop.memory.undo()
    assert desktop.memory.files.content_hash() == before
    again = desktop.take(export)
    assert again.decisions == first.decisions
    assert desktop.memory.files.content_hash() == after
    desktop.memory.undo()
    desktop.memory.redo()
    desktop.memory.undo()
    desktop.memory.redo()
    assert desktop.take(export).operation is None


def test_what_was_changed_after_the_import_stays_when_it_is_undone(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("cat").id)
    taken = desktop.take(laptop.export())
    assert taken.operation is not None
    cat = next(one for one in desktop.memory.view.page("is:trash") if "cat" in one.content)
    desktop.memory.restore(cat.id)
    laptop.memory.tag(laptop.fact("tea").id, add=["drinks"])
    pair.cross()
    assert "The user has a cat" in laptop.facts()


@pytest.mark.parametrize("wrong", [-900 * DAY, 900 * DAY])
def test_a_wrong_clock_does_not_win(pair: Pair, wrong: int) -> None:
    """The laptop forgets; the desktop hears of it and brings it back: the later decision holds, whatever the clocks say."""
    laptop, desktop = pair
    cat = laptop.fact("cat").id
    laptop.clock[0] += wrong if wrong > 0 else 0
    laptop.memory.forget(cat)
    desktop.take(laptop.export())
    desktop.clock[0] += wrong if wrong < 0 else 0
    desktop.memory.restore(cat)
    laptop.take(desktop.export())
    assert "The user has a cat" in laptop.facts()
    desktop.take(laptop.export())
    assert "The user has a cat" in desktop.facts()


def test_an_old_export_does_not_take_back_what_was_decided_since(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("cat").id)
    old = laptop.export()
    cat = next(one for one in laptop.memory.view.page("is:trash") if "cat" in one.content)
    laptop.memory.restore(cat.id)
    desktop.take(laptop.export())
    assert desktop.take(old).decisions == {}
    assert "The user has a cat" in desktop.facts()


def test_an_undone_decision_goes_across_as_undone(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    desktop.take(laptop.export())
    laptop.memory.undo()
    desktop.take(laptop.export())
    assert "The user works at Initech" in desktop.facts()


def settle_everywhere(pair: Pair, decide: Callable[[Device], None]) -> None:
    """Both know of both decisions, and one of them says what holds."""
    pair.cross()
    for device in pair:
        assert [one.kind for one in device.memory.review.items()] == ["devices"]
    decide(pair.desktop)
    assert pair.desktop.memory.review.items() == []
    pair.cross()
    for device in pair:
        assert device.memory.review.items() == []


def test_corrected_differently_is_one_card_that_shows_both(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    desktop.memory.correct(desktop.fact("Initech").id, "The user works at Hooli")

    def decide(device: Device) -> None:
        (card,) = device.memory.review.items()
        assert {one.content for one in card.memories} == {
            "The user works at Globex",
            "The user works at Hooli",
        }
        globex = next(one for one in card.memories if "Globex" in one.content)
        device.memory.review.decide(card, "keep", keep=globex.id)

    settle_everywhere(pair, decide)
    for device in pair:
        assert [one for one in device.facts() if "works" in one] == ["The user works at Globex"]


@pytest.mark.parametrize("verdict", ["keep", "forget"])
def test_forgotten_here_and_confirmed_there_waits(pair: Pair, verdict: str) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("cat").id)
    desktop.memory.confirm(desktop.fact("cat").id)

    def decide(device: Device) -> None:
        (card,) = device.memory.review.items()
        assert "forgotten" in card.reason
        assert "confirmed" in card.reason
        device.memory.review.decide(card, verdict)  # type: ignore[arg-type]

    settle_everywhere(pair, decide)
    for device in pair:
        assert ("The user has a cat" in device.facts()) is (verdict == "keep")


@pytest.mark.parametrize("verdict", ["keep", "forget"])
def test_forgotten_here_and_corrected_there_waits(pair: Pair, verdict: str) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("Initech").id)
    desktop.memory.correct(desktop.fact("Initech").id, "The user works at Globex")

    def decide(device: Device) -> None:
        (card,) = device.memory.review.items()
        assert [one.content for one in card.memories] == ["The user works at Globex"]
        device.memory.review.decide(card, verdict)  # type: ignore[arg-type]

    settle_everywhere(pair, decide)
    for device in pair:
        held = [one for one in device.facts() if "works" in one]
        assert held == (["The user works at Globex"] if verdict == "keep" else [])


def test_two_topics_wait_and_one_is_chosen(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.classify(laptop.fact("tea").id, topic="preference")
    desktop.memory.classify(desktop.fact("tea").id, topic="routine")

    def decide(device: Device) -> None:
        (card,) = device.memory.review.items()
        assert "preference" in card.reason
        assert "routine" in card.reason
        device.memory.review.decide(card, "merge")

    settle_everywhere(pair, decide)
    for device in pair:
        assert device.fact("tea").topic == "preference"


def test_an_undecided_card_is_undone_with_its_import(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("cat").id)
    desktop.memory.confirm(desktop.fact("cat").id)
    desktop.take(laptop.export())
    assert desktop.memory.review.items()
    desktop.memory.undo()
    assert desktop.memory.review.items() == []


def test_what_a_job_did_gives_way_to_the_person(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.actor = "agent:codex"
    laptop.memory.forget(laptop.fact("cat").id)
    laptop.memory.actor = "person"
    desktop.memory.confirm(desktop.fact("cat").id)
    pair.cross()
    for device in pair:
        assert device.memory.review.items() == []
        assert device.fact("cat").protected
    assert pair.alike()


def test_a_tag_of_a_fact_that_was_corrected_elsewhere_goes_to_what_took_its_place(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    desktop.memory.tag(desktop.fact("Initech").id, add=["job"])
    desktop.memory.pin(desktop.fact("Initech").id)
    pair.cross()
    for device in pair:
        assert device.fact("Globex").tags == ("job",)
        assert device.fact("Globex").pinned
    assert pair.alike()


def test_a_tag_of_ours_goes_to_the_correction_again_after_an_undo(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.tag(laptop.fact("Initech").id, add=["job"])
    desktop.memory.correct(desktop.fact("Initech").id, "The user works at Globex")
    correction = desktop.export()
    laptop.take(correction)
    laptop.memory.undo()
    laptop.take(correction)
    assert laptop.fact("Globex").tags == ("job",)
    laptop.memory.tag(laptop.fact("Globex").id, remove=["job"])
    laptop.take(correction)
    assert laptop.fact("Globex").tags == ()


def test_what_is_kept_from_one_agent_goes_across(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.withhold(laptop.fact("Oslo").id, "codex")
    desktop.memory.withhold(desktop.fact("Oslo").id, "Claude-Code")
    report = desktop.take(laptop.export())
    assert report.decisions == {"kept from an agent": 1}
    laptop.take(desktop.export())
    for device in pair:
        assert sorted(device.fact("Oslo").withheld_from) == ["Claude-Code", "codex"]
        assert not device.memory.review.items()
    laptop.memory.allow(laptop.fact("Oslo").id, "claude-code")
    assert desktop.take(laptop.export(), dry_run=True).decisions == {"given to an agent again": 1}
    pair.cross()
    for device in pair:
        assert device.fact("Oslo").withheld_from == ("codex",)
    assert pair.alike()


def test_an_agent_that_both_name_is_kept_from_it_once(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.withhold(laptop.fact("Oslo").id, "codex")
    desktop.memory.withhold(desktop.fact("Oslo").id, "Codex")
    pair.cross()
    for device in pair:
        assert len(device.fact("Oslo").withheld_from) == 1
    laptop.memory.allow(laptop.fact("Oslo").id, "codex")
    pair.cross()
    for device in pair:
        assert device.fact("Oslo").withheld_from == ()


def test_an_agent_is_kept_from_what_another_device_corrected(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.withhold(laptop.fact("Initech").id, "codex")
    desktop.memory.correct(desktop.fact("Initech").id, "The user works at Globex")
    pair.cross()
    for device in pair:
        assert device.memory.view.count("withheld:codex Globex kind:fact") == 1
    assert pair.alike()


def test_an_import_that_only_merges_says_that_nothing_is_new(pair: Pair) -> None:
    pair.desktop.memory.tag(pair.desktop.fact("cat").id, add=["pet"])
    operation = pair.laptop.take(pair.desktop.export()).operation
    assert operation is not None
    assert operation.label == "Imported nothing new from memtui; merged 1 tag"


def test_tags_in_another_order_are_the_same_tags(pair: Pair) -> None:
    for device, tags in zip(pair, (["a", "b"], ["b", "a"]), strict=True):
        for tag in tags:
            device.memory.tag(device.fact("cat").id, add=[tag])
    assert pair.alike()


def test_the_same_correction_on_both_is_one(pair: Pair) -> None:
    for device in pair:
        device.memory.correct(device.fact("Initech").id, "The user works at Globex")
    pair.cross()
    for device in pair:
        assert [one for one in device.facts() if "works" in one] == ["The user works at Globex"]
        assert device.memory.review.items() == []


def test_what_was_forgotten_elsewhere_is_forgotten_under_another_id_too(pair: Pair) -> None:
    """Both devices drew the same fact from the same talk, each with an id of its own."""
    for device in pair:
        device.memory.actor = "agent:claude"
        device.memory.remember("The user drives a Volvo")
        device.memory.actor = "person"
    pair.desktop.memory.forget(pair.desktop.fact("Volvo").id)
    pair.cross()
    for device in pair:
        assert "The user drives a Volvo" not in device.facts()


def test_what_was_erased_here_stays_erased(pair: Pair) -> None:
    laptop, desktop = pair
    cat = desktop.fact("cat").id
    desktop.memory.files.erase(desktop.memory.files.plan_erase([cat]))
    laptop.memory.confirm(cat)
    laptop.memory.tag(cat, add=["pets"])
    report = desktop.take(laptop.export())
    assert "The user has a cat" not in desktop.facts()
    assert report.reasons == {"erased for good": 1}
    assert report.decisions == {}


def test_nothing_of_a_decision_is_left_of_what_is_erased(pair: Pair) -> None:
    laptop, _ = pair
    cat = laptop.fact("cat").id
    laptop.memory.tag(cat, add=["zebrafish"])
    laptop.memory.scratchpad.set("zebrafish", "food")
    laptop.memory.scratchpad.delete("zebrafish")
    proof = laptop.memory.files.erase(laptop.memory.files.plan_erase([cat]))
    assert proof.complete, proof


def test_the_scratchpad_goes_across(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.scratchpad.set("port", "9090")
    desktop.memory.scratchpad.set("host", "localhost")
    pair.cross()
    for device in pair:
        assert device.memory.scratchpad.get("port").value == "9090"
        assert device.memory.scratchpad.get("host").value == "localhost"
    laptop.memory.scratchpad.delete("port")
    pair.cross()
    for device in pair:
        assert device.memory.scratchpad.keys() == ["host"]


def test_a_key_that_both_wrote_keeps_both_values(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.scratchpad.set("port", "9090")
    desktop.memory.scratchpad.set("port", "7070")
    pair.cross()
    for device in pair:
        values = {note.value for note in device.memory.scratchpad.search()}
        assert values == {"9090", "7070"}
    assert pair.alike()


def test_who_decided_on_which_device_stays_visible(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("cat").id)
    cat = desktop.fact("cat").id
    desktop.take(laptop.export())
    (decided,) = desktop.memory.view.detail(cat).decided
    assert (decided.aspect, decided.actor, decided.at) == ("state", "person", int(START + DAY))
    assert decided.device == laptop.memory.files.device()
    assert decided.device != desktop.memory.files.device()


def test_a_copy_of_the_file_is_another_device(pair: Pair, tmp_path: Path) -> None:
    laptop, _ = pair
    copy = tmp_path / "copy.db"
    laptop.memory.backups.make()
    (backup, *_) = laptop.memory.backups.all()
    copy.write_bytes(Path(backup.path).read_bytes())
    with Memory.open(copy, options=OPTIONS) as other:
        assert other.files.device() != laptop.memory.files.device()


def test_a_backup_of_another_device_merges_like_its_export(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    laptop.memory.forget(laptop.fact("cat").id)
    laptop.memory.backups.make()
    (backup, *_) = laptop.memory.backups.all()
    before = Path(backup.path).read_bytes()
    report = desktop.take(Path(backup.path))
    assert report.decisions == {"correction": 1, "forgotten": 1}
    assert desktop.facts() == laptop.facts()
    assert Path(backup.path).read_bytes() == before
    assert desktop.take(Path(backup.path)).operation is None


def test_names_go_across(pair: Pair) -> None:
    laptop, desktop = pair
    for device in pair:
        device.memory.actor = "agent:claude"
    ada = laptop.memory.remember("Ada Lovelace met Bob Miller and Robert Miller in Oslo at Initech")
    for device in pair:
        device.memory.actor = "person"
    pair.cross()
    laptop.memory.entities.merge("Robert Miller", "Bob Miller")
    laptop.memory.entities.retype("Initech", "project")
    laptop.memory.entities.describe("Oslo", "the capital of Norway")
    desktop.memory.entities.pin("Ada Lovelace")
    desktop.memory.entities.unlink(ada.id, "Oslo")
    pair.cross()
    for device in pair:
        entities = device.memory.entities
        assert entities.get("Bob Miller").entity.canonical_name == "Robert Miller"
        assert entities.get("Initech").entity.type == "project"
        assert entities.get("Oslo").entity.summary == "the capital of Norway"
        assert entities.get("Ada Lovelace").entity.pinned
        assert "Oslo" not in {one.canonical_name for one in device.memory.view.entities_of(ada.id)}
    desktop.memory.entities.split("Robert Miller", "Bob Miller")
    laptop.memory.entities.link(ada.id, "Oslo")
    pair.cross()
    for device in pair:
        assert device.memory.entities.get("Bob Miller").entity.canonical_name == "Bob Miller"
        assert "Oslo" in {one.canonical_name for one in device.memory.view.entities_of(ada.id)}
    state = laptop.memory.files.content_hash()
    assert laptop.take(desktop.export()).operation is None
    assert laptop.memory.files.content_hash() == state


def test_a_card_that_was_decided_elsewhere_asks_no_more(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.actor = "agent:codex"
    wish = laptop.memory.review.request_change("forget", laptop.fact("cat").id)
    laptop.memory.actor = "person"
    pair.cross()
    (card,) = desktop.memory.review.items()
    assert card.id == wish.id
    desktop.memory.review.decide(card, "keep")
    report = laptop.take(desktop.export())
    assert report.decisions["review decision"] == 1
    assert laptop.memory.review.items() == []


def test_an_empty_memory_gets_every_decision_with_its_stamp(pair: Pair, tmp_path: Path) -> None:
    laptop, _ = pair
    fact = laptop.memory.remember("Ada Lovelace met Bob Miller and Robert Miller in Oslo")
    laptop.memory.entities.unlink(fact.id, "Oslo")
    laptop.memory.entities.link(fact.id, "Initech")
    laptop.memory.entities.keep_apart("Bob Miller", "Robert Miller")
    laptop.memory.forget(laptop.fact("cat").id)
    laptop.memory.scratchpad.delete("port")
    fresh = Device(tmp_path, "fresh", [START])
    try:
        fresh.take(laptop.export())
        assert fresh.memory.files.content_hash() == laptop.memory.files.content_hash()
        assert laptop.take(fresh.export()).operation is None
    finally:
        fresh.memory.close()


def test_a_second_clash_on_a_key_loses_no_value(pair: Pair) -> None:
    laptop, desktop = pair
    for first, second in (("9090", "7070"), ("9191", "7171"), ("9292", "7272")):
        laptop.memory.scratchpad.set("port", first)
        desktop.memory.scratchpad.set("port", second)
        pair.cross()
    for device in pair:
        values = {note.value for note in device.memory.scratchpad.search()}
        assert {"9292", "7272"} <= values
        assert len(values) == 4  # of each clash the one that was put beside, and what both wrote over last
    assert pair.alike()


def test_an_agents_value_is_kept_beside_the_persons(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.scratchpad.set("port", "9090")
    desktop.memory.actor = "agent:claude"
    desktop.memory.scratchpad.set("port", "7070")
    pair.cross()
    for device in pair:
        values = {note.key: note.value for note in device.memory.scratchpad.search()}
        assert values == {"port": "9090", "port (desktop)": "7070"} or set(values.values()) == {
            "9090",
            "7070",
        }


def test_redo_of_an_import_brings_back_whose_decisions_they_were(pair: Pair) -> None:
    laptop, desktop = pair
    desktop.memory.confirm(desktop.fact("tea").id)
    laptop.take(desktop.export())
    laptop.memory.tag(laptop.fact("tea").id, add=["drinks"])
    laptop.memory.forget(laptop.fact("tea").id)
    laptop.memory.confirm(laptop.fact("Oslo").id)
    tea = desktop.fact("tea").id
    desktop.take(laptop.export())
    taken = desktop.memory.view.detail(tea).decided
    by_aspect = {one.aspect: one.device for one in taken}
    assert by_aspect["state"] == by_aspect["tag:drinks"] == laptop.memory.files.device()
    for _ in range(2):
        desktop.memory.undo()
        assert {one.device for one in desktop.memory.view.detail(tea).decided} == {
            desktop.memory.files.device()
        }
        desktop.memory.redo()
        assert desktop.memory.view.detail(tea).decided == taken
    # What it decides next knows of what it took over, so it is the later decision.
    desktop.memory.restore(tea)
    assert laptop.take(desktop.export()).decisions == {"restored": 1}


def test_an_older_copy_that_was_put_back_counts_no_further_as_the_same(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.backups.make()
    older = Path(laptop.memory.backups.all()[0].path).read_bytes()
    laptop.memory.forget(laptop.fact("cat").id)
    laptop.memory.confirm(laptop.fact("Oslo").id)
    laptop.memory.unpin(laptop.memory.pin(laptop.fact("Oslo").id).id)
    desktop.take(laptop.export())
    laptop.memory.close()
    for beside in laptop.path.parent.glob("memory.db-*"):
        beside.unlink()
    laptop.path.write_bytes(older)  # the same file, the same place
    laptop.clock[0] += DAY
    laptop.memory = Memory.open(laptop.path, clock=lambda: laptop.clock[0], options=OPTIONS)
    laptop.memory.tag(laptop.fact("Oslo").id, add=["home"])
    laptop.memory.pin(laptop.fact("Oslo").id)
    desktop.take(laptop.export())
    assert desktop.fact("Oslo").pinned
    laptop.take(desktop.export())
    assert "The user has a cat" not in laptop.facts()
    assert laptop.fact("Oslo").protected
    assert pair.alike()
    laptop.memory.close()


def rivals(pair: Pair) -> None:
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Initech").id, "The user works at Globex")
    desktop.memory.correct(desktop.fact("Initech").id, "The user works at Hooli")
    pair.cross()


def test_correcting_one_side_keeps_the_question_open(pair: Pair) -> None:
    rivals(pair)
    laptop, desktop = pair
    laptop.memory.correct(laptop.fact("Globex").id, "The user works at Globex in Bern")
    pair.cross()
    for device in pair:
        (card,) = device.memory.review.items()
        assert {one.content for one in card.memories} == {
            "The user works at Globex in Bern", "The user works at Hooli",
        }  # fmt: skip
    (card,) = desktop.memory.review.items()
    bern = next(one for one in card.memories if "Bern" in one.content)
    desktop.memory.review.decide(card, "keep", keep=bern.id)
    pair.cross()
    for device in pair:
        assert device.memory.review.items() == []
        assert [one for one in device.facts() if "works" in one] == ["The user works at Globex in Bern"]


def test_agents_are_told_that_two_devices_disagree(pair: Pair) -> None:
    rivals(pair)
    memory = pair.laptop.memory
    hits = {hit.memory.content: hit.cautions for hit in memory.search("where does the user work").hits}
    for mine, other in (("Globex", "Hooli"), ("Hooli", "Globex")):
        (caution,) = hits[f"The user works at {mine}"]
        assert caution.how == "disputed"
        assert caution.successor is not None
        assert other in caution.successor.content
    block = memory.context("Does the user work at Globex or Hooli?").text
    for line in block.splitlines():
        if "works at" in line:
            assert "not decided yet between this and" in line
    assert "works at" in block
    (card,) = memory.review.items()
    memory.review.decide(card, "both")
    assert not any(hit.cautions for hit in memory.search("where does the user work").hits)
    memory.undo()
    assert any(hit.cautions for hit in memory.search("where does the user work").hits)


@pytest.mark.parametrize("verdict", ["keep", "forget"])
def test_forgotten_here_and_merged_there_waits(pair: Pair, verdict: str) -> None:
    laptop, desktop = pair
    laptop.memory.forget(laptop.fact("tea").id)
    desktop.memory.review.merge(desktop.fact("cat").id, [desktop.fact("tea").id])

    def decide(device: Device) -> None:
        (card,) = device.memory.review.items()
        assert [one.content for one in card.memories] == ["The user has a cat"]
        assert "forgotten" in card.reason
        assert "merged" in card.reason
        device.memory.review.decide(card, verdict)  # type: ignore[arg-type]

    settle_everywhere(pair, decide)
    for device in pair:
        assert ("The user has a cat" in device.facts()) is (verdict == "keep")
