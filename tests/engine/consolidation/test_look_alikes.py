"""What looks like a change and is none has no card; what says that something changed keeps it."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.compare.conflicts import REPLACES, relation_between
from memtui.engine.consolidation.compare.look_alikes import looks_like_one
from memtui.engine.consolidation.compare.update_model import Statement, update_model


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("what if Marta left, who would train us", "Coach is Marta"),
        ("should I be asking the lodger for 140", "The lodger pays 110 a week"),
        ("made soda bread on Saturday for a change", "Bakes rye on Saturdays"),
        ("tomorrow's stand-up is at ten", "Team stand-up is at 9:30"),
        ("i read that the bank was hacked", "The mortgage is with Halden Bank"),
        ("my mate pulled out of the marathon", "Is training for the marathon"),
        ("Ines's best friend called off her wedding", "Sister Ines is engaged to Carl"),
        ("a los del segundo les suben a 610", "El alquiler son 570"),
        ("Liam got till May for his thesis", "The thesis is due in March"),
        ("pagamos 570 de alquiler por el piso", "El alquiler son 570"),
        ("my other sister moved from Leeds to Bristol", "Sister Maureen lives in Leeds"),
        ("my mother in law has moved to Gdynia", "Mother lives in Kraków"),
        ("meine Schwägerin hat bei der Sparkasse gekündigt", "Arbeitet bei der Stadtsparkasse"),
        ("a clerk from head office moved to another union", "Is the union clerk"),
        ("tomorrow only, standup is at 10", "Team standup is at 9:15"),
        ("este jueves no voy al gimnasio, estoy malo", "Gimnasio los martes y jueves"),
        ("hoffentlich macht die Kita erst um 17 Uhr zu", "Kita schließt um 16 Uhr"),
        ("greengrid sent me an ad, would they be cheaper than voltra?", "Electricity provider is Voltra"),
        ("return flight from lisbon leaves at 8:15", "Flight to Lisbon leaves at 6:40"),
    ],
)
def test_it_changes_nothing(new: str, old: str) -> None:
    assert looks_like_one(new, old)
    assert relation_between(new, old, judged=4.0).kind == "beside"
    assert relation_between(new, old, judged=4.0, likeliest=True).kind == "beside"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Marta left, Ruth is the coach now", "Coach is Marta"),
        ("Die Prüfung von ihr wurde verschoben, 8. Mai ist sie", "Die Prüfung ist am 24. April"),
        ("the lodger pays 140 from May", "The lodger pays 110 a week"),
        ("my friend got married", "My friend is single"),
        ("Liam does the feed out now, at eight", "Feed out is at 7"),
        ("moved my insulin, it's in the small fridge upstairs", "Insulin is in the hall fridge"),
    ],
)
def test_a_change_is_none_of_them(new: str, old: str) -> None:
    assert not looks_like_one(new, old)


def test_another_value_alone_has_to_be_likelier_than_a_change_that_is_said() -> None:
    old = "The garden costs 30 a year"
    assert relation_between("The allotment costs 40 a year", old, judged=REPLACES + 0.1).kind == "beside"
    assert relation_between("The garden went to 40 a year", old, judged=REPLACES + 0.1).kind == "conflict"


def test_a_high_score_says_more_than_that_no_word_is_shared() -> None:
    assert (
        relation_between("I eat chicken again since the summer", "Vegetarian", judged=2.0).kind == "conflict"
    )
    assert relation_between("I eat chicken again since the summer", "Vegetarian", judged=1.0).kind == "beside"
    assert relation_between("my boyfriend eats meat again", "Vegetarian", judged=2.0).kind == "beside"
    assert (
        relation_between("we moved grandma into a care home", "Grandma lives alone", judged=2.0).kind
        == "conflict"
    )
    assert relation_between("Tobi takes Synthroid now", "I take Synthroid", judged=2.0).kind == "beside"


@pytest.mark.parametrize(
    ("new", "old", "kind"),
    [
        ("The demo moved from 19 November to 26 November", "Oskar left in October", "beside"),
        (
            "The demo moved from 19 November to 26 November",
            "We show it in Trondheim on 19 November",
            "conflict",
        ),
        ("We switched from sqlite to postgres", "I drive a citroen berlingo", "beside"),
        ("We switched from sqlite to postgres", "The db is sqlite", "conflict"),
        ("The handover doc has to be done by 18 December", "0.8 degrees in January", "beside"),
        (
            "I make cyanotypes on the balcony, well now in the garden",
            "1,595, ground floor, little garden (4 by 5 m), gas hob but landlord will put in induction in spring",
            "beside",
        ),
        (
            "I make cyanotypes on the balcony, well now in the garden",
            "I make cyanotypes on the roof",
            "conflict",
        ),
    ],
)
def test_what_names_the_value_that_it_replaces_replaces_no_other_one(new: str, old: str, kind: str) -> None:
    odds = update_model().replacement_odds(Statement(new), [Statement(old)])[0]
    assert relation_between(new, old, judged=odds, likeliest=True, among_many=True).kind == kind
