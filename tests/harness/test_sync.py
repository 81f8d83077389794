"""Three devices decide at random, and meet over a store: all end with equal content hashes, and nothing decided is lost.

Each history starts from a file with some facts on one device and empty files on the others. There are steps on each device,
syncs between them, crashes at any call of the store and before any commit, and a store that for a while hides, cuts or
repeats batches. At the end everything is there, and all devices sync until nothing is left to send.

A decision is lost if the last stamp about its aspect does not know of it; one is overwritten silently if the person decided
differently on two devices that did not know of each other, and no card asks about it.

Must fail on: one decision before another by the clock; whatever came last; no tombstones of what was erased or taken back.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import copy, rmtree
from typing import Any, NamedTuple

import apsw
import pytest
from memtui.engine.reconcile import meeting
from memtui.engine.records import Stamp
from memtui.engine.records.sync import SyncProblem
from memtui.engine.store import history, memories, proposals, stamps
from memtui.engine.store.sql import scalar
from memtui.engine.sync import incoming, state
from memtui.engine.sync.replica import Replica
from sync_story import Crash, DictStore, PlainSealer, SyncDevice, begin, same_ids, settle, three

pytestmark = pytest.mark.sync

HISTORIES = 10_000
AT_ONCE = 8
"""How many tests share the histories: each runs in a process of its own."""
QUICK = 12
"""How many of the tenth are run where nobody asks for more: one takes a second."""
ASKED = ("state", "text", "topic", "date")


class Decision(NamedTuple):
    thing: str
    stamp: Stamp
    value: Any

    def knows(self, other: Decision) -> bool:
        return self.stamp.seen.get(other.stamp.device, 0) >= other.stamp.seen[other.stamp.device]


class Ledger:
    """What was decided on each device, as its stamps said right after."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self._last: dict[str, int] = {}
        self._taken_back: set[tuple[str, str]] = set()
        """Rows, each with the device that undid that it was remembered: what it had decided about them went with them."""

    def note(self, device: SyncDevice) -> None:
        erased = " erase " in device.log[-1]
        with device.memory._core.connections.read() as connection:
            own = stamps.device(connection)
            rows: Any = connection.execute(
                "SELECT thing, aspect, seen, device, at, actor FROM decided WHERE device = ?", (own,)
            ).fetchall()
            for thing, aspect, seen, by, at, actor in rows:
                known = _seen(seen)
                key = f"{thing}\0{aspect}\0{by}"
                if self._last.get(key, 0) < known[by]:
                    self._last[key] = known[by]
                    # What an erase takes from the rows that stay is nobody's decision: every device does it by itself.
                    if aspect in ("sources", "links", "merged") and (erased or actor == "device:other"):
                        continue
                    stamp = Stamp(aspect=aspect, seen=known, device=by, at=at, actor=actor)
                    self.decisions.append(Decision(thing, stamp, _value(connection, thing, aspect)))
            if " undo " in device.log[-1]:
                mine = {one.thing for one in self.decisions if one.stamp.device == own}
                self._taken_back = {one for one in self._taken_back if one[1] != own} | {
                    (thing, own) for thing in mine if _is_gone(connection, thing)
                }

    def wrong(self, device: SyncDevice, gone: set[str]) -> list[str]:
        """What was lost, or overwritten without a word, as a device sees it in the end."""
        found = []
        by_aspect: dict[tuple[str, str], list[Decision]] = {}
        with device.memory._core.connections.read() as connection:
            asked = _asked(connection)
            for one in self.decisions:
                about = one.value if one.stamp.aspect == "merged" else None
                if one.thing in gone or any(_is_gone(connection, id) for id in (one.thing, *(about or ()))):
                    continue
                by_aspect.setdefault((one.thing, one.stamp.aspect), []).append(one)
                last = stamps.read_stamps(connection, one.thing).get(one.stamp.aspect)
                if last is None or last.seen.get(one.stamp.device, 0) < one.stamp.seen[one.stamp.device]:
                    found.append(f"lost: {one}")
            for (thing, aspect), decided in by_aspect.items():
                last = [one for one in decided if not any(b is not one and b.knows(one) for b in decided)]
                persons = [
                    one
                    for one in last
                    if one.stamp.actor == "person" and (thing, one.stamp.device) not in self._taken_back
                ]
                if aspect in ASKED and len({str(one.value) for one in persons}) > 1 and thing not in asked:
                    found.append(f"overwritten without a word: {persons}")
        return found


def _seen(text: str) -> dict[str, int]:
    import json

    return dict(json.loads(text))


_COLUMNS = {"state": "ended_by", "text": "content", "topic": "topic", "date": "happens_at"}


def _value(connection: apsw.Connection, thing: str, aspect: str) -> Any:
    if aspect == "merged":  # the names from which it is kept apart, or of which it is another one
        others = connection.execute(
            "SELECT o.id FROM entities e JOIN entity_decisions d ON e.eid IN (d.entity_id, d.other_id) JOIN entities o "
            "ON o.eid IN (d.entity_id, d.other_id) AND o.eid <> e.eid WHERE e.id = ?1 AND d.decision = 'distinct' "
            "UNION SELECT o.id FROM entities e JOIN entities o ON o.eid = e.merged_into WHERE e.id = ?1",
            (thing,),
        )
        return tuple(str(id) for (id,) in others)
    column = _COLUMNS.get(aspect)
    return scalar(connection, f"SELECT {column} FROM memories WHERE id = ?", (thing,)) if column else None


def _is_gone(connection: apsw.Connection, thing: str) -> bool:
    if thing.startswith(stamps.PAD):
        return False
    tables = "SELECT id FROM memories UNION ALL SELECT id FROM entities"
    return scalar(connection, f"SELECT 1 FROM ({tables}) WHERE id = ?", (thing,)) is None


def _asked(connection: apsw.Connection) -> set[str]:
    rows = connection.execute(
        "SELECT e.value FROM proposals p, json_each(p.payload, '$.memories') e WHERE p.kind = ? "
        "UNION SELECT p.payload ->> '$.memory' FROM proposals p WHERE p.kind = ?",
        (proposals.DEVICES, proposals.DEVICES),
    ).fetchall()
    shown = {str(id) for (id,) in rows}
    older = connection.execute(
        "SELECT from_id, to_id FROM memory_links WHERE rel IN ('supersedes', 'merged')"
    ).fetchall()
    return shown | {str(old) for new, old in older if new in shown}


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begin(tmp_path_factory.mktemp("beginning"))


class Chaos:
    """What goes wrong in a history: crashes, and batches that are late, cut, or come twice."""

    def __init__(self, store: DictStore, devices: Sequence[SyncDevice], patch: pytest.MonkeyPatch) -> None:
        self.store = store
        self.devices = devices
        self.countdown = 0
        self.dead = False
        store.crash = self.tick
        for module, name in (
            (state, "advance_head"),
            (state, "set_pending_write"),
            (history, "finish_long"),
            (incoming.full_text, "merge"),
        ):
            patch.setattr(module, name, self._crashing(getattr(module, name)))

    def _crashing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.tick()
            result = real(*given, **named)
            self.tick()
            return result

        return call

    def tick(self) -> None:
        if self.dead:
            raise Crash
        if self.countdown:
            self.countdown -= 1
            if not self.countdown:
                self.dead = True
                raise Crash

    def sync(self, device: SyncDevice, dice: random.Random) -> None:
        """A sync that may go wrong in some way."""
        cut: dict[str, bytes] = {}
        others = [
            name for name in self.store.objects if name.startswith("batches/") and device.name not in name
        ]
        fault = dice.choice(("none", "none", "crash", "late", "torn", "twice"))
        if fault == "crash":
            self.countdown = dice.randint(1, 40)
        elif fault == "late" and others:
            self.store.hidden = set(dice.sample(others, dice.randint(1, len(others))))
        elif fault == "torn" and others:
            name = dice.choice(others)
            cut[name] = self.store.objects[name]
            self.store.objects[name] = cut[name][: dice.randrange(len(cut[name]))]
        elif fault == "twice" and not any(one.away for one in self.devices):
            # (A file that has rows of a removed device knows that it read them.)
            with device.memory._core.connections.write() as connection:
                connection.execute(
                    "UPDATE sync_devices SET number = 0, hash = '' WHERE device <> ?",
                    (stamps.device(connection),),
                )
        try:
            device.sync()
        except Crash:
            pass
        finally:
            crashed = self.dead
            self.countdown, self.dead = 0, False
            self.store.hidden = set()
            self.store.objects |= {name: data for name, data in cut.items() if name in self.store.objects}
        if crashed:
            device.reopen()


def events(seed: int) -> tuple[str, ...]:
    """What a history consists of: each decides for itself what happens, whether others are left out or not."""
    steps = 60 if seed % 100 == 99 else random.Random(f"{seed}").choice((5, 10, 10, 20))
    found = [f"{number} {kind}" for number in range(steps) for kind in ("step", "sync")]
    if random.Random(f"{seed} remove").random() < 0.3:
        found[steps : steps + 1] = [f"{steps} remove", found[steps]]
    return tuple(found)


def remove(devices: Sequence[SyncDevice], store: DictStore, dice: random.Random) -> str:
    """A device takes another one out of the group, whose last batch it may not have seen yet."""
    one, gone = dice.sample(devices, 2)
    if dice.random() < 0.5:
        store.hidden = {*store.list_since(f"batches/{gone.id()}/")[-2:]}
    one.sync()
    store.hidden = set()
    one.remove(gone)
    return f"{one.name} removes {gone.name}"


def come_back(devices: Sequence[SyncDevice], seed: int) -> None:
    for device in devices:
        if device.away:
            device.come_back(f"{device.name}-{seed + 2**31:08x}")


def happen(
    beginning: Path, place: Path, seed: int, patch: pytest.MonkeyPatch, *, chaos: bool = True,
    played: Sequence[str] | None = None,
) -> list[str]:  # fmt: skip
    """What is wrong after a history (after some of its events); nothing if all is well."""
    with three(beginning, place, seed) as (_, store, devices):
        ledger, log = Ledger(), []
        try:
            settle(devices)
            with patch.context() as patched:
                bad = Chaos(store, devices, patched) if chaos else None
                for event in events(seed) if played is None else played:
                    dice = random.Random(f"{seed} {event}")
                    device = dice.choice(devices)
                    with same_ids(dice):
                        if event.endswith("step"):
                            device.step(int(event.split()[0]), dice)
                            ledger.note(device)
                            log.append(device.log[-1])
                        elif event.endswith("remove"):
                            log.append(remove(devices, store, dice))
                        elif dice.random() < 0.4 and not device.away:
                            log.append(f"{device.name} syncs")
                            bad.sync(device, dice) if bad else device.sync()
                store.crash = lambda: None
            # What stayed is one, with what the removed device had written until then; then it comes back.
            left = [device for device in devices if not device.away]
            settle(left)
            assert len({device.hash() for device in left}) == 1, "those that stayed do not end alike"
            kept = store.removed.keys() & {name.removeprefix("writers/") for name in store.objects}
            assert not kept, f"what removed devices wrote is still there: {kept}"
            come_back(devices, seed)
            settle(devices)
        except AssertionError as error:
            return [f"{seed}: {error}", *log]
        wrong = []
        if len({device.hash() for device in devices}) > 1:
            wrong.append(f"{seed}: they do not end alike")
        gone = set().union(*(device.gone for device in devices))
        erased = {text for device in devices for text in device.erased}
        for device in devices:
            held = {one.content for one in device.memory.view.page(f"{device.kinds} is:active,trash")}
            if erased & held:
                wrong.append(f"{seed}: erased, and on {device.name}: {erased & held}")
            if gone & device.known():
                wrong.append(f"{seed}: erased, and on {device.name}: {gone & device.known()}")
        wrong += sorted({f"{seed}: {one}" for device in devices for one in ledger.wrong(device, gone)})
        return [*wrong, *log] if wrong else []


def shortest(beginning: Path, place: Path, seed: int, patch: pytest.MonkeyPatch) -> list[str]:
    """What is wrong after the fewest events of a failing history that still fail."""
    left, wrong = list(events(seed)), ["it did not fail again"]
    for event in reversed(events(seed)):
        some = [one for one in left if one != event]
        if found := happen(beginning, place / event.replace(" ", "-"), seed, patch, played=some):
            left, wrong = some, found
    return wrong


def histories(full: bool, part: int) -> range:
    """The seeds of one of the tests that share them."""
    return range(part, HISTORIES if full else AT_ONCE * QUICK, AT_ONCE)


@pytest.mark.parametrize("part", range(AT_ONCE))
def test_three_devices_end_alike_and_nothing_is_lost(
    beginning: Path, tmp_path: Path, full: bool, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: dict[int, list[str]] = {}
    for seed in histories(full, part):
        place = tmp_path / str(seed)
        if happen(beginning, place, seed, monkeypatch):
            failed[seed] = shortest(beginning, place / "shorter", seed, monkeypatch)
        rmtree(place)
    assert not failed, "\n\n".join("\n".join(one) for one in failed.values())


# Mutants


def _fails(beginning: Path, place: Path, patch: pytest.MonkeyPatch, seeds: range, **given: Any) -> bool:
    return any(happen(beginning, place / str(seed), seed, patch, chaos=False, **given) for seed in seeds)


def test_going_by_the_clock_is_noticed(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_clock(ours: Stamp | None, theirs: Stamp, **given: Any) -> meeting.Meeting | None:
        if ours is not None and ours.at >= theirs.at:
            return None
        return meeting.Meeting(True, theirs)

    monkeypatch.setattr(meeting, "agree", by_clock)
    assert _fails(beginning, tmp_path, monkeypatch, range(40))


def test_the_last_one_that_comes_winning_is_noticed(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meeting, "agree", lambda ours, theirs, **given: meeting.Meeting(True, theirs))
    assert _fails(beginning, tmp_path, monkeypatch, range(40))


@pytest.mark.parametrize("lost", ["_apply_removal", "_note_erased"])
def test_a_missing_tombstone_is_noticed(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    where: Any = incoming.Incoming if lost == "_apply_removal" else incoming
    monkeypatch.setattr(where, lost, lambda *given: None)
    monkeypatch.setattr("sync_story.STEPS", ("state", "undo", "erase", "erase"))
    assert _fails(beginning, tmp_path, monkeypatch, range(40))


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (state, "cut_removed", lambda *given: None), (Replica, "_drop_removed", lambda self: None),
    ],
    ids=["not sent again", "never dropped"],
)  # fmt: skip
def test_a_removal_that_goes_wrong_is_noticed(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, fault: Any
) -> None:
    monkeypatch.setattr(where, name, fault)
    seeds = [seed for seed in range(150) if any(event.endswith("remove") for event in events(seed))]
    assert any(happen(beginning, tmp_path / str(seed), seed, monkeypatch) for seed in seeds)


# A store that lies


@pytest.fixture
def told(beginning: Path, tmp_path: Path) -> Any:
    """Three devices; the laptop has written three batches, the desktop has read the first two."""
    with three(beginning, tmp_path / "lies", 0) as (_, store, devices):
        laptop, desktop, server = devices
        settle(devices)
        laptop.memory.remember("The user owns a boat")
        laptop.sync()
        desktop.sync()
        earlier = dict(store.objects)
        laptop.memory.remember("The user owns a horse")
        laptop.sync()
        server.memory.remember("The user owns a plane")
        server.sync()
        yield store, laptop, desktop, earlier


def _batches(store: DictStore, device: str) -> list[str]:
    return [name for name in store.list_since("batches/") if name.split("/")[1].startswith(device)]


def _cut(store: DictStore, names: list[str], earlier: Mapping[str, bytes]) -> None:
    store.objects[names[-1]] = store.objects[names[-1]][:-7]


def _forge(store: DictStore, names: list[str], earlier: Mapping[str, bytes]) -> None:
    data = store.objects[names[-1]]
    store.objects[names[-1]] = bytes(32) + data[32:]


def _replay(store: DictStore, names: list[str], earlier: Mapping[str, bytes]) -> None:
    store.objects[names[-1]] = store.objects[names[-2]]


def _swap(store: DictStore, names: list[str], earlier: Mapping[str, bytes]) -> None:
    store.objects[names[-1]] = store.objects[_batches(store, "server")[-1]]


def _lose(store: DictStore, names: list[str], earlier: Mapping[str, bytes]) -> None:
    store.hidden = {names[-1]}


def _put_old_back(store: DictStore, names: list[str], earlier: Mapping[str, bytes]) -> None:
    for name in names[-2:]:
        del store.objects[name]


@pytest.mark.parametrize(
    ("lie", "kind"),
    [
        (_cut, "forged"), (_forge, "forged"), (_replay, "swapped"), (_swap, "swapped"), (_lose, "missing"),
        (_put_old_back, "old"),
    ],
)  # fmt: skip
def test_a_store_that_lies_is_named_and_the_others_are_read(told: Any, lie: Any, kind: str) -> None:
    store, _, desktop, earlier = told
    before = {one.content for one in desktop.facts()}
    names = _batches(store, "laptop")
    whole = dict(store.objects)
    lie(store, names, earlier)
    report = desktop.sync()
    assert [one.kind for one in report.problems] == [kind], report.problems
    (problem,) = report.problems
    assert isinstance(problem, SyncProblem)
    assert problem.device.startswith("laptop")
    facts = {one.content for one in desktop.facts()}
    assert facts - before == {"The user owns a plane"}
    # Once the store tells the truth again, everything comes.
    store.objects |= {name: whole[name] for name in names}
    store.hidden = set()
    assert desktop.sync().problems == ()
    assert "The user owns a horse" in {one.content for one in desktop.facts()}


# What a person relies on


def test_what_came_is_one_operation_of_the_sender_and_undo_travels(beginning: Path, tmp_path: Path) -> None:
    with three(beginning, tmp_path / "undo", 0) as (_, _, devices):
        laptop, desktop, _ = devices
        settle(devices)
        fact = laptop.facts()[0]
        laptop.memory.correct(fact.id, "The user works at Umbrella")
        laptop.memory.remember("The user owns a boat")
        laptop.sync()
        (operation,) = desktop.sync().operations
        assert operation.actor == "device:laptop"
        assert "The user works at Umbrella" in {one.content for one in desktop.facts()}
        desktop.memory.undo(operation.op_id)
        held = {one.content for one in desktop.facts()}
        assert fact.content in held
        assert not held & {"The user works at Umbrella", "The user owns a boat"}
        settle(devices)
        assert laptop.hash() == desktop.hash()
        assert {one.content for one in laptop.facts()} == held
        desktop.memory.redo()
        settle(devices)
        assert "The user owns a boat" in {one.content for one in laptop.facts()}
        assert laptop.hash() == desktop.hash()


def test_what_is_taken_back_stays_where_another_device_decided_about_it(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "back", 0) as (_, _, devices):
        laptop, desktop, server = devices
        boat = laptop.memory.remember("The user owns a boat")
        horse = laptop.memory.remember("The user owns a horse")
        settle(devices)
        laptop.memory.undo()
        laptop.memory.undo()
        desktop.memory.tag(boat.id, add=["harbour"])
        settle(devices)
        for device in (laptop, desktop, server):
            assert [one.tags for one in device.facts() if one.id == boat.id] == [("harbour",)]
            assert not any(one.id == horse.id for one in device.facts("is:active,trash"))
        assert len({device.hash() for device in devices}) == 1


def test_two_persons_decisions_at_once_are_one_card_everywhere(beginning: Path, tmp_path: Path) -> None:
    with three(beginning, tmp_path / "card", 0) as (_, _, devices):
        laptop, desktop, _ = devices
        settle(devices)
        fact = laptop.facts()[0]
        laptop.memory.forget(fact.id)
        desktop.memory.confirm(fact.id)
        settle(devices)
        assert len({device.hash() for device in devices}) == 1
        for device in devices:
            with device.memory._core.connections.read() as connection:
                cards = proposals.undecided_proposals(connection, proposals.DEVICES)
            assert [card.payload["memory"] for card in cards] == [fact.id]
            assert "laptop" in cards[0].payload["reason"]
            assert "desktop" in cards[0].payload["reason"]


def _open_cards(device: SyncDevice) -> list[proposals.Proposal]:
    with device.memory._core.connections.read() as connection:
        return proposals.undecided_proposals(connection, proposals.DEVICES)


def test_a_dispute_with_a_correction_is_asked_about_by_who_has_not_heard_of_the_new_text(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "unheard", 0) as (_, store, devices):
        laptop, desktop, server = devices
        settle(devices)
        fact = laptop.facts()[0]
        new = server.memory.correct(fact.id, "The user likes coffee")
        server.sync()
        # The desktop hears of the correction from the laptop, which has hidden from it what the server wrote.
        laptop.sync()
        laptop.memory.tag(fact.id, add=["drink"])
        laptop.sync()
        desktop.memory.forget(fact.id)
        store.hidden = {name for name in store.objects if "/server" in name}
        desktop.sync()
        (card,) = _open_cards(desktop)
        assert card.payload["memory"] == fact.id
        store.hidden = set()
        settle(devices)
        assert len({device.hash() for device in devices}) == 1
        for device in devices:
            (item,) = (one for one in device.memory.review.items() if one.kind == "devices")
            assert [one.id for one in item.memories] == [new.id]


def test_cards_of_one_dispute_stand_in_the_same_order_and_close_everywhere(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "order", 0) as (_, _, devices):
        laptop, desktop, server = devices
        settle(devices)
        fact = laptop.facts()[0]
        laptop.memory.forget(fact.id)
        desktop.memory.correct(fact.id, "The user likes coffee")
        server.memory.correct(fact.id, "The user likes milk")
        for device in (desktop, laptop, server, desktop):
            device.sync()
        settle(devices)
        asked = [[card.id for card in _open_cards(device)] for device in devices]
        assert len(asked[0]) > 1
        assert asked[0] == asked[1] == asked[2]
        item = next(one for one in server.memory.review.items() if one.kind == "devices")
        server.now += 60
        server.memory.review.decide(item, "keep", keep=item.memories[0].id)
        assert not _open_cards(server)
        settle(devices)
        assert not any(_open_cards(device) for device in devices)
        assert len({device.hash() for device in devices}) == 1


def test_an_answer_to_a_card_is_known_everywhere_though_it_changes_nothing(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "answer", 0) as (_, _, devices):
        laptop, desktop, server = devices
        settle(devices)
        fact = laptop.facts()[0]
        laptop.memory.correct(fact.id, "The user likes coffee")
        desktop.memory.correct(fact.id, "The user likes milk")
        settle(devices)
        (item,) = (one for one in server.memory.review.items() if one.kind == "devices")
        server.now += 60
        server.memory.review.decide(item, "both")
        settle(devices)
        known = []
        for device in devices:
            with device.memory._core.connections.read() as connection:
                known.append(stamps.read_stamps(connection, fact.id)["state"])
        assert {one.device.partition("-")[0] for one in known} == {"server"}


def test_a_decision_about_names_that_is_taken_back_is_known_everywhere(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "names", 0) as (_, _, devices):
        laptop = devices[0]
        settle(devices)
        one, other = laptop.memory.entities.page()[:2]
        laptop.memory.entities.keep_apart(one.id, other.id)
        settle(devices)
        laptop.memory.undo()
        settle(devices)
        for device in devices:
            with (
                device.memory._core.connections.read() as connection,
                laptop.memory._core.connections.read() as own,
            ):
                assert stamps.read_stamps(connection, one.id) == stamps.read_stamps(own, one.id)


def test_to_erase_a_name_decides_nothing_about_those_it_was_kept_apart_from(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "apart", 0) as (_, _, devices):
        laptop = devices[0]
        names = {one.canonical_name: one.id for one in laptop.memory.entities.page()}
        laptop.memory.entities.keep_apart(names["Carl Stone"], names["Initech"])
        (fact,) = (one for one in laptop.facts() if "Initech" in one.content)
        with laptop.memory._core.connections.read() as connection:
            before = stamps.read_stamps(connection, names["Carl Stone"])
        laptop.memory.files.erase(laptop.memory.files.plan_erase([fact.id]))
        with laptop.memory._core.connections.read() as connection:
            assert before == stamps.read_stamps(connection, names["Carl Stone"])
        settle(devices)
        assert len({device.hash() for device in devices}) == 1


def test_of_three_corrections_two_are_asked_about_once_the_third_is_gone(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "three", 0) as (_, _, devices):
        laptop = devices[0]
        settle(devices)
        old = laptop.facts()[0]
        new = {
            device.memory.correct(old.id, f"The user likes {drink}").id
            for device, drink in zip(devices, ("coffee", "milk", "juice"), strict=True)
        }
        settle(devices)
        gone = min(new)
        laptop.memory.forget(gone)
        settle(devices)
        for device in devices:
            shown = [one.memories for one in device.memory.review.items() if one.kind == "devices"]
            assert shown
            assert all({one.id for one in sides} == new - {gone} for sides in shown)


def test_who_hears_first_does_not_tell_which_of_two_decisions_holds(beginning: Path, tmp_path: Path) -> None:
    held = []
    for first, second in ((0, 1), (1, 0)):
        with three(beginning, tmp_path / f"first-{first}", 0) as (_, _, devices):
            settle(devices)
            for days, device in enumerate(devices[:2], 1):
                device.now += days * 86_400
                with device.memory._core.change("correct", "Reviewed") as op:
                    memories.update(op.connection, device.facts()[0].rid, reviewed_at=int(device.now))
            settle([devices[first], devices[second], devices[2]])
            held.append({device.facts()[0].reviewed_at for device in devices})
    assert len(held[0]) == 1
    assert held[0] == held[1]


def test_what_is_joined_of_three_decisions_is_the_same_in_whatever_order_they_meet(
    beginning: Path, tmp_path: Path
) -> None:
    with three(beginning, tmp_path / "joined", 0) as (_, store, devices):
        laptop, desktop, server = devices
        settle(devices)
        first, second, third, *_ = (one.id for one in laptop.facts())

        def sync_without(device: SyncDevice, *hidden: str) -> None:
            store.hidden = {name for name in store.objects if name.startswith(hidden)} if hidden else set()
            device.sync()
            store.hidden = set()

        def written(device: SyncDevice) -> set[str]:
            return {name for name in store.objects if f"/{device.name}" in name}

        laptop.memory.review.merge(first, [second])
        laptop.sync()
        (operation,) = server.sync().operations
        server.memory.undo(operation.op_id)  # it knows of the laptop's decision
        desktop.now += 60
        desktop.memory.review.merge(first, [third])
        sync_without(desktop, "batches/laptop", "batches/server")
        before = written(server)
        sync_without(server, "batches/desktop")
        undone = written(server) - before
        server.sync()
        late = written(server) - before - undone
        sync_without(desktop, "batches/server")
        store.hidden = late
        laptop.sync()
        store.hidden = set()
        settle(devices)
        assert len({device.hash() for device in devices}) == 1


def test_deciding_again_answers_the_card_on_every_device(beginning: Path, tmp_path: Path) -> None:
    with three(beginning, tmp_path / "again", 0) as (_, _, devices):
        laptop, desktop, _ = devices
        settle(devices)
        fact, other = laptop.facts()[:2]
        for one in (fact, other):
            laptop.memory.forget(one.id)
            desktop.memory.confirm(one.id)
        settle(devices)
        assert len(_open_cards(desktop)) == 2
        desktop.now += 60
        (desktop.memory.restore if desktop.facts("is:trash") else desktop.memory.forget)(fact.id)
        assert [card.payload["memory"] for card in _open_cards(desktop)] == [other.id]
        settle(devices)
        for device in devices:
            assert [card.payload["memory"] for card in _open_cards(device)] == [other.id]
        desktop.memory.undo()
        settle(devices)
        assert {len(_open_cards(device)) for device in devices} == {2}


def test_what_is_erased_after_a_sync_was_cut_off_is_sent_by_the_next(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with three(beginning, tmp_path / "cut-off", 0) as (_, _, devices):
        laptop = devices[0]
        settle(devices)
        fact, other = laptop.facts()[:2]
        laptop.memory.tag(other.id, add=["x"])
        with monkeypatch.context() as patched:  # the batch is there, and the file does not know
            patched.setattr(Replica, "_note_written", lambda *given: (_ for _ in ()).throw(Crash))
            with pytest.raises(Crash):
                laptop.sync()
        laptop.memory.files.erase(laptop.memory.files.plan_erase([fact.id]))
        settle(devices)
        for device in devices:
            assert fact.id not in device.known()
        assert len({device.hash() for device in devices}) == 1


def test_a_new_device_reads_a_snapshot_and_old_batches_go(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.sync.replica.TELL_EVERY", 2)
    with three(beginning, tmp_path / "snap", 0) as (_, store, devices):
        laptop, desktop, server = devices
        for number in range(5):
            laptop.memory.remember(f"The user owns the thing number {number}")
            settle([laptop, desktop])
        laptop.memory.undo()
        settle([laptop, desktop])
        before = len(_batches(store, "laptop"))
        core = laptop.memory._core
        assert Replica(core.connections, core.clock, store, PlainSealer()).write_snapshot() > 4
        assert len(_batches(store, "laptop")) < before
        report = server.sync()
        assert report.problems == ()
        assert server.hash() == laptop.hash()
        assert server.sync().received == 0
        server.memory.remember("The user owns a boat")
        settle(devices)
        assert len({device.hash() for device in devices}) == 1


def test_snapshots_bound_what_is_in_the_store(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.sync.replica.SNAPSHOT_EVERY", 4)
    monkeypatch.setattr("memtui.engine.sync.replica.TELL_EVERY", 2)
    with three(beginning, tmp_path / "bound", 0) as (_, store, devices):
        laptop, desktop, server = devices
        desktop.sync()  # it has written nothing, and must not be forgotten
        for number in range(9):
            laptop.memory.remember(f"The user owns the thing number {number}")
            laptop.sync()
        assert len(_batches(store, "laptop")) >= 9
        settle([laptop, desktop])
        for number in range(9):
            laptop.memory.remember(f"The user owns the other thing number {number}")
            settle([laptop, desktop])
        assert len(_batches(store, "laptop")) < 12
        settle(devices)
        assert len({device.hash() for device in devices}) == 1
        assert len(server.facts()) == 23


def test_what_was_erased_is_in_no_batch(beginning: Path, tmp_path: Path) -> None:
    import zlib

    with three(beginning, tmp_path / "erase", 0) as (_, store, devices):
        laptop, desktop, _ = devices
        laptop.memory.remember("The user owns a purple submarine")
        settle(devices)
        (fact,) = (one for one in desktop.facts() if "submarine" in one.content)
        desktop.memory.files.erase(desktop.memory.files.plan_erase([fact.id]))
        settle(devices)
        for device in devices:
            assert not any("submarine" in one.content for one in device.facts("is:active,trash"))
        for name, data in store.objects.items():
            assert not data or b"submarine" not in zlib.decompress(data[32:]), name
        assert len({device.hash() for device in devices}) == 1


def test_pruned_history_is_sent_whole(beginning: Path, tmp_path: Path) -> None:
    with three(beginning, tmp_path / "pruned", 0) as (_, _, devices):
        laptop, desktop, _ = devices
        settle(devices)
        laptop.memory.remember("The user owns a boat")
        laptop.now += 200 * 86_400
        laptop.memory.remember("The user owns a horse")
        history.forget_old_operations(laptop.memory._core.connections, laptop.now)
        report = laptop.sync()
        assert any("history" in note for note in report.notes)
        settle(devices)
        assert laptop.hash() == desktop.hash()


def test_two_devices_that_consolidate_a_session_make_the_same_facts(beginning: Path, tmp_path: Path) -> None:
    with three(beginning, tmp_path / "jobs", 0) as (_, _, devices):
        laptop, desktop, server = devices
        settle(devices)
        for text in (
            "I am allergic to walnuts.",
            "I moved to Bergen in May.",
            "My sister is called Dora Pell.",
        ):
            laptop.memory.record_turn("s1", "user", text)
        settle(devices)
        for device in (laptop, desktop):
            device.now += 86_400 + 60 * len(device.name)
            asyncio.run(device.memory.consolidate("s1"))
        made = [{one.id for one in device.facts()} for device in devices]
        assert made[0] == made[1]
        assert len(made[0]) > len(made[2])
        settle(devices)
        assert {one.id for one in server.facts()} == made[0]
        assert len({device.hash() for device in devices}) == 1
        assert not any(device.memory.pending_sessions() for device in devices)


def test_two_devices_that_import_the_same_file_have_each_turn_once(beginning: Path, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    turns = (
        f'{{"role": "user", "content": "Turn {n} about the harbour", "timestamp": {1_690_000_000 + n}}}'
        for n in range(5)
    )
    file.write_text("\n".join(turns) + "\n", encoding="utf-8")
    with three(beginning, tmp_path / "imports", 0) as (_, _, devices):
        settle(devices)
        for device in devices[:2]:
            device.now += 86_400
            device.memory.files.import_paths([file])
        settle(devices)
        assert len({device.hash() for device in devices}) == 1
        assert {len(device.memory.view.page("kind:episode")) for device in devices} == {5}


def test_facts_only_leaves_turns_where_they_are(beginning: Path, tmp_path: Path) -> None:
    with three(beginning, tmp_path / "facts", 0) as (_, store, devices):
        laptop, desktop, _ = devices
        laptop.memory.record_turn("s1", "user", "I am allergic to walnuts")
        laptop.memory.remember("The user owns a boat")
        laptop.memory.sync.run_with(store, PlainSealer(), facts_only=True)
        desktop.sync()
        assert "The user owns a boat" in {one.content for one in desktop.facts()}
        assert not desktop.memory.view.page("kind:episode")


def _twin_of(device: SyncDevice, store: DictStore) -> SyncDevice:
    """A copy of a device's file that goes on under the same name, as one does that its machine does not know for a copy."""
    device.memory.close()
    copy(device.place / f"{device.name}.db", device.place / "twin.db")
    device.memory = device._open()
    twin = SyncDevice(device.place, "twin", device.dice, store, (0,))
    twin.call(device.id())
    return twin


def _as_in_the_way(devices: Sequence[SyncDevice], twin: SyncDevice, store: DictStore) -> None:
    """The name of its next batch is taken when it puts that."""
    devices[0].sync()


def _as_cut_off(devices: Sequence[SyncDevice], twin: SyncDevice, store: DictStore) -> None:
    """It was killed before it put its batch, and the other one put another of this name."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "put_if_absent", lambda *given: (_ for _ in ()).throw(Crash))
        with pytest.raises(Crash):
            twin.sync()
    twin.reopen()
    twin.call(devices[0].id())
    devices[0].sync()


def _as_others_say(devices: Sequence[SyncDevice], twin: SyncDevice, store: DictStore) -> None:
    """Others say that they have read more of it than it wrote; its next name is free, as a snapshot has what had it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("memtui.engine.sync.replica.SNAPSHOT_EVERY", 1)
        patched.setattr("memtui.engine.sync.replica.TELL_EVERY", 1)
        for number in range(4):
            devices[0].memory.remember(f"The user owns the thing number {number}")
            for device in devices:
                device.sync()
    assert f"batches/{twin.id()}/0000000002" not in store.objects


@pytest.mark.parametrize("way", [_as_in_the_way, _as_cut_off, _as_others_say])
def test_two_copies_that_write_under_one_name_are_told_apart_and_nothing_is_lost(
    beginning: Path, tmp_path: Path, way: Any
) -> None:
    with three(beginning, tmp_path / "twice", 0) as (_, store, devices):
        laptop = devices[0]
        settle(devices)
        twin = _twin_of(laptop, store)
        try:
            laptop.memory.remember("The user owns a boat")
            twin.memory.remember("The user owns a horse")
            way(devices, twin, store)
            (problem,) = twin.sync().problems
            assert (problem.kind, problem.device) == ("twice", laptop.id())
            assert twin.id() in problem.message
            assert twin.id() != laptop.id()
            settle([*devices, twin])
            assert len({device.hash() for device in (*devices, twin)}) == 1
            assert {"The user owns a boat", "The user owns a horse"} <= {one.content for one in twin.facts()}
        finally:
            twin.memory.close()


def test_what_is_decided_about_a_turn_that_is_here_under_another_id_is_about_that_turn(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions before gave each import of a file ids of its own. What they are called here must outlive the sync."""
    file = tmp_path / "talk.jsonl"
    file.write_text(
        '{"role": "user", "content": "Something about the harbour", "timestamp": 1690000000}\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(memories, "derived_id", lambda kind, *made_of: memories.new_id(kind))
    with three(beginning, tmp_path / "ids", 0) as (_, _, devices):
        laptop, desktop, _ = devices
        for device in (laptop, desktop):
            device.memory.files.import_paths([file])
        settle(devices)
        (turn,) = laptop.memory.view.page("kind:episode")
        (before,) = desktop.memory.view.page("kind:episode")
        assert turn.id != before.id
        desktop.reopen()
        laptop.memory.tag(turn.id, add=("sea",))
        settle(devices)
        (here,) = desktop.memory.view.page("kind:episode")
        assert (here.id, here.tags) == (before.id, ("sea",))
