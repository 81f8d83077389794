"""Our hook among the hooks of a client: lists of groups for each event, in the shape that Claude Code began with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import formats, json_text
from .clients import Client, HookSettings


class _FoundHook(NamedTuple):
    """Our hook in a group of an event. ``alone``: the group has nothing else."""

    event: str
    group: int
    place: int
    hook: Mapping[str, Any]
    alone: bool


def with_hooks(text: str, client: Client, settings: HookSettings, line: str) -> str:
    """``text`` with our hook at each event, once. An older version of it is replaced where it stands.

    Raises ValueError if the text cannot be changed.
    """
    strict = settings.format == "json"
    ours = {"type": "command", "command": line, "timeout": settings.timeout}
    for event in settings.events:
        groups = _hook_groups(formats.load(settings.format, text), event)
        outdated = [one for one in _own_hooks(groups, event, client) if one.hook != ours]
        for one in outdated:
            path = ("hooks", event, one.group, "hooks", one.place)
            for key, value in ours.items():
                if one.hook.get(key) != value:
                    text = json_text.set_value(text, (*path, key), value, strict=strict)
        if not outdated and not any(_own_hooks(groups, event, client)):
            text = json_text.set_value(text, ("hooks", event, len(groups)), {"hooks": [ours]}, strict=strict)
    return text


def without_hooks(text: str, client: Client, settings: HookSettings) -> str:
    """``text`` without our hooks. Raises ValueError if the text cannot be changed."""
    while hook := next(_all_hooks(text, client, settings), None):
        path: tuple[str | int, ...] = ("hooks", hook.event, hook.group)
        if not hook.alone:
            path = (*path, "hooks", hook.place)
        text = json_text.remove(text, path, strict=settings.format == "json")
    return text


def hook_command(text: str, client: Client, settings: HookSettings) -> str | None:
    """The command line of our hook, None if there is none. Raises ValueError if the text cannot be read."""
    return next((str(one.hook["command"]) for one in _all_hooks(text, client, settings)), None)


def hook_events(text: str, client: Client, settings: HookSettings) -> set[str]:
    """The events at which our hook is called. Raises ValueError if the text cannot be read."""
    return {one.event for one in _all_hooks(text, client, settings)}


def _all_hooks(text: str, client: Client, settings: HookSettings) -> Iterator[_FoundHook]:
    hooks = formats.load(settings.format, text).get("hooks", {})
    for event in hooks if isinstance(hooks, dict) else ():
        if isinstance(hooks[event], list):
            yield from _own_hooks(hooks[event], event, client)


def _hook_groups(document: Mapping[str, Any], event: str) -> Sequence[Any]:
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("its hooks are not an object")
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise ValueError("the hooks of an event are not a list")
    return groups


def _own_hooks(groups: Sequence[Any], event: str, client: Client) -> Iterator[_FoundHook]:
    for at, group in enumerate(groups):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(hooks, list):
            continue
        for place, hook in enumerate(hooks):
            command = hook.get("command") if isinstance(hook, dict) else None
            if isinstance(command, str) and "memtui" in command and f" hook {client.name}" in command:
                yield _FoundHook(event, at, place, hook, alone=len(group) == len(hooks) == 1)
