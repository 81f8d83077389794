"""Who holds a role that one person holds: another name in it is a question for the person, nothing is replaced."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.conflicts import relation_between
from memtui.engine.records import Options

from clock import Clock

IDLE = 3_600


@pytest.mark.parametrize(
    ("new", "old", "role"),
    [
        ("Ingrid is my team lead now", "Jonas is my team lead", "team lead"),
        ("Ingrid is my team lead", "My team lead is Jonas", "team lead"),
        ("My new team lead is Ingrid", "Jonas is my team lead", "team lead"),
        ("Tom is our landlord", "Mrs Kay is our landlord", "landlord"),
        ("Dr Berg is my dentist", "Dr Holm is my dentist", "dentist"),
        ("Ingrid became my boss", "Jonas is my boss", "boss"),
        ("Ingrid is Anna's manager", "Jonas is Anna's manager", "manager"),
    ],
)
def test_another_name_in_a_role_is_a_conflict_that_never_decides_itself(
    new: str, old: str, role: str
) -> None:
    for first, second in ((new, old), (old, new)):
        standing = relation_between(first, second, correcting=True)
        assert (standing.kind, standing.reason, standing.strong) == ("conflict", f"a different {role}", False)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ingrid is my team lead", "Ingrid Berg is my team lead"),
        ("Ingrid is my team lead", "Jonas is my dentist"),
        ("Ingrid is Anna's boss", "Jonas is my boss"),
        ("Ingrid is no longer my boss", "Jonas is my boss"),
        ("Ingrid was my boss", "Jonas is my boss"),
        ("Ingrid is my former boss", "Jonas is my boss"),
        ("Ingrid is one of my managers", "Jonas is my manager"),
        ("Ingrid is my manager's wife", "Jonas is my manager"),
        ("Ingrid is my friend", "Jonas is my friend"),
        ("My team lead is on holiday until May", "Jonas is my team lead"),
        ("My dentist is at 9 on Friday", "Dr Holm is my dentist"),
        ("Pixel is my cat", "Rex is my cat"),
        ("She is my boss", "Jonas is my boss"),
    ],
)
def test_other_roles_other_owners_and_former_ones_stand_beside_each_other(new: str, old: str) -> None:
    assert relation_between(new, old).kind != "conflict"


def test_a_new_team_lead_waits_in_review_beside_the_old_one(tmp_path: Path) -> None:
    clock = Clock(1_760_000_000.0)
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        for session, said in (("s1", "Jonas is my team lead."), ("s2", "Ingrid is my team lead now.")):
            memory.record_turn(session, "user", said)
            clock.now += IDLE
            asyncio.run(memory.consolidate())
        facts = {fact.content: fact.confidence for fact in memory.view.page("kind:fact")}
        assert facts == {"Jonas is my team lead": 0.8, "Ingrid is my team lead now": 0.8}
        (card,) = [item for item in memory.review.items() if item.kind == "conflict"]
        assert card.reason.startswith("a different team lead")
