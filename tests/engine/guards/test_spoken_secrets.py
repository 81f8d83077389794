"""Passwords, pins and door codes that are said in a sentence are found, in six languages; talk about them is not."""

from __future__ import annotations

import pytest
from memtui import Memory
from memtui.engine.guards.secrets import blank_secrets, find_secrets
from memtui.engine.records import Options
from spoken_secrets import NOT_SPOKEN, SPOKEN


@pytest.mark.parametrize("line", SPOKEN.strip().splitlines())
def test_what_is_said_is_found(line: str) -> None:
    text = line.replace("{", "").replace("}", "")
    said = [part.split("}")[0] for part in line.split("{")[1:]]
    for one in said[-1:]:
        start = line.replace("}", "").rindex("{" + one) - line.replace("}", "").count("{") + 1
        assert any(found.start <= start and start + len(one) <= found.end for found in find_secrets(text)), (
            find_secrets(text)
        )


@pytest.mark.parametrize("text", NOT_SPOKEN.strip().splitlines())
def test_talk_about_secrets_is_left_alone(text: str) -> None:
    assert [(one.kind, text[one.start : one.end]) for one in find_secrets(text)] == []


def test_blanks_keep_the_place_of_what_stands_beside() -> None:
    text = "the door code is 5512 and Ada knows it"
    assert blank_secrets(text) == "the door code is      and Ada knows it"


def test_no_name_is_read_out_of_a_secret() -> None:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as memory:
        memory.record_turn("s", "user", "My wifi password at home is Marigold-Kestrel7. Ask Ada Lovelace.")
        memory.record_turn("s", "user", "DB_PASSWORD='Rosamund#Pike9' and ask Grace Hopper")
        names = {one.canonical_name for one in memory.entities.page()}
        assert {"Ada Lovelace", "Grace Hopper"} <= names
        assert not any(part in name for name in names for part in ("Mari", "Kestrel", "Rosamund", "Pike")), (
            names
        )
