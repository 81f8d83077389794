"""Split a JSON array into its elements without parsing it, one element in memory at a time.

Exports are one array of conversations in a file of up to a gigabyte. A streaming parser stops at the first
byte it dislikes and grows with nesting; cutting at brackets instead lets one broken element be skipped, caps
the size and depth of each, and leaves the parsing to msgspec. A file that holds one object, or several one
after another, is read as if it were an array of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memtui.engine.records import Skip

from .limits import MIB, ImportLimits

CUT_OFF = "the file ends in the middle"
NOT_AN_OBJECT = "neither an object nor an array"
# A whole string, a bracket, or a quote whose string goes on in the next chunk.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]|"', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


def split(chunks: Iterable[bytes], limits: ImportLimits) -> Iterator[bytes | Skip]:
    """Yield the bytes of each object or array inside the outermost array, or why it was passed over.

    What is between them and is neither is passed over, too. Brackets are counted, not matched: whoever parses an
    element finds out whether it is JSON.
    """
    scan = _ArrayScan(limits)
    for chunk in chunks:
        yield from scan.feed(chunk)
    yield from scan.finish()


class _ArrayScan:
    """Where the scan stands between two chunks."""

    def __init__(self, limits: ImportLimits) -> None:
        self.limits = limits
        self.outer: int | None = None  # brackets around an element: 1 in an array, 0 for bare objects
        self.depth = 0
        self.in_string = False
        self.carry = b""
        self.parts: list[bytes] = []
        self.between = b""
        self.size = 0
        self.refused = ""

    def feed(self, chunk: bytes) -> Iterator[bytes | Skip]:
        data = self.carry + chunk
        self.carry = b""
        start = 0 if self._scan_element() else None
        outside = 0
        position = 0
        if self.in_string:
            position = self._end_of_string(data, 0)
        if not self.in_string:
            for token in _TOKEN.finditer(data, position):
                byte = data[token.start()]
                if byte == 0x22:
                    if token.end() - token.start() == 1:
                        self.in_string = True
                        self._end_of_string(data, token.end())
                        break
                elif byte in b"[{":
                    if self.outer is None:
                        self.outer = 1 if byte == 0x5B else 0
                        if self.outer:
                            self.depth = 1
                            outside = token.end()
                            continue
                        outside = token.start()
                    if self.depth == self.outer:
                        start = token.start()
                        yield from self._no_elements(data[outside:start])
                    self.depth += 1
                    if self.depth > self.limits.depth:
                        self.refused = "nested too deeply"
                elif self._scan_element():
                    self.depth -= 1
                    if not self._scan_element() and start is not None:
                        self._keep_bytes(data[start : token.end()])
                        yield self._finish_element()
                        start = None
                        outside = token.end()
        end = len(data) - len(self.carry)
        if start is not None:
            self._keep_bytes(data[start:end])
        elif self.outer is not None:
            self.between += data[outside:end]
            if len(self.between) > MIB:
                yield from self._no_elements(b"")

    def finish(self) -> Iterator[Skip]:
        if self._scan_element():
            yield Skip(reason=self.refused or CUT_OFF)
        elif self.outer is not None:
            yield from self._no_elements(self.carry)

    def _no_elements(self, more: bytes) -> Iterator[Skip]:
        """A Skip for each value that stood since the last element, or before the first one."""
        between, self.between = self.between + more, b""
        if between.isspace() or between in (b"", b",", b"]"):
            return
        for value in _TOKEN.sub(lambda token: b"" if token[0] in b"[]{}" else b'""', between).split(b","):
            if value.strip(b" \t\r\n]}"):
                yield Skip(reason=NOT_AN_OBJECT)

    def _scan_element(self) -> bool:
        return self.outer is not None and self.depth > self.outer

    def _end_of_string(self, data: bytes, position: int) -> int:
        """Where the string ends; at the end of ``data`` it stays open, and half an escape is carried over."""
        match = _REST_OF_STRING.match(data, position)
        end = match.end() if match else position
        if end < len(data) and data[end] == 0x22:
            self.in_string = False
            return end + 1
        self.carry = data[end:]
        return len(data)

    def _keep_bytes(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > self.limits.item:
            self.refused = f"larger than {self.limits.item // MIB} MB"
        if self.refused:
            self.parts.clear()
        else:
            self.parts.append(part)

    def _finish_element(self) -> bytes | Skip:
        whole = Skip(reason=self.refused) if self.refused else b"".join(self.parts)
        self.parts.clear()
        self.size, self.refused = 0, ""
        return whole
