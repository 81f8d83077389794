"""``memtui import --discover``: what can be brought in on this machine, and how much of it is in already."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui import paths
from memtui.engine.errors import InputError
from memtui.present import import_sources

from .errors import OK
from .output import emit, out, paint, row

if TYPE_CHECKING:
    from memtui.engine.records.sources import KnownSource, SourceProbe

    from .invocation import Invocation


def discovered() -> list[KnownSource]:
    from memtui.engine.importers.known_places import known_sources

    return known_sources(Path.home())


def chosen(names: Sequence[str]) -> list[KnownSource]:
    """The sources of these names. Raises InputError for a name that nothing has."""
    found = {source.name: source for source in discovered()}
    for name in names:
        if name not in found:
            known = (
                f"Found: {', '.join(found)}."
                if found
                else "Nothing was found in the places that memtui knows."
            )
            raise InputError(f"No source {name!r} was found on this machine.", known)
    return [found[name] for name in names]


def list_discovered(invocation: Invocation, *, json: bool) -> int:
    """What is there. Turns are read for a fraction of a second; more than that is an estimate."""
    found = _surveyed(invocation, discovered())
    if json:
        emit([_plain(each) for each in found])
        return OK
    if not found:
        out("Nothing that memtui knows was found on this machine.")
        out('It looks for Claude Code, Codex, mem0 and MCP memories, and for exports in "Downloads".')
        return OK
    now = time.time()
    for each in found:
        source = each.source
        out(row(paint(source.name, "bold"), source.label, str(source.path)))
        out(f"  {import_sources.found_summary(each)}; {import_sources.ages(source, now)}")
        out(f"  {import_sources.new_summary(each)}")
        if expiry_note := import_sources.expiry_note(each):
            out(row(" ", paint(f"! {expiry_note}", "yellow"), gap=" "))
    out()
    first = next((each for each in found if not each.nothing_new), found[0]).source.name
    out(
        row(
            paint(
                f'"memtui import --discover {first}" brings in one, "memtui import --discover --all" all',
                "dim",
            )
        )
    )
    return OK


def _surveyed(invocation: Invocation, sources: list[KnownSource]) -> list[SourceProbe]:
    """Without a memory everything is new."""
    from memtui.engine.importers.probe import probe

    if not invocation.demo and paths.is_missing(invocation.path()):
        return list(probe(None, sources, time.time))
    with invocation.reading() as memory:
        return list(memory.files.survey(sources))


def _plain(found: SourceProbe) -> dict[str, Any]:
    import msgspec

    fields = {**msgspec.structs.asdict(found.source), **msgspec.structs.asdict(found)}
    del fields["source"]
    return {**fields, "path": str(found.source.path)}
