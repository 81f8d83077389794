"""``memtui doctor``: what is configured, what works, what to do."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from memtui import __version__, operating_system, paths
from memtui.engine.errors import DegradedError, InputError, MemtuiError, StoreError
from memtui.engine.installation import command_for_dependency, runnable_text
from memtui.engine.memory import Memory
from memtui.engine.records import Record, StrategyReport
from memtui.present.format import file_size, format_count, plural, relative_time
from memtui.present.reembedding import better_ranking_note, model_change_note

from . import output
from .errors import OK
from .invocation import Invocation
from .output import Style, out, paint, print_json, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.config import Configuration


State = Literal["ok", "note", "degraded", "error"]
_LOW_SPACE = 500_000_000
_MODELS_NAMED = 5
_LOOKED_AT_DAYS = 7
_SILENT_DAYS = 30
"""A device that sent nothing for so long may be out of use."""


class Finding(Record):
    """One thing looked at, and in ``remedy`` what to do about it.

    ``exit_code``: how the doctor exits when the state is "degraded" or "error".
    """

    area: str
    state: State
    text: str
    remedy: str = ""
    exit_code: int = 0


def _check_program() -> Iterator[Finding]:
    import apsw

    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield _ok_finding("program", f"memtui {__version__}, {system}")
    yield _ok_finding("sqlite", f"SQLite {apsw.sqlite_lib_version()} inside apsw")


def _check_settings(configuration: Configuration) -> Iterator[Finding]:
    file = configuration.file
    yield _ok_finding(
        "settings", f"{file}{'' if configuration.exists else ' (not there: all is at its default)'}"
    )
    loose = operating_system.loose_mode(file)
    if loose is not None:
        yield _note_finding(
            "settings", f"others on this machine may read them (mode {loose:o})", f"chmod 600 {file}"
        )
    for name in configuration.unknown_variables:
        yield _note_finding(
            "settings", f"{name} is set, but memtui has no such setting", "Check the spelling."
        )
    theme = configuration.settings.general.theme
    if theme not in ("light", "dark") and not theme.startswith("memtui-"):
        from textual.theme import BUILTIN_THEMES

        if theme not in BUILTIN_THEMES:
            known = ", ".join(("memtui-dark", "memtui-light", *BUILTIN_THEMES))
            yield _note_finding(
                "settings", f"there is no theme {theme!r}: memtui-dark is used", f"Known: {known}"
            )
    if configuration.settings.keymap:
        from memtui.ui.keymap import read_keymap

        for problem in read_keymap(configuration.settings.keymap)[1]:
            yield _note_finding("settings", problem, f"Edit {file}")


def _check_folder(path: Path, *, allow_unsafe_fs: bool) -> Iterator[Finding]:
    """The folder of the memory: its file system, who may enter, the space left."""
    reason = paths.why_unsafe_place(path)
    if reason:
        remedy = "Keep the memory on a local disk: --db PATH"
        if allow_unsafe_fs:
            yield _note_finding("place", f"{path} is {reason}", remedy)
        else:
            yield _error_finding("place", "error", StoreError(f"{path} is {reason}", remedy))
    folder = next(folder for folder in path.absolute().parents if paths.path_exists(folder))
    kind = paths.filesystem_of(folder)
    free = shutil.disk_usage(folder).free
    text = f"{folder}{f' on {kind}' if kind else ''}, {free / 1e9:,.1f} GB free"
    if free > _LOW_SPACE:
        yield _ok_finding("place", text)
    else:
        yield _note_finding("place", text, "Free some space: a full disk stops every write.")
    if not os.access(folder, os.W_OK):
        yield _note_finding(
            "place", f"{folder} cannot be written: nothing can be changed", "Fix its permissions."
        )
    for thing, mode in ((paths.data_folder(), "700"), (path, "600")):
        loose = operating_system.loose_mode(thing)
        # Another folder may be shared on purpose. The mode of the file protects it.
        if loose is not None and thing in (path, path.parent):
            text = f"others on this machine may look into {thing} (mode {loose:o})"
            yield _note_finding("place", text, f"chmod {mode} {thing}")


def _check_memory(invocation: Invocation) -> Iterator[Finding]:
    """The memory file itself: whether it opens, what it holds, what is still missing in it."""
    path = invocation.memory_path()
    if paths.is_surely_missing(path):
        error = _why_no_new_memory(path)
        if error is not None:
            yield _error_finding("memory", "error", error)
            return
        remedy = 'memtui remember "..." or memtui import PATH creates it.'
        yield _note_finding("memory", f"there is none yet at {path}", remedy)
        return
    try:
        with invocation.open_readonly() as opened:
            stats = opened.stats()
            clock = opened.jobs.status().clock
            busy = opened.quotas.near()
            synced = list(_check_sync(opened))
    except MemtuiError as error:
        yield _error_finding("memory", "error", error)
        return
    holds = f"{plural(stats.active, 'memory')}, {plural(stats.sessions, 'session')}"
    yield _ok_finding("memory", f"{path}: {holds}, {file_size(stats.file_bytes)}")
    if clock:
        yield _note_finding("clock", clock, "If the time is right: memtui maintain --accept-clock")
    for used, quota in busy:
        text = f"{used.agent} used {used.of(quota):,} of its {quota.limit:,} {quota.unit} in this hour"
        yield _note_finding("agents", text, "The settings under [quotas] have the limits.")
    yield _ok_finding("vectors", f"{format_count(stats.embedded)} ({stats.vectors})")
    if stats.vectors_wanted:
        yield _note_finding(
            "vectors", model_change_note(stats), "memtui embed does it. It shows a preview first."
        )
    if stats.vectors_problem:
        yield _note_finding("vectors", f"search works without them: {stats.vectors_problem}")
    if stats.ranking_note:
        yield _note_finding("ranking", stats.ranking_note)
    if stats.better_ranking:
        yield _note_finding(
            "ranking", better_ranking_note(stats), f"To use it: memtui embed --{stats.better_ranking}"
        )
    if stats.unembedded or stats.unlinked:
        missing = f"{plural(stats.unembedded, 'vector')} and {plural(stats.unlinked, 'link')}"
        remedy = "The app makes them in the background; memtui maintain --job embedding does it now."
        yield _note_finding("vectors", f"{missing} still to be made", remedy)
    yield from synced


def _check_sync(memory: Memory) -> Iterator[Finding]:
    """What is known of the other devices without asking the place."""
    from memtui.present import sync

    try:
        status = memory.sync.status()
    except MemtuiError as error:
        yield _error_finding("sync", "degraded", error)
        return
    if status is None:
        return
    now = time.time()
    words, _ = sync.sync_state(status, now)
    if status.error or status.problems:
        failed = DegradedError(status.error or f"{words} with what came", "memtui sync status tells more.")
        yield _error_finding("sync", "degraded", failed)
    else:
        yield _ok_finding("sync", f"{sync.sync_setup_line(status)}: {words}")
    if status.pending:
        yield _note_finding("sync", f"{plural(status.pending, 'change')} to send", "memtui sync sends them.")
    for device in status.devices:
        if device.at is not None and not device.own and now - device.at > _SILENT_DAYS * 86_400:
            text = (
                f"nothing came from {sync.device_label(device, status)} for {relative_time(device.at, now)}"
            )
            yield _note_finding(
                "sync", text, f"If it is not used any more: memtui sync remove {device.device}"
            )


def _why_no_new_memory(path: Path) -> MemtuiError | None:
    """Why no memory can be created at ``path``; None if it can be."""
    try:
        Memory.rescue(path).refuse_to_begin_anew()
    except MemtuiError as error:
        return error
    if os.path.lexists(path):
        return StoreError(f"{path} is a link that leads nowhere.", "Choose another path with --db.")
    folder = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not folder.is_dir():
        return StoreError(
            f"No memory can be created at {path}: {folder} is not a folder.", "Choose another path with --db."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return StoreError(
            f"No memory can be created at {path}: {folder} cannot be written.",
            "Fix its permissions, or choose another path with --db.",
        )
    return None


def _check_embedder(configuration: Configuration) -> Iterator[Finding]:
    """Whether texts can be given vectors here."""
    if configuration.settings.embedder.kind == "off":
        yield _note_finding("embedder", "switched off: search uses words and names only")
        return
    from memtui.engine.models.embedder_choice import EmbedderFactory

    try:
        model = EmbedderFactory(configuration.settings.options()).configured_embedder()
        model.embed(["a short text"])
    except (DegradedError, InputError) as error:
        yield _error_finding("embedder", "degraded", error)
    else:
        where = f"at {model.sends_to}" if model.sends_to else "needs no network"
        yield _ok_finding("embedder", f"{model.model_id}, {model.dims} dimensions, {where}")


def check_language_model(configuration: Configuration, *, look: bool) -> Iterator[Finding]:
    """Which language model reads conversations. ``look``: for one on this machine, at the usual ports."""
    llm = configuration.settings.options().llm
    if llm.configured:
        yield _ok_finding("llm", f"{llm.model} at {llm.base_url}")
    elif not look:
        hint = "To look for a model on this machine: memtui doctor --models"
        yield _note_finding("llm", "no language model is configured: rules read conversations", hint)
    if not look:
        return
    from memtui.engine.models import local_servers

    servers = local_servers.find_servers()
    ports = ", ".join(f"{port.program} {port.number}" for port in local_servers.PORTS)
    if not servers:
        yield _note_finding("llm", f"no model server answers on this machine ({ports})")
    for server in servers:
        if not server.models:
            yield _note_finding("llm", f"{server.program} answers at {server.base_url} and offers no model")
            continue
        named = ", ".join(server.models[:_MODELS_NAMED])
        more = f" and {len(server.models) - _MODELS_NAMED} more" if len(server.models) > _MODELS_NAMED else ""
        remedy = f'llm.base_url = "{server.base_url}" and llm.model = "{server.models[0]}" use it.'
        yield _note_finding("llm", f"{server.program} answers with {named}{more}", remedy)


def _check_name_recognition(invocation: Invocation, configuration: Configuration) -> Iterator[Finding]:
    """The strategies that find names: what each finds in the newest memories, and how long it takes."""
    from memtui.engine.models.ner import NameRecogniser
    from memtui.engine.models.ner.spacy_names import installation_hint

    options = configuration.settings.options()
    recogniser = NameRecogniser(options.strategies, options.llm)
    reports: tuple[StrategyReport, ...] = ()
    if not invocation.demo and not paths.is_surely_missing(invocation.memory_path()):
        try:
            with invocation.open_readonly() as opened:
                reports = opened.models.compare_strategies()
        except MemtuiError:
            reports = ()  # _check_memory says why
    for report in reports or asyncio.run(recogniser.compare_strategies([])):
        yield _ok_finding("names", _strategy_text(report))
    why = recogniser.reason_unavailable(options.enrichment)
    if why:
        yield _note_finding("names", f"the nightly job finds no more names: {why}", installation_hint())


def _strategy_text(report: StrategyReport) -> str:
    text = f"{report.strategy}: {', '.join(one.provider for one in report.providers if not one.why)}"
    missing = [f"{one.provider} ({one.why})" for one in report.providers if one.why]
    if missing:
        text += f", without {', '.join(missing)}"
    if report.texts:
        names_found = plural(report.spans, "name")
        each = report.milliseconds / report.texts
        text += f"; {names_found} in the newest {plural(report.texts, 'memory')}, {each:,.2f} ms each"
    return text


def _check_vector_index() -> Iterator[Finding]:
    import apsw

    from memtui.engine.store.connection import load_vec0

    connection = apsw.Connection(":memory:")
    reason = load_vec0(connection)
    connection.close()
    if reason:
        remedy = command_for_dependency("sqlite-vec")
        yield _error_finding("vectors", "degraded", DegradedError(f"no vector index: {reason}", remedy))


def _check_hooks() -> Iterator[Finding]:
    """Failures that hooks wrote into the log in the last days."""
    from memtui import log

    entries = list(log.read_entries("memtui.hook", since=time.time() - _LOOKED_AT_DAYS * 86_400))
    if entries:
        at, text = entries[-1]
        last = f"the last {relative_time(at, time.time())}: {text}"
        yield _note_finding(
            "hook",
            f"{plural(len(entries), 'message')} in the last {_LOOKED_AT_DAYS} days, {last}",
            f"See {log.log_path()}",
        )


def _check_agent_connections(path: Path) -> Iterator[Finding]:
    """The agents on this machine: which are connected, as whom, and what keeps one from working."""
    from memtui.connect.clients import CLIENTS, this_machine
    from memtui.connect.connection import connection_of
    from memtui.connect.wording import connection_hooks_text, connection_scope_text, connection_state_text

    machine = this_machine()
    waiting = []
    for known in (connection_of(client, machine) for client in CLIENTS.values()):
        again = f"memtui connect {known.client}"
        if known.problem:
            yield _note_finding("agents", f"{known.label}: {known.problem.removesuffix('.')}")
        elif known.launched is None:
            waiting += [known.label] if known.found else []
        elif known.program_gone:
            yield _note_finding("agents", f"{known.label} is {connection_state_text(known)}", again)
        elif known.launched.memory and Path(known.launched.memory) != path.absolute():
            text = f"{known.label} uses another memory: {known.launched.memory}"
            yield _note_finding("agents", text, f"To use this one: {again}")
        else:
            parts = (connection_state_text(known), connection_scope_text(known), connection_hooks_text(known))
            text = f"{known.label} is {', '.join(part for part in parts if part)}"
            if known.hooks == "outdated":
                yield _note_finding("agents", text, f"To renew them: {again} --hooks")
            else:
                yield _ok_finding("agents", text)
    if waiting:
        yield _note_finding(
            "agents", f"not connected: {', '.join(waiting)}", "To connect them: memtui connect --all"
        )


def _check_access_over_http(path: Path) -> Iterator[Finding]:
    """Tokens, and what was refused at a port in the last days."""
    from memtui.access.counts import AdmissionCounts
    from memtui.access.tokens import TokenFile
    from memtui.present.access import refusals_line

    now = time.time()
    try:
        tokens = TokenFile().list_tokens(path)
    except InputError as error:
        yield _error_finding("access", "error", error)
        return
    active = sum(one.state_at(now) == "active" for one in tokens)
    if active:
        yield _ok_finding("access", f"{plural(active, 'token')} for agents over HTTP")
    for one in AdmissionCounts().read_counts().refused_since(now - _LOOKED_AT_DAYS * 86_400):
        yield _note_finding("access", refusals_line(one, now), "memtui tokens list")


def _check_unimported_conversations() -> Iterator[Finding]:
    """Conversations on this machine that wait to be imported."""
    from memtui.engine.importers.known_places import known_sources
    from memtui.engine.records.exchange import WARNING_DAYS

    for source in known_sources(Path.home()):
        swept = (
            f", {source.expiring} of them will be deleted within {WARNING_DAYS} days"
            if source.expiring
            else ""
        )
        newest = relative_time(source.newest, time.time())
        text = f"{source.label}: {plural(source.files, 'file')}, newest {newest}{swept}"
        yield _note_finding("import", text, f"memtui import --discover {source.name}")


def _check_terminal() -> Iterator[Finding]:
    if not sys.stdout.isatty():
        yield _note_finding("terminal", "the output is no terminal")
        return
    size = shutil.get_terminal_size()
    name = os.environ.get("TERM", "unknown")
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        colours = "true colour"
    else:
        colours = "256 colours" if "256" in name else "few colours"
    shown = colours if output.shows_colours() else "no colours (NO_COLOR)"
    yield _ok_finding("terminal", f"{name}, {size.columns}x{size.lines}, {shown}")
    if not output.shows_unicode():
        text = f"its encoding is {sys.stdout.encoding}: plain letters replace the signs"
        yield _note_finding("terminal", text, "A UTF-8 locale shows them: export LC_ALL=C.UTF-8")


def _ok_finding(area: str, text: str) -> Finding:
    return Finding(area=area, state="ok", text=text)


def _note_finding(area: str, text: str, remedy: str = "") -> Finding:
    return Finding(area=area, state="note", text=text, remedy=runnable_text(remedy))


def _error_finding(area: str, state: State, error: MemtuiError) -> Finding:
    return Finding(area=area, state=state, text=error.message, remedy=error.hint, exit_code=error.exit_code)


_COLOURS: dict[State, Style] = {"ok": "green", "note": "yellow", "degraded": "yellow", "error": "red"}


class EffectiveSetting(Record):
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
    invocation.check_options()
    configuration: Configuration | None = None
    try:
        configuration = invocation.configuration
        findings = list(_run_checks(invocation, configuration, models=models))
    except MemtuiError as error:
        findings = [_error_finding("settings", "error", error)]
    rows = effective_settings(configuration) if configuration else []
    worst = [one.exit_code for one in findings if one.state == "error"]
    worst += [one.exit_code for one in findings if one.state == "degraded"]
    code = worst[0] if worst else OK
    if json:
        print_json({"ok": code == OK, "exit_code": code, "findings": findings, "settings": rows})
        return code
    for line in table(
        [(paint(one.state, _COLOURS[one.state]), one.area, _finding_text(one)) for one in findings]
    ):
        out(line)
    out()
    for line in table([(one.name, one.value, one.origin) for one in rows]):
        out(line)
    return code


def _run_checks(invocation: Invocation, configuration: Configuration, *, models: bool) -> Iterator[Finding]:
    yield from _check_program()
    yield from _check_settings(configuration)
    if not invocation.demo:
        yield from _check_folder(invocation.memory_path(), allow_unsafe_fs=invocation.allow_unsafe_fs)
        yield from _check_memory(invocation)
    yield from _check_vector_index()
    yield from _check_embedder(configuration)
    yield from check_language_model(configuration, look=models)
    yield from _check_name_recognition(invocation, configuration)
    if not invocation.demo:
        yield from _check_hooks()
        yield from _check_agent_connections(invocation.memory_path())
        yield from _check_access_over_http(invocation.memory_path())
    yield from _check_unimported_conversations()
    yield from _check_terminal()


def effective_settings(configuration: Configuration) -> list[EffectiveSetting]:
    """Every setting in the order of the file, those of a table by entry."""
    import msgspec

    from memtui import config
    from memtui.config.schema import to_toml

    values = msgspec.to_builtins(configuration.settings)
    rows = []
    for setting in config.describe_settings():
        section = values[setting.section]
        for key in list(section) if setting.is_table else [setting.key]:
            name = f"{setting.section}.{key}"
            rows.append(
                EffectiveSetting(
                    name=name,
                    value=to_toml(section[key]),
                    origin=configuration.origins.get(name, "default"),
                    variable=setting.variable or "",
                    description=setting.description,
                )
            )
    return rows


def _finding_text(one: Finding) -> str:
    return f"{one.text.removesuffix('.')}. {one.remedy}" if one.remedy else one.text
