"""Write tests/data/oldest_file.db: a memory in the first file format, with rows in every table that format had.

    python tests/data/make_oldest_file.py

The file is kept as it is: made anew, it would follow changes of the code that it is there to guard against.
"""

from __future__ import annotations

from pathlib import Path

import apsw
from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.store import full_text, migration
from memtui.engine.store.memories import content_hash

TARGET = Path(__file__).with_name("oldest_file.db")
DAY = 86_400
T = 1_700_000_000

# rid, id, kind, category, content, session, role, trust, valid_until, ended_by, source_ids, tags, attributes
MEMORIES = (
    (1, "ep_1", "episode", None, "I live in Porto, and I am allergic to walnuts", "talk", "user", "user", None, None,
     "[]", "[]", "{}"),
    (2, "ep_2", "episode", None, "Noted. 王小明 is your neighbour?", "talk", "assistant", "model", None, None, "[]", "[]", "{}"),
    (3, "fact_1", "fact", None, "Ada lives in Porto", None, None, "user", T + DAY, "superseded", '["ep_1"]', '["home"]',
     '{"extractor":"keyword"}'),
    (4, "fact_2", "fact", None, "Ada lives in Lisbon", None, None, "user", None, None, '["ep_1"]', "[]",
     '{"supersedes":"fact_1"}'),
    (5, "fact_3", "fact", None, "Allergic to walnuts", None, None, "user", None, None, '["ep_1"]', '["health"]',
     '{"extractor":"keyword","pinned_at":1700000100}'),
    (6, "fact_4", "fact", None, "Bob likes trains", None, None, "agent", T + DAY, "forgotten", "[]", "[]", "{}"),
    (7, "ref_1", "reflection", None, "A week of moving house", None, None, "model", None, None, '["ep_1","ep_2"]', "[]", "{}"),
    (8, "obs_1", "observation", "lesson", "The old gateway drops cookies", None, None, "agent", None, None, "[]", "[]", "{}"),
)  # fmt: skip
ROWS: dict[str, tuple[str, tuple[tuple[object, ...], ...]]] = {
    "memory_metadata": ("key, value", (
        ("file_id", "0f" * 16), ("erase_salt", "00ff" * 8), ("created_at", str(T)), ("vector_index", "a"),
        ("fts_tokenizer", "porter unicode61"), ("embedding_model", "test-model"), ("embedding_dimensions", "4"),
    )),
    "memory_links": ("from_id, rel, to_id", (
        ("fact_1", "source", "ep_1"), ("fact_2", "source", "ep_1"), ("fact_2", "supersedes", "fact_1"),
        ("fact_3", "source", "ep_1"), ("ref_1", "source", "ep_1"), ("ref_1", "source", "ep_2"),
    )),
    "index_queue": ("rid, text, vector", tuple((rid, 1, 1) for rid in (1, 2, 3, 5, 6, 7, 8))),
    "embeddings": ("model_id, rid, dims, dtype, vector", (("test-model", 4, 4, "int8", b"\x01\x02\x03\x04"),)),
    "vector_changes": ("rid", ((4,),)),
    "entities": ("eid, id, canonical_name, type, summary, mention_count, protected, hidden, merged_into, created_at", (
        (1, "ent_00000000000a", "Ada", "person", "The person herself", 2, 1, 0, None, T),
        (2, "ent_00000000000b", "Ada Lovelace", "person", None, 0, 0, 0, 1, T),
        (3, "ent_00000000000c", "Lisbon", "place", None, 1, 0, 0, None, T),
    )),
    "entity_aliases": ("alias_id, key, entity_id, alias", (
        (1, "ada", 1, "Ada"), (2, "ada lovelace", 2, "Ada Lovelace"), (3, "lisbon", 3, "Lisbon"), (4, "@ada", 1, "@ada"),
    )),
    "entity_decisions": ("decision_id, decision, entity_id, other_id, rid, key, at", (
        (1, "link", 1, None, 4, None, T), (2, "distinct", 1, 3, None, None, T), (3, "not_entity", None, None, None, "porto", T),
    )),
    "memory_entities": ("rid, eid", ((4, 1), (4, 3), (3, 1))),
    "sessions_consolidations": (
        "sid, session_id, first_seen_at, last_seen_at, consolidated_at, consolidated_through, attempts, next_attempt_at, "
        "last_error, title, summary, source, project",
        (
            (1, "talk", T, T + 60, T + 90, 2, 1, None, None, "Moving", "Ada moves to Lisbon", "cli", "home"),
            (2, "failed", T, T + 60, None, None, 3, T + DAY, "the model was silent", None, None, None, None),
        ),
    ),
    "scratchpad": ("pad_id, key, value, updated_at", ((1, "plan", "pack the books first", T),)),
    "proposals": ("proposal_id, id, kind, payload, state, snoozed_until, created_at, decided_at", (
        (1, "prop_1", "conflict", '{"old":"fact_3","new":"fact_2"}', "rejected", None, T, T + 5),
        (2, "prop_2", "held", '{"text":"my key is s3cret","why":"secret"}', "snoozed", T + 9_000_000_000, T, None),
    )),
    "saved_queries": ("query_id, name, query, filter, profile, created_at", (
        (1, "home", "where does Ada live?", "kind:fact", "balanced", T),
    )),
    "profiles": ("profile_id, name, settings", ((1, "mine", '{"keyword":0.5}'),)),
    "recalls": ("recall_id, at, agent, session_id, query, memory_ids", (
        (1, T, "claude", "talk", "where does Ada live?", '["fact_2"]'),
    )),
    "job_runs": ("run_id, job, period, state, started_at, finished_at, op_id, report, error", (
        (1, "decay", "2023-11-14", "done", T, T + 1, None, '{"faded":0}', None),
        (2, "reflection", "2023-W46", "failed", T, T + 1, None, "{}", "no model"),
    )),
    "erased_keys": ("hash", ((b"\x01" * 16,),)),
    "ops": ("op_id, at, actor, kind, label, run_id, state, undoes, undone_by", (
        (1, T, "person", "import", "Imported a talk", None, "done", None, None),
        (2, T + DAY, "person", "correct", "Corrected “Ada lives in Porto”", None, "done", None, None),
        (3, T + DAY, "person", "forget", "Forgot “Bob likes trains”", None, "done", None, None),
    )),
    "changes": ("seq, op_id, tbl, act, lo, hi, before, after", (
        (1, 1, "memories", "insert", 1, 3, None, None),
        (2, 1, "memories", "insert", 5, 8, None, None),
        (3, 2, "memories", "insert", 4, 4, None, None),
        (4, 2, "memories", "update", 3, 3, '{"valid_until":null,"ended_by":null}',
         f'{{"valid_until":{T + DAY},"ended_by":"superseded"}}'),
        (5, 3, "memories", "update", 6, 6, '{"valid_until":null,"ended_by":null}',
         f'{{"valid_until":{T + DAY},"ended_by":"forgotten"}}'),
    )),
}  # fmt: skip


def make(target: Path) -> None:
    target.unlink(missing_ok=True)
    connection = apsw.Connection(str(target))
    connection.pragma("application_id", APPLICATION_ID)
    with connection:
        first = migration.load_migrations()[0]
        connection.execute(first.sql)
        for rid, id, kind, category, content, session, role, trust, until, ended, *rest in MEMORIES:
            connection.execute(
                "INSERT INTO memories(rid, id, kind, category, content, content_hash, session_id, source_role, trust, "
                "valid_until, ended_by, source_ids, tags, attributes, event_time, created_at, confidence, decay_rate, "
                "access_count, last_accessed, recall_days, source, source_key, project, confirmed_at, reviewed_at) "
                f"VALUES ({','.join('?' * 14)}, ?, ?, 0.8, ?, 3, ?, 2, 'cli', ?, 'home', ?, ?)",
                (rid, id, kind, category, content, content_hash(content), session, role, trust, until, ended, *rest,
                 T + rid, T + rid, 0.01 if kind == "fact" and id != "fact_2" else 0.0, T + 99, f"key-{rid}",
                 T + 50 if id == "fact_2" else None, T + 60 if id == "fact_2" else None),
            )  # fmt: skip
            full_text.index_cjk(connection, rid, content)
        for table, (columns, rows) in ROWS.items():
            places = ",".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table}({columns}) VALUES ({places})", rows)
        for table in ("memories_fts", "facts_fts"):
            connection.execute(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
        connection.pragma("user_version", first.version)
    connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    make(TARGET)
