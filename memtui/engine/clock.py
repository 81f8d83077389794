"""The clock: whoever opens a memory may hand in another one. Calendar times of a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, tzinfo

from .errors import InputError

Clock = Callable[[], float]
"""Returns Unix seconds."""

system_clock: Clock = time.time

# 0001-01-01 and 9999-12-31: what datetime can show.
EARLIEST, LATEST = -62135596800, 253402300799


def unix_seconds(moment: float | int | datetime) -> int:
    """Whole Unix seconds of a number or an aware datetime.

    Raises InputError for a naive datetime, NaN, or a time outside the years 1 to 9999.
    """
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise InputError(
                f"The time {moment.isoformat()} has no time zone.",
                "Give Unix seconds or a datetime with tzinfo.",
            )
        moment = moment.timestamp()
    if moment != moment or not EARLIEST <= moment <= LATEST:
        raise InputError(
            f"{moment!r} is not a usable time.", "Give Unix seconds between the years 1 and 9999."
        )
    return int(moment // 1)


def local_time(seconds: float, zone: tzinfo | None = None) -> datetime:
    """``seconds`` as a clock on the wall shows it, in ``zone`` or where this computer is."""
    return datetime.fromtimestamp(seconds, zone)


def local_midnight(seconds: float, zone: tzinfo | None = None) -> int:
    """The Unix time at which the local day of ``seconds`` began."""
    day = local_time(seconds, zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return int(day.timestamp())
