"""``memtui stats``: how much is remembered."""

from __future__ import annotations

import time

import click

from memtui.present.format import count, file_size, local_time, plural

from .invocation import Invocation
from .output import out, print_json, table
from .root import Command, json_option, pass_invocation


@click.command("stats", cls=Command)
@json_option
@pass_invocation
def stats_command(invocation: Invocation, json: bool) -> None:
    """Count what is remembered, and what is still being prepared."""
    with invocation.reading() as memory:
        stats, path = memory.stats(), memory.path
    if json:
        print_json(stats)
        return
    rows: list[tuple[str, str]] = [(kind + "s", count(number)) for kind, number in stats.by_kind.items()]
    rows += [
        ("active", count(stats.active)),
        ("in the Trash", count(stats.ended)),
        ("protected", count(stats.protected)),
        ("sessions", f"{count(stats.sessions)} ({count(stats.pending_sessions)} pending)"),
        ("entities", count(stats.entities)),
        ("operations", count(stats.operations)),
        ("vectors", f"{count(stats.embedded)} ({stats.vectors})"),
        ("still without", f"{plural(stats.unembedded, 'vector')}, {plural(stats.unlinked, 'link')}"),
        ("with a secret", count(stats.quarantined)),
        ("latest", local_time(stats.latest, time.time()) if stats.latest is not None else "never"),
        ("file", f"{path} ({file_size(stats.file_bytes)})"),
    ]
    for line in table(rows):
        out(line)
