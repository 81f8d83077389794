"""When something was decided, on which device and by whom: what tells two devices' decisions apart."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..clock import EARLIEST, LATEST
from .base import Record

DeviceId = Annotated[str, Meta(pattern=r"^[\w.-]{1,80}$")]


class Stamp(Record):
    """The latest decision about one ``aspect`` of something: ``state``, ``topic``, ``tag:work`` and so on.

    ``seen``: the number of the last decision of each device that it knew of, its own among them. ``device``: where it
    was made, a name and a number (``device_name``); ``at``: when, in Unix seconds of that device's clock; ``actor``: by whom.
    """

    aspect: Annotated[str, Meta(min_length=1, max_length=1_000)]
    seen: dict[DeviceId, Annotated[int, Meta(ge=1, lt=1 << 53)]]
    device: DeviceId
    at: Annotated[int, Meta(ge=EARLIEST, le=LATEST)]
    actor: Annotated[str, Meta(max_length=200)]


def device_name(device: str) -> str:
    """What people call a device, without the number that tells its memories apart."""
    return device.rpartition("-")[0] or device
