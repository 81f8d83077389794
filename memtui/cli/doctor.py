"""``memtui doctor``: what is configured, what works, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import MemtuiError
from memtui.engine.records import Record

from . import diagnosis
from .diagnosis import Diagnosis, State
from .errors import OK
from .output import Style, emit, out, paint, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.config import Configuration

    from .invocation import Invocation

_COLOURS: dict[State, Style] = {"ok": "green", "note": "yellow", "degraded": "yellow", "error": "red"}


class InForce(Record):
    """A setting, its value, and where that came from: "default", "line 3" of the file, or a variable."""

    name: str
    value: str
    origin: str
    variable: str
    description: str


@click.command("doctor", cls=Command)
@click.option(
    "--models", is_flag=True, help="Look for a language model server on this machine (loopback only)."
)
@json_option
@pass_invocation
def doctor_command(invocation: Invocation, models: bool, json: bool) -> int:
    """Check what is configured and what works, and say what to do.

    Exit code 0 when all works, 5 when something works only in part, 4 when the memory file cannot be used, 3 when the
    settings are wrong. Notes do not count.

    No network is used. --models asks Ollama, llama.cpp and LM Studio at their usual ports of 127.0.0.1.
    """
    invocation.check()
    configuration: Configuration | None = None
    try:
        configuration = invocation.configuration
        found = list(_examine(invocation, configuration, models=models))
    except MemtuiError as error:
        found = [diagnosis.wrong("settings", "error", error)]
    rows = settings_in_force(configuration) if configuration else []
    worst = [one.exit_code for one in found if one.state == "error"]
    worst += [one.exit_code for one in found if one.state == "degraded"]
    code = worst[0] if worst else OK
    if json:
        emit({"ok": code == OK, "exit_code": code, "findings": found, "settings": rows})
        return code
    for line in table([(paint(one.state, _COLOURS[one.state]), one.area, _described(one)) for one in found]):
        out(line)
    out()
    for line in table([(one.name, one.value, one.origin) for one in rows]):
        out(line)
    return code


def _examine(invocation: Invocation, configuration: Configuration, *, models: bool) -> Iterator[Diagnosis]:
    yield from diagnosis.program()
    yield from diagnosis.settings(configuration)
    if not invocation.demo:
        yield from diagnosis.place(invocation.path(), allow_unsafe_fs=invocation.allow_unsafe_fs)
        yield from diagnosis.memory(invocation)
    yield from diagnosis.vector_index()
    yield from diagnosis.embedder(configuration)
    yield from diagnosis.language_model(configuration, look=models)
    yield from diagnosis.names(invocation, configuration)
    if not invocation.demo:
        yield from diagnosis.hooks()
    yield from diagnosis.feeds()
    yield from diagnosis.terminal()


def settings_in_force(configuration: Configuration) -> list[InForce]:
    """Every setting in the order of the file, those of a table by entry."""
    import msgspec

    from memtui import config
    from memtui.config.schema import to_toml

    values = msgspec.to_builtins(configuration.settings)
    rows = []
    for setting in config.describe():
        section = values[setting.section]
        for key in list(section) if setting.is_table else [setting.key]:
            name = f"{setting.section}.{key}"
            rows.append(
                InForce(
                    name=name,
                    value=to_toml(section[key]),
                    origin=configuration.origins.get(name, "default"),
                    variable=setting.variable or "",
                    description=setting.description,
                )
            )
    return rows


def _described(one: Diagnosis) -> str:
    return f"{one.text.removesuffix('.')}. {one.remedy}" if one.remedy else one.text
