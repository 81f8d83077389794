"""How often something may happen in a minute, for each token or address."""

from __future__ import annotations

import time
from collections.abc import Callable

MINUTE = 60.0
_MOST_KEYS = 10_000


class Limit:
    """At most ``most`` in a minute for each key; 0: no limit. Not for several threads.

    It remembers 10,000 keys: an attacker with many addresses does not fill the memory.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._begun: dict[str, tuple[float, int]] = {}

    def wait(self, key: str) -> int:
        """Count one; the seconds to wait if it is one too many, else 0."""
        if not self._most:
            return 0
        now = self._clock()
        begun, count = self._begun.pop(key, (now, 0))
        if now - begun >= MINUTE:
            begun, count = now, 0
        if len(self._begun) >= _MOST_KEYS:
            del self._begun[next(iter(self._begun))]  # the one that was not seen for longest
        self._begun[key] = (begun, count + 1)
        return 0 if count < self._most else max(1, int(begun + MINUTE - now) + 1)
