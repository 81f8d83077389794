"""Markdown notes: each paragraph and list item is a fact, or an event in a note of a day.

A note of a day is one whose name is a date (``2026-03-04.md``): its blocks are a session. The heading that a fact stands
under, or else the note's title, is put before it where its text does not say it. ``[[Links]]`` become the names that it is
about, ``#tags`` and those of the frontmatter its tags. Code, tables and comments are passed over.
The author of a file in a folder is unknown, so its words have the trust of quoted ones.
A block is known by what it says and where it stands, so that a note may be moved, and added to, between two imports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtui.engine.importers.base import NamedEntity, Note
from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream
from .markdown_blocks import Block, Front, read_blocks

SOURCE = "import:markdown"
_LINK = re.compile(r"!?\[\[([^\[\]|#]{1,200})(?:#[^\[\]|]{0,200})?(?:\|([^\[\]]{1,200}))?\]\]")
_TAG = re.compile(r"(?<![^\s(])#([^\W\d_][\w/-]{0,63})")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?!\d)")
_TASK = re.compile(r"\[[ xX]\]\s+")
_MOST_LINKS = 20

_STRUCTURE = re.compile(r"#{1,6} +\S|[-*+] +\S|\d{1,3}[.)] +\S|> ")
_HEADING = re.compile(r"#{1,6} +\S")
_PROSE_WORDS = 4
_LINK_LINE = re.compile(
    r"(?:[-*+] +)?(?:!?\[\[[^\[\]]{1,300}\]\]|!?\[[^\[\]]{0,300}\]\([^()\s]{1,2000}\))[.,;]?$"
)
# A line of a program or of its settings, rather than of a note.
_CODE = re.compile(
    r".*[;{}]$|.*\):$|[\w.\[\]\"'-]+ *[=:]=? *\S*$|(?:- )?[\w.-]+:(?: [^ ]+)?$"
    r"|(?:import|from|def|class|package|#include|#!|\[[\w.-]+\]$|\$ )\b|</?\w+"
)


def _sniff(head: StreamHead) -> bool:
    """Headings or lists, between prose."""
    lines = _note_lines(head)
    structured = sum(_STRUCTURE.match(line) is not None for line in lines)
    # A script's comments look like headings, one after the other; a note's have something below them.
    headings = sum(_HEADING.match(line) is not None for line in lines)
    return structured > 0 and any(map(_is_prose, lines)) and headings * 4 <= len(lines) * 3


def has_prose(head: StreamHead) -> bool:
    """Whether it could be a note without headings and lists."""
    return any(_is_prose(line) and not _HEADING.match(line) for line in _note_lines(head))


def has_words(head: StreamHead) -> bool:
    """Whether it says anything beside headings and links, be it one word."""
    return any(
        any(character.isalpha() for character in line)
        for line in _note_lines(head)
        if not (_HEADING.match(line) or _LINK_LINE.match(line))
    )


def _is_prose(line: str) -> bool:
    return len(line.split(maxsplit=_PROSE_WORDS - 1)) == _PROSE_WORDS


def _note_lines(head: StreamHead) -> list[str]:
    """The lines of a text without frontmatter and code blocks; none where it looks like a program or its data."""
    raw = head.raw.lstrip()
    if head.objects or not raw or raw[:1] in (b"{", b"<") or raw.startswith((b"#!", b"[{", b"[\n", b'["')):
        return []
    lines = raw.decode(errors="replace").splitlines()[:400]
    if lines[0].rstrip() == "---":
        end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
        lines = lines[end + 1 :]
    plain, fenced = [], False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and line.strip():
            plain.append(line.strip())
    code = sum(_HEADING.match(line) is None and _CODE.match(line) is not None for line in plain)
    return plain if code * 4 <= len(plain) else []


def is_only_frontmatter(head: StreamHead) -> bool:
    """Whether the note is frontmatter and nothing else."""
    lines = [line.rstrip() for line in head.raw.decode(errors="replace").splitlines() if line.strip()]
    return lines.count("---") == 2 and lines[0] == lines[-1] == "---"


def has_only_links(head: StreamHead) -> bool:
    """Whether it is headings and links, as the first note of a vault often is."""
    lines = _note_lines(head)
    return bool(lines) and all(_HEADING.match(line) or _LINK_LINE.match(line) for line in lines)


def read(stream: Stream) -> Iterator[Note | Turn | Skip]:
    stem = foreign_values.title_line(stream.source.stem) or "note"
    front = Front()
    ordinals = OccurrenceCounter()
    for block in read_blocks(stream, front):
        if isinstance(block, Skip):
            yield block
            continue
        text = _LINK.sub(lambda match: match[2] or match[1], _TASK.sub("", block.text, count=1)).strip()
        if not any(character.isalnum() for character in text):
            yield stream.skip(base.NO_TEXT)
            continue
        title = front.title or block.title or stem
        day = _DAY.match(stem) or _DAY.match(title)
        key = foreign_values.hash_parts(title, block.heading, text)
        if ordinal := ordinals.count_before(bytes.fromhex(key)):
            key += f"#{ordinal}"
        where = block.heading or title
        if day:
            time = foreign_values.event_time(day[1], stream)
            yield _make_turn(block, day[1], title, text, key, time)
        else:
            time = foreign_values.event_time(front.date, stream)
            yield _make_fact(block, where, text, key, time, front.tags)


FORMAT = Format("markdown", "Markdown", _sniff, read)


def _make_turn(block: Block, day: str, title: str, text: str, key: str, time: float | None) -> Turn:
    return Turn(
        session_id=f"markdown:{day}",
        role="note",
        content=f"{block.heading}: {text}" if block.heading and block.heading != block.title else text,
        source_key=f"markdown:{day}:{key}",
        source=SOURCE,
        event_time=time,
        session_title=title,
        trust="tool",
    )


def _make_fact(
    block: Block, where: str, text: str, key: str, time: float | None, tags: tuple[str, ...]
) -> Note:
    links = [match[1].strip() for match in _LINK.finditer(block.text)][:_MOST_LINKS]
    named = tuple(NamedEntity(name=name) for name in dict.fromkeys(links) if name and not _DAY.match(name))
    return Note(
        kind="fact",
        content=text if where.casefold() in text.casefold() else f"{where}: {text}",
        source_key=f"markdown:{key}",
        source=SOURCE,
        trust="tool",
        own=True,
        event_time=time,
        tags=tuple(dict.fromkeys((*tags, *_TAG.findall(text)))),
        about=named,
    )
