"""One verb, one key: what the action table and the person's keymap may and may not do."""

from __future__ import annotations

import re

import pytest
from memtui.ui.actions import ACTIONS, BY_ID, PANE_CONTEXTS, actions_at, footer_actions
from memtui.ui.keymap import Keymap, bindings_at, find_clashes, read_keymap


def test_no_key_has_two_meanings_in_one_place() -> None:
    assert find_clashes(Keymap()) == []


def test_a_second_meaning_of_a_key_is_found() -> None:
    assert find_clashes(Keymap({"tag": ("x",)})) == ["x would mean both forget and tag"]


def test_ids_are_unique_method_names_and_texts_are_complete() -> None:
    assert len(BY_ID) == len(ACTIONS)
    for action in ACTIONS:
        assert re.fullmatch(r"[a-z_]+", action.id)
        assert action.keys and action.where
        assert action.help.endswith(".") and len(action.label) <= 14


def test_a_key_keeps_its_verb_across_panes_where_the_verb_is_the_same() -> None:
    for label in {action.label for action in ACTIONS}:
        keys = {action.keys for action in ACTIONS if action.label == label and action.label != "filter"}
        assert len(keys) <= 1, label


@pytest.mark.parametrize("pane", PANE_CONTEXTS)
def test_every_pane_can_be_left_searched_undone_and_explained(pane: str) -> None:
    here = {action.id for action in actions_at("everywhere", "list", pane)}  # type: ignore[arg-type]
    assert {"help", "palette", "quit", "undo", "redo", "back", "jump"} <= here
    assert "filter" in here or "query" in here


def test_the_footer_ends_with_help_and_begins_with_the_filter() -> None:
    ids = [action.id for action in footer_actions("memories")]
    assert ids[0] == "filter"
    assert ids[-1] == "help"


def test_bindings_carry_the_action_id_so_that_a_keymap_can_move_them() -> None:
    binding = next(binding for binding in bindings_at("memories") if binding.key == "x")
    assert binding.id == "forget"
    assert binding.action == "perform('forget')"


def test_only_the_three_keys_that_work_everywhere_have_priority() -> None:
    priority = {binding.key for binding in bindings_at("everywhere") if binding.priority}
    assert priority == {"ctrl+p", "f1", "ctrl+q"}


def test_a_configured_key_replaces_the_keys_of_the_table() -> None:
    keymap, problems = read_keymap({"forget": "delete ctrl+k"})
    assert problems == []
    assert keymap.key_label(BY_ID["forget"]) == "delete"
    assert keymap.textual_keymap() == {"forget": "delete,ctrl+k"}


def test_two_actions_can_exchange_their_keys_one_after_the_other_only_without_a_clash() -> None:
    keymap, problems = read_keymap({"forget": "delete", "tag": "x"})
    assert problems == []
    assert keymap.key_label(BY_ID["tag"]) == "x"


@pytest.mark.parametrize(
    ("configured", "said"),
    [
        ({"fly": "z"}, "no action 'fly'"),
        ({"tag": ""}, "tag has no key"),
        ({"tag": "x"}, "x would mean both forget and tag"),
        ({"tag": "question_mark"}, "? would mean both"),
        ({"tag": "ctrl+m"}, "is the same as"),
        ({"tag": "g"}, "g would mean both"),
    ],
)
def test_a_bad_keymap_entry_is_left_out_and_said(configured: dict[str, str], said: str) -> None:
    keymap, problems = read_keymap(configured)
    assert keymap.moved == {}
    assert len(problems) == 1
    assert said in problems[0]
