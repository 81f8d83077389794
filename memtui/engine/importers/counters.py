"""Count texts and keys in memory that does not grow with their number."""

from __future__ import annotations

from hashlib import blake2b

from memtui.engine.store.sql import TemporaryTable


class DistinctCounter(TemporaryTable):
    """A set of texts that can only grow; a context manager."""

    def __init__(self) -> None:
        super().__init__("met(digest BLOB PRIMARY KEY) WITHOUT ROWID")

    def add_new(self, text: str) -> bool:
        """True if the text was not there yet."""
        self._database.execute(
            "INSERT INTO met(digest) VALUES (?) ON CONFLICT DO NOTHING", (_hash_text(text),)
        )
        return self._database.changes() > 0

    def has(self, text: str) -> bool:
        known = self._database.execute("SELECT 1 FROM met WHERE digest = ?", (_hash_text(text),))
        return known.fetchone() is not None


def _hash_text(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


_MAX_EXACT_COUNTS = 32_768
_BITS = 27
_MASK = (1 << _BITS) - 1
_PROBES = 5


class OccurrenceCounter:
    def __init__(self) -> None:
        self._counts: dict[bytes, int] = {}
        self._filter: bytearray | None = None

    def count_before(self, key: bytes) -> int:
        """How many times ``key`` came before: 0, 1, 2, ..."""
        known = self._counts.get(key)
        if known is not None or len(self._counts) < _MAX_EXACT_COUNTS:
            count = 0 if known is None else known + 1
            self._counts[key] = count
            return count
        return self._next_in_filter(key)

    def _next_in_filter(self, key: bytes) -> int:
        if self._filter is None:
            self._filter = bytearray(1 << (_BITS - 3))
        # Double, then halve: a line repeated a million times takes forty looks, not a million.
        low, high = -1, 0
        while _all_bits_set(self._filter, key, high):
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            if _all_bits_set(self._filter, key, middle):
                low = middle
            else:
                high = middle
        for bit in _bit_positions(key, high):
            self._filter[bit >> 3] |= 1 << (bit & 7)
        return high


def _all_bits_set(bits: bytearray, key: bytes, count: int) -> bool:
    return all(bits[bit >> 3] & (1 << (bit & 7)) for bit in _bit_positions(key, count))


def _bit_positions(key: bytes, count: int) -> list[int]:
    number = int.from_bytes(blake2b(key + count.to_bytes(8, "big"), digest_size=20).digest(), "big")
    return [(number >> (32 * probe)) & _MASK for probe in range(_PROBES)]
