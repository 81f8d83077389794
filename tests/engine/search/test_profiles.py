"""Profiles: two built in, others saved; numbers that cannot be used are refused."""

from __future__ import annotations

import math

import msgspec
import pytest
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import Profile
from memtui.engine.search import profiles
from shelf import Book, FakeEmbedder


def test_the_built_in_ones(book: Book) -> None:
    assert profiles.find_profile(book.connection, "default") == profiles.DEFAULT
    rrf = profiles.find_profile(book.connection, "rrf")
    assert (rrf.fusion, rrf.k, rrf.keyword, rrf.vector, rrf.entity) == ("rrf", 60, 1.0, 1.0, 1.0)


def test_a_saved_one_is_found_by_its_name_and_can_be_saved_again(book: Book) -> None:
    for vector in (0.2, 0.9):
        with book.writing() as connection:
            profiles.save(connection, Profile(name="mine", vector=vector))
        assert profiles.find_profile(book.connection, "mine").vector == vector
    assert profiles.profile_names(book.connection) == ["default", "rrf", "late", "mine"]


def test_an_unknown_name_lists_the_known_ones(book: Book) -> None:
    with pytest.raises(NotFoundError) as caught:
        profiles.find_profile(book.connection, "nope")
    assert "default, rrf, late" in caught.value.hint


def test_a_saved_one_that_cannot_be_read_is_said(book: Book) -> None:
    with book.writing() as connection:
        connection.execute("INSERT INTO profiles(name, settings) VALUES ('odd', '{\"k\": \"x\"}')")
    with pytest.raises(InputError, match="odd"):
        profiles.find_profile(book.connection, "odd")


@pytest.mark.parametrize(
    "profile",
    [
        Profile(keyword=-1.0), Profile(vector=math.nan), Profile(session=math.inf), Profile(floor=2.0), Profile(k=0),
        Profile(depth=0), Profile(depth=5_000),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_used_are_refused(book: Book, profile: Profile) -> None:
    with pytest.raises(InputError):
        profiles.find_profile(book.connection, profile)


@pytest.mark.parametrize("name", ["default", "rrf", "late", " "])
def test_built_in_names_cannot_be_taken(book: Book, name: str) -> None:
    with book.writing() as connection, pytest.raises(InputError):
        profiles.save(connection, Profile(name=name))


def test_a_persons_own_profile_stays_where_the_model_has_no_vectors_of_words(book: Book) -> None:
    """One that is tuned from the default has a weight for them; only the built-in one that needs them gives way."""
    book.add("Ada eats walnuts", embedder=FakeEmbedder())
    mine = msgspec.structs.replace(profiles.DEFAULT, name="mine", vector=0.5)
    with book.writing() as connection:
        profiles.save(connection, mine)
    assert profiles.configured_profile(book.connection, "mine") == (mine, "")
    assert profiles.configured_profile(book.connection, "late")[0] == profiles.DEFAULT
