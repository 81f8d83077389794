"""Small stores of other programs, made with the schema that each has."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple


def store(path: Path, schema: str, rows: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    """An SQLite file with ``schema`` and rows of its tables; lists in a row are written as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(schema)
        insert(connection, rows or {})
    return path


def insert(connection: sqlite3.Connection, rows: dict[str, list[dict[str, Any]]]) -> None:
    for table, some in rows.items():
        for row in some:
            values = [json.dumps(one) if isinstance(one, list | dict) else one for one in row.values()]
            places = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", values)


def beside(path: Path) -> list[str]:
    """What lies in the folder of a store, with its sizes."""
    return sorted(f"{one.name} {one.stat().st_size}" for one in path.parent.iterdir())


def texts(found: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [one for (one,) in found]


# Schema 49 of claude-mem, without indexes and tables of its synchronisation.
CLAUDE_MEM = """
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT, started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active',
  worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT, type TEXT NOT NULL,
  title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
  content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT,
  agent_id TEXT, synced_at INTEGER);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
  merged_into_project TEXT);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE VIRTUAL TABLE user_prompts_fts USING fts5(prompt_text, content='user_prompts', content_rowid='id');
CREATE TRIGGER user_prompts_ai AFTER INSERT ON user_prompts BEGIN
  INSERT INTO user_prompts_fts(rowid, prompt_text) VALUES (new.id, new.prompt_text); END;
CREATE TABLE pending_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER NOT NULL, content_session_id TEXT NOT NULL,
  message_type TEXT NOT NULL, tool_name TEXT, status TEXT NOT NULL DEFAULT 'pending');
CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT NOT NULL, slug TEXT UNIQUE);
CREATE TABLE memory_items (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, server_session_id TEXT, legacy_observation_id INTEGER, kind TEXT NOT NULL,
  type TEXT NOT NULL, title TEXT, subtitle TEXT, text TEXT, narrative TEXT, facts TEXT NOT NULL DEFAULT '[]',
  concepts TEXT NOT NULL DEFAULT '[]', files_read TEXT NOT NULL DEFAULT '[]', files_modified TEXT NOT NULL DEFAULT '[]',
  metadata TEXT NOT NULL DEFAULT '{}', created_at_epoch INTEGER NOT NULL, updated_at_epoch INTEGER NOT NULL);
INSERT INTO schema_versions (version, applied_at) VALUES (4, '2026-01-01'), (49, '2026-08-01');
"""
TALK = "5f0c9d52-7a41-4b0e-9f57-3c2f4f6f1e01"
CLAUDE_MEM_ROWS: dict[str, list[dict[str, Any]]] = {
    "sdk_sessions": [
        {
            "id": 1, "content_session_id": TALK, "memory_session_id": "m-1", "project": "greenhouse", "user_prompt": "Why?",
            "started_at": "2026-03-04T10:00:00Z", "started_at_epoch": 1772618400000, "custom_title": "Fix the heater",
        },
        {
            "id": 2, "content_session_id": "other", "memory_session_id": "m-2", "project": "shop", "user_prompt": "Old first",
            "platform_source": "cursor", "started_at": "2026-03-05T10:00:00Z", "started_at_epoch": 1772704800000,
        },
    ],
    "user_prompts": [
        {
            "session_db_id": 1, "content_session_id": TALK, "prompt_number": 1, "prompt_text": "Why is the heater off?",
            "created_at": "2026-03-04T10:00:00Z", "created_at_epoch": 1772618400250,
        },
        {
            "session_db_id": 1, "content_session_id": TALK, "prompt_number": 2, "prompt_text": " ",
            "created_at": "2026-03-04T10:00:01Z", "created_at_epoch": 1772618401000,
        },
    ],
    "observations": [
        {
            "memory_session_id": "m-1", "project": "greenhouse", "type": "bugfix", "title": "The heater reads Fahrenheit",
            "subtitle": "The sensor is set wrong", "narrative": "The sensor reports Fahrenheit, the code expects Celsius.",
            "facts": ["The sensor is a BME280", "The code expects Celsius"], "concepts": ["gotcha", "how-it-works"],
            "files_read": ["heater.py", "sensor.py"], "files_modified": [], "created_at": "2026-03-04T10:05:00Z",
            "created_at_epoch": 1772618700000, "content_hash": "ab", "agent_type": "explorer",
        },
        {
            "memory_session_id": "m-2", "project": "shop", "merged_into_project": "store", "type": "decision",
            "text": "Prices are kept in cents.", "created_at": "2026-03-05T10:05:00Z", "created_at_epoch": 1772705100000,
        },
        {
            "memory_session_id": "gone", "project": "shop", "type": "change", "created_at": "2026-03-05T10:06:00Z",
            "created_at_epoch": 1772705160000,
        },
    ],
    "session_summaries": [
        {
            "memory_session_id": "m-1", "project": "greenhouse", "request": "Find out why the heater is off",
            "learned": "Units were mixed", "next_steps": "", "files_edited": ["heater.py"],
            "created_at": "2026-03-04T11:00:00Z", "created_at_epoch": 1772622000000,
        },
    ],
    "pending_messages": [{"session_db_id": 1, "content_session_id": TALK, "message_type": "observation", "tool_name": "Bash"}],
    "projects": [{"id": "p1", "name": "greenhouse"}],
    "memory_items": [
        {
            "id": "i1", "project_id": "p1", "kind": "manual", "type": "note", "title": "Water on Fridays",
            "created_at_epoch": 1772622060000, "updated_at_epoch": 1772622060000,
        },
        {
            "id": "i2", "project_id": "p1", "kind": "observation", "type": "bugfix", "legacy_observation_id": 1,
            "title": "The heater reads Fahrenheit", "created_at_epoch": 1772618700000, "updated_at_epoch": 1772618700000,
        },
    ],
}  # fmt: skip


def claude_mem(path: Path) -> Path:
    return store(path, CLAUDE_MEM, CLAUDE_MEM_ROWS)


# engram with relations of observations, without the tables of its synchronisation.
ENGRAM = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL, started_at TEXT NOT NULL DEFAULT (datetime('now')),
  ended_at TEXT, summary TEXT);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sync_id TEXT, session_id TEXT NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL,
  content TEXT NOT NULL, tool_name TEXT, project TEXT, scope TEXT NOT NULL DEFAULT 'project', topic_key TEXT,
  normalized_hash TEXT, revision_count INTEGER NOT NULL DEFAULT 1, duplicate_count INTEGER NOT NULL DEFAULT 1,
  last_seen_at TEXT, created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')),
  deleted_at TEXT);
CREATE VIRTUAL TABLE observations_fts USING fts5(
  title, content, tool_name, type, project, topic_key, content='observations', content_rowid='id');
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sync_id TEXT, session_id TEXT NOT NULL, content TEXT NOT NULL, project TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')));
CREATE TABLE memory_relations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sync_id TEXT NOT NULL UNIQUE, source_id TEXT, target_id TEXT,
  relation TEXT NOT NULL DEFAULT 'pending', reason TEXT, evidence TEXT, confidence REAL,
  judgment_status TEXT NOT NULL DEFAULT 'pending', marked_by_actor TEXT, marked_by_kind TEXT, marked_by_model TEXT,
  session_id TEXT, superseded_at TEXT, superseded_by_relation_id INTEGER, created_at TEXT NOT NULL DEFAULT (datetime('now')),
  updated_at TEXT NOT NULL DEFAULT (datetime('now')));
PRAGMA user_version = 8;
"""
ENGRAM_ROWS: dict[str, list[dict[str, Any]]] = {
    "sessions": [
        {
            "id": "s-1", "project": "greenhouse", "directory": "/home/ada/greenhouse", "started_at": "2026-03-04 10:00:00",
            "ended_at": "2026-03-04 11:00:00", "summary": "The heater runs again.",
        },
        {"id": "manual-save", "project": "", "directory": "", "started_at": "2026-03-04 10:00:00"},
    ],
    "user_prompts": [
        {"session_id": "s-1", "content": "Why is the heater off?", "project": "", "created_at": "2026-03-04 10:00:01"},
    ],
    "observations": [
        {
            "id": 1, "sync_id": "obs-1", "session_id": "s-1", "type": "decision", "title": "Read in Fahrenheit",
            "content": "The sensor is read in Fahrenheit.", "project": "greenhouse", "created_at": "2026-03-04 10:01:00",
            "updated_at": "2026-03-04 10:01:00",
        },
        {
            "id": 2, "sync_id": "obs-2", "session_id": "s-1", "type": "decision", "title": "Read in Celsius",
            "content": "Read in Celsius, everywhere.", "project": "greenhouse", "topic_key": "sensor/units",
            "tool_name": "mem_save", "revision_count": 3, "created_at": "2026-03-04 10:02:00",
            "updated_at": "2026-03-04 10:30:00",
        },
        {
            "id": 3, "sync_id": "obs-3", "session_id": "manual-save", "type": "preference", "title": "Tea", "scope": "personal",
            "content": "Drinks green tea.", "created_at": "2026-03-04 10:03:00", "updated_at": "2026-03-04 10:40:00",
            "deleted_at": "2026-03-04 10:40:00",
        },
        {"id": 4, "sync_id": "obs-4", "session_id": "s-1", "type": "manual", "title": "", "content": " "},
    ],
    "memory_relations": [
        {
            "sync_id": "rel-1", "source_id": "obs-2", "target_id": "obs-1", "relation": "supersedes",
            "judgment_status": "judged", "updated_at": "2026-03-04 10:35:00",
        },
        {"sync_id": "rel-2", "source_id": "obs-3", "target_id": "obs-2", "relation": "related", "judgment_status": "judged"},
        {"sync_id": "rel-3", "source_id": "obs-2", "target_id": "obs-3"},
    ],
}  # fmt: skip


def engram(path: Path) -> Path:
    return store(path, ENGRAM, ENGRAM_ROWS)


# mcp-memory-service with versions of memories and its graph; the table of vectors belongs to an extension.
MCP_MEMORY_SERVICE = """
CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL, tags TEXT, memory_type TEXT,
  metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL,
  parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT);
CREATE TABLE memory_graph (
  source_hash TEXT NOT NULL, target_hash TEXT NOT NULL, similarity REAL NOT NULL, connection_types TEXT NOT NULL, metadata TEXT,
  created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related', PRIMARY KEY (source_hash, target_hash));
INSERT INTO metadata VALUES ('distance_metric', 'cosine');
"""
MCP_MEMORY_SERVICE_ROWS: dict[str, list[dict[str, Any]]] = {
    "memories": [
        {"id": 1, "content_hash": "c" * 64, "content": "Ada lives in Porto", "tags": "home,source:laptop", "memory_type": "note",
         "metadata": {"hostname": "laptop", "quality_score": 0.5, "embedded": True, "steps": [1]}, "created_at": 1772618400.5,
         "updated_at": 1772618400.5, "confidence": 0.9, "parent_id": "b" * 64, "version": 3},
        {"id": 2, "content_hash": "a" * 64, "content": "Ada lives in Lyon", "tags": "home", "memory_type": "note",
         "created_at": 1772000000.0, "updated_at": 1772300000.0, "superseded_by": "b" * 64},
        {"id": 3, "content_hash": "b" * 64, "content": "Ada lives in Paris", "tags": "home", "memory_type": "note",
         "created_at": 1772300000.0, "updated_at": 1772618400.0, "superseded_by": "c" * 64},
        {"id": 4, "content_hash": "d" * 64, "content": "Ada owns a boat", "tags": "untagged", "memory_type": "observation",
         "created_at": 1772300000.0, "deleted_at": 1772500000.0},
        {"id": 5, "content_hash": "e" * 64, "content": " ", "created_at": 1772300000.0},
        {"id": 6, "content_hash": "f" * 64, "content": "In a circle", "created_at_iso": "2026-03-01T10:00:00Z",
         "superseded_by": "f" * 64},
    ],
    "memory_graph": [
        {"source_hash": "a" * 64, "target_hash": "d" * 64, "similarity": 0.5, "connection_types": ["semantic"],
         "created_at": 1772618400.0},
    ],
}  # fmt: skip


def mcp_memory_service(path: Path) -> Path:
    return store(path, MCP_MEMORY_SERVICE, MCP_MEMORY_SERVICE_ROWS)


# opencode, as far as sessions go.
OPENCODE = """
CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL);
CREATE TABLE session (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL DEFAULT '', directory TEXT NOT NULL,
  title TEXT NOT NULL, version TEXT NOT NULL DEFAULT '', revert TEXT, time_created INTEGER, time_updated INTEGER,
  time_archived INTEGER);
CREATE TABLE message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL DEFAULT 0,
  data TEXT NOT NULL);
CREATE TABLE part (
  id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL DEFAULT 0,
  time_updated INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
"""
_AT = 1772618400000
# (message, role, seconds after the first, parts, other fields of the message)
OPENCODE_TALK: list[tuple[str, str, int, list[dict[str, Any]], dict[str, Any]]] = [
    ("msg_1", "user", 0, [{"type": "text", "text": "Why is the heater off?"},
     {"type": "text", "text": "<file>", "synthetic": True}, {"type": "file", "url": "file:///heater.py"}], {}),
    ("msg_2", "assistant", 5, [{"type": "step-start"}, {"type": "reasoning", "text": "Hm."}, {"type": "tool", "tool": "read"},
     {"type": "text", "text": "It reads Fahrenheit."}, {"type": "text", "text": "The sensor is set wrong."}],
     {"path": {"cwd": "/x", "root": "/x"}}),
    ("msg_3", "assistant", 6, [{"type": "tool", "tool": "edit"}], {}),
    ("msg_4", "assistant", 7, [{"type": "text", "text": "What we did so far"}], {"summary": True}),
    ("msg_5", "user", 8, [{"type": "text", "text": "Use Kelvin"}], {}),
]  # fmt: skip
OPENCODE_SESSION = {
    "id": "ses_1", "projectID": "p1", "directory": "/home/ada/greenhouse", "title": "Heater", "revert": {"messageID": "msg_5"},
    "time": {"created": _AT, "updated": _AT},
}  # fmt: skip


def _opencode_messages() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    found = []
    for own, role, after, parts, more in OPENCODE_TALK:
        info = {
            "id": own,
            "sessionID": "ses_1",
            "role": role,
            "time": {"created": _AT + after * 1000},
            **more,
        }
        ids = {"sessionID": "ses_1", "messageID": own}
        found.append((info, [{"id": f"prt_{own[4:]}{n}", **ids, **part} for n, part in enumerate(parts)]))
    return found


def opencode(path: Path) -> Path:
    """Its database: a session, one within it, and what was said in them."""
    rows: dict[str, list[dict[str, Any]]] = {
        "session": [
            {"id": "ses_1", "project_id": "p1", "directory": "/home/ada/greenhouse", "title": "Heater",
             "revert": {"messageID": "msg_5"}},
            {"id": "ses_2", "project_id": "p1", "directory": "/home/ada/greenhouse", "title": "Task", "parent_id": "ses_1"},
        ],
        "message": [{"id": "msg_9", "session_id": "ses_2", "time_created": _AT + 9000, "data": {"role": "user"}}],
        "part": [{"id": "prt_9", "message_id": "msg_9", "session_id": "ses_2",
                  "data": {"type": "text", "text": "Look for sensors"}}],
    }  # fmt: skip
    for info, parts in _opencode_messages():
        data = {name: value for name, value in info.items() if name not in ("id", "sessionID")}
        at = info["time"]["created"]
        rows["message"].append({"id": info["id"], "session_id": "ses_1", "time_created": at, "data": data})
        for part in parts:
            data = {
                name: value for name, value in part.items() if name not in ("id", "sessionID", "messageID")
            }
            rows["part"].append(
                {"id": part["id"], "message_id": info["id"], "session_id": "ses_1", "data": data}
            )
    return store(path, OPENCODE, rows)


def opencode_files(storage: Path) -> Path:
    """The files of its earlier versions."""

    def write(place: str, value: Any) -> None:
        path = storage / f"{place}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2))

    write("project/p1", {"id": "p1", "worktree": "/home/ada/greenhouse"})
    write("session/p1/ses_1", OPENCODE_SESSION)
    write("todo/ses_1", [])
    for info, parts in _opencode_messages():
        write(f"message/ses_1/{info['id']}", info)
        for part in parts:
            write(f"part/{info['id']}/{part['id']}", part)
    return storage


def opencode_export(path: Path) -> Path:
    messages = [{"info": info, "parts": parts} for info, parts in _opencode_messages()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"info": OPENCODE_SESSION, "messages": messages}, indent=2))
    return path


_SAID = "00000000-0000-4000-8000-00000000000"
GEMINI: list[dict[str, Any]] = [
    {"sessionId": "g-1", "projectHash": "a" * 64, "startTime": "2026-03-04T10:00:00Z", "lastUpdated": "2026-03-04T10:00:00Z"},
    {"id": f"{_SAID}0", "timestamp": "2026-03-04T10:00:00.100Z", "type": "user", "content": "<session_context>\nToday is…"},
    {"id": f"{_SAID}1", "timestamp": "2026-03-04T10:00:00.500Z", "type": "user", "displayContent": "Why is @heater.py off?",
     "content": [{"text": "Why is @heater.py off?"}, {"text": "--- the whole file ---"}]},
    {"$set": {"lastUpdated": "2026-03-04T10:00:00.600Z"}},
    {"id": f"{_SAID}2", "timestamp": "2026-03-04T10:00:05Z", "type": "gemini", "content": "",
     "toolCalls": [{"id": "t", "name": "read"}]},
    {"id": f"{_SAID}3", "timestamp": "2026-03-04T10:00:06Z", "type": "gemini", "content": [{"text": "Hm", "thought": True},
     {"text": "It reads "}, {"text": "Fahrenheit."}]},
    {"id": f"{_SAID}3", "timestamp": "2026-03-04T10:00:06Z", "type": "gemini",
     "content": [{"text": "It reads "}, {"text": "Fahrenheit."}], "tokens": {"total": 5}},
    {"id": f"{_SAID}4", "timestamp": "2026-03-04T10:00:07Z", "type": "info", "content": "Update available"},
    {"id": f"{_SAID}5", "timestamp": "2026-03-04T10:00:08Z", "type": "user", "content": "Use Kelvin"},
    {"id": f"{_SAID}6", "timestamp": "2026-03-04T10:00:09Z", "type": "gemini", "content": "Kelvin it is."},
    {"$rewindTo": f"{_SAID}5"},
    {"id": f"{_SAID}7", "timestamp": "2026-03-04T10:00:10Z", "type": "user", "content": "/clear"},
    {"$set": {"messages": [
        {"id": f"{_SAID}1", "timestamp": "2026-03-04T10:00:00.500Z", "type": "user", "content": [{"text": "masked"}]},
        {"id": f"{_SAID}8", "timestamp": "2026-03-04T10:00:11Z", "type": "user", "content": [{"text": "<state_snapshot>"}]},
    ]}},
    {"$set": {"summary": "The heater"}},
]  # fmt: skip


def gemini_cli(tmp: Path) -> Path:
    """Its folder of projects: a session of lines, an agent's within it, and an earlier one in an object."""
    project = tmp / "greenhouse-2"
    chats = project / "chats"
    (chats / "g-1").mkdir(parents=True)
    (project / ".project_root").write_text("/home/ada/greenhouse")
    (project / "logs.json").write_text(
        '[{"sessionId": "g-1", "messageId": 0, "type": "user", "message": "Why?"}]'
    )
    (chats / "session-2026-03-04T10-00-g1.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in GEMINI)
    )
    inner = [
        {
            "sessionId": "g-2",
            "projectHash": "a" * 64,
            "kind": "subagent",
            "directories": ["/home/ada/greenhouse"],
        },
        {"id": "in-1", "timestamp": "2026-03-04T10:00:05Z", "type": "user", "content": "Look for sensors"},
    ]
    (chats / "g-1" / "g-2.jsonl").write_text("".join(json.dumps(one) + "\n" for one in inner))
    old = {
        "sessionId": "g-0", "projectHash": "a" * 64, "startTime": "2026-03-03T10:00:00Z", "lastUpdated": "2026-03-03T10:00:00Z",
        "messages": [
            {"id": "old-1", "timestamp": "2026-03-03T10:00:00Z", "type": "user", "content": "Hello there"},
            {"id": "old-2", "timestamp": "2026-03-03T10:00:01Z", "type": "gemini", "content": "Hello Ada."},
        ],
    }  # fmt: skip
    (chats / "session-2026-03-03T10-00-g0.json").write_text(json.dumps(old, indent=2))
    return tmp


def letta(path: Path, *, several: bool = False) -> Path:
    """An agent file of one agent, or one of the newer shape with lists of everything."""

    def said(role: str, text: str, second: int, answer: str | None = None, **more: Any) -> dict[str, Any]:
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "send_message", "arguments": json.dumps({"message": answer})},
        }
        return {
            "role": role, "content": [{"type": "text", "text": text}], "created_at": f"2026-03-04T10:00:{second:02d}+00:00",
            "tool_calls": [call] if answer else [], **more,
        }  # fmt: skip

    messages = [
        said("system", "You are Letta.", 0),
        said("assistant", "Bootup sequence complete.", 1, "More human than human is our motto."),
        said("tool", '{"status": "OK"}', 2),
        said("user", json.dumps({"type": "login", "last_login": "Never", "time": "2026"}), 3),
        said("user", json.dumps({"type": "user_message", "message": "I moved to Porto.", "time": "2026"}), 4),
        said("assistant", "They moved.", 5, "How do you like Porto?"),
        said(
            "assistant", "", 6, tool_calls=[{"function": {"name": "core_memory_append", "arguments": "{}"}}]
        ),
        said("user", "It is fine", 7),
        said("assistant", "Good to hear.", 8),
    ]
    blocks = [
        {"label": "human", "value": "Name: Ada\nLives in Porto", "description": "What is known of the person", "limit": 5000,
         "updated_at": "2026-03-04T10:00:05+00:00"},
        {"label": "persona", "value": " "},
    ]  # fmt: skip
    secret = [{"key": "TOKEN", "value": "s3cret"}]
    whole: dict[str, Any] = {
        "agent_type": "memgpt_agent", "core_memory": blocks, "messages": messages, "name": "helper", "system": "You are Letta.",
        "tool_exec_environment_variables": secret, "tools": [], "version": "0.6.47",
    }  # fmt: skip
    if several:
        agent = {
            "name": "helper",
            "memory_blocks": [],
            "block_ids": ["block-0"],
            "id": "agent-0",
            "messages": messages,
        }
        whole = {
            "agents": [agent | {"tool_exec_environment_variables": secret}], "groups": [], "blocks": blocks,
            "files": [{"id": "file-0", "file_name": "a.pdf"}], "sources": [], "tools": [], "mcp_servers": [], "skills": [],
        }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=2 if several else None))
    return path


BASIC_MEMORY = """---
title: Coffee Brewing
type: note
permalink: notes/coffee-brewing
tags:
- coffee
---

# Coffee Brewing

Written down after a class, see [[Kitchen|the kitchen]].

## Observations
- [method] Pour over highlights subtle flavors #taste (from the class)
- [ ] Buy a kettle
- [00:01:12] He says that water matters
- Grind beans late

## Relations
- relates_to [[Coffee Beans]]
- "pairs well with" [[Tea]] (sometimes)
"""


def basic_memory(folder: Path) -> Path:
    """A folder of notes, one of them without a permalink."""
    folder.mkdir(parents=True)
    (folder / "coffee.md").write_text(BASIC_MEMORY)
    (folder / "plain.md").write_text("# Plain\n\nAda wrote this by hand, without properties.\n")
    return folder


def basic_memory_note(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(BASIC_MEMORY)
    return path.parent


_REAL = Path(__file__).parent / "data" / "stores"


def real(name: str) -> Callable[[Path], Path]:
    """A store as its real program wrote it, from its rows as SQL text."""

    def make(path: Path) -> Path:
        return store(path, (_REAL / f"{name}.sql").read_text("utf-8"))

    return make


MCP_MEMORY_SERVICE_REAL = (_REAL / "mcp-memory-service.sql").read_text("utf-8")
MEMPALACE = (_REAL / "mempalace-chroma.sql").read_text("utf-8")
mempalace = real("mempalace-chroma")
mempalace_exact = real("mempalace-exact")
mempalace_graph = real("mempalace-graph")


class Known(NamedTuple):
    """A row of the guide's table: where ``--discover`` finds it below the home folder (None: it is not looked for).

    ``made``: where in that place the test makes it.
    """

    label: str
    format: str
    make: Callable[[Path], Path]
    found: str | None
    made: str = ""


def _lines(*records: dict[str, Any]) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        return path

    return make


def _mem0_history(path: Path) -> Path:
    row = {
        "id": "h",
        "memory_id": "m",
        "new_memory": "Prefers trains",
        "event": "ADD",
        "created_at": "2026-01-01",
    }
    schema = "CREATE TABLE history (id TEXT, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at TEXT)"
    return store(path, schema, {"history": [row]})


def _memory_db(path: Path) -> Path:
    row = {
        "id": "fact_0123456789ab",
        "kind": "fact",
        "content": "Lives in Porto",
        "event_time": 1772618400,
        "source_ids": "[]",
    }
    schema = "CREATE TABLE memories (id TEXT PRIMARY KEY, kind TEXT, content TEXT, event_time INTEGER, source_ids TEXT)"
    return store(path, schema, {"memories": [row]})


KNOWN = (
    Known("Claude Code", "claude-code", _lines(
        {"type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-03-04T10:00:00Z", "cwd": "/x",
         "message": {"role": "user", "content": "Hello"}},
    ), ".claude/projects", "-x/s.jsonl"),
    Known("Codex CLI", "codex", _lines(
        {"timestamp": "2026-03-04T10:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/x"}},
        {"timestamp": "2026-03-04T10:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Hello"}},
    ), ".codex/sessions", "2026/03/04/rollout-s.jsonl"),
    Known("Gemini CLI", "gemini-cli", _lines(*GEMINI), ".gemini/tmp", "greenhouse/chats/session-s.jsonl"),
    Known("opencode", "opencode", opencode, ".local/share/opencode/opencode.db"),
    Known("opencode, earlier versions", "opencode", opencode_files, ".local/share/opencode/storage"),
    Known("claude-mem", "claude-mem", claude_mem, ".claude-mem/claude-mem.db"),
    Known("engram", "engram", engram, ".engram/engram.db"),
    Known("mcp-memory-service", "mcp-memory-service", mcp_memory_service, ".local/share/mcp-memory/sqlite_vec.db"),
    Known("MemPalace", "mempalace", mempalace, ".mempalace/palace/chroma.sqlite3"),
    Known("MemPalace, its graph", "mempalace", mempalace_graph, ".mempalace/knowledge_graph.sqlite3"),
    Known("basic-memory", "basic-memory", basic_memory_note, "basic-memory", "notes/coffee.md"),
    Known("mem0, its history", "mem0-history", _mem0_history, ".mem0/history.db"),
    Known("Letta agent file", "letta", letta, None),
    Known("memory.db", "memory-db", _memory_db, None),
)  # fmt: skip
