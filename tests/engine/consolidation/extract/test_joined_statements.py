"""A sentence with two subjects gives two facts; one that cannot be understood in parts stays whole."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.joined_statements import split_joined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mia has swimming on Tuesdays at 16:00 and Leo has speech therapy on Thursdays at 14:30",
            ["Mia has swimming on Tuesdays at 16:00", "Leo has speech therapy on Thursdays at 14:30"],
        ),
        (
            "My son Leo is allergic to peanuts and my daughter Mia doesn't eat fish",
            ["My son Leo is allergic to peanuts", "My daughter Mia doesn't eat fish"],
        ),
        (
            "Karin has two cats and Tom is allergic to cats, so we'd better stay in a hotel",
            ["Karin has two cats", "Tom is allergic to cats, so we'd better stay in a hotel"],
        ),
        (
            "Mia geht dienstags schwimmen und Leo hat donnerstags Logopädie",
            ["Mia geht dienstags schwimmen", "Leo hat donnerstags Logopädie"],
        ),
        ("Ana tiene dos gatos y Luis es alérgico", ["Ana tiene dos gatos", "Luis es alérgico"]),
        (
            "I work at the library and my husband is a nurse",
            ["I work at the library", "My husband is a nurse"],
        ),
    ],
)
def test_two_subjects_are_two_statements(text: str, expected: list[str]) -> None:
    assert split_joined(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I have a dog and I walk him twice a day",
        "I live in Oslo and we love it",
        "Mia is eight and she has swimming on Tuesdays",
        "When my mum visits and Tom is away we order pizza",
        "Tom and Mia have the same teacher",
        "Ada is allergic to nuts and Ben is too",
        "We said that Leo is allergic to nuts and Mia hates fish",
        "I like tea and my coffee black",
        "Deploys are only on Wednesdays, the Tuesday and Thursday windows are gone",
        "Tom brings the kids on Mondays and I do Tuesdays and Thursdays",
        "My password is “Leo is great and Mia is better”",
    ],
)
def test_what_cannot_be_told_apart_stays_whole(text: str) -> None:
    assert split_joined(text) == [text]
