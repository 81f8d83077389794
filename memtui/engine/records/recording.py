"""Whether what is said is recorded."""

from __future__ import annotations

from typing import Literal

from .base import Record


class Pause(Record):
    """A span in which nothing is recorded, in Unix seconds; ``until`` None: until the person ends it."""

    since: int
    until: int | None = None


NeverKind = Literal["client", "project", "folder"]


class Never(Record):
    """What is never recorded: the client (agent) of a name, a project, or what is said in a folder and those in it."""

    kind: NeverKind
    name: str


class Recording(Record):
    """What holds now: ``pause`` None where it goes on; ``turned_away`` counts what came since the latest pause began.

    ``never``: what is not recorded with or without a pause.
    """

    pause: Pause | None = None
    turned_away: int = 0
    never: tuple[Never, ...] = ()
