"""What says the erased fact in other words stays, and is listed beside the plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare import update_model
from memtui.engine.errors import NotFoundError
from memtui.engine.records import Options
from memtui.engine.review import similar_memories

pytestmark = pytest.mark.usefixtures("near")

SALARY = "My salary is 84,000 euros"
PARAPHRASE = "The person's pay is €84,000 per annum"
OTHERS = (
    "The greenhouse is watered on Tuesdays", "Ada moved to Leeds in March", "I play the cello on Sundays",
    "The dentist is in Station Road",
)  # fmt: skip


@pytest.fixture(params=["offline", "off"])
def memory(request: pytest.FixtureRequest, home: Path) -> Iterator[Memory]:
    with Memory.open(home, options=Options(background=False, embedder=request.param)) as opened:
        yield opened


def test_an_agents_own_words_for_an_erased_fact_are_listed_and_stay(memory: Memory) -> None:
    fact = memory.remember(SALARY)
    said = memory.acting_as("agent:claude").remember(PARAPHRASE)
    for text in OTHERS:
        memory.remember(text)
    memory.models.index_pending()
    plan = memory.files.plan_erase([fact.id])
    assert [(one.key, one.outcome, one.choice, one.why) for one in plan.similar] == [
        (said.id, "kept", True, similar_memories.WHY)
    ]
    assert said.id not in plan.ids
    assert plan.memories == 1
    assert memory.files.erase(plan).complete
    assert memory.get(said.id).content == PARAPHRASE


def test_it_goes_as_well_once_its_key_is_given(memory: Memory) -> None:
    fact, said = memory.remember(SALARY), memory.remember(PARAPHRASE)
    plan = memory.files.plan_erase([fact.id], also=[said.id])
    assert plan.memories == 2
    assert plan.similar == ()
    assert memory.files.erase(plan).complete
    with pytest.raises(NotFoundError):
        memory.get(said.id)


def test_a_turn_that_says_it_is_listed_by_its_sentence(memory: Memory) -> None:
    fact = memory.remember("I am allergic to walnuts")
    answer = "Here is a recipe for banana bread. As you have a walnut allergy, I left the nuts out. Bake it for an hour."
    turn = memory.record_turn("s1", "assistant", answer)
    memory.models.index_pending()
    plan = memory.files.plan_erase([fact.id])
    assert [(one.key, one.title) for one in plan.similar] == [
        (turn.id, "As you have a walnut allergy, I left the nuts out.")
    ]


def test_of_an_erased_session_the_statements_are_looked_for(memory: Memory) -> None:
    memory.record_turn("talk", "user", f"Good morning! {SALARY}. Can you help me with the tax?")
    said = memory.remember(PARAPHRASE)
    memory.remember(OTHERS[0])
    memory.models.index_pending()
    plan = memory.files.plan_erase(session_id="talk")
    assert [one.key for one in plan.similar] == [said.id]


def test_what_is_in_the_trash_is_listed_too(memory: Memory) -> None:
    fact, said = memory.remember(SALARY), memory.remember(PARAPHRASE)
    memory.models.index_pending()
    memory.forget(said.id)
    assert [one.key for one in memory.files.plan_erase([fact.id]).similar] == [said.id]


def test_no_more_than_a_few_are_listed(memory: Memory) -> None:
    fact = memory.remember(SALARY)
    for number in range(30):
        memory.remember(f"The salary of {84_000 + number} euros is what the person earns")
    memory.models.index_pending()
    assert len(memory.files.plan_erase([fact.id]).similar) == similar_memories.MOST_LISTED


def test_what_became_similar_meanwhile_does_not_stop_an_erase(memory: Memory) -> None:
    fact = memory.remember(SALARY)
    plan = memory.files.plan_erase([fact.id])
    memory.remember(PARAPHRASE)
    assert memory.files.erase(plan).complete


def test_without_vectors_common_words_tell(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_model.UpdateModel, "available", lambda self: False)
    fact = memory.remember(SALARY)
    said = memory.remember("84,000 euros salary, the user says")
    memory.remember(OTHERS[0])
    assert [one.key for one in memory.files.plan_erase([fact.id]).similar] == [said.id]
