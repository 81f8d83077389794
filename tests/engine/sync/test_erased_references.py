"""What stays names nothing that was erased, in whichever order a device hears of the two.

Must fail on: a reference that comes after the erase, or that stands here before it.
"""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest
from machines import Machines
from memtui import Memory
from memtui.engine.store import proposals, stamps, tombstones
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.sync.incoming import Incoming
from memtui.engine.sync.lines import ErasedLine, SyncLine, TombstonesLine

OLD, NEW = "The user lives in Oslo", "The user lives in Bergen"


def _erase_on_laptop(machines: Machines, id: str) -> None:
    laptop = machines.on("laptop")
    assert laptop.files.erase(laptop.files.plan_erase([id])).complete
    laptop.sync.run()


def _are_one(machines: Machines) -> bool:
    return len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


def _references(memory: Memory) -> set[str]:
    (fact,) = memory.view.page("kind:fact")
    assert fact.content == NEW
    return {str(value) for value in fact.attributes.values()} | set(fact.source_ids)


def _correct_on_desktop(machines: Machines) -> str:
    """A fact that all have, and whose correction only the desktop and the store have; the id of the old text."""
    old = machines.on("laptop").remember(OLD).id
    machines.sync()
    machines.on("desktop").correct(old, NEW)
    machines.on("desktop").sync.run()
    return old


def test_a_correction_of_a_removed_device_that_comes_after_the_erase(machines: Machines) -> None:
    old = _correct_on_desktop(machines)
    device = machines.on("desktop").files.device()
    machines.on("server").sync.remove(device)
    with closing(machines.memories.pop("desktop")):
        _erase_on_laptop(machines, old)
        machines.sync(3)
        assert _are_one(machines)
        assert not any(old in _references(machines.on(name)) for name in machines.memories)


def test_a_correction_that_a_new_device_reads_which_never_had_the_old_text(machines: Machines) -> None:
    old = _correct_on_desktop(machines)
    _erase_on_laptop(machines, old)
    assert old not in _references(machines.add("phone"))
    machines.sync(3)
    assert _are_one(machines)
    assert not any(old in _references(machines.on(name)) for name in machines.memories)


def test_a_question_that_expects_what_was_erased_meanwhile(machines: Machines) -> None:
    old = machines.on("laptop").remember(OLD).id
    machines.sync()
    machines.on("desktop").questions.expect("Which town is home?", old)
    machines.on("desktop").sync.run()
    _erase_on_laptop(machines, old)
    machines.sync(3)
    assert _are_one(machines)
    for name in machines.memories:
        assert [one.expected for one in machines.on(name).questions.pinned()] == [()], name


@pytest.mark.parametrize("by", ["its id", "a hash of it"])
def test_the_erase_of_a_turn_that_never_left_the_device_it_was_said_on(machines: Machines, by: str) -> None:
    """Of a device that keeps its turns, the others have what was drawn from them."""
    laptop = machines.on("laptop")
    turn = laptop.record_turn("s1", "user", "I am allergic to walnuts.")
    asyncio.run(laptop.consolidate("s1"))
    laptop.questions.expect("What may the user not eat?", turn.id)
    laptop.sync.run(facts_only=True)
    server = machines.on("server")
    server.sync.run()
    (fact,) = server.view.page("kind:fact")
    assert fact.source_ids == (turn.id,)
    assert not server.view.page("kind:episode")
    salt = b"salt of the laptop"
    line: SyncLine = ErasedLine(names=(turn.id,))
    if by == "a hash of it":
        line = TombstonesLine(salts=(salt.hex(),), hashes=(tombstones.keys_hash(turn.id, salt).hex(),))
    with (
        OtherIds() as others,
        server._core.change("sync", "From the laptop") as operation,
        stamps.carrying_stamps(operation.connection),
    ):
        Incoming(others, 0).apply(operation.connection, [line])
    assert server.view.page("kind:fact")[0].source_ids == ()
    assert [one.expected for one in server.questions.pinned()] == [()]


def _ask_about_drawn(memory: Memory, of: str, drawn: list[str]) -> None:
    """The card that asks whether what was drawn from a corrected memory still holds, here of these."""
    card = proposals.identity(proposals.DEPENDENTS, of)
    payload = {
        "of": [of],
        "memories": drawn,
        "named": drawn,
        "summaries": {},
        "verb": "corrected",
        "who": "person",
    }
    with memory._core.change("correct", "Corrected") as operation:
        proposals.ask(operation.connection, card, proposals.DEPENDENTS, payload, 0)


def test_a_card_whose_memories_were_all_erased_here_stays_with_those_it_has_elsewhere(
    machines: Machines,
) -> None:
    corrected, kept, erased = (
        machines.on("laptop").remember(text).id
        for text in ("Dora Pell sings", "The choir has ten voices", "The rehearsal is on Monday")
    )
    machines.sync()
    _ask_about_drawn(machines.memories["server"], corrected, [kept, erased])
    _ask_about_drawn(machines.memories["laptop"], corrected, [erased])
    _erase_on_laptop(machines, erased)
    machines.sync(3)
    assert _are_one(machines)
    for memory in machines.memories.values():
        with memory._core.connections.read() as connection:
            (card,) = proposals.undecided_proposals(connection, proposals.DEPENDENTS)
        assert card.payload["memories"] == [kept]
