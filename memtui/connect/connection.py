"""A client and memtui: the edits that connect them and those that part them again, and how it is now."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from memtui.engine.errors import InputError
from memtui.engine.records import Record

from . import files, formats, hooks
from .clients import SERVER, Client, HookSettings, Machine
from .files import Edit
from .launch import LaunchCommand, Launched, RemoteServer, parse

HookState = Literal["on", "off", "outdated", "none"]
"""``outdated``: not at all events that this version uses. ``none``: the client has no hooks that fit."""
_EMPTY = ("", "{}")


class Connection(Record):
    """A client on this machine. ``launched``: what its entry says, None if it has none.

    ``program_gone``: the program that the entry starts is not there. ``problem``: why a file cannot be read.
    """

    client: str
    label: str
    file: Path
    found: bool
    launched: Launched | None = None
    hooks: HookState = "none"
    program_gone: bool = False
    problem: str = ""

    @property
    def is_connected(self) -> bool:
        return self.launched is not None


def edits_to_connect(client: Client, machine: Machine, call: LaunchCommand) -> list[Edit]:
    """The edits that put our server, and the hooks if ``call.hooked``, into the client's configuration.

    Other keys of an existing entry are kept. Raises InputError for a file that cannot be read or changed.
    """
    values = client.entry_values(*call.server_command())
    changes: dict[Path, list[Callable[[str], str]]] = {
        client.configuration_file(machine): [lambda text: _add_entry(client, text, values)]
    }
    if call.hooked and client.hooks:
        settings = client.hooks
        line = call.hook_line(client.name)
        changes.setdefault(settings.place.path_on(machine), []).append(
            lambda text: hooks.with_hooks(text, client, settings, line)
        )
    return [files.plan_edit(path, _chain_steps(steps)) for path, steps in changes.items()]


def edits_to_connect_remote(client: Client, machine: Machine, server: RemoteServer) -> list[Edit]:
    """The edits that put a memtui somewhere else into the client's configuration, without hooks.

    Raises InputError for a file that cannot be read or changed, and for a client whose file knows no address.
    """
    if client.remote is None:
        raise InputError(
            f"The configuration file of {client.label} cannot name a server at an address.",
            "Add the address in its settings, as a connector.",
        )
    values = client.remote_entry_values(server)
    return [
        files.plan_edit(client.configuration_file(machine), lambda text: _add_entry(client, text, values))
    ]


def edits_to_disconnect(client: Client, machine: Machine) -> list[Edit]:
    """The edits that take our server and hooks out again.

    A file that nothing else was changed in since gets the bytes that it had before; one with nothing left in it is
    removed. Raises InputError for a file that cannot be read or changed.
    """
    places = dict.fromkeys([client.configuration_file(machine)])
    if client.hooks:
        places[client.hooks.place.path_on(machine)] = None
    return [_edit_to_disconnect(client, path, machine) for path in places]


def connection_of(client: Client, machine: Machine) -> Connection:
    """How a client and memtui stand to each other now. It raises nothing: ``problem`` has what cannot be read."""
    file = client.configuration_file(machine)
    launched: Launched | None = None
    state: HookState = "none"
    problem = ""
    try:
        entry = _entry_of(client, _parse_configuration(client, file))
        if entry is not None:
            url = client.entry_address(entry)
            launched = Launched(program="", url=url) if url else parse(client.entry_command(entry))
        if client.hooks:
            state = _hook_state(client, client.hooks, machine)
    except InputError as error:
        problem = error.message
    return Connection(
        client=client.name, label=client.label, file=file, found=client.is_installed(machine), launched=launched,
        hooks=state, problem=problem,
        program_gone=bool(launched and launched.program and shutil.which(launched.program) is None),
    )  # fmt: skip


def _parse_configuration(client: Client, file: Path) -> dict[str, Any]:
    try:
        return formats.load(client.format, files.normalise_text(file))
    except (ValueError, RecursionError) as error:
        raise files.cannot_change(file, error) from error


def _hook_state(client: Client, settings: HookSettings, machine: Machine) -> HookState:
    file = settings.place.path_on(machine)
    try:
        events = hooks.hook_events(files.normalise_text(file), client, settings)
    except (ValueError, RecursionError) as error:
        raise files.cannot_change(file, error) from error
    if not events:
        return "off"
    return "on" if events >= {*settings.events} else "outdated"


def _entry_path(client: Client, document: dict[str, Any]) -> tuple[str, ...]:
    """Where our entry is in a document, or would be."""
    newer = formats.value_at(document, client.newer) if client.newer else None
    return (*client.newer, SERVER) if isinstance(newer, dict) and "type" not in newer else client.entry


def _entry_of(client: Client, document: dict[str, Any]) -> dict[str, Any] | None:
    for path in (_entry_path(client, document), client.entry):
        entry = formats.value_at(document, path)
        if isinstance(entry, dict):
            return entry
    return None


def _add_entry(client: Client, text: str, values: dict[str, Any]) -> str:
    document = formats.load(client.format, text)
    path = _entry_path(client, document)
    before = _entry_of(client, document) or {}
    if before and (client.entry_address(before) is None) != (client.entry_address(values) is None):
        what = "starts a program" if client.entry_address(values) else "has an address"
        raise ValueError(f"its entry for memtui {what}; memtui disconnect {client.name} removes it")
    if client.format != "toml":
        return formats.set_values(client.format, text, path, values)
    # There a table within the entry is a table of its own.
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    plain = {name: value for name, value in values.items() if name not in tables}
    text = formats.set_values(client.format, text, path, plain)
    for name, value in tables.items():
        text = formats.set_values(client.format, text, (*path, name), value)
    return text


def _remove_entry(client: Client, text: str, *, entry: bool, hook: HookSettings | None) -> str:
    if entry:
        for path in {_entry_path(client, formats.load(client.format, text)), client.entry}:
            text = formats.remove(client.format, text, path)
    return hooks.without_hooks(text, client, hook) if hook else text


def _edit_to_disconnect(client: Client, path: Path, machine: Machine) -> Edit:
    entry = path == client.configuration_file(machine)
    hook = client.hooks if client.hooks and path == client.hooks.place.path_on(machine) else None
    emptied = False

    def strip_memtui(text: str) -> str:
        nonlocal emptied
        stripped = _remove_entry(client, text, entry=entry, hook=hook)
        if stripped == text:
            return text
        for backup in map(_decode_text, files.earlier_texts(path)):
            if _reapply_to_backup(client, text, backup, entry=entry, hook=hook) == text:
                return backup
        emptied = stripped.strip() in _EMPTY
        return stripped

    edit = files.plan_edit(path, strip_memtui)
    gone = emptied and not path.is_symlink()
    return Edit(path=edit.path, before=edit.before, after=None) if gone else edit


def _reapply_to_backup(
    client: Client, text: str, backup: str, *, entry: bool, hook: HookSettings | None
) -> str | None:
    """``backup`` with what ``text`` has of us. None if it has something of us already, or cannot be changed."""
    try:
        if _remove_entry(client, backup, entry=entry, hook=hook) != backup:
            return None
        values = _entry_of(client, formats.load(client.format, text)) if entry else None
        again = _add_entry(client, backup, values) if values else backup
        line = hooks.hook_command(text, client, hook) if hook else None
        return hooks.with_hooks(again, client, hook, line) if hook and line else again
    except (ValueError, RecursionError):
        return None


def _decode_text(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _chain_steps(steps: list[Callable[[str], str]]) -> Callable[[str], str]:
    def apply_steps(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return apply_steps


def connection_json(one: Connection) -> dict[str, Any]:
    """What is known of a client, flat, for scripts."""
    said = one.launched
    return {
        "client": one.client, "label": one.label, "file": str(one.file), "found": one.found,
        "connected": one.is_connected, "agent": said and said.agent, "memory": said and said.memory,
        "url": said and said.url, "project": said and said.project, "filter": said and said.filter, "tools": said and said.tools,
        "readonly": bool(said and said.readonly), "program": said and said.program, "program_gone": one.program_gone,
        "hooks": one.hooks, "problem": one.problem,
    }  # fmt: skip


def texts_we_wrote(client: Client, machine: Machine) -> frozenset[str]:
    """The texts in its configuration that are ours. Raises InputError for a file that cannot be read."""
    entry = _entry_of(client, _parse_configuration(client, client.configuration_file(machine))) or {}
    words = {*client.entry_command(entry), *map(str, client.fixed.values()), "command"}
    if client.remote and (url := client.entry_address(entry)):
        words |= {url, *map(str, client.remote.fixed.values())}
    if client.hooks:
        file = client.hooks.place.path_on(machine)
        try:
            line = hooks.hook_command(files.normalise_text(file), client, client.hooks)
        except (ValueError, RecursionError) as error:
            raise files.cannot_change(file, error) from error
        words |= {line} if line else set()
    return frozenset(words)
