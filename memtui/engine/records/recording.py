"""Whether what is said is recorded."""

from __future__ import annotations

from .base import Record


class Pause(Record):
    """A span in which nothing is recorded, in Unix seconds; ``until`` None: until the person ends it."""

    since: int
    until: int | None = None


class Recording(Record):
    """What holds now: ``pause`` None where it goes on; ``turned_away`` counts what came during the latest pause."""

    pause: Pause | None = None
    turned_away: int = 0
