"""Export a memory as notes for Obsidian: one for each entity, fact and day.

The same memory gives the same bytes: nothing in a note depends on when it was written. Days are local ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import islice
from typing import Any, Protocol, TextIO

import apsw
from msgspec.structs import replace

from memtui.engine.guards import secrets
from memtui.engine.records import Caution, MemoryRecord
from memtui.engine.search import cautions
from memtui.engine.search.block_text import PERHAPS_CHANGED, said_on
from memtui.engine.search.open_changes import OpenChanges, find_open_changes
from memtui.engine.store import entities, memories
from memtui.engine.store.export_rows import Selection
from memtui.engine.store.sql import scalar
from memtui.engine.wording import text_beginning

from .markdown_text import (
    as_block_quote,
    case_insensitive_key,
    escape_markdown,
    escape_on_one_line,
    file_name,
    wiki_link,
    yaml_frontmatter,
)

INDEX = "Index"
FOLDERS = {"person": "People", "project": "Projects", "location": "Places", "organization": "Organisations"}
_NOTES = {"fact": "Facts", "observation": "Observations", "reflection": "Reflections"}
_TITLE = 60
_SHOWN = 300
_AT_ONCE = 500


class NoteTarget(Protocol):
    """Where notes are written: ``note`` gives a file for the note at a path without suffix."""

    def create_note(self, path: str) -> AbstractContextManager[TextIO]: ...


class VaultWriter:
    """One memory on its way into notes. ``step`` is called after each note with how many there will be."""

    def __init__(
        self,
        connection: apsw.Connection,
        selection: Selection,
        notes: NoteTarget,
        step: Callable[[int], None],
    ) -> None:
        self._connection = connection
        self._where = selection.where
        self._bindings = selection.bindings
        self._notes = notes
        self._step = step
        self._paths: dict[int, str] = {}
        self._doubts: dict[str, str] = {}
        """By id of a note that is no longer true or may have changed: what says so behind its text in a list."""
        self._open = OpenChanges(perhaps_now={}, before={})
        self.counts: dict[str, int] = {}

    def write(self) -> None:
        self._find_doubts()
        named = self._write_entities()
        total = 1 + len(named)
        total += scalar(
            self._connection,
            f"SELECT count(*) FILTER (WHERE m.kind <> 'episode') + count(DISTINCT {_DAY}) FILTER (WHERE m.kind = 'episode') "
            f"FROM memories m WHERE {self._where}",
            self._bindings,
        )  # fmt: skip
        for row in named:
            self._write_entity(row)
            self._report_progress("entity", total)
        for row in self._query_rows(
            f"SELECT {memories.COLUMNS} FROM memories m WHERE m.kind <> 'episode' AND {self._where} ORDER BY m.id"
        ):
            memory = memories.memory_record(row, 0.0)
            self._write_memory(memory)
            self._report_progress(memory.kind, total)
        for (day,) in self._query_rows(
            f"SELECT DISTINCT {_DAY} FROM memories m WHERE m.kind = 'episode' AND {self._where} ORDER BY 1"
        ):
            self._write_day(day)
            self._report_progress("day", total)
        self._write_index()
        self._report_progress("index", total)

    def _report_progress(self, kind: str, total: int) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self._step(total)

    def _query_rows(self, sql: str, **more: Any) -> Iterator[tuple[Any, ...]]:
        return iter(self._connection.execute(sql, {**self._bindings, **more}))

    # -- what no longer holds

    def _find_doubts(self) -> None:
        """Find them before anything is written: the notes of names come first, and list the others."""
        rows = self._query_rows(
            f"SELECT {memories.COLUMNS} FROM memories m WHERE m.kind <> 'episode' AND {self._where} ORDER BY m.id"
        )
        perhaps_now: dict[str, MemoryRecord] = {}
        before: dict[str, MemoryRecord] = {}
        while some := [memories.memory_record(row, 0.0) for row in islice(rows, _AT_ONCE)]:
            changes = find_open_changes(self._connection, some, 0.0, None)
            perhaps_now |= changes.perhaps_now
            before |= changes.before
            known = cautions.find_cautions(self._connection, [one.id for one in some], 0.0)
            for one in some:
                marks = [*map(self._mark_of, known.get(one.id, ()))]
                if not (one.active or marks):
                    marks = [one.ended_by or "ended"]
                if one.id in changes.perhaps_now:
                    marks.append(f"{PERHAPS_CHANGED} {said_on(changes.perhaps_now[one.id])}")
                if marks:
                    self._doubts[one.id] = f" *({'; '.join(marks)})*"
        self._open = OpenChanges(perhaps_now=perhaps_now, before=before)

    def _note_link(self, id: str, kind: str, content: str) -> str:
        """A link to a note in a list, with what of it no longer holds."""
        return wiki_link(_note_path(id, kind, content), _first_line(content)) + self._doubts.get(id, "")

    def _open_changes_of(self, memory: MemoryRecord) -> Iterator[str]:
        """What may have taken its place, and what an agent put it in the place of; with a link where that is in the vault."""
        if (newer := self._open.perhaps_now.get(memory.id)) is not None:
            yield self._with_link(f"{PERHAPS_CHANGED} {said_on(newer)}", newer)
        if (old := self._open.before.get(memory.id)) is not None:
            yield self._with_link(f"{memory.corrected_by} changed this; before", old)

    def _with_link(self, text: str, to: MemoryRecord) -> str:
        links = "".join(self._links_to([to.id]))
        return escape_markdown(text) + (f": {links}" if links else "")

    # -- names

    def _write_entities(self) -> list[tuple[Any, ...]]:
        """Those that the memories are about; each gets the place of its note, the oldest one the plain name."""
        kinds = ", ".join(f"'{kind}'" for kind in FOLDERS)
        entities = list(
            self._query_rows(
                f"""
                SELECT s.eid, s.id, s.canonical_name, s.type, s.summary FROM entities s
                WHERE s.merged_into IS NULL AND NOT s.hidden AND s.type IN ({kinds}) AND s.eid IN (
                    SELECT coalesce(e.merged_into, e.eid) FROM memory_entities l JOIN entities e ON e.eid = l.eid
                    WHERE l.rid IN (SELECT m.rid FROM memories m WHERE {self._where}))
                ORDER BY s.id"""
            )
        )
        used_paths: set[str] = set()
        for eid, id, name, kind, _ in entities:
            path = f"{FOLDERS[kind]}/{file_name(name, id)}"
            if case_insensitive_key(path) in used_paths:
                path = f"{path} {id}"
            used_paths.add(case_insensitive_key(path))
            self._paths[eid] = path
        return entities

    def _write_entity(self, row: tuple[Any, ...]) -> None:
        eid, entity_id, name, kind, summary = row
        group = "SELECT e.eid FROM entities e WHERE e.eid = :eid OR e.merged_into = :eid"
        about = f"m.rid IN (SELECT l.rid FROM memory_entities l WHERE l.eid IN ({group})) AND {self._where}"
        aliases = [
            alias
            for (alias,) in self._query_rows(
                f"SELECT DISTINCT alias FROM entity_aliases WHERE entity_id IN ({group}) ORDER BY alias",
                eid=eid,
            )
        ]
        with self._notes.create_note(self._paths[eid]) as note:
            note.write(yaml_frontmatter({"id": entity_id, "type": kind, "name": name, "aliases": aliases}))
            note.write(f"\n# {escape_on_one_line(name, 200)}\n")
            if summary:
                note.write(f"\n{escape_markdown(summary)}\n")
                doubtful = cautions.summary_cautions(
                    self._connection, entities.by_eid(self._connection, [eid]), 0.0
                )
                self._write_list(
                    note,
                    "No longer holds",
                    (self._mark_of(one) for those in doubtful.values() for one in those),
                )
            notes = f"SELECT m.id, m.kind, m.content FROM memories m WHERE m.kind <> 'episode' AND {about} ORDER BY m.kind, m.id"
            self._write_list(note, "What is known", (
                self._note_link(id, kind, content) for id, kind, content in self._query_rows(notes, eid=eid)
            ))  # fmt: skip
            days = f"SELECT {_DAY}, count(*) FROM memories m WHERE m.kind = 'episode' AND {about} GROUP BY 1 ORDER BY 1"
            self._write_list(note, "Talked about", (
                f"{wiki_link(f'Days/{day}', day)} ({number})" for day, number in self._query_rows(days, eid=eid)
            ))  # fmt: skip

    def _write_list(self, note: TextIO, title: str, lines: Iterator[str]) -> None:
        for number, line in enumerate(lines):
            note.write(f"\n## {title}\n\n- {line}\n" if number == 0 else f"- {line}\n")

    # -- memories

    def _write_memory(self, memory: MemoryRecord) -> None:
        with self._notes.create_note(_note_path(memory.id, memory.kind, memory.content)) as note:
            ended = memory.valid_until
            note.write(
                yaml_frontmatter(
                    {
                        "id": memory.id, "kind": memory.kind, "category": memory.category,
                        "date": _local_time(memory.event_time).isoformat(), "confidence": memory.confidence,
                        "confirmed": memory.protected, "trust": memory.trust, "project": memory.project,
                        "source": memory.source, "tags": [_obsidian_tag(tag) for tag in memory.tags], "topic": memory.topic,
                        "happens": None if memory.happens_at is None else _local_time(memory.happens_at).isoformat(),
                        "ended": memory.ended_by,
                        "ended_at": None if ended is None else _local_time(ended).isoformat(),
                    }
                )
            )  # fmt: skip
            note.write(f"\n{as_block_quote(memory.content)}\n")
            self._write_list(note, "About", iter(self._entity_links(memory.rid)))
            self._write_list(note, "Drawn from", self._sources_of(memory))
            replaced = "SELECT to_id FROM memory_links WHERE from_id = :id AND rel <> 'source' ORDER BY to_id"
            self._write_list(
                note,
                "In the place of",
                self._links_to([id for (id,) in self._query_rows(replaced, id=memory.id)]),
            )
            self._write_list(note, "No longer holds", self._cautions_of([memory.id]))
            self._write_list(note, "Not decided", self._open_changes_of(memory))

    def _sources_of(self, memory: MemoryRecord) -> Iterator[str]:
        """Links to what it was drawn from, each with what of it no longer holds."""
        known = cautions.find_cautions(self._connection, memory.source_ids, 0.0)
        for id in memory.source_ids:
            marks = "; ".join(self._mark_of(one) for one in known.get(id, ()))
            for link in self._links_to([id]):
                yield f"{link} *({marks})*" if marks else link

    def _mark_of(self, caution: Caution) -> str:
        """A caution without what holds now. The name of an agent is anybody's text."""
        return escape_markdown(cautions.caution_text(replace(caution, successor=None)))

    def _cautions_of(self, ids: Sequence[str]) -> Iterator[str]:
        """What some memories tell that was corrected or forgotten since; what holds now, where it is in the vault."""
        for memory_cautions in cautions.find_cautions(self._connection, ids, 0.0).values():
            for one in memory_cautions:
                later = "".join(self._links_to([one.successor.id])) if one.successor else ""
                yield self._mark_of(one) + (f": {later}" if later else "")

    def _entity_links(self, rid: int) -> list[str]:
        rows = self._query_rows(
            "SELECT DISTINCT coalesce(e.merged_into, e.eid) FROM memory_entities l JOIN entities e ON e.eid = l.eid "
            "WHERE l.rid = :rid ORDER BY 1",
            rid=rid,
        )
        return sorted(
            wiki_link(self._paths[eid], self._paths[eid].partition("/")[2])
            for (eid,) in rows
            if eid in self._paths
        )

    def _links_to(self, ids: Iterable[str]) -> Iterator[str]:
        """Links to those of the memories that are in the vault."""
        for id in ids:
            row: Any = self._connection.execute(
                f"SELECT m.kind, m.content, m.event_time FROM memories m WHERE m.id = :id AND {self._where}",
                {**self._bindings, "id": id},
            ).fetchone()
            if row is None:
                continue
            kind, content, event_time = row
            if kind == "episode":
                day = _local_time(event_time).date().isoformat()
                yield wiki_link(f"Days/{day}#^{_block_anchor(id)}", f"{day}: {_first_line(content)}")
            else:
                yield wiki_link(_note_path(id, kind, content), _first_line(content))

    # -- days

    def _write_day(self, day: str) -> None:
        with self._notes.create_note(f"Days/{day}") as note:
            note.write(yaml_frontmatter({"date": day}))
            last: object = note
            for id, role, content, event_time, session, title in self._query_rows(
                f"""
                SELECT m.id, m.source_role, m.content, m.event_time, m.session_id, s.title FROM memories m
                LEFT JOIN sessions_consolidations s ON s.session_id = m.session_id
                WHERE m.kind = 'episode' AND {_DAY} = :day AND {_NEAR} AND {self._where}
                ORDER BY (SELECT min(f.event_time) FROM memories f WHERE f.session_id = m.session_id), m.session_id,
                         m.event_time, m.rid""",
                day=day,
            ):
                if session != last:
                    note.write(f"\n## {escape_on_one_line(title or session or 'Alone', 200)}\n")
                    last = session
                time = _local_time(event_time).strftime("%H:%M")
                cautioned = "".join(f"*{caution}*\n\n" for caution in self._cautions_of([id]))
                speaker = escape_on_one_line(role or "somebody", 60)
                text = as_block_quote(content)
                note.write(f"\n**{speaker}** {time}\n\n{cautioned}{text}\n\n^{_block_anchor(id)}\n")

    def _write_index(self) -> None:
        with self._notes.create_note(INDEX) as note:
            note.write("# Index\n")
            for folder in FOLDERS.values():
                places = sorted(path for path in self._paths.values() if path.startswith(f"{folder}/"))
                self._write_list(note, folder, (wiki_link(path, path.partition("/")[2]) for path in places))
            for kind, folder in _NOTES.items():
                rows = self._query_rows(
                    f"SELECT m.id, m.content FROM memories m WHERE m.kind = '{kind}' AND {self._where} ORDER BY m.id"
                )
                self._write_list(
                    note,
                    folder,
                    (self._note_link(id, kind, content) for id, content in rows),
                )
            days = self._query_rows(
                f"SELECT DISTINCT {_DAY} FROM memories m WHERE m.kind = 'episode' AND {self._where} ORDER BY 1"
            )
            self._write_list(note, "Days", (wiki_link(f"Days/{day}", day) for (day,) in days))


_DAY = "date(m.event_time, 'unixepoch', 'localtime')"
# What an index can be asked: no local time is further from UTC.
_NEAR = "m.event_time BETWEEN unixepoch(:day) - 54000 AND unixepoch(:day) + 140400"


def _note_path(id: str, kind: str, content: str) -> str:
    """Where the note of a memory is; its id makes it the only one."""
    return f"{_NOTES[kind]}/{file_name(_file_title(_redact_name(content)), kind)} {id}"


def _redact_name(content: str) -> str:
    """A text for a name or a link: it is looked through as it stands, before it is put on one line and cut."""
    return secrets.redact_secrets(content)[0]


def _first_line(content: str) -> str:
    return text_beginning(_redact_name(content), _SHOWN)


def _file_title(content: str) -> str:
    """The beginning of a text for the name of a file: whole words, where one is not that long."""
    joined = " ".join(content.split())
    if len(joined) <= _TITLE:
        return joined
    words, _, rest = joined[: _TITLE + 1].rpartition(" ")
    return words if len(rest) < _TITLE // 2 else joined[:_TITLE]


def _block_anchor(id: str) -> str:
    return id.replace("_", "-")


def _local_time(moment: int) -> datetime:
    return datetime.fromtimestamp(moment).astimezone()


def _obsidian_tag(tag: str) -> str:
    """As Obsidian can have tags: without spaces."""
    return "-".join(tag.split())
