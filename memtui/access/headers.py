"""Whether a request is meant for this server: the names in ``Host``, and the page that sent it in ``Origin``.

A page of another site, open in a browser on this machine, can send requests to loopback. A name that its owner lets
resolve to 127.0.0.1 makes them look like requests to that site (DNS rebinding). Both are seen in the headers.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443}


class Listening(NamedTuple):
    """Where a server listens: ``host`` as it was given, and the other ``names`` under which clients reach it."""

    host: str
    names: tuple[str, ...] = ()

    @property
    def on_loopback(self) -> bool:
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_named(host: str, listening: Listening) -> bool:
    """Whether a ``Host`` header names this server.

    On loopback only loopback names do. Where every address is listened on, any address does and ``localhost``, because
    rebinding needs a name of somebody else; other names have to be given. The port is not compared: a tunnel has another one.
    """
    split = _split_host(f"//{host}")
    if split is None or not split.hostname or split.username is not None or split.path:
        return False
    name = split.hostname.rstrip(".")
    if name in (one.lower().strip("[]").rstrip(".") for one in listening.names):
        return True
    if listening.on_loopback:
        return is_loopback(name)
    if _is_wildcard(listening.host):
        return _is_address(name) or is_loopback(name)
    return name == listening.host.lower().strip("[]")


def is_same_place(origin: str, host: str) -> bool:
    """Whether the page that sent a request is of the very server that it was sent to."""
    page, server = _split_host(origin), _split_host(f"//{host}")
    if page is None or server is None or page.scheme not in _PORTS or page.hostname is None:
        return False
    usual = _PORTS[page.scheme]
    return (page.hostname, page.port or usual) == (server.hostname, server.port or usual)


def url_host(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _is_wildcard(host: str) -> bool:
    try:
        return not host or ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _split_host(url: str) -> SplitResult | None:
    try:
        address = urlsplit(url)
        _ = address.port  # raises where it is none
    except ValueError:
        return None
    return address
