"""What names tell a confined agent: of sessions with the same name, and of who the person says is who.

Each store is compared with one that never held what lies outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from door_kit import NOW, beside
from memtui import Memory
from memtui.engine.consolidation.extract.protocol import MOST_FACTS
from memtui.engine.records import Options
from memtui.engine.tools.registry import run_tool

from clock import Clock

SHOWN: dict[str, Any] = {"project": "work"}
LONG = "weekly planning " * 30


def _open() -> tuple[Memory, Clock]:
    clock = Clock(NOW)
    return Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")), clock


def _answers(
    build: Callable[[Memory, bool], None], probes: list[tuple[str, dict[str, Any]]], hidden: bool
) -> list[str]:
    store, clock = _open()
    with store:
        build(store, hidden)
        clock.now += 86_400
        agent, ids = beside(store, project="work"), dict[str, str]()
        texts = []
        for name, arguments in probes:
            clock.now += 1
            text = run_tool(agent, name, arguments).text
            texts.append(
                f"{name} {arguments} "
                + re.sub(
                    r"\b(fact|ep|obs|ref|ent)_[0-9a-f]{12}\b",
                    lambda id: ids.setdefault(id[0], f"ID{len(ids)}"),
                    text,
                )
            )
        return texts


def _same_as_without(build: Callable[[Memory, bool], None], probes: list[tuple[str, dict[str, Any]]]) -> None:
    for mine, other in zip(_answers(build, probes, True), _answers(build, probes, False), strict=True):
        assert mine == other


def _session_probes(*names: str) -> list[tuple[str, dict[str, Any]]]:
    probes: list[tuple[str, dict[str, Any]]] = [
        ("search_memory", {"query": "ledger roadmap market garden", "limit": 50}),
        ("recall_observations", {"query": "ledger roadmap market garden", "limit": 50}),
    ]
    for name in names:
        for tool in ("is_session_consolidated", "get_episodes_for_consolidation"):
            probes.append((tool, {"session_id": name}))
        probes.append(("get_context", {"prompt": "What of the ledger?", "session_id": name}))
        probes.append(("record_turn", {"session_id": name, "role": "user", "content": "The ledger is done"}))
        probes.append(("mark_session_consolidated", {"session_id": name}))
    return probes


def _notes_of_sessions(store: Memory, hidden: bool) -> None:
    """What is drawn from a session carries its name, too."""
    if hidden:
        store.record_turn("default", "user", "My biopsy is on Friday", project="health")
    store.record_turn(
        "default", "user", "I prefer the ledger in Postgres. I live in Ghent.", source="desk", **SHOWN
    )
    store.observations.remember_transcript("default (desk)" if hidden else "default", [])
    import asyncio

    asyncio.run(store.consolidate("default (desk)" if hidden else "default"))


def _second_source(store: Memory, hidden: bool) -> None:
    if hidden:
        store.record_turn("default", "user", "My biopsy is on Friday", source="phone", project="health")
    store.record_turn("default", "user", "The ledger needs an index", source="desk", **SHOWN)
    store.record_turn("default", "user", "The market wants a roadmap", source="web", **SHOWN)


def _both_taken(store: Memory, hidden: bool) -> None:
    """The plain name, and the one that is made of it, belong to others."""
    if hidden:
        store.record_turn("default", "user", "My biopsy is on Friday", project="health")
        store.record_turn("default (desk)", "user", "The doctor called", source="phone", project="health")
    store.record_turn("default", "user", "The ledger needs an index", source="desk", **SHOWN)


def _long_name(store: Memory, hidden: bool) -> None:
    if hidden:
        store.record_turn(LONG, "user", "My biopsy is on Friday", project="health")
    store.record_turn(LONG, "user", "The ledger needs an index", source="desk " * 40, **SHOWN)


def _name_with_brackets(store: Memory, hidden: bool) -> None:
    if hidden:
        store.record_turn(
            "notes (person)", "user", "My biopsy is on Friday", source="phone", project="health"
        )
    store.record_turn("notes (person)", "user", "The ledger needs an index", source="desk", **SHOWN)


def _many_of_the_name(store: Memory, hidden: bool) -> None:
    if hidden:
        store.record_turn("default", "user", "My biopsy is on Friday", project="health")
    store.record_turn("default", "user", "The ledger needs an index", source="desk", **SHOWN)
    for number in range(120):
        store.record_turn(
            f"default (part {number})", "user", f"The garden grows, {number}", source="web", **SHOWN
        )


def _titled(store: Memory, hidden: bool) -> None:
    if hidden:
        store.record_turn("s1", "user", "My biopsy is on Friday", project="health")
        with store._core.change("record", "Titled") as op:
            op.connection.execute("UPDATE sessions_consolidations SET title = 'default'")
    store.record_turn("s1", "user", "The ledger needs an index", **SHOWN)


@pytest.mark.parametrize(
    "build",
    [
        _notes_of_sessions,
        _second_source,
        _both_taken,
        _long_name,
        _name_with_brackets,
        _many_of_the_name,
        _titled,
    ],
)
def test_another_session_of_that_name_shows_nowhere(build: Callable[[Memory, bool], None]) -> None:
    _same_as_without(
        build, _session_probes("default", "default (desk)", LONG, LONG[:400], "notes (person)", "notes", "s1")
    )


def _entity_probes(*names: str) -> list[tuple[str, dict[str, Any]]]:
    return [("get_entity_info", {"name": name, "limit": 50}) for name in names] + [
        ("search_memory", {"query": name}) for name in names
    ]


def _merged(store: Memory, hidden: bool) -> None:
    store.remember("Robert Hansen wrote the ledger", **SHOWN)
    store.remember("Bobby Tables broke the ledger", **SHOWN)
    if hidden:
        store.entities.merge("Robert Hansen", "Bobby Tables")


def _shorter_name(store: Memory, hidden: bool) -> None:
    if hidden:
        store.remember("Selma Lund is my doctor in Turku", project="health")
        store.remember("Selma is a friend of Ines", project="health")
    store.remember("Selma Lund wrote the ledger in Turku", **SHOWN)
    store.remember("Ines and selma came to the standup", **SHOWN)


def _type_from_outside(store: Memory, hidden: bool) -> None:
    store.remember("We talked about Atlas with Mercury", **SHOWN)
    if hidden:
        for number in range(5):
            store.remember(f"My friend Atlas said hello to Dr. Mercury, {number}", project="health")
        store.entities.retype("Atlas", "organization")


def _renamed(store: Memory, hidden: bool) -> None:
    store.remember("Ada Lopez wrote the ledger", **SHOWN)
    store.remember("Ada Byron broke the ledger", **SHOWN)
    if hidden:
        store.entities.rename("Ada Lopez", "Countess Ada")
        store.entities.add_alias("Countess Ada", "Enchantress")


def _hidden_entity(store: Memory, hidden: bool) -> None:
    store.remember("Ada Lopez wrote the ledger with Grace Hopper", **SHOWN)
    if hidden:
        store.entities.not_an_entity("Ada Lopez")
        memory = store.view.page("kind:fact", limit=1)[0]
        store.entities.unlink(memory.id, "Grace Hopper")


def _linked(store: Memory, hidden: bool) -> None:
    store.remember("Ada Lopez wrote the ledger", **SHOWN)
    output = store.remember("The boss wants tea", **SHOWN)
    if hidden:
        store.entities.link(output.id, "Ada Lopez")


@pytest.mark.parametrize(
    "build", [_merged, _shorter_name, _type_from_outside, _renamed, _hidden_entity, _linked]
)
def test_what_the_person_decides_of_names_shows_nowhere(build: Callable[[Memory, bool], None]) -> None:
    names = ("Robert Hansen", "Bobby Tables", "bobby tables", "Selma", "selma", "Selma Lund", "Turku", "Ines", "Atlas",
             "Mercury", "Ada Lopez", "Ada Byron", "Countess Ada", "Enchantress", "Ada", "Grace Hopper", "ledger")  # fmt: skip
    _same_as_without(build, _entity_probes(*names))


def test_facts_of_another_scope_leave_room_for_those_of_this_one() -> None:
    store, _ = _open()
    with store:
        hidden = store.record_turn("default", "user", "My doctor is in Turku", project="health")
        shown = store.record_turn("default", "user", "The ledger needs an index", **SHOWN)
        facts = [
            {"content": f"Visit {number} was in Turku", "source_ids": [hidden.id]}
            for number in range(MOST_FACTS)
        ]
        other = beside(store, project="health")
        assert run_tool(other, "save_facts_batch", {"session_id": "default", "facts": facts}).ok
        one = [{"content": "The ledger needs an index", "source_ids": [shown.id]}]
        assert not run_tool(other, "save_facts_batch", {"session_id": "default", "facts": facts[:1]}).ok
        answer = run_tool(
            beside(store, project="work"), "save_facts_batch", {"session_id": "default", "facts": one}
        )
        assert answer.ok, answer.text


def _known(answers: list[str]) -> Iterator[str]:
    return (one for one in answers if '"error"' not in one)


def test_a_confined_agent_still_learns_who_is_named_in_its_scope() -> None:
    answers = _answers(_merged, _entity_probes("Robert Hansen", "bobby tables"), True)
    output = list(_known(answers))
    assert any(
        "get_entity_info" in one and "wrote the ledger" in one and '"type":"person"' in one for one in output
    )
    assert any(
        "get_entity_info" in one and "broke the ledger" in one and "wrote" not in one for one in output
    )
