"""Cut a Markdown file into paragraphs and list items, line by line, with the headings above each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtui.engine.memories import validation
from memtui.engine.records import Record, Skip

from .. import foreign_values
from ..stream import Stream

CODE = "code, table or comment"
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_RULE = re.compile(r" {0,3}([-*_=])[ \t]*(?:\1[ \t]*){2,}$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_FRONT_LINES = 200
_MOST_TAGS = 20
# Room for the heading that comes before it.
_MAX_BLOCK_LENGTH = validation.MAX_NOTE - 500


class Block(Record):
    """A paragraph or list item: its words in one piece, the nearest heading, the file's first one of level 1."""

    text: str
    heading: str | None
    title: str | None


class Front:
    """What the frontmatter says; filled while the file is read."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.date: str | None = None
        self.tags: tuple[str, ...] = ()
        self._list = ""

    def read_line(self, line: str) -> None:
        """One line of ``key: value``, or of a list below a key."""
        if self._list == "tags" and (item := re.match(r"\s*-\s+(.+)", line)):
            self._add_tags([item[1]])
            return
        name, colon, value = line.partition(":")
        if not colon or line[:1].isspace():
            return
        self._list = name.strip().casefold()
        value = value.strip().strip("\"'")
        if self._list == "title":
            self.title = foreign_values.title_line(value)
        elif self._list in ("date", "created", "created_at") and self.date is None:
            self.date = value or None
        elif self._list in ("tags", "tag"):
            self._list = "tags"
            self._add_tags(re.split(r"[,\s]+", value.strip("[]")))

    def _add_tags(self, words: list[str]) -> None:
        tags = [word.strip().strip("\"'").lstrip("#") for word in words]
        self.tags = tuple(dict.fromkeys((*self.tags, *filter(None, tags))))[:_MOST_TAGS]


def read_blocks(stream: Stream, front: Front) -> Iterator[Block | Skip]:
    """The blocks in their order; ``front`` is filled before the first of them."""
    return _BlockSplitter(stream, front).split()


class _BlockSplitter:
    def __init__(self, stream: Stream, front: Front) -> None:
        self.stream = stream
        self.front = front
        self.title: str | None = None
        self.heading: str | None = None
        self.words: list[str] = []
        self.size = 0
        self.fence = ""
        self.comment = False

    def split(self) -> Iterator[Block | Skip]:
        in_front = False
        for number, raw in enumerate(self.stream.lines(blank=True)):
            if isinstance(raw, Skip):
                yield from self._finish_block()
                yield raw
                continue
            line = self._decode_line(raw)
            if number == 0 and line.rstrip() == "---":
                in_front = True
            elif in_front:
                in_front = line.rstrip() not in ("---", "...") and number < _FRONT_LINES
                if in_front:
                    self.front.read_line(line)
            else:
                yield from self._read_line(line)
        yield from self._finish_block()

    def _decode_line(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.stream.warn(foreign_values.BAD_UTF8)
            return raw.decode(errors="replace")

    def _read_line(self, line: str) -> Iterator[Block | Skip]:
        bare = line.strip()
        if self.fence:
            if bare.startswith(self.fence) and not bare.strip(self.fence[0]):
                self.fence = ""
        elif self.comment:
            self.comment = "-->" not in bare
        elif fence := _FENCE.match(line):
            yield from self._finish_block()
            self.fence = fence[1]
            yield Skip(reason=CODE)
        elif bare.startswith("<!--"):
            yield from self._finish_block()
            self.comment = "-->" not in bare
            yield Skip(reason=CODE)
        elif not bare or _RULE.match(line):
            yield from self._finish_block()
        elif heading := _HEADING.match(line):
            yield from self._finish_block()
            self.heading = foreign_values.title_line(heading[2].rstrip(" \t#"))
            if len(heading[1]) == 1 and self.title is None:
                self.title = self.heading
        elif bare.startswith("|") or (
            not self.words and line.startswith(("    ", "\t")) and not _ITEM.match(line)
        ):
            yield from self._finish_block()
            yield Skip(reason=CODE)
        else:
            if item := _ITEM.match(line):
                yield from self._finish_block()
                bare = line[item.end() :].strip()
            yield from self._add_words(bare.removeprefix("> "))

    def _add_words(self, words: str) -> Iterator[Block]:
        while words:
            length_left = _MAX_BLOCK_LENGTH - self.size
            self.words.append(words[:length_left])
            self.size += len(words[:length_left]) + 1
            words = words[length_left:]
            if self.size >= _MAX_BLOCK_LENGTH:
                yield from self._finish_block()

    def _finish_block(self) -> Iterator[Block]:
        if self.words:
            yield Block(text=" ".join(self.words), heading=self.heading, title=self.title)
        self.words.clear()
        self.size = 0
