"""Embedders and extractors of other packages, found by name through entry points.

A package names a class without arguments in the group ``memtui.embedders`` or ``memtui.extractors``. It runs in this
process with the person's rights: only what the person installed and named in the settings is loaded.
"""

from __future__ import annotations

from typing import Any

from memtui.engine.errors import InputError

EMBEDDERS = "memtui.embedders"
EXTRACTORS = "memtui.extractors"
_SETTING = {EMBEDDERS: "embedder.package", EXTRACTORS: "facts.extractor"}


def load_from_package(group: str, name: str) -> Any:
    """The object that an installed package brings under this name.

    Raises InputError where there is none, or it cannot be loaded: with the names that are installed.
    """
    from importlib.metadata import entry_points

    points = {point.name: point for point in entry_points(group=group)}
    kind = group.removeprefix("memtui.").removesuffix("s")
    installed = f"Installed are: {', '.join(sorted(points))}." if points else f"No package brings an {kind}."
    if name not in points:
        message = f"There is no {kind} {name!r}." if name else f"No {kind} is named."
        raise InputError(message, f"{installed} Set {_SETTING[group]}.")
    try:
        return points[name].load()()
    except Exception as error:
        # Foreign code: whatever it raises is reported, with its place.
        raise InputError(
            f"The {kind} {name!r} cannot be loaded ({points[name].value}: {type(error).__name__}: {error}).",
            f"{installed} Set {_SETTING[group]}.",
        ) from error
