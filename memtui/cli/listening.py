"""The options of commands that listen on a port, and what of them is refused: plain HTTP beyond this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from memtui.access.headers import Listening, url_host
from memtui.engine.errors import UsageError


class ListenAddress(NamedTuple):
    """Where a server listens, checked. ``certificate``: the files of certificate and key."""

    listening: Listening
    port: int
    certificate: tuple[Path, Path] | None
    behind_proxy: bool

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"

    def url(self, port: int) -> str:
        """The address as clients on this machine have it."""
        return f"{self.scheme}://{url_host(self.listening.host)}:{port}"


def listening_options(port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options ``host``, ``port``, ``cert``, ``key``, ``behind_proxy`` and ``allow_host``."""
    made = (
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
        click.option("--port", type=click.IntRange(0, 65535), default=port, show_default=True, help="0: any free one."),
        click.option("--cert", metavar="PEM", type=click.Path(path_type=Path), help="The certificate, for TLS."),
        click.option("--key", metavar="PEM", type=click.Path(path_type=Path), help="The key of the certificate."),
        click.option("--behind-proxy", is_flag=True, help="A proxy in front does TLS and says who asks."),
        click.option(
            "--allow-host", metavar="NAME", multiple=True, help="Another name under which clients reach it."
        ),
    )  # fmt: skip

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(made):
            command = option(command)
        return command

    return add_options


def checked_address(
    host: str, port: int, cert: Path | None, key: Path | None, behind_proxy: bool, names: tuple[str, ...]
) -> ListenAddress:
    """Raises UsageError for options that contradict each other, and for plain HTTP beyond this machine."""
    listening = Listening(host, names)
    if (cert is None) != (key is None):
        raise UsageError(
            "--cert and --key belong together.", "Name the certificate and its key, both PEM files."
        )
    if not listening.on_loopback and cert is None and not behind_proxy:
        raise UsageError(
            f"{host} can be reached from other machines, and plain HTTP would show the token and the memory to "
            "whoever reads along.",
            "Give --cert and --key, or put a proxy that does TLS in front and say so with --behind-proxy.",
        )
    certificate = None if cert is None or key is None else (cert.expanduser(), key.expanduser())
    return ListenAddress(listening, port, certificate, behind_proxy)
