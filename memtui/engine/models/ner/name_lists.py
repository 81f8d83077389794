"""What words are known as (given names, surnames, places, organisations, things, ordinary words), and their group of meaning.

The lists have many names, so they are kept as sorted hashes (``name_lists.bin``), which are read at once and take six bytes
a name. ``tests/benchmarks/names_lists.py`` makes the file.
"""

from __future__ import annotations

import functools
from array import array
from bisect import bisect_left
from pathlib import Path
from zlib import crc32

FILE = Path(__file__).with_name("name_lists.bin")
GIVEN, SURNAME, PLACE, ORGANISATION, THING, WORD, BRAND = 1, 2, 4, 8, 16, 32, 64
"""A bit for each list. A brand is an organisation or a thing."""
GROUPS = 256
"""Words of one group are near to each other in meaning."""


def lists_with_name(name: str) -> int:
    """The lists that hold a name of one or more words, in small letters: the sum of their bits; 0 for an unknown one."""
    return _find_entry(name)[0]


def name_group(word: str) -> int:
    """The group of a known word in small letters, from 0; -1 for an unknown one."""
    return _find_entry(word)[1]


@functools.lru_cache(8192)
def _find_entry(name: str) -> tuple[int, int]:
    hashes, lists, groups = _load_table()
    key = crc32(name.encode("utf-8", "replace"))
    at = bisect_left(hashes, key)
    return (lists[at], groups[at]) if at < len(hashes) and hashes[at] == key else (0, -1)


@functools.cache
def _load_table() -> tuple[array[int], bytes, bytes]:
    """The hashes in order; the lists and the group of each."""
    data = FILE.read_bytes()
    count = len(data) // 6
    return array("I", data[: 4 * count]), data[4 * count : 5 * count], data[5 * count :]
