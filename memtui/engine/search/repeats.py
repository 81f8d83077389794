"""What is in a conversation already is not told in it again, unless it changed or the prompt is about it.

A line counts as the same as long as its text is, with its cautions. Where a prompt says most words of a fact, it is about
that fact.
"""

from __future__ import annotations

from zlib import crc32

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import text_stems

from . import lexicon

# From some memories back to all that they replaced.
_BEFORE = """
    WITH RECURSIVE chain(id, steps) AS (
        SELECT m.id, 0 FROM json_each(:rids) r JOIN memories m ON m.rid = r.value
        UNION SELECT l.to_id, steps + 1 FROM chain JOIN memory_links l ON l.from_id = chain.id
        WHERE l.rel = 'supersedes' AND steps < 50)
    SELECT m.rid FROM chain JOIN memories m ON m.id = chain.id WHERE steps > 0
"""


class ServedLines:
    """What a conversation holds: ``lines`` has the checksum of the line of each memory (by rid), the latest last."""

    def __init__(self, lines: dict[int, int]) -> None:
        self.lines = lines

    def was_served(self, memory: MemoryRecord, line: str) -> bool:
        return self.lines.get(memory.rid) == _line_checksum(line)

    def add_served(self, connection: apsw.Connection, served: list[tuple[MemoryRecord, str]]) -> None:
        """These lines are told now. What they replaced holds no more: it is told again if it ever does."""
        if self.lines and served:
            rids = as_json([memory.rid for memory, _ in served])
            for (rid,) in connection.execute(_BEFORE, {"rids": rids}):
                self.lines.pop(int(str(rid)), None)
        for memory, line in served:
            self.lines.pop(memory.rid, None)
            self.lines[memory.rid] = _line_checksum(line)


def names_memory(prompt: str, memory: MemoryRecord) -> bool:
    """Whether a prompt says at least half of the telling words of a memory, and two if it has so many."""
    own = lexicon.content_stems(memory.content)
    shared = own.intersection(text_stems(prompt))
    return len(shared) >= min(2, len(own)) > 0 and 2 * len(shared) >= len(own)


def _line_checksum(line: str) -> int:
    return crc32(line.encode("utf-8", "replace"))
