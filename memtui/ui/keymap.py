"""The keys of each action: from the action table, or from the person's configuration."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from textual.binding import Binding
from textual.keys import key_to_character

from .actions import (
    ACTIONS,
    BY_ID,
    PANE_CONTEXTS,
    PART_CONTEXTS,
    WHILE_TYPING,
    Action,
    ActionContext,
    actions_at,
)

# Terminals send these for Backspace, Tab, Enter and Enter.
UNSENDABLE = frozenset({"ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m"})
_SHOWN = {
    "escape": "Esc",
    "backspace": "Backspace",
    "enter": "Enter",
    "space": "Space",
    "comma": ",",
    "tab": "Tab",
    "shift+tab": "shift+Tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "f1": "F1",
}


# Where a key works, in words. A pane has its own name.
# A key that works in more places is named with some of them.
_MOST_PLACES = 5
# Places inside another one that such a message names, or that has the key too.
_INSIDE: frozenset[ActionContext] = frozenset({"mentions"})
_WHERE: dict[ActionContext, str] = {
    "everywhere": "in the tour",
    "list": "in a list",
    "text": "in a preview",
    "transcript": "in a conversation",
    "tuning": "while tuning in Search",
    "card": "on a card of Review",
    "profile": "in the profile of an entity",
    "portrait": "in You",
    "neighbours": "in the drawing of Entities",
    "grid": "in the timeline",
    "timeline": "in the timeline of Memories",
    "scratchpad": "in the scratchpad",
    "typing": "while you type",
    "filtering": "while you type a filter",
}


class Keymap:
    """The present keys. ``moved``: action id -> keys, only for actions that were moved."""

    def __init__(self, moved: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.moved = dict(moved or {})

    def keys(self, action: Action) -> tuple[str, ...]:
        return self.moved.get(action.id, action.keys)

    def key_label(self, action: Action) -> str:
        """The first key as a person reads it: ``/``, ``Space``, ``ctrl+r``."""
        return key_text(self.keys(action)[0])

    def key_label_while_typing(self, action: Action) -> str:
        """The key that works while typing: ``F1``, because ``?`` is text."""
        keys = self.keys(action)
        return key_text(next((key for key in keys if len(key) > 1), keys[0]))

    def no_effect_message(self, key: str) -> str:
        """The message for a key (by Textual's name) that does nothing here: where it would work."""
        named = [
            (action, typed) for action in ACTIONS for typed in self.keys(action) if _textual_key(typed) == key
        ]
        if not named:
            shown = key_text(key_to_character(key) or key)
            return f"{shown} does nothing here. {self.key_label(BY_ID['help'])} shows the keys."
        alike = [action for action, _ in named if action.label == named[0][0].label]
        return self.no_effect_message_of(*alike, shown=named[0][1])

    def no_effect_message_of(self, *actions: Action, shown: str = "") -> str:
        """The same message for actions of one name, whose key ``shown`` was pressed."""
        shown = shown or self.keys(actions[0])[0]
        places = [place for action in actions for place in action.where if place not in _INSIDE][
            :_MOST_PLACES
        ]
        first, *others = dict.fromkeys(_WHERE.get(one, f"in {one.capitalize()}") for one in places)
        *between, last = [first, *(one.removeprefix("in ") for one in others)]
        where = f"{', '.join(between)} and {last}" if between else last
        return f"{key_text(shown)} ({actions[0].label}) works {where}, not here."

    def textual_keymap(self) -> dict[str, str]:
        """The moved keys in the form that ``App.set_keymap`` takes."""
        return {action_id: ",".join(keys) for action_id, keys in self.moved.items()}


def _textual_key(key: str) -> str:
    """Textual's name for a key of the table, or for the second key of a chord."""
    return next(iter(Binding.make_bindings([Binding(key.rpartition(" ")[2], "")]))).key


def key_text(key: str) -> str:
    """``g g`` -> ``gg``, ``escape`` -> ``Esc``, ``x`` -> ``x``."""
    return _SHOWN.get(key, key.replace(" ", ""))


def default_key(action_id: str) -> str:
    """The default key of an action."""
    return Keymap().key_label(BY_ID[action_id])


def bindings_at(*places: ActionContext) -> list[Binding]:
    """The BINDINGS of a widget with these places; see ``perform_action``."""
    bindings = []
    for action in actions_at(*places):
        for key in action.keys:
            first, _, second = key.partition(" ")
            verb = "chord" if second else "perform"
            bindings.append(
                Binding(
                    first,
                    f"{verb}('{action.id}')",
                    action.label,
                    # A chord cannot be moved: Textual can only move single keys.
                    id=None if second else action.id,
                    show=False,
                    priority=key in WHILE_TYPING,
                )
            )
    return bindings


def find_clashes(keymap: Keymap) -> list[str]:
    """Keys with two meanings in one place, and keys that a terminal cannot send."""
    clashes: dict[str, None] = {}
    for pane in PANE_CONTEXTS:
        for part in PART_CONTEXTS:
            owner: dict[str, Action] = {}
            for action in actions_at("everywhere", part, pane):
                for key in keymap.keys(action):
                    first = key.partition(" ")[0]
                    other = owner.setdefault(first, action)
                    if other is not action:
                        clashes[f"{key_text(first)} would mean both {other.id} and {action.id}"] = None
                    if first in UNSENDABLE:
                        clashes[
                            f"{first} is the same as Backspace, Tab or Enter to a terminal ({action.id})"
                        ] = None
    return list(clashes)


def read_keymap(configured: Mapping[str, str]) -> tuple[Keymap, list[str]]:
    """The keymap of a configuration (action id -> ``x`` or ``x ctrl+k``), and its errors.

    An entry that names no action, has no key, or makes a key ambiguous is left out and reported.
    """
    keymap = Keymap()
    problems: list[str] = []
    for action_id, text in configured.items():
        keys = tuple(_normalise_key(key) for key in text.split())
        if action_id not in BY_ID:
            problems.append(f"keymap: there is no action {action_id!r}")
            continue
        if not keys:
            problems.append(f"keymap: {action_id} has no key")
            continue
        changed = Keymap({**keymap.moved, action_id: keys})
        worse = [clash for clash in find_clashes(changed) if clash not in find_clashes(keymap)]
        if worse:
            problems.append(f"keymap: {worse[0]}; {action_id} keeps its keys")
        else:
            keymap = changed
    return keymap, problems


def _normalise_key(key: str) -> str:
    """``question_mark`` -> ``?``: each key has one spelling, so that every clash is found."""
    if key == ",":
        return "comma"
    if key == "comma" or len(key) == 1:
        return key
    try:
        character = unicodedata.lookup(key.replace("_", " ").upper())
    except KeyError:
        return key
    return character if character.isprintable() and not character.isspace() else key
