-- The first file format. History triggers are not here: they are generated from the
-- columns of the covered tables (triggers.py) and installed again after every migration.
-- Every covered table has an integer key, so that history addresses any row by (table, key).

CREATE TABLE memory_metadata (
    key    TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    rid            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    kind           TEXT NOT NULL CHECK (kind IN ('episode', 'fact', 'reflection', 'observation')),
    category       TEXT CHECK (category IN ('finding', 'insight', 'lesson')),
    content        TEXT NOT NULL,
    content_hash   TEXT NOT NULL,
    session_id     TEXT,
    source_role    TEXT,
    source         TEXT,
    source_key     TEXT,
    project        TEXT,
    trust          TEXT NOT NULL CHECK (trust IN ('user', 'agent', 'tool', 'model')),
    event_time     INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    valid_until    INTEGER,
    ended_by       TEXT CHECK (ended_by IN ('forgotten', 'faded', 'superseded', 'merged')),
    confidence     REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0.0 AND 1.0),
    decay_rate     REAL NOT NULL DEFAULT 0.0 CHECK (decay_rate >= 0.0),
    confirmed_at   INTEGER,
    reviewed_at    INTEGER,
    access_count   INTEGER NOT NULL DEFAULT 0,
    last_accessed  INTEGER,
    recall_days    INTEGER NOT NULL DEFAULT 0,
    source_ids     TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(source_ids)),
    tags           TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    attributes     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(attributes)),
    CHECK ((valid_until IS NULL) = (ended_by IS NULL)),
    CHECK (kind = 'fact' OR decay_rate = 0.0),
    CHECK (category IS NULL OR kind = 'observation')
) STRICT;

-- Partial, so that a live turn, which has no key, does not write to it.
CREATE UNIQUE INDEX memories_source_keys ON memories(source_key) WHERE source_key IS NOT NULL;
CREATE INDEX memories_by_session ON memories(session_id, event_time, rid) WHERE session_id IS NOT NULL;
CREATE INDEX memories_by_time ON memories(event_time, rid) WHERE valid_until IS NULL;
-- What people browse: everything but the raw turns.
-- valid_until makes it a covering index, which SQLite then prefers to memories_by_time.
CREATE INDEX notes_by_time ON memories(event_time, rid, kind, valid_until)
    WHERE valid_until IS NULL AND kind <> 'episode';
CREATE INDEX notes_by_hash ON memories(content_hash) WHERE kind <> 'episode';
CREATE INDEX memories_with_attributes ON memories(rid) WHERE attributes <> '{}';
CREATE INDEX memories_ended ON memories(valid_until, rid) WHERE valid_until IS NOT NULL;

-- Provenance and supersession, queryable both ways. Derived from source_ids and attributes by
-- triggers, so that an undo of the row restores its links.
CREATE TABLE memory_links (
    from_id  TEXT NOT NULL,
    rel      TEXT NOT NULL CHECK (rel IN ('source', 'supersedes', 'merged')),
    to_id    TEXT NOT NULL,
    PRIMARY KEY (from_id, rel, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_links_back ON memory_links(to_id, rel);

-- context = speaker and date, so that "what did Ada say in May" finds both.
CREATE VIEW memories_text(rid, context, content) AS
SELECT rid,
       coalesce(source_role, '') || strftime(' %d ', event_time, 'unixepoch')
       || CASE strftime('%m', event_time, 'unixepoch')
              WHEN '01' THEN 'January' WHEN '02' THEN 'February' WHEN '03' THEN 'March'
              WHEN '04' THEN 'April' WHEN '05' THEN 'May' WHEN '06' THEN 'June'
              WHEN '07' THEN 'July' WHEN '08' THEN 'August' WHEN '09' THEN 'September'
              WHEN '10' THEN 'October' WHEN '11' THEN 'November' ELSE 'December' END
       || strftime(' %Y', event_time, 'unixepoch'),
       content
FROM memories;

CREATE VIEW facts_text(rid, context, content) AS
SELECT t.rid, t.context, t.content FROM memories_text t JOIN memories m ON m.rid = t.rid WHERE m.kind = 'fact';

CREATE VIRTUAL TABLE memories_fts USING fts5(
    context, content, content='memories_text', content_rowid='rid', tokenize='porter unicode61');
-- Facts alone: a few against millions of turns, with their own document frequencies.
CREATE VIRTUAL TABLE facts_fts USING fts5(
    context, content, content='facts_text', content_rowid='rid', tokenize='porter unicode61');
CREATE VIRTUAL TABLE memories_vocab USING fts5vocab(memories_fts, 'row');
CREATE VIRTUAL TABLE facts_vocab USING fts5vocab(facts_fts, 'row');
-- Bigrams of texts in Chinese, Japanese, Korean: made by the application, for those rows only. An entry
-- may outlive its text (older SQLite cannot delete here), so a match is always checked against the text.
CREATE VIRTUAL TABLE memories_cjk USING fts5(bigrams, content='', tokenize='unicode61');
CREATE VIRTUAL TABLE cjk_vocab USING fts5vocab(memories_cjk, 'row');

-- No merging inside a writer's commit, where every fiftieth would wait for it: it is done in the background
-- and during imports (full_text.py). SQLite itself still merges 16 segments of a level.
INSERT INTO memories_fts(memories_fts, rank) VALUES ('automerge', 0);
INSERT INTO facts_fts(facts_fts, rank) VALUES ('automerge', 0);

-- What still has to be derived from a text, newest first: links and bigrams (text), a vector.
CREATE TABLE index_queue (
    rid     INTEGER PRIMARY KEY REFERENCES memories(rid) ON DELETE CASCADE,
    text    INTEGER NOT NULL DEFAULT 1,
    vector  INTEGER NOT NULL DEFAULT 1
) STRICT;

-- The durable copy of every vector; vec_memories_a / _b (vec0) are indexes over it, made on demand.
CREATE TABLE embeddings (
    model_id  TEXT NOT NULL,
    rid       INTEGER NOT NULL REFERENCES memories(rid) ON DELETE CASCADE,
    dims      INTEGER NOT NULL CHECK (dims > 0),
    dtype     TEXT NOT NULL CHECK (dtype IN ('int8', 'float32')),
    vector    BLOB NOT NULL,
    PRIMARY KEY (model_id, rid)
) STRICT, WITHOUT ROWID;
CREATE INDEX embeddings_by_rid ON embeddings(rid);

-- Vectors that the vec0 index does not yet mirror. No trigger can name vec0 (a program without the
-- extension must be able to write), so triggers on embeddings note the rows here.
CREATE TABLE vector_changes (
    rid  INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE entities (
    eid             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    canonical_name  TEXT NOT NULL,
    type            TEXT NOT NULL,
    summary         TEXT,
    mention_count   INTEGER NOT NULL DEFAULT 0 CHECK (mention_count >= 0),
    protected       INTEGER NOT NULL DEFAULT 0,
    hidden          INTEGER NOT NULL DEFAULT 0,
    -- A merged entity keeps its links and points at the survivor: a split is one update.
    merged_into     INTEGER REFERENCES entities(eid),
    created_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE entity_aliases (
    alias_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL,
    entity_id  INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    alias      TEXT NOT NULL,
    UNIQUE (key, entity_id)
) STRICT;
CREATE INDEX entity_aliases_by_entity ON entity_aliases(entity_id);

-- What the person said about links; it wins over what a program finds.
CREATE TABLE entity_decisions (
    decision_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    decision     TEXT NOT NULL CHECK (decision IN ('link', 'unlink', 'not_entity', 'distinct')),
    entity_id    INTEGER REFERENCES entities(eid) ON DELETE CASCADE,
    other_id     INTEGER REFERENCES entities(eid) ON DELETE CASCADE,
    rid          INTEGER REFERENCES memories(rid) ON DELETE CASCADE,
    key          TEXT,
    at           INTEGER NOT NULL
) STRICT;
CREATE INDEX entity_decisions_by_memory ON entity_decisions(rid);
CREATE INDEX entity_decisions_by_entity ON entity_decisions(entity_id);
CREATE INDEX entity_decisions_by_other ON entity_decisions(other_id);

CREATE TABLE memory_entities (
    rid  INTEGER NOT NULL REFERENCES memories(rid) ON DELETE CASCADE,
    eid  INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    PRIMARY KEY (rid, eid)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entities_back ON memory_entities(eid, rid);

CREATE TABLE sessions_consolidations (
    sid                   INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id            TEXT NOT NULL UNIQUE,
    first_seen_at         INTEGER NOT NULL,
    last_seen_at          INTEGER NOT NULL,
    consolidated_at       INTEGER,
    consolidated_through  INTEGER,
    attempts              INTEGER NOT NULL DEFAULT 0,
    next_attempt_at       INTEGER,
    last_error            TEXT,
    title                 TEXT,
    summary               TEXT,
    source                TEXT,
    project               TEXT
) STRICT;
CREATE INDEX sessions_by_time ON sessions_consolidations(last_seen_at, sid);

CREATE TABLE scratchpad (
    pad_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    key         TEXT NOT NULL UNIQUE,
    value       TEXT NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE proposals (
    proposal_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    kind           TEXT NOT NULL,
    payload        TEXT NOT NULL CHECK (json_valid(payload)),
    state          TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'snoozed', 'accepted', 'rejected')),
    snoozed_until  INTEGER,
    created_at     INTEGER NOT NULL,
    decided_at     INTEGER
) STRICT;

CREATE TABLE saved_queries (
    query_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    query       TEXT NOT NULL,
    filter      TEXT NOT NULL DEFAULT '',
    profile     TEXT,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE profiles (
    profile_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    settings    TEXT NOT NULL CHECK (json_valid(settings))
) STRICT;

-- Who was told what, when. Kept 90 days, not part of history.
CREATE TABLE recalls (
    recall_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    agent       TEXT NOT NULL,
    session_id  TEXT,
    query       TEXT NOT NULL,
    memory_ids  TEXT NOT NULL CHECK (json_valid(memory_ids))
) STRICT;
CREATE INDEX recalls_by_time ON recalls(at);

CREATE TABLE job_runs (
    run_id       INTEGER PRIMARY KEY AUTOINCREMENT,
    job          TEXT NOT NULL,
    period       TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER,
    op_id        INTEGER,
    report       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(report)),
    error        TEXT
) STRICT;
CREATE UNIQUE INDEX job_runs_once ON job_runs(job, period) WHERE state = 'done' AND period NOT LIKE 'manual:%';

-- Source keys of erased turns, salted and hashed: an import does not bring them back.
CREATE TABLE erased_keys (
    hash  BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- History. One row per operation; one row per changed row (or run of inserted rows lo..hi).
CREATE TABLE ops (
    op_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    label      TEXT NOT NULL,
    run_id     TEXT,
    state      TEXT NOT NULL DEFAULT 'done' CHECK (state IN ('running', 'done', 'undone')),
    undoes     INTEGER,
    undone_by  INTEGER
) STRICT;
CREATE INDEX ops_by_actor ON ops(actor, op_id);
CREATE INDEX ops_running ON ops(op_id) WHERE state = 'running';

CREATE TABLE changes (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    op_id   INTEGER NOT NULL,
    tbl     TEXT NOT NULL,
    act     TEXT NOT NULL CHECK (act IN ('insert', 'update', 'delete')),
    lo      INTEGER NOT NULL,
    hi      INTEGER NOT NULL,
    before  TEXT,
    after   TEXT
) STRICT;
CREATE INDEX changes_by_op ON changes(op_id, tbl, seq);
-- Inserts carry no image and are found through their range; the rest by row.
CREATE INDEX changes_by_row ON changes(tbl, lo, seq) WHERE act <> 'insert';
CREATE INDEX changes_inserts ON changes(tbl, lo) WHERE act = 'insert';

-- The operation of the running transaction, or nothing. A program that does not know of
-- operations leaves it empty: its changes are filed under an operation 'external'.
CREATE TABLE current_op (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    op_id  INTEGER NOT NULL
) STRICT;
