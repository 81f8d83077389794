"""memtui's own Markdown vault: notes with an id in their frontmatter, as ``exporters/vault.py`` writes them.

A note keeps its id, so nothing comes in twice, into the memory that it was exported from for one. A note that was edited is
reported and not imported: correcting a memory keeps both texts, which an import cannot. Days hold turns without sessions, so
turns come with a complete export.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.base import Item, NamedEntity, Note
from memtui.engine.records import TOPICS, Category, EndedBy, EntityType, Kind, Skip, Trust

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream

DAY = "day of a vault: its turns come with a complete export"
INDEX = "list of links"
_FRONT = re.compile(rb'\A---\r?\n(?:.*\r?\n){0,3}id: "(?:fact|obs|ref|ent)_[0-9a-f]{12}"')
_TURN = re.compile(rb"^\^ep-[0-9a-f]{12}\r?$", re.MULTILINE)
_DATED = re.compile(rb'\A---\r?\ndate: "\d{4}-\d\d-\d\d"\r?\n---')
_CONTENTS = re.compile(
    rb"\A# Index\r?\n(?:\s*\Z|[\s\S]*?- \[\[(?:People|Projects|Places|Organisations|Facts|Days)/)"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|&#(\d{1,7});")
_QUOTE = re.compile(r"\A> ?")
_LINK = re.compile(r"- \[\[([^\]|]+)(?:\|[^\]]*)?\]\]")
_NOTE_ID = re.compile(r" ((?:fact|obs|ref)_[0-9a-f]{12})\Z")
_TURN_ID = re.compile(r"#\^ep-([0-9a-f]{12})\Z")
_KINDS: dict[str, Kind] = {"fact": "fact", "observation": "observation", "reflection": "reflection"}
_CATEGORIES: dict[str, Category] = {"finding": "finding", "insight": "insight", "lesson": "lesson"}
_TRUSTS: dict[str, Trust] = {"user": "user", "agent": "agent", "tool": "tool", "model": "model"}
_ENDS: dict[str, EndedBy] = {
    "forgotten": "forgotten", "faded": "faded", "superseded": "superseded", "merged": "merged",
}  # fmt: skip
_FOLDERS: dict[str, EntityType] = {
    "People": "person", "Projects": "project", "Places": "location", "Organisations": "organization",
}  # fmt: skip
_TYPES: dict[str, EntityType] = {type: type for type in _FOLDERS.values()}


def _sniff(head: StreamHead) -> bool:
    raw = head.raw
    if _FRONT.match(raw) or _CONTENTS.match(raw):
        return True
    return _DATED.match(raw) is not None and _TURN.search(raw) is not None


def read(stream: Stream) -> Iterator[Item | Skip]:
    """One note: a memory or an entity."""
    front: dict[str, Any] = {}
    quote: list[str] = []
    lists: dict[str, list[str]] = {}
    here, fences, heading = "", 0, False
    for raw in stream.lines(blank=True):
        if isinstance(raw, Skip):
            yield raw
            continue
        line = raw.decode(errors="replace")
        if line == "---" and fences < 2:
            fences += 1
        elif fences == 1:
            name, _, value = line.partition(": ")
            front[name] = _parse_value(value)
        elif line.startswith("## "):
            here = line[3:]
        elif line.startswith("# "):
            heading = True
        elif here and (link := _LINK.match(line)):
            lists.setdefault(here, []).append(link[1])
        elif not here and (line.startswith(">") or (heading and line)):
            quote.append(strip_quotes(line))
    text = "\n".join(quote)
    id = front.get("id")
    if not isinstance(id, str):
        yield Skip(reason=DAY if "date" in front else INDEX)
    elif id.startswith("ent_"):
        yield _parse_entity(front, text, stream)
    else:
        yield _parse_note(id, front, text, lists, stream)


FORMAT = Format("memtui-vault", "memtui vault", _sniff, read)


def strip_quotes(line: str) -> str:
    """A line of a block quote, or of a text, as it was before it was escaped."""
    return _ESCAPED.sub(_unescape, _QUOTE.sub("", line, count=1))


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    return chr(int(match[2])) if int(match[2]) <= sys.maxunicode else match[0]


def _parse_value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None


def _parse_entity(front: dict[str, Any], summary: str, stream: Stream) -> NamedEntity | Skip:
    name = foreign_values.title_line(front.get("name"))
    if name is None:
        return stream.skip("no name")
    aliases = tuple(alias for alias in _strings_of(front.get("aliases")) if alias.strip() and alias != name)
    return NamedEntity(
        name=name, type=_TYPES.get(str(front.get("type")), "other"), aliases=aliases, summary=summary or None
    )


def _parse_note(
    id: str, front: dict[str, Any], text: str, lists: dict[str, list[str]], stream: Stream
) -> Note | Skip:
    kind = _KINDS.get(str(front.get("kind")))
    category = _CATEGORIES.get(str(front.get("category")))
    if kind is None or (kind == "observation") != (category is not None):
        return stream.skip("unknown kind")
    if not text.strip():
        return stream.skip(base.NO_TEXT)
    confidence = front.get("confidence")
    ended = _ENDS.get(str(front.get("ended")))
    drawn_from = tuple(
        memory_id for link in lists.get("Drawn from", []) if (memory_id := _linked_memory_id(link))
    )
    earlier = next(
        (memory_id for link in lists.get("In the place of", []) if (memory_id := _linked_memory_id(link))),
        None,
    )
    ended_at = foreign_values.event_time(front.get("ended_at"), stream)
    return Note(
        id=id,
        kind=kind,
        category=category,
        content=text,
        source_key=f"memtui:{id}",
        source=foreign_values.title_line(front.get("source")) or "import:memtui-vault",
        project=foreign_values.title_line(front.get("project")),
        # What has no known author is quoted.
        trust=_TRUSTS.get(str(front.get("trust")), "tool"),
        event_time=foreign_values.event_time(front.get("date"), stream),
        confidence=float(confidence) if isinstance(confidence, int | float) else 1.0,
        lasting=front.get("confirmed") is True,
        ended_at=(ended_at or stream.source.modified) if ended else None,
        ended_by=ended or "forgotten",
        drawn_from=drawn_from,
        supersedes=earlier,
        tags=tuple(_strings_of(front.get("tags"))),
        topic=next((topic for topic in TOPICS if topic == front.get("topic")), None),
        happens_at=None
        if (happens := foreign_values.event_time(front.get("happens"), stream)) is None
        else int(happens),
        about=tuple(_linked_entities(lists.get("About", []))),
    )


def _linked_entities(links: list[str]) -> Iterator[NamedEntity]:
    for link in links:
        folder, _, name = link.partition("/")
        if folder in _FOLDERS and name:
            yield NamedEntity(name=name, type=_FOLDERS[folder])


def _linked_memory_id(link: str) -> str | None:
    """The memory that a link of the vault leads to."""
    if turn := _TURN_ID.search(link):
        return f"ep_{turn[1]}"
    note = _NOTE_ID.search(link)
    return note[1] if note else None


def _strings_of(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
