"""The entity retriever orders what an entity is linked to as if it had looked at all of it."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memtui.engine.search.filters import compiler
from memtui.engine.search.retrievers import entity
from memtui.engine.search.scope import make_scope
from shelf import NOW, Book

from sizes import examples

NAMES = ("Ada", "Bosse", "Chen")


@settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    links=st.lists(
        st.tuples(st.sets(st.sampled_from(NAMES)), st.integers(0, 5), st.booleans()), min_size=4, max_size=14
    ),
    asked=st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
    merged=st.booleans(),
    expression=st.sampled_from(["", "tag:few", "is:trash"]),
    limit=st.integers(1, 6),
)
def test_the_first_ones_are_the_first_of_all(
    book: Book,
    links: list[tuple[set[str], int, bool]],
    asked: list[str],
    merged: bool,
    expression: str,
    limit: int,
) -> None:
    with book.writing() as connection:
        connection.execute("DELETE FROM memories")
        connection.execute("UPDATE entities SET merged_into = NULL")
    for number, (about, at, few) in enumerate(links):
        one = book.add(f"m{number}", at=NOW + at, about=sorted(about), tags=["few"] if few else [])
        if number % 5 == 4:
            book.forget(one)
    if merged:
        with book.writing() as connection:
            connection.execute(
                "UPDATE entities SET merged_into = (SELECT eid FROM entities WHERE canonical_name = 'Ada') "
                "WHERE canonical_name = 'Chen' AND EXISTS (SELECT 1 FROM entities WHERE canonical_name = 'Ada')"
            )
    wanted = entity.entities_named(book.connection, " and ".join(asked))
    if not wanted:
        return
    within = make_scope(compiler.compile_filter(expression, NOW))
    found = entity.linked_memories(book.connection, wanted, within, limit)
    everything = entity.linked_memories(book.connection, wanted, within, 100)
    assert found == everything[:limit]
    places = {one.rid: entity.entity_rank(book.connection, wanted, within, one.rid) for one in everything}
    assert list(places.values()) == [(one, at) for at, one in enumerate(everything)]


def test_what_two_are_linked_to_comes_before_the_newest_of_one(book: Book) -> None:
    common = [book.add(f"m{number}", at=NOW + number, about=["Ada"]).rid for number in range(50)]
    rare = book.add("rare", at=NOW - 10, about=["Ada", "Bosse"])
    wanted = entity.entities_named(book.connection, "Ada and Bosse")
    within = make_scope(compiler.compile_filter("", NOW))
    first, *rest = entity.linked_memories(book.connection, wanted, within, 5)
    assert (first.rid, {one.name for one in first.entities}) == (rare.rid, {"Ada", "Bosse"})
    assert [one.rid for one in rest] == common[:-5:-1]
