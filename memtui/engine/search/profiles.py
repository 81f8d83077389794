"""Profiles: the named ways to rank. ``default``, ``rrf`` and ``late`` are built in, others are the person's own."""

from __future__ import annotations

import math

import apsw
import msgspec

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import Profile
from memtui.engine.store import vectors
from memtui.engine.store.sql import json_text

DEFAULT = Profile(word_vector=0.35, session=0.4)
"""It does without vectors of words where the file's model neither makes nor has any."""
RRF = Profile(name="rrf", fusion="rrf", k=60, keyword=1.0, vector=1.0, entity=1.0, floor=0.3)
LATE = Profile(name="late", vector=0.2, word_vector=0.5)
"""Late interaction, as it is called: question and text meet word by word. Needs a model that makes vectors of words."""
BUILT_IN = {profile.name: profile for profile in (DEFAULT, RRF, LATE)}


def find_profile(connection: apsw.Connection, profile: str | Profile) -> Profile:
    """A profile by name, checked. Raises NotFoundError for an unknown name, InputError for bad numbers."""
    if isinstance(profile, Profile):
        return check_profile(profile)
    if profile in BUILT_IN:
        return BUILT_IN[profile]
    row = connection.execute("SELECT settings FROM profiles WHERE name = ?", (profile,)).fetchone()
    if row is None:
        raise NotFoundError(
            f"There is no profile {profile!r}.", f"There are {', '.join(profile_names(connection))}."
        )
    try:
        return check_profile(msgspec.structs.replace(msgspec.json.decode(row[0], type=Profile), name=profile))
    except msgspec.MsgspecError as error:
        raise InputError(f"The profile {profile!r} cannot be read: {error}.", "Save it again.") from error


def configured_profile(connection: apsw.Connection, name: str) -> tuple[Profile, str]:
    """The profile that the settings name, and a note: profiles are in a memory file, the settings are for all files.

    Nor can every file be ranked by every one: the default takes the place of what needs vectors of words that its model
    does not make.
    """
    try:
        found = find_profile(connection, name)
    except NotFoundError as error:
        return DEFAULT, f"{error.message.removesuffix('.')} here: ranked by {DEFAULT.name}."
    if (
        found is LATE
        and vectors.vector_space(connection) is not None
        and not vectors.word_vector_dims(connection)
    ):
        problem = f'The ranking "{name}" needs vectors of words, which this memory\'s model does not make'
        return DEFAULT, f"{problem}: ranked by {DEFAULT.name}."
    return found, ""


def better_profile(connection: apsw.Connection, name: str) -> str:
    """The built-in profile that finds more in this file; empty where there is none, or ``name`` is somebody's choice."""
    return LATE.name if name == DEFAULT.name and vectors.word_vector_dims(connection) else ""


def profile_names(connection: apsw.Connection) -> list[str]:
    """The built-in ones first."""
    return [*BUILT_IN, *(name for (name,) in connection.execute("SELECT name FROM profiles ORDER BY name"))]


def save(connection: apsw.Connection, profile: Profile) -> None:
    """Keep a profile under its name, inside the caller's operation. Built-in names cannot be taken."""
    check_profile(profile)
    if profile.name in BUILT_IN or not profile.name.strip():
        raise InputError(f"A profile cannot be saved as {profile.name!r}.", "Choose another name.")
    connection.execute(
        "INSERT INTO profiles(name, settings) VALUES (?, ?) "
        "ON CONFLICT(name) DO UPDATE SET settings = excluded.settings",
        (profile.name, json_text(profile)),
    )


def check_profile(profile: Profile) -> Profile:
    """The profile itself. Raises InputError when one of its numbers cannot be used."""
    for name in ("keyword", "vector", "word_vector", "entity", "neighbours", "session", "facts"):
        value = getattr(profile, name)
        if not (math.isfinite(value) and value >= 0.0):
            raise InputError(f"The weight {name} of a profile cannot be {value!r}.", "Give 0 or more.")
    if not (math.isfinite(profile.floor) and -1.0 <= profile.floor <= 1.0):
        raise InputError(f"The floor of a profile cannot be {profile.floor!r}.", "It is a cosine: -1 to 1.")
    if profile.k < 1 or not 1 <= profile.depth <= vectors.KNN_LIMIT:
        raise InputError(
            f"A profile cannot have k {profile.k} and depth {profile.depth}.",
            f"k is at least 1, depth lies between 1 and {vectors.KNN_LIMIT:,}.",
        )
    return profile
