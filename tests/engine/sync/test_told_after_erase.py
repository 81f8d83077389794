"""What another device said of an erased text before it heard of the erase, and what came after it: gone everywhere.

The device that erased has no words of it left to look for, so the device that takes it along tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from machines import Machines
from memtui import Memory

WORD = "zxqvelvet"


def _told_between(machines: Machines, tell: Callable[[Memory], object]) -> None:
    """The laptop erases a fact; the server had told of it in another place, and sends that before it hears of the erase."""
    laptop = machines.on("laptop")
    fact = laptop.remember(f"Ada Lovell keeps her {WORD} gloves in the hall")
    laptop.remember("Ada Lovell lives in Paris", project="shop")
    machines.sync()
    for name in machines.memories:
        machines.on(name).models.index_pending()
    machines.sync()
    server = machines.on("server")
    tell(server)
    server.sync.run()
    laptop = machines.on("laptop")
    assert laptop.files.erase(laptop.files.plan_erase([fact.id])).complete
    laptop.sync.run()


def _rows_with_word(memory: Memory) -> list[str]:
    """The tables of a file, history among them, that have the word."""
    with memory._core.connections.read() as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall()
        return [
            str(table)
            for (table,) in tables
            for row in connection.execute(f"SELECT * FROM {table}").fetchall()
            if WORD in repr(row).casefold()
        ]


def _rename(memory: Memory) -> None:
    (ada,) = [one for one in memory.entities.page() if one.canonical_name == "Ada Lovell"]
    memory.entities.rename(ada.id, f"Lady {WORD.title()}")


def _tag(memory: Memory) -> None:
    (home,) = memory.view.page("kind:fact Paris")
    memory.tag(home.id, add=[WORD])


def _import_talk(memory: Memory) -> None:
    said = {
        "uuid": "m1",
        "sender": "human",
        "text": "Is it cold today?",
        "created_at": "2026-03-01T10:00:00Z",
    }
    talk = {
        "uuid": "t1",
        "name": f"The {WORD} gloves",
        "created_at": said["created_at"],
        "chat_messages": [said],
    }
    place = Path(memory.path).with_name("conversations.json")
    place.write_text(json.dumps([talk]))
    memory.files.import_paths([place])
    place.unlink()


_PLACES: dict[str, Callable[[Memory], object]] = {
    "a name": _rename,
    "a note": lambda memory: memory.scratchpad.set("ask", f"whether {WORD} is expensive"),
    "a note by its key": lambda memory: memory.scratchpad.set(WORD, "buy"),
    "a question": lambda memory: memory.questions.pin(f"Who sells {WORD}?"),
    "a project": lambda memory: memory.remember("Paris is large", project=f"{WORD}-shop"),
    "a tag": _tag,
    "a title": _import_talk,
}


@pytest.mark.parametrize("place", _PLACES)
def test_what_was_told_before_the_erase_was_known_goes_everywhere(machines: Machines, place: str) -> None:
    _told_between(machines, _PLACES[place])
    assert _rows_with_word(machines.on("laptop"))  # it came after the erase
    machines.sync(3)
    assert {name: _rows_with_word(machines.on(name)) for name in machines.memories} == {
        name: [] for name in machines.memories
    }
    assert machines.hold(WORD.encode()) == []
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


def test_a_note_that_was_written_anew_meanwhile_stays(machines: Machines) -> None:
    _told_between(machines, lambda memory: memory.scratchpad.set("ask", f"whether {WORD} is expensive"))
    machines.on("laptop").scratchpad.set("ask", "whether silk is expensive")
    machines.sync(3)
    for name in machines.memories:
        note = machines.on(name).scratchpad.get("ask")
        assert note is not None
        assert note.value == "whether silk is expensive", name
        assert "scratchpad" not in _rows_with_word(machines.on(name)), name
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


def test_a_fact_with_the_same_word_stays_with_its_words(machines: Machines) -> None:
    _told_between(machines, lambda memory: memory.remember(f"The {WORD} gloves are sold"))
    machines.sync(3)
    for name in machines.memories:
        (sold,) = machines.on(name).view.page("kind:fact sold")
        assert sold.content == f"The {WORD} gloves are sold", name


def test_what_was_taken_back_and_is_here_again_outlives_the_erase_of_the_other_text(
    machines: Machines,
) -> None:
    """It is back under another key of the file, and history has it under the first one as well."""
    tea = machines.on("desktop").remember("The user likes tea")
    machines.sync()
    desktop = machines.on("desktop")
    coffee = desktop.correct(tea.id, "The user likes coffee")
    (corrected,) = [one for one in desktop.view.operations() if one.kind == "correct"]
    desktop.sync.run()
    laptop = machines.on("laptop")
    laptop.sync.run()
    laptop.tag(coffee.id, add=["drinks"])
    desktop = machines.on("desktop")
    desktop.remember("The user owns a bike")  # so that the key is not given again
    desktop.undo(corrected.op_id)
    server = machines.on("server")
    assert server.files.erase(server.files.plan_erase([tea.id])).complete
    for name in ("laptop", "desktop", "server", "laptop", "desktop"):
        machines.on(name).sync.run()
    machines.sync(2)
    for name in machines.memories:
        held = {one.content for one in machines.on(name).view.page("kind:fact")}
        assert held == {"The user likes coffee", "The user owns a bike"}, name
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1
