"""The address of a store: parsed once, and shown without what is secret in it."""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from memtui.engine.errors import InputError

ENVIRONMENT = "env:"
"""Begins an address that stands in an environment variable."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_S3, _POSTGRES = "s3", "postgresql"
_SCHEMES = {"s3": _S3, "postgresql": _POSTGRES, "postgres": _POSTGRES}
_HIDDEN = "***"


class StoreUrl(NamedTuple):
    """An address in its parts, unquoted. ``scheme``: s3 or postgresql."""

    scheme: str
    host: str
    port: int | None
    path: str
    user: str
    password: str
    parameters: dict[str, str]

    @property
    def shown(self) -> str:
        """For screens and logs: no user, no password, no parameters."""
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{self.host}{port}{'/' if self.path else ''}{self.path}"


def is_url(place: str) -> bool:
    """Whether it is no path of a folder."""
    return place.startswith(ENVIRONMENT) or _SCHEME.match(place) is not None


def resolve_url(place: str) -> str:
    """The address itself where an environment variable was named. Raises InputError if that is not set."""
    if not place.startswith(ENVIRONMENT):
        return place
    name = place.removeprefix(ENVIRONMENT)
    found = os.environ.get(name, "")
    if not found or found.startswith(ENVIRONMENT):
        raise InputError(
            f"The environment variable {name} holds no address of a store.", "Set it, or name the address."
        )
    return found


def parse(url: str) -> StoreUrl:
    """Raises InputError, whose message has no part of the address but its scheme."""
    scheme = _SCHEMES.get(url.partition("://")[0].lower())
    if scheme is None:
        raise InputError(
            "This is no address of a store that memtui knows.",
            "A folder, s3://BUCKET/PREFIX or postgresql://HOST/DATABASE.",
        )
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
        parameters = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise InputError(
            f"This {scheme}:// address cannot be read.",
            "Signs such as @ : / # in a user or password are written with %: %40 %3A %2F %23.",
        ) from None
    path = unquote(parts.path).strip("/")
    if parts.fragment or (scheme == _S3 and (not host or set(parameters) - {"endpoint", "region"})):
        raise InputError(
            f"This {scheme}:// address cannot be read.", "s3://BUCKET/PREFIX?endpoint=https://...&region=..."
        )
    # A bucket is named as written: hostname is in small letters.
    return StoreUrl(
        scheme, host, port, path, unquote(parts.username or ""), unquote(parts.password or ""), parameters
    )  # fmt: skip


def without_credentials(place: str) -> str:
    """What an address is called where others look: a folder as it is, a URL without user, password and parameters."""
    if not is_url(place) or place.startswith(ENVIRONMENT):
        return place
    try:
        return parse(place).shown
    except InputError:
        return f"{place.partition('://')[0]}://{_HIDDEN}"
