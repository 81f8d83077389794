"""Find and load the packaged sqlite-vec extension.

``import sqlite_vec`` would import numpy (0.1 s); the shared library needs neither.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import apsw


@cache
def vec0_path() -> Path | None:
    """The extension as the package sqlite-vec brings it; None where it is not installed."""
    spec = find_spec("sqlite_vec")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for candidate in sorted(Path(folder).glob("vec0.*")):
            if candidate.suffix in {".so", ".dylib", ".dll"}:
                return candidate
    return None


def load_vec0(connection: apsw.Connection) -> str:
    """Load vec0 into the connection. Returns "" or the reason why there is no vector index."""
    path = vec0_path()
    if path is None:
        return "sqlite-vec is not installed for this platform"
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(path.with_suffix("")))
    except apsw.ExtensionLoadingError as error:
        return f"sqlite-vec cannot be loaded: {error}"
    finally:
        connection.enable_load_extension(False)
    return ""
