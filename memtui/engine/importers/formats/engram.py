"""engram's ``engram.db``: prompts, observations, and the summary of each session.

An agent wrote the observations. What was deleted there comes into the Trash; what another observation was judged to
supersede comes as superseded by it. An observation is changed in place there: it is known by its session, time and text, so
a changed one comes in as a new one. Columns were added over time, so those that are there are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.records import Category, Skip, Turn

from .. import base, foreign_values
from ..base import Format, Note, SchemaVersion, StreamHead
from ..databases import Row, Tables, text_column
from ..stream import Stream

SOURCE = "import:engram"
RELATION = "relation of two observations that is no replacement"
_OBSERVATION_COLUMNS = frozenset(("id", "session_id", "type", "title", "content", "created_at"))
_SESSION_COLUMNS = frozenset(("id", "project", "directory", "started_at"))
_PROMPT_COLUMNS = frozenset(("id", "session_id", "content", "created_at"))
_RELATION_COLUMNS = frozenset(("source_id", "target_id", "relation", "judgment_status"))
# Its types of observations; every other is a finding.
_CATEGORIES: dict[str, Category] = {
    "decision": "insight", "architecture": "insight", "pattern": "insight", "bugfix": "lesson", "learning": "lesson",
}  # fmt: skip
_TEXT_COLUMNS = (
    *("session_id", "created_at", "title", "content", "type", "project", "updated_at", "deleted_at"),
    *("tool_name", "scope", "topic_key"),
)


def _sniff(head: StreamHead) -> bool:
    return _OBSERVATION_COLUMNS.issubset(head.tables.get("observations", ())) and _SESSION_COLUMNS.issubset(
        head.tables.get("sessions", ())
    )


def read(stream: Stream) -> Iterator[Turn | Note | Skip]:
    """What was said, then what was written down: what is replaced before what replaces it."""
    tables = stream.tables()
    if _PROMPT_COLUMNS.issubset(tables.get("user_prompts", ())):
        yield from _read_prompts(stream, tables)
    yield from _read_observations(stream, tables)
    if "summary" in tables.get("sessions", ()):
        yield from _read_summaries(stream)
    if _RELATION_COLUMNS.issubset(tables.get("memory_relations", ())):
        for row in stream.rows(
            "SELECT 1 FROM memory_relations WHERE relation <> 'supersedes' OR judgment_status <> 'judged'"
        ):
            yield row if isinstance(row, Skip) else Skip(reason=RELATION)


FORMAT = Format("engram", "engram", _sniff, read, SchemaVersion(8))


def _read_prompts(stream: Stream, tables: Tables) -> Iterator[Turn | Skip]:
    project = text_column("project", tables["user_prompts"], "p.")
    for row in stream.rows(f"""
        SELECT CAST(p.session_id AS BLOB), CAST(p.content AS BLOB), CAST(p.created_at AS BLOB),
        coalesce(nullif({project}, x''), CAST(s.project AS BLOB)), CAST(s.directory AS BLOB)
        FROM user_prompts p LEFT JOIN sessions s ON s.id = p.session_id ORDER BY p.id
        """):
        if isinstance(row, Skip):
            yield row
            continue
        session, content, time, project_name, folder = (foreign_values.read_text(value) for value in row)
        if content is None or not content.strip():
            yield stream.skip(base.NO_TEXT)
            continue
        yield Turn(
            session_id=_session_id(session, stream),
            role="user",
            content=content,
            source_key=f"engram:said:{foreign_values.hash_parts(session, time, content)}",
            source=SOURCE,
            event_time=foreign_values.event_time(time, stream),
            project=foreign_values.title_line(project_name),
            folder=foreign_values.read_folder(folder),
            trust="user",
        )


def _read_observations(stream: Stream, tables: Tables) -> Iterator[Note | Skip]:
    columns = tables.get("observations", ())
    wanted = ", ".join(text_column(name, columns, "o.") for name in _TEXT_COLUMNS)
    revised = "o.revision_count > 1" if "revision_count" in columns else "0"
    replaced, earlier, joins = "NULL", "NULL, NULL, NULL, NULL", ""
    if "sync_id" in columns and _RELATION_COLUMNS.issubset(tables.get("memory_relations", ())):
        when = text_column("updated_at", tables["memory_relations"])
        judged = f"""
            SELECT source_id, target_id, coalesce({when}, x'30') AS at, min(rowid) FROM memory_relations
            WHERE relation = 'supersedes' AND judgment_status = 'judged' GROUP BY"""
        # The first that it replaces: a memory of memtui names one.
        joins = f"""
            LEFT JOIN ({judged} target_id) r ON r.target_id = o.sync_id
            LEFT JOIN ({judged} source_id) d ON d.source_id = o.sync_id
            LEFT JOIN observations e ON e.sync_id = d.target_id"""
        replaced = "r.at"
        earlier = ", ".join(
            f"CAST(e.{name} AS BLOB)" for name in ("session_id", "created_at", "title", "content")
        )
    for row in stream.rows(
        f"SELECT {wanted}, {replaced}, {earlier}, {revised} FROM observations o {joins} "
        f"ORDER BY {replaced} IS NULL, o.id"
    ):
        yield row if isinstance(row, Skip) else _parse_observation(row, stream)


def _parse_observation(row: Row, stream: Stream) -> Note | Skip:
    session, time, title, content, type, project, updated, deleted, tool, scope, topic, replaced, *rest = (
        foreign_values.read_text(value) for value in row[:-1]
    )
    text = _with_title(title, content)
    if not text:
        return stream.skip(base.NO_TEXT)
    superseded = replaced is not None
    ended_at = None
    if deleted or superseded:
        ended_at = foreign_values.event_time(deleted or replaced or updated, stream) or stream.source.modified
    kind = foreign_values.title_line(type)
    attributes = {
        name: value
        for name, text_value in (("tool", tool), ("topic_key", topic))
        if (value := foreign_values.title_line(text_value))
    }
    personal = (scope or "").casefold() == "personal"
    return Note(
        kind="observation",
        category=_CATEGORIES.get(kind or "", "finding"),
        content=text,
        source_key=_source_key(session, time, title, content),
        source=SOURCE,
        trust="agent",
        # A text that was changed is as old as its last change.
        event_time=foreign_values.event_time(updated if row[-1] and updated else time, stream),
        ended_at=ended_at,
        ended_by="superseded" if superseded and not deleted else "forgotten",
        supersedes=_source_key(*rest) if any(rest) else None,
        session_id=_session_id(session, stream),
        project=foreign_values.title_line(project),
        tags=(*((kind,) if kind else ()), *(("personal",) if personal else ())),
        attributes=attributes,
    )


def _read_summaries(stream: Stream) -> Iterator[Note | Skip]:
    for row in stream.rows(
        "SELECT CAST(id AS BLOB), CAST(project AS BLOB), CAST(coalesce(ended_at, started_at) AS BLOB), "
        "CAST(summary AS BLOB) FROM sessions WHERE summary <> '' ORDER BY rowid"
    ):
        if isinstance(row, Skip):
            yield row
            continue
        session, project, time, summary = (foreign_values.read_text(value) for value in row)
        if summary is None or not summary.strip():
            yield stream.skip(base.NO_TEXT)
            continue
        yield Note(
            kind="observation",
            category="finding",
            content=summary,
            source_key=f"engram:summary:{foreign_values.hash_parts(session, summary)}",
            source=SOURCE,
            trust="agent",
            event_time=foreign_values.event_time(time, stream),
            session_id=_session_id(session, stream),
            project=foreign_values.title_line(project),
            tags=("session-summary",),
        )


def _with_title(title: str | None, content: str | None) -> str:
    """The title is a line of its own where the text does not begin with it."""
    head, text = (title or "").strip(), (content or "").strip()
    return text if not head or text.casefold().startswith(head.casefold()) else f"{head}\n\n{text}".strip()


def _source_key(session: str | None, time: str | None, title: str | None, content: str | None) -> str:
    return f"engram:{foreign_values.hash_parts(session, time, title, content)}"


def _session_id(session: str | None, stream: Stream) -> str:
    return f"engram:{foreign_values.read_identifier(session) or stream.source.stem}"
