"""A full-text index lets go of what was deleted from it: then it is, byte by byte, one that never had it."""

from __future__ import annotations

import hashlib
import random

import apsw
import pytest
from memtui.engine.store import full_text

WORDS = [f"w{number:03}" for number in range(400)]
MADE = """
CREATE TABLE IF NOT EXISTS texts(rid INTEGER PRIMARY KEY, content);
CREATE VIRTUAL TABLE {name} USING fts5(content, content='texts', content_rowid='rid', tokenize='porter unicode61');
INSERT INTO {name}({name}, rank) VALUES ('automerge', 0);
INSERT INTO {name}({name}, rank) VALUES ('pgsz', {page});
"""


def only(rid: int) -> str:
    """The word that this text alone has. It shares no more than its first letters with another, which an index leaves out."""
    return f"{rid:03}{hashlib.sha1(str(rid).encode()).hexdigest()}"[::-1]


class Index:
    """An index that grows as chance has it, of small pages and with merges of every kind in between."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.connection = apsw.Connection(":memory:")
        self.page = self.dice.choice([64, 200, 4050])
        self.connection.execute(MADE.format(name="grown", page=self.page))
        self.texts: dict[int, str] = {}
        self.newest = 0

    def grow(self) -> None:
        step = self.dice.choice([self.add, self.add, self.add, self.delete, self.merge, self.merge])
        with self.connection:
            step()

    def add(self) -> None:
        for _ in range(self.dice.choice([1, 1, 2, 5, 40])):
            self.newest += 1
            text = " ".join([*self.dice.choices(WORDS, k=self.dice.randint(1, 30)), only(self.newest)])
            self.texts[self.newest] = text
            self.connection.execute("INSERT INTO texts VALUES (?, ?)", (self.newest, text))
            self.connection.execute("INSERT INTO grown(rowid, content) VALUES (?, ?)", (self.newest, text))

    def delete(self) -> None:
        number = min(len(self.texts), self.dice.choice([1, 1, 3, 20, 100]))
        for rid in self.dice.sample(sorted(self.texts), number):
            text = self.texts.pop(rid)
            self.connection.execute(
                "INSERT INTO grown(grown, rowid, content) VALUES ('delete', ?, ?)", (rid, text)
            )
            self.connection.execute("DELETE FROM texts WHERE rid = ?", (rid,))

    def merge(self) -> None:
        pages = self.dice.choice([1, 2, 5, 16, 64, -1, -3, -500])
        self.connection.execute("INSERT INTO grown(grown, rank) VALUES ('merge', ?)", (pages,))

    def pages(self, name: str = "grown") -> list[bytes]:
        """The pages of all segments, in their order."""
        rows = self.connection.execute(f"SELECT block FROM {name}_data WHERE id > 10 ORDER BY id")
        return [block for (block,) in rows]

    def anew(self, name: str, parts: int) -> list[bytes]:
        """The pages of an index of the texts that are left, written at once or merged from several parts."""
        self.connection.execute(MADE.format(name=name, page=self.page))
        for part in range(parts):
            with self.connection:
                for rid in sorted(self.texts)[part::parts]:
                    self.connection.execute(
                        f"INSERT INTO {name}(rowid, content) VALUES (?, ?)", (rid, self.texts[rid])
                    )
        self.connection.execute(f"INSERT INTO {name}({name}) VALUES ('optimize')")
        return self.pages(name)


@pytest.mark.parametrize("seed", range(60))
def test_an_index_that_let_go_is_one_that_never_had_it(seed: int) -> None:
    index = Index(seed)
    for _ in range(index.dice.randint(3, 40)):
        index.grow()
    with index.connection:
        if seed % 2:  # else all that is to go was deleted long ago
            index.delete()
        full_text.forget_deleted(index.connection, "grown")
    assert index.pages() in (index.anew("at_once", 1), index.anew("merged", 2))


@pytest.mark.parametrize("seed", range(60))
def test_it_lets_go_in_small_steps_while_others_write(seed: int) -> None:
    index = Index(seed)
    for _ in range(index.dice.randint(3, 40)):
        index.grow()
    if seed % 2:
        with index.connection:
            index.delete()
    gone = [only(rid)[-20:].encode() for rid in range(1, index.newest + 1) if rid not in index.texts]
    forgetting, steps, more = full_text.DeletedRowPurge("grown", 2), 0, True
    while more:
        with index.connection:
            more = forgetting.step(index.connection)
        steps += 1
        if steps < 60 and steps % 3 == 0:
            with index.connection:
                index.add()
        assert steps < 20_000
    pages = b"".join(index.pages())
    assert not [word for word in gone if word in pages]
    assert all(only(rid)[-20:].encode() in pages for rid in index.texts)
    index.connection.execute("INSERT INTO grown(grown, rank) VALUES ('integrity-check', 1)")
