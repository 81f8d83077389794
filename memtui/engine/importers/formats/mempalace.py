"""MemPalace's palace (``chroma.sqlite3`` or ``sqlite_exact.sqlite3``) and its ``knowledge_graph.sqlite3``.

A drawer is an excerpt of a file or conversation, or what an agent filed: an observation, whole again where it was cut into
chunks. An excerpt of a conversation does not tell surely who said a line, so none becomes the person's word. A statement of
the graph is a fact. One that ended comes into the Trash: as superseded, if another of the same subject and predicate
begins where it ends. Closets, which list drawers, are counted. Vectors are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby

from memtui.engine.records import Skip

from .. import base, foreign_values
from ..base import Format, NamedEntity, Note, SchemaVersion, StreamHead
from ..databases import Row, text_column
from ..stream import Stream

SOURCE = "import:mempalace"
CLOSET = "index of drawers"
DRAWERS, CLOSETS = "mempalace_drawers", "mempalace_closets"
_CHROMA_TABLES = {
    "collections": frozenset(("id", "name")),
    "segments": frozenset(("id", "scope", "collection")),
    "embeddings": frozenset(("id", "segment_id", "embedding_id")),
    "embedding_metadata": frozenset(("id", "key", "string_value", "int_value")),
}
_EXACT_STORE_TABLES = {
    "collections": frozenset(("id", "name")),
    "documents": frozenset(("collection_id", "id", "document", "metadata_json")),
}
_GRAPH_TABLES = {
    "entities": frozenset(("id", "name", "type")),
    "triples": frozenset(("id", "subject", "predicate", "object", "valid_from", "valid_to", "confidence")),
}
# Values of a drawer that become tags, or say when and of what it is.
_METADATA_KEYS = (
    *("wing", "room", "type", "topic", "ingest_mode", "added_by", "agent", "source_file"),
    *("authored_at", "content_date", "filed_at", "parent_drawer_id", "parent_entry_id"),
)


def _has_tables(head: StreamHead, known: dict[str, frozenset[str]]) -> bool:
    return all(columns.issubset(head.tables.get(table, ())) for table, columns in known.items())


def _sniff(head: StreamHead) -> bool:
    # Other programs have a Chroma of their own, with other collections.
    palace = DRAWERS in head.collections and (
        _has_tables(head, _CHROMA_TABLES) or _has_tables(head, _EXACT_STORE_TABLES)
    )
    return palace or _has_tables(head, _GRAPH_TABLES)


def read(stream: Stream) -> Iterator[Note | Skip]:
    tables = stream.tables()
    if "triples" in tables:
        yield from _read_statements(stream, tables["triples"])
        return
    yield from _group_drawers(_read_chunks(stream, exact="documents" in tables), stream)


FORMAT = Format("mempalace", "MemPalace", _sniff, read, SchemaVersion(10, "migrations", "version"))


def _read_chunks(stream: Stream, *, exact: bool) -> Iterator[Row | Skip]:
    """Rows of (collection, id, text, *values), the chunks of a drawer together and in their order."""
    value: Callable[[str], str]
    if exact:
        value = "CASE WHEN json_valid(d.metadata_json) THEN json_extract(d.metadata_json, '$.{}') END".format
        id_column, text, order = "d.id", "d.document", value("chunk_index")
        source = "documents d JOIN collections c ON c.id = d.collection_id"
    else:
        one = "(SELECT m.{} FROM embedding_metadata m WHERE m.id = e.id AND m.key = '{}')".format
        value = partial(one, "string_value")
        id_column, text, order = "e.embedding_id", value("chroma:document"), one("int_value", "chunk_index")
        source = (
            "embeddings e JOIN segments s ON s.id = e.segment_id AND s.scope = 'METADATA' "
            "JOIN collections c ON c.id = s.collection"
        )
    wanted = ", ".join(
        f"CAST({column} AS BLOB)" for column in ("c.name", id_column, text, *map(value, _METADATA_KEYS))
    )
    parent = f"coalesce({value('parent_drawer_id')}, {value('parent_entry_id')}, {id_column})"
    yield from stream.rows(f"SELECT {wanted} FROM {source} ORDER BY c.name, {parent}, {order}, {id_column}")


def _group_drawers(rows: Iterable[Row | Skip], stream: Stream) -> Iterator[Note | Skip]:
    def drawer_key(row: Row | Skip) -> object:
        return id(row) if isinstance(row, Skip) else (row[0], row[-2] or row[-1] or row[1])

    for _, group in groupby(rows, drawer_key):
        chunks = list(group)
        first = chunks[0]
        if isinstance(first, Skip):
            yield first
            continue
        name, foreign_id, _, *values = (foreign_values.read_text(value) for value in first)
        if name != DRAWERS:
            # Another collection is of another program that keeps its own in the same file.
            for _ in chunks:
                yield Skip(reason=CLOSET if name == CLOSETS else base.NOT_A_MESSAGE)
            continue
        texts = (foreign_values.read_text(row[2]) for row in chunks if not isinstance(row, Skip))
        whole = "".join(text for text in texts if text)
        yield _make_note(foreign_id, whole, dict(zip(_METADATA_KEYS, values, strict=True)), stream)


def _make_note(
    foreign_id: str | None, text: str, values: dict[str, str | None], stream: Stream
) -> Note | Skip:
    if not text.strip():
        return stream.skip(base.NO_TEXT)
    drawer = values["parent_drawer_id"] or values["parent_entry_id"] or foreign_id
    wing = foreign_values.title_line(values["wing"])
    tags = [
        foreign_values.title_line(values[name]) for name in ("wing", "room", "type", "topic", "ingest_mode")
    ]
    attributes = {
        name: value
        for name in ("source_file", "agent", "added_by")
        if (value := foreign_values.title_line(values[name]))
    }
    return Note(
        kind="observation",
        category="finding",
        content=text,
        # A drawer that was written anew has the same id, and comes as a new one.
        source_key=f"mempalace:{foreign_values.hash_parts(drawer, text)}",
        source=SOURCE,
        trust="agent",
        event_time=foreign_values.event_time(
            values["authored_at"] or values["content_date"] or values["filed_at"], stream
        ),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        attributes=attributes,
        project=wing,
    )


def _read_statements(stream: Stream, columns: tuple[str, ...]) -> Iterator[Note | Skip]:
    """What ended before what is true, so that a link finds it."""
    written = text_column("extracted_at", columns, "t.")
    follows = "{0}.subject = t.subject AND {0}.predicate = t.predicate AND {0}.id <> t.id".format
    for row in stream.rows(f"""
        SELECT CAST(t.id AS BLOB), CAST(coalesce(s.name, t.subject) AS BLOB), CAST(s.type AS BLOB),
        CAST(t.predicate AS BLOB), CAST(coalesce(o.name, t.object) AS BLOB), CAST(o.type AS BLOB),
        CAST(t.valid_from AS BLOB), CAST(t.valid_to AS BLOB), {written},
        (SELECT CAST(p.id AS BLOB) FROM triples p WHERE {follows("p")} AND p.valid_to = t.valid_from),
        EXISTS (SELECT 1 FROM triples n WHERE {follows("n")} AND n.valid_from = t.valid_to),
        CASE WHEN typeof(t.confidence) IN ('integer', 'real') THEN t.confidence END
        FROM triples t LEFT JOIN entities s ON s.id = t.subject LEFT JOIN entities o ON o.id = t.object
        ORDER BY t.valid_to IS NULL, t.valid_to, t.rowid
        """):
        yield row if isinstance(row, Skip) else _parse_statement(row, stream)


def _parse_statement(row: Row, stream: Stream) -> Note | Skip:
    foreign_id, subject, subject_type, predicate, object, object_type, begun, ended, written, earlier = (
        foreign_values.read_text(value) for value in row[:10]
    )
    followed, confidence = row[10:]
    parts = [
        foreign_values.title_line(part, 500)
        for part in (subject, (predicate or "").replace("_", " "), object)
    ]
    if foreign_id is None or None in parts:
        return stream.skip(base.NO_TEXT)
    about = ((parts[0], subject_type), (parts[2], object_type))
    ended_at = foreign_values.event_time(ended, stream)
    if ended_at is not None and ended_at > stream.source.modified:
        ended_at = None  # still true when the file was written
    return Note(
        kind="fact",
        content=" ".join(part for part in parts if part),
        source_key=_source_key(foreign_id),
        source=SOURCE,
        trust="agent",
        event_time=foreign_values.event_time(begun or written, stream),
        confidence=float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else 1.0,
        ended_at=ended_at,
        ended_by="superseded" if followed else "forgotten",
        supersedes=_source_key(earlier) if earlier else None,
        about=tuple(
            NamedEntity(name=name, type=foreign_values.entity_type(type)) for name, type in about if name
        ),
    )


def _source_key(foreign_id: str) -> str:
    return f"mempalace:{foreign_values.read_identifier(foreign_id)}"
