"""opencode: its database, the files of its earlier versions, and what ``opencode export`` writes.

A session has messages, a message has parts; the text parts are what was said. ``opencode.db`` has a table of each. Earlier
versions have files: ``storage/message/<session>/<message>.json``, its parts in ``storage/part/<message>/``, its session in
``storage/session/<project>/<session>.json``; they are read with the message. Messages have the same ids everywhere, so a session
that was moved from files to the database is there already.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, foreign_values, refusals
from ..base import Format, StreamHead
from ..stream import Stream

SOURCE = "import:opencode"
UNDONE = "taken back in the program"
TOO_LONG_PART = "part of a message left out: too long"
NEWER_TABLE = "message in a table that memtui does not know"
UNFINISHED = "answer that is still being written"
# An answer that was not written for so long was broken off.
_WRITING_SECONDS = 600.0
_TABLES = {
    "session": frozenset(("id", "title", "directory")),
    "message": frozenset(("id", "session_id", "time_created", "data")),
    "part": frozenset(("id", "message_id", "data")),
}
_ROLES = ("user", "assistant")
_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{.{0,2000}?"time"\s*:.{0,20000}?"messages"\s*:', re.DOTALL)
_MESSAGE_FILE = re.compile(
    rb'\A\s*\{(?=.{0,200}?"id"\s*:\s*"msg)(?=.{0,200}?"sessionID"\s*:\s*"ses)(?!.{0,400}?"messageID"\s*:)',
    re.DOTALL,
)
# What lies beside the folder of messages, and is read with them or says nothing.
_SIBLING_FOLDERS = frozenset(
    {"part", "session", "session_diff", "session_share", "project", "todo", "permission", "share"}
)
_LARGEST_FILE = 8 << 20
_MOST_PARTS = 2_000


class _Session(msgspec.Struct, rename={"parent_id": "parentID"}):
    id: Any = None
    title: Any = None
    directory: Any = None
    parent_id: Any = None
    revert: Any = None


class _Info(msgspec.Struct, rename={"session_id": "sessionID"}):
    id: Any = None
    session_id: Any = None
    role: Any = None
    time: Any = None
    path: Any = None
    summary: Any = None
    error: Any = None


class _Part(msgspec.Struct):
    id: Any = None
    type: Any = None
    text: Any = None
    synthetic: Any = None
    ignored: Any = None


class _MessageWithParts(msgspec.Struct):
    info: _Info
    parts: list[_Part] = []


class _Export(msgspec.Struct):
    info: _Session
    messages: list[_MessageWithParts]


_SESSION = msgspec.json.Decoder(_Session)
_INFO = msgspec.json.Decoder(_Info)
_PART = msgspec.json.Decoder(_Part)
_EXPORTED = msgspec.json.Decoder(_Export)


def _sniff(head: StreamHead) -> bool:
    if head.tables:
        return all(columns.issubset(head.tables.get(table, ())) for table, columns in _TABLES.items())
    return _EXPORT.match(head.raw) is not None or _MESSAGE_FILE.match(head.raw) is not None


def known_sibling_folders(folders: Collection[str]) -> frozenset[str]:
    """Those of the folders in one folder that are read with its messages: none unless it is opencode's storage."""
    return _SIBLING_FOLDERS.intersection(folders) if {"message", "part"} <= set(folders) else frozenset()


def read(stream: Stream) -> Iterator[Turn | Skip]:
    if stream.is_database:
        yield from _read_database(stream)
        return
    for raw in stream.records():
        if isinstance(raw, Skip):
            yield raw
            continue
        try:
            if _EXPORT.match(raw):
                yield from _parse_export(foreign_values.decode(_EXPORTED, raw, stream), stream)
            else:
                yield _read_message_file(foreign_values.decode(_INFO, raw, stream), stream)
        except foreign_values.NotReadableError as error:
            yield stream.skip(str(error))


FORMAT = Format("opencode", "opencode", _sniff, read)


def _read_database(stream: Stream) -> Iterator[Turn | Skip]:
    columns = stream.tables().get("session", ())
    parent, revert = (f"s.{name}" if name in columns else "NULL" for name in ("parent_id", "revert"))
    changed = "m.time_updated" if "time_updated" in stream.tables().get("message", ()) else "NULL"
    rows = stream.rows(
        f"""
        SELECT m.id, CAST(m.session_id AS BLOB), CASE WHEN octet_length(m.data) <= ? THEN CAST(m.data AS BLOB) END,
        m.time_created, CAST(s.title AS BLOB), CAST(s.directory AS BLOB),
        CAST({parent} AS BLOB), CAST({revert} AS BLOB), {changed}
        FROM message m LEFT JOIN session s ON s.id = m.session_id ORDER BY m.session_id, m.time_created, m.id
        """,
        (stream.limits.line,),
    )
    for row in rows:
        if isinstance(row, Skip):
            yield row
            continue
        message_id, name, data, begun = row[0], foreign_values.read_text(row[1]), row[2], row[3]
        title, directory, above, undone = (foreign_values.read_text(value) for value in row[4:8])
        if not isinstance(data, bytes):
            yield stream.skip("row without a message, or too long")
            continue
        try:
            info = foreign_values.decode(_INFO, data, stream)
        except foreign_values.NotReadableError as error:
            yield stream.skip(str(error))
            continue
        if _is_unfinished(info, row[8]):
            yield Skip(reason=UNFINISHED)  # it would be kept as it is now
            continue
        info.id, info.session_id, info.time = message_id, name, {"created": begun}
        session = _Session(title=title, directory=directory, parent_id=above, revert=_parse_json(undone))
        yield _parse_turn(info, _read_parts(message_id, stream), session, stream)
    newer = stream.tables().get("session_message", ())
    if "session_id" in newer:
        for row in stream.rows(
            "SELECT 1 FROM session_message WHERE session_id NOT IN (SELECT session_id FROM message)"
        ):
            yield row if isinstance(row, Skip) else stream.skip(NEWER_TABLE)


def _is_unfinished(info: _Info, changed: Any) -> bool:
    """``changed``: when the message was written last, in milliseconds."""
    ended = info.error or (isinstance(info.time, dict) and info.time.get("completed"))
    if info.role != "assistant" or ended or not isinstance(changed, int):
        return False
    return time.time() - changed / 1000 < _WRITING_SECONDS


def _read_parts(message: Any, stream: Stream) -> Iterator[_Part]:
    for row in stream.rows(
        "SELECT id, CASE WHEN octet_length(data) <= ? THEN CAST(data AS BLOB) END FROM part WHERE message_id = ? "
        "ORDER BY id LIMIT ?",
        (stream.limits.line, message, _MOST_PARTS),
    ):
        if isinstance(row, Skip) or not isinstance(row[1], bytes):
            stream.warn(TOO_LONG_PART)
            continue
        try:
            part = foreign_values.decode(_PART, row[1], stream)
        except foreign_values.NotReadableError:
            continue
        part.id = row[0]
        yield part


def _parse_export(export: _Export, stream: Stream) -> Iterator[Turn | Skip]:
    if not export.messages:
        yield stream.skip(refusals.NO_MESSAGES)
    for one in export.messages:
        one.info.session_id = one.info.session_id or export.info.id
        yield _parse_turn(one.info, one.parts, export.info, stream)


def _read_message_file(info: _Info, stream: Stream) -> Turn | Skip:
    """A message in a file of its own, with what lies beside it."""
    storage = None if stream.source.member is not None else _storage_folder(stream.source.path)
    message_id, session = (
        foreign_values.read_identifier(info.id),
        foreign_values.read_identifier(info.session_id),
    )
    if (
        storage is None
        or message_id is None
        or session is None
        or not {message_id, session}.isdisjoint((".", ".."))
        or "/" in message_id + session
    ):
        return _parse_turn(info, (), _Session(), stream)
    parts = sorted((storage / "part" / message_id).glob("*.json"))[:_MOST_PARTS]
    decoded_parts = [part for path in parts if (part := _decode_file(_PART, path, stream)) is not None]
    return _parse_turn(
        info, decoded_parts, _session_file(storage, session, _session_mtime(storage)) or _Session(), stream
    )


def _storage_folder(path: Path) -> Path | None:
    folders = path.absolute().parents
    return folders[2] if len(folders) > 2 and folders[1].name == "message" else None


def _session_mtime(storage: Path) -> int:
    try:
        return (storage / "session").stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _session_file(storage: Path, session: str, changed: int) -> _Session | None:
    """``changed``: when the folder was, so that a later import looks again."""
    for path in (storage / "session").glob(f"*/{session}.json"):
        try:
            return _SESSION.decode(path.read_bytes()[:_LARGEST_FILE])
        except (OSError, msgspec.MsgspecError, RecursionError):
            continue
    return None


def _decode_file(decoder: msgspec.json.Decoder[_Part], path: Path, stream: Stream) -> _Part | None:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            stream.warn(TOO_LONG_PART)
            return None
        part = foreign_values.decode(decoder, path.read_bytes(), stream)
    except (OSError, foreign_values.NotReadableError):
        stream.warn("part of a message that cannot be read")
        return None
    return part


def _parse_turn(info: _Info, parts: Iterable[_Part], session: _Session, stream: Stream) -> Turn | Skip:
    message_id, name = (
        foreign_values.read_identifier(info.id),
        foreign_values.read_identifier(info.session_id),
    )
    if message_id is None or info.role not in _ROLES:
        return stream.skip(base.NOT_A_MESSAGE)
    first_undone, within = _first_undone(session.revert)
    if first_undone is not None and (
        message_id > first_undone or (message_id == first_undone and within is None)
    ):
        return Skip(reason=UNDONE)
    if info.summary is True:
        return Skip(reason=base.COMPACTION)
    texts, kinds = [], set()
    for part in parts:
        if (
            message_id == first_undone
            and within is not None
            and isinstance(part.id, str)
            and part.id >= within
        ):
            continue
        kinds.add(part.type if isinstance(part.type, str) else "")
        if part.type == "text" and isinstance(part.text, str) and not part.synthetic and not part.ignored:
            texts.append(part.text)
    text = base.join_blocks(texts)
    if not text:
        return Skip(reason=_skip_reason(kinds))
    folder = foreign_values.read_folder(session.directory) or _working_folder(info.path)
    time = info.time.get("created") if isinstance(info.time, dict) else None
    return Turn(
        session_id=f"opencode:{name or stream.source.stem}",
        role=info.role,
        content=text,
        source_key=f"opencode:{message_id}",
        source=SOURCE,
        event_time=foreign_values.event_time(time, stream),
        project=foreign_values.last_path_part(folder),
        session_title=foreign_values.title_line(session.title),
        folder=folder,
        # A session within another is one of an agent that was given a task.
        trust="user" if info.role == "user" and not session.parent_id else "agent",
    )


def _skip_reason(kinds: Collection[str]) -> str:
    if "tool" in kinds:
        return base.TOOL
    if "compaction" in kinds:
        return base.COMPACTION
    return base.PROGRAM if "text" in kinds else base.NOT_TEXT if "file" in kinds else base.NO_TEXT


def _first_undone(revert: Any) -> tuple[str | None, str | None]:
    """The first message that the person took back, and its first part if only some of it was."""
    if not isinstance(revert, dict):
        return None, None
    message, part = revert.get("messageID"), revert.get("partID")
    return (message if isinstance(message, str) else None), (part if isinstance(part, str) else None)


def _working_folder(path: Any) -> str | None:
    return foreign_values.read_folder(path.get("cwd")) if isinstance(path, dict) else None


def _parse_json(text: str | None) -> Any:
    try:
        return msgspec.json.decode(text) if text else None
    except (msgspec.MsgspecError, RecursionError):
        return None
