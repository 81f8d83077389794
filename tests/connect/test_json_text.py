"""Setting one value in the text of a JSON file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.connect.json_text import set_value

LAID_OUT_BY_HAND = """{
    "numStartups": 1e3,   "tips": {"a":1,"b" : [ ] },
    "mcpServers": {
        "other": {"command": "x"}
    },
    "last": 12345678901234567890.125
}
"""


def test_a_new_member_is_laid_out_as_its_neighbours_and_nothing_else_moves() -> None:
    assert set_value(
        LAID_OUT_BY_HAND, ("mcpServers", "memtui"), {"command": "m"}
    ) == LAID_OUT_BY_HAND.replace(
        '"other": {"command": "x"}\n',
        '"other": {"command": "x"},\n        "memtui": {\n            "command": "m"\n        }\n',
    )


def test_what_is_there_is_replaced_where_it_stands() -> None:
    changed = set_value(LAID_OUT_BY_HAND, ("mcpServers", "other", "command"), "y")
    assert changed == LAID_OUT_BY_HAND.replace('"x"', '"y"')


@pytest.mark.parametrize("text", ["", " \n", "{}", "{ }", "{\n}\n"])
def test_an_empty_file_becomes_an_object(text: str) -> None:
    assert set_value(text, ("a", "b"), 1).rstrip() == '{\n  "a": {\n    "b": 1\n  }\n}'


def test_objects_on_one_line_stay_on_it() -> None:
    assert set_value('{"a": {"x": 1}}', ("a", "b"), [1, "é"]) == '{"a": {"x": 1, "b": [1, "é"]}}'


@pytest.mark.parametrize("text", ["[]", "nope", '{"a": 1,}', '{"a": 1} x', '{"a": [1]}', '"x"', "{"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        set_value(text, ("a", "b"), 1)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("abc"), values)),
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc")),
    values,
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_only_the_named_value_changes(
    document: dict[str, dict[str, Any]], path: tuple[str, str], value: Any, indent: int | str | None
) -> None:
    changed = set_value(json.dumps(document, indent=indent), path, value)
    document.setdefault(path[0], {})[path[1]] = value
    assert json.loads(changed) == document
    assert set_value(changed, path, value) == changed
