"""claude-mem's ``claude-mem.db``: prompts, observations, and what was said of each session.

A model drew the observations and summaries. A prompt belongs to the session of its transcript: one of Claude Code is known
by session, words and time (``turns.py``). Columns were added and renamed over time, so those that are there are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import msgspec

from memtui.engine.records import Category, Skip, Turn

from .. import base, foreign_values
from ..base import Format, Note, SchemaVersion, StreamHead
from ..databases import Row, Tables, text_column
from ..stream import Stream
from . import claude_code_wrappers

SOURCE = "import:claude-mem"
WAITING_OUTPUT = "output of a tool that claude-mem has not read"
EVENT = "event of the program"
_MOST_SESSIONS = 200_000
_LIST = msgspec.json.Decoder(list[Any])
_OBSERVATION_COLUMNS = frozenset(("id", "project", "text", "type", "created_at_epoch"))
_PROMPT_COLUMNS = frozenset(("session_db_id", "prompt_text", "created_at_epoch"))
_SUMMARY_COLUMNS = frozenset(("project", "request", "learned", "created_at_epoch"))
_ITEM_COLUMNS = frozenset(("id", "project_id", "kind", "type", "legacy_observation_id", "created_at_epoch"))
_ITEM_KINDS = {"summary": "session-summary"}
# What a session is about, in this order; the columns are the headings.
_SUMMARY_HEADINGS = {
    "request": "Request",
    "investigated": "Investigated",
    "learned": "Learned",
    "completed": "Completed",
    "next_steps": "Next steps",
    "notes": "Notes",
}
# Its types of observations; every other is a finding.
_CATEGORIES: dict[str, Category] = {"decision": "insight", "bugfix": "lesson"}
# Before schema 17 sessions were called after the program.
_SESSION_COLUMNS = ("content_session_id", "claude_session_id")
_MEMORY_SESSION = ("memory_session_id", "sdk_session_id")


def _sniff(head: StreamHead) -> bool:
    return "sdk_sessions" in head.tables and _OBSERVATION_COLUMNS.issubset(
        head.tables.get("observations", ())
    )


def read(stream: Stream) -> Iterator[Turn | Note | Skip]:
    """What was said, then what was drawn from it, so that a session is there when something refers to it."""
    tables = stream.tables()
    reader = _Reader(stream, tables)
    yield from reader.read_prompts()
    yield from reader.read_observations()
    yield from reader.read_summaries()
    if _ITEM_COLUMNS.issubset(tables.get("memory_items", ())) and "name" in tables.get("projects", ()):
        yield from reader.read_items()
    for table, reason in (("pending_messages", WAITING_OUTPUT), ("agent_events", EVENT)):
        if table in tables:
            for row in stream.rows(f"SELECT 1 FROM {table}"):
                yield row if isinstance(row, Skip) else Skip(reason=reason)


FORMAT = Format(
    "claude-mem", "claude-mem", _sniff, read, SchemaVersion(49, table="schema_versions", column="version")
)


def _first_present(names: tuple[str, ...], columns: Collection[str]) -> str:
    return next((name for name in names if name in columns), names[0])


_Values = dict[str, str | None]


class _Reader:
    """The rows of one file, whatever of its columns are there."""

    def __init__(self, stream: Stream, tables: Tables) -> None:
        self.stream = stream
        self.tables = tables
        self.sessions = tables.get("sdk_sessions", ())
        self.session = text_column(_first_present(_SESSION_COLUMNS, self.sessions), self.sessions, "s.")
        self.platform = text_column("platform_source", self.sessions, "s.")
        memory_session = _first_present(_MEMORY_SESSION, self.sessions)
        # The session that a row was drawn from, if it says one that is there.
        self.session_join = f"LEFT JOIN sdk_sessions s ON s.{memory_session} = o.{{}}"
        self.known: set[str] = set()

    def read_prompts(self) -> Iterator[Turn | Skip]:
        columns = self.tables.get("user_prompts", ())
        title = text_column("custom_title", self.sessions, "s.")
        project = text_column("project", self.sessions, "s.")
        said_alone = "1"
        if _PROMPT_COLUMNS.issubset(columns):
            session_column = text_column(_first_present(_SESSION_COLUMNS, columns), columns, "p.")
            yield from self._read_turns(f"""
                SELECT coalesce({session_column}, {self.session}), {self.platform}, {project}, {title},
                CAST(p.prompt_text AS BLOB), CAST(p.created_at_epoch AS BLOB)
                FROM user_prompts p LEFT JOIN sdk_sessions s ON s.id = p.session_db_id ORDER BY p.id
                """)
            said_alone = (
                "s.id NOT IN (SELECT session_db_id FROM user_prompts WHERE session_db_id IS NOT NULL)"
            )
        if "user_prompt" in self.sessions and "started_at_epoch" in self.sessions:
            # The first versions kept the first prompt only.
            yield from self._read_turns(f"""
                SELECT {self.session}, {self.platform}, {project}, {title}, CAST(s.user_prompt AS BLOB),
                CAST(s.started_at_epoch AS BLOB)
                FROM sdk_sessions s WHERE s.user_prompt <> '' AND {said_alone} ORDER BY s.id
                """)

    def _read_turns(self, sql: str) -> Iterator[Turn | Skip]:
        for row in self.stream.rows(sql):
            if isinstance(row, Skip):
                yield row
                continue
            foreign_session, platform, project, title, said, time = (
                foreign_values.read_text(value) for value in row
            )
            if said is None or not said.strip():
                yield self.stream.skip(base.NO_TEXT)
                continue
            words = claude_code_wrappers.own_words(said)
            if not words:
                yield Skip(reason=base.PROGRAM)
                continue
            session = self._session_id(foreign_session, platform)
            if len(self.known) < _MOST_SESSIONS:
                self.known.add(session)
            yield Turn(
                session_id=session,
                role="user",
                content=words,
                source_key=f"claude-mem:{foreign_values.hash_parts(session, said, time)}",
                source=SOURCE,
                event_time=foreign_values.event_time(time, self.stream),
                project=foreign_values.title_line(project),
                session_title=foreign_values.title_line(title),
                trust="user",
            )

    def read_observations(self) -> Iterator[Note | Skip]:
        columns = self.tables.get("observations", ())
        names = (
            *("text", "type", "title", "subtitle", "narrative", "facts", "concepts", "files_read"),
            *("files_modified", "agent_type"),
        )
        yield from self._read_notes("observations", columns, names, self._parse_observation)

    def read_summaries(self) -> Iterator[Note | Skip]:
        columns = self.tables.get("session_summaries", ())
        if _SUMMARY_COLUMNS.issubset(columns):
            yield from self._read_notes(
                "session_summaries",
                columns,
                (*_SUMMARY_HEADINGS, "files_read", "files_edited"),
                self._parse_summary,
            )

    def read_items(self) -> Iterator[Note | Skip]:
        """What its server kept, apart from what stands among the observations, too."""
        columns = self.tables["memory_items"]
        names = (
            *("text", "type", "title", "subtitle", "narrative", "facts", "concepts", "files_read"),
            *("files_modified", "kind", "legacy_observation_id"),
        )
        wanted = ", ".join(text_column(name, columns, "o.") for name in names)
        for row in self.stream.rows(f"""
            SELECT NULL, NULL, CAST(p.name AS BLOB), CAST(o.created_at_epoch AS BLOB), {wanted}
            FROM memory_items o LEFT JOIN projects p ON p.id = o.project_id ORDER BY o.created_at_epoch, o.rowid
            """):
            yield row if isinstance(row, Skip) else self._parse_item(row, names)

    def _parse_item(self, row: Row, names: tuple[str, ...]) -> Note | Skip:
        values = dict(zip(names, map(foreign_values.read_text, row[4:]), strict=True))
        if values["legacy_observation_id"]:
            return Skip(reason="kept twice: among the observations, too")
        tag = _ITEM_KINDS.get(values["kind"] or "")
        return self._make_note(row, _observation_text(values), values, tags=(tag,) if tag else ())

    def _read_notes(
        self,
        table: str,
        columns: Collection[str],
        names: tuple[str, ...],
        make: Callable[[Row, _Values], Note | Skip],
    ) -> Iterator[Note | Skip]:
        wanted = ", ".join(text_column(name, columns, "o.") for name in names)
        merged = text_column("merged_into_project", columns, "o.")
        joined = self.session_join.format(_first_present(_MEMORY_SESSION, columns))
        for row in self.stream.rows(f"""
            SELECT {self.session}, {self.platform}, coalesce({merged}, CAST(o.project AS BLOB)),
            CAST(o.created_at_epoch AS BLOB), {wanted} FROM {table} o {joined} ORDER BY o.id
            """):
            yield (
                row
                if isinstance(row, Skip)
                else make(row, dict(zip(names, map(foreign_values.read_text, row[4:]), strict=True)))
            )

    def _parse_observation(self, row: Row, values: _Values) -> Note | Skip:
        return self._make_note(row, _observation_text(values), values)

    def _parse_summary(self, row: Row, values: _Values) -> Note | Skip:
        parts = (
            f"{heading}: {said.strip()}"
            for name, heading in _SUMMARY_HEADINGS.items()
            if (said := values[name]) and said.strip()
        )
        return self._make_note(row, "\n\n".join(parts), values, tags=("session-summary",))

    def _make_note(self, row: Row, text: str, values: _Values, tags: tuple[str, ...] = ()) -> Note | Skip:
        foreign_session, platform, project, time = (foreign_values.read_text(value) for value in row[:4])
        if not text.strip():
            return self.stream.skip(base.NO_TEXT)
        session = None if foreign_session is None else self._session_id(foreign_session, platform)
        attributes = {
            name: ", ".join(files)
            for name in ("files_read", "files_modified", "files_edited")
            if (files := _parse_strings(values.get(name)))
        }
        if agent := foreign_values.title_line(values.get("agent_type")):
            attributes["agent_type"] = agent
        if session is not None and session not in self.known:
            attributes["session"] = session  # without a turn memtui has no session of that name
        kind = foreign_values.title_line(values.get("type"))
        return Note(
            kind="observation",
            category=_CATEGORIES.get(kind or "", "finding"),
            content=text,
            source_key=f"claude-mem:{foreign_values.hash_parts(foreign_session, project, time, text)}",
            source=SOURCE,
            trust="model",
            event_time=foreign_values.event_time(time, self.stream),
            project=foreign_values.title_line(project),
            session_id=session,
            tags=(*((kind,) if kind else ()), *tags, *_parse_strings(values.get("concepts"))),
            attributes=attributes,
        )

    def _session_id(self, session: str | None, platform: str | None) -> str:
        name = foreign_values.read_identifier(session) or self.stream.source.stem
        return f"{'claude-code' if platform in (None, '', 'claude') else 'claude-mem'}:{name}"


def _observation_text(values: _Values) -> str:
    """The title, the narrative, and the single facts that are not in it."""
    narrative = values["narrative"] or values["text"] or ""
    parts = [one.strip() for one in (values["title"], values["subtitle"], narrative) if one and one.strip()]
    facts = [fact for fact in _parse_strings(values["facts"]) if fact not in narrative]
    if facts:
        parts.append("\n".join(f"- {fact}" for fact in facts))
    return "\n\n".join(dict.fromkeys(parts))


def _parse_strings(text: str | None) -> list[str]:
    """The texts of a JSON list; lines, where it is none (the first versions)."""
    if not text or not text.strip():
        return []
    try:
        values = _LIST.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        values = text.splitlines()
    return [one.strip() for one in values if isinstance(one, str) and one.strip()]
