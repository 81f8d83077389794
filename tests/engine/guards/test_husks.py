"""A text of which only a blacked-out secret is left says nothing; one that says something else beside it does."""

from __future__ import annotations

import pytest
from memtui.engine.guards.secrets import is_only_redactions


@pytest.mark.parametrize(
    "text",
    [
        "My token is [redacted: github token] use it for the release",
        "My token is [redacted: github token], use it for the release",
        "The wifi password is [redacted: password]",
        "Our card is [redacted: card number] (said 3 May 2026)",
        "User: ada, password [redacted: password].",
    ],
)
def test_a_husk(text: str) -> None:
    assert is_only_redactions(text)


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Oslo, and my wifi password is [redacted: password]",
        "The password is [redacted: password]. My sister is called Nadia.",
        "My sister is called Nadia",
        "use it",
    ],
)
def test_no_husk(text: str) -> None:
    assert not is_only_redactions(text)
