"""``memtui stats``: how much is remembered."""

from __future__ import annotations

import time

import click

from memtui.present.format import file_size, format_count, local_time, plural

from .invocation import Invocation
from .output import out, print_json, table
from .root import Command, json_option, pass_invocation


@click.command("stats", cls=Command)
@json_option
@pass_invocation
def stats_command(invocation: Invocation, json: bool) -> None:
    """Count what is remembered, and what is still being prepared."""
    with invocation.open_readonly() as memory:
        stats, path = memory.stats(), memory.path
    if json:
        print_json(stats)
        return
    rows: list[tuple[str, str]] = [
        (kind + "s", format_count(number)) for kind, number in stats.by_kind.items()
    ]
    rows += [
        ("active", format_count(stats.active)),
        ("in the Trash", format_count(stats.ended)),
        ("protected", format_count(stats.protected)),
        ("sessions", f"{format_count(stats.sessions)} ({format_count(stats.pending_sessions)} pending)"),
        ("entities", format_count(stats.entities)),
        ("operations", format_count(stats.operations)),
        ("vectors", f"{format_count(stats.embedded)} ({stats.vectors})"),
        ("still without", f"{plural(stats.unembedded, 'vector')}, {plural(stats.unlinked, 'link')}"),
        ("with a secret", format_count(stats.quarantined)),
        ("latest", local_time(stats.latest, time.time()) if stats.latest is not None else "never"),
        ("file", f"{path} ({file_size(stats.file_bytes)})"),
    ]
    for line in table(rows):
        out(line)
