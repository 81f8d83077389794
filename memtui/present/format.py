"""Numbers, times and sizes as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeGuard

from memtui.engine import wording

from .text import VisibleText

# English whatever the locale is: so are the texts around them.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WHOLE_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WHOLE_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_DAYS_PER_YEAR = 365.2425


def relative_time(then: float, now: float) -> VisibleText:
    """The time between both, in one unit: ``now``, ``5m``, ``2h``, ``3d``, ``5w``, ``2M``, ``4y``, ``in 2h``."""
    seconds = abs(now - then)
    if seconds < _MINUTE:
        return VisibleText("now")
    days = int(seconds // _DAY)
    if seconds < _HOUR:
        span = f"{int(seconds // _MINUTE)}m"
    elif seconds < _DAY:
        span = f"{int(seconds // _HOUR)}h"
    elif days < 14:
        span = f"{days}d"
    elif days < 61:
        span = f"{days // 7}w"
    elif days < 366:
        span = f"{int(days * 12 / _DAYS_PER_YEAR)}M"
    else:
        span = f"{int(days / _DAYS_PER_YEAR)}y"
    return VisibleText(f"in {span}" if then > now else span)


def is_time(value: object) -> TypeGuard[float]:
    """Whether a value can be shown as a time. Another program may have written any number."""
    if not isinstance(value, int | float):
        return False
    try:
        _utc_datetime(value)
    except (OverflowError, ValueError):
        return False
    return True


def local_time(seconds: float, now: float | None = None, *, zone: tzinfo | None = None) -> VisibleText:
    """``28 Oct 2025 21:14``, without the year if it is the year of ``now``. ``zone`` None: the machine's."""
    local = local_datetime(seconds, zone)
    return VisibleText(f"{local_date(seconds, now, zone=zone)} {local:%H:%M}")


def local_date(seconds: float, now: float | None = None, *, zone: tzinfo | None = None) -> VisibleText:
    """``28 Oct 2025``, without the year if it is the year of ``now``."""
    local = local_datetime(seconds, zone)
    day = f"{local.day} {MONTHS[local.month - 1]}"
    same_year = now is not None and local_datetime(now, zone).year == local.year
    return VisibleText(day if same_year else f"{day} {local.year}")


def local_month(seconds: float, now: float | None = None) -> VisibleText:
    """``Oct 2025``, without the year if it is the year of ``now``."""
    local = local_datetime(seconds, None)
    month = MONTHS[local.month - 1]
    same_year = now is not None and local_datetime(now, None).year == local.year
    return VisibleText(month if same_year else f"{month} {local.year}")


def whole_month(seconds: float, now: float) -> VisibleText:
    """``October 2025``, without the year if it is the year of ``now``."""
    local = local_datetime(seconds, None)
    month = WHOLE_MONTHS[local.month - 1]
    return VisibleText(month if local_datetime(now, None).year == local.year else f"{month} {local.year}")


def format_count(number: int) -> VisibleText:
    """``12,408``."""
    return VisibleText(f"{number:,}")


def short_count(number: int) -> VisibleText:
    """At most four cells, rounded down: ``999``, ``1.2k``, ``12k``, ``3M``."""
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            tenths = number * 10 // unit
            whole, tenth = divmod(tenths, 10)
            return VisibleText(f"{whole}.{tenth}{letter}" if whole < 10 and tenth else f"{whole}{letter}")
    return VisibleText(str(number))


def format_price(tokens: int, a_million: float) -> VisibleText:
    """The price of tokens: `` for about 0.03``. Empty if the price of a million is not known."""
    cost = tokens * a_million / 1e6
    return VisibleText(f" for about {cost:,.2f}" if cost >= 0.01 else " for less than 0.01" if cost else "")


def file_size(size: int) -> VisibleText:
    """``640 bytes``, ``12 kB``, ``3.4 MB``; ``size`` in bytes."""
    if size < 1_000:
        return plural(size, "byte")
    return VisibleText(f"{size // 1_000} kB" if size < 1_000_000 else f"{size / 1e6:,.1f} MB")


def plural(number: int, noun: str, many: str = "") -> VisibleText:
    """As ``wording.plural``; ``1 turn``, ``1,204 turns``, ``2 memories``."""
    return VisibleText(wording.plural(number, noun, many))


def _utc_datetime(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def local_datetime(seconds: float, zone: tzinfo | None = None) -> datetime:
    """A time in ``zone``, None being the machine's; in UTC where the calendar of the zone ends."""
    utc = _utc_datetime(seconds)
    try:
        return utc.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return utc  # the first or last day of the calendar, or a year that the platform cannot convert
