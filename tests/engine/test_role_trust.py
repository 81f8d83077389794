"""Whose words a role's are."""

from __future__ import annotations

import pytest
from memtui.engine.memories import validation
from memtui.engine.memory import Memory


@pytest.mark.parametrize(
    "role",
    [
        "asistant",
        "Assistant ",
        "assistent",
        "model",
        "bot",
        "chatgpt",
        "Claude",
        "AI",
        "gpt-4",
        "claude-3-opus",
    ],
)
def test_a_mistyped_or_renamed_assistant_is_not_taken_for_the_person(role: str) -> None:
    assert validation.trust_of_role(role, "person") == "agent"
    with Memory.open(":memory:") as memory:
        assert memory.record_turn("s", role, "Ada eats fish").trust == "agent"


@pytest.mark.parametrize("role", ["sytem", "system_prompt", "Tool", "tool:bash"])
def test_a_mistyped_tool_or_system_is_not_taken_for_the_person(role: str) -> None:
    assert validation.trust_of_role(role, "person") == "tool"


@pytest.mark.parametrize("role", ["Aunt Vera", "Sam", "Beatrix"])
def test_a_speakers_name_goes_as_far_as_the_actor(role: str) -> None:
    assert validation.trust_of_role(role, "person") == "user"
    assert validation.trust_of_role(role, "agent:x") == "agent"


def test_only_the_exact_role_of_the_person_counts_for_an_agent() -> None:
    assert validation.trust_of_role(" User ", "agent:x") == "user"
    assert validation.trust_of_role("user_2", "agent:x") == "agent"
