"""Notes of basic-memory: Markdown with a permalink, observations ``- [category] words #tag (context)`` and relations.

Each observation, relation (``- relation [[Note]] (context)``), paragraph and other list item is a fact about the note's title. A
fact is known by the note's permalink and its words, so that a note may be moved, and added to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtui.engine.importers.base import NamedEntity, Note
from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream
from .markdown_blocks import Block, Front, read_blocks

SOURCE = "import:basic-memory"
_FRONT = re.compile(rb"\A---\r?\n(?P<front>(?:(?!---)[^\n]*\n){1,200}?)---\r?\n")
# A site generator's permalink is a path.
_PERMALINK = re.compile(rb"^permalink:[ \t]*[\"']?(?![/\"'\s]|https?:)([^\r\n\"']+)", re.MULTILINE)
_TITLE = re.compile(rb"^title:", re.MULTILINE)
_TYPE = re.compile(rb"^type:", re.MULTILINE)
_MARKED = re.compile(rb"^\s*[-*+] (?:\[[^\[\]()\n]{2,80}\] \S|[^\n]{1,80}\[\[)", re.MULTILINE)
_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(\S.*)", re.DOTALL)
_TASK = re.compile(r"\[[ xX-]\]\s+")
# Other marks of tasks, and times of a transcript, stand in the same brackets.
_NO_CATEGORY = re.compile(r"[^\w]?|\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?:\s+-\s+[\d:.,]+)?")
_RELATION = re.compile(
    r"(?:(?P<quote>[\"'])(?P<words>[^\"']{1,200})(?P=quote)|(?P<word>\S{1,200}))\s+\[\[(?P<to>[^\[\]]{1,200})\]\]\s*(?:\((?P<context>.*)\))?"
)
_CONTEXT = re.compile(r"(?P<text>.*\S)\s+\((?P<context>[^()]*)\)", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|]{1,200})(?:\|([^\[\]]{1,200}))?\]\]")
_TAG = re.compile(r"(?<![^\s(])#([^\W\d_][\w/-]{0,63})")
_MOST_LINKS = 20


def _sniff(head: StreamHead) -> bool:
    match = _FRONT.match(head.raw)
    if match is None:
        return False
    front = match["front"]
    if _PERMALINK.search(front) is None or _TITLE.search(front) is None:
        return False
    return _TYPE.search(front) is not None or _MARKED.search(head.raw) is not None


def read(stream: Stream) -> Iterator[Note | Skip]:
    front = _Front()
    ordinals = OccurrenceCounter()
    for block in read_blocks(stream, front):
        if isinstance(block, Skip):
            yield block
            continue
        if not any(character.isalnum() for character in block.text):
            yield stream.skip(base.NO_TEXT)
            continue
        title = front.title or block.title or foreign_values.title_line(stream.source.stem) or "note"
        key = foreign_values.hash_parts(front.permalink or title, block.text)
        if ordinal := ordinals.count_before(bytes.fromhex(key)):
            key += f"#{ordinal}"
        yield _parse_note(block, title, front, key, stream)


FORMAT = Format("basic-memory", "basic-memory", _sniff, read)


class _Front(Front):
    permalink: str | None = None

    def read_line(self, line: str) -> None:
        super().read_line(line)
        if line.startswith("permalink:"):
            self.permalink = foreign_values.title_line(line.partition(":")[2].strip().strip("\"'"))


def _parse_note(block: Block, title: str, front: Front, key: str, stream: Stream) -> Note:
    text, context, kinds = _TASK.sub("", block.text, count=1), None, []
    about = [NamedEntity(name=title)]
    if relation := _RELATION.fullmatch(text):
        relation_words = re.sub(r"[_\s]+", " ", relation["words"] or relation["word"])
        context = relation["context"]
        text = f"{title} {relation_words} {relation['to'].strip()}."
        about.append(NamedEntity(name=relation["to"].strip()))
    else:
        observation = _OBSERVATION.fullmatch(text)
        if observation and not _NO_CATEGORY.fullmatch(observation[1].strip()):
            kinds.append(observation[1].strip())
            text = observation[2]
            if aside := _CONTEXT.fullmatch(text):
                text, context = aside["text"], aside["context"]
        about += [NamedEntity(name=link[1].strip()) for link in list(_LINK.finditer(text))[:_MOST_LINKS]]
        text = _LINK.sub(lambda link: link[2] or link[1], text).strip()
        if title.casefold() not in text.casefold():
            text = f"{title}: {text}"
    return Note(
        kind="fact",
        content=text,
        source_key=f"basic-memory:{key}",
        source=SOURCE,
        trust="agent",
        event_time=foreign_values.event_time(front.date, stream),
        tags=tuple(dict.fromkeys((*front.tags, *kinds, *_TAG.findall(block.text)))),
        attributes={"context": context.strip()} if context and context.strip() else {},
        about=tuple(dict.fromkeys(about)),
    )
