-- The whole format of a new file, at once. Older files come to the same through the numbered migrations; a test compares
-- the two. History triggers are not here: they are generated from the columns of the covered tables (triggers.py).
-- Every covered table has an integer key, so that history addresses any row by (table, key).
PRAGMA user_version = 24;

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
    -- What a fact is about, and the day that its words name (local noon); NULL where they name none.
    topic          TEXT CHECK (topic IN ('health', 'people', 'home', 'work', 'project', 'rule',
        'preference', 'routine', 'plan', 'possession', 'decision', 'identity')),
    happens_at     INTEGER,
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
CREATE INDEX facts_decided ON memories(rid) WHERE kind = 'fact' AND ended_by IN ('superseded', 'forgotten');
-- Texts with letters beyond ASCII: what no full-text index knows (a word of Thai, 🍕) is looked for in these alone.
-- Keys only: nothing of a text stands in it.
CREATE INDEX memories_not_ascii ON memories(rid) WHERE length(CAST(content AS BLOB)) > length(content);
-- The context block reads rules, and the facts of a day, whatever else is in memory.
CREATE INDEX memories_rules ON memories(event_time, rid) WHERE kind = 'fact' AND topic = 'rule' AND valid_until IS NULL;
CREATE INDEX memories_by_day ON memories(happens_at) WHERE happens_at IS NOT NULL;
-- The portrait counts the facts of each topic and reads the strongest, whatever else is in memory.
CREATE INDEX facts_by_topic ON memories(
    topic, (confirmed_at IS NOT NULL), confidence, event_time, created_at, happens_at, kind, valid_until)
    WHERE kind = 'fact' AND valid_until IS NULL;
-- The timeline counts the notes of each topic in each period.
CREATE INDEX notes_by_topic ON memories(topic, event_time, kind, project, valid_until)
    WHERE valid_until IS NULL AND kind <> 'episode';

-- Provenance and supersession, queryable both ways. Derived from source_ids and attributes by
-- triggers, so that an undo of the row restores its links.
CREATE TABLE memory_links (
    from_id  TEXT NOT NULL,
    rel      TEXT NOT NULL CHECK (rel IN ('source', 'supersedes', 'merged')),
    to_id    TEXT NOT NULL,
    PRIMARY KEY (from_id, rel, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_links_back ON memory_links(to_id, rel);

-- Words are found however they are written: with ё or е, with an accent or without, vocalised or not. The index
-- keeps them folded; every text is read through this table, and questions are folded alike (tokens.py).
-- й, ї and ў are letters of their own: only their two-part spelling is made one.
CREATE TABLE folding (
    place     INTEGER PRIMARY KEY,
    written   TEXT NOT NULL,
    indexed   TEXT NOT NULL
) STRICT;
INSERT INTO folding(place, written, indexed) VALUES
    (1, char(1080, 774), 'й'), (2, char(1048, 774), 'Й'), (3, char(1110, 776), 'ї'), (4, char(1030, 776), 'Ї'),
    (5, char(1091, 774), 'ў'), (6, char(1059, 774), 'Ў'),
    (7, 'ё', 'е'), (8, 'Ё', 'Е'),
    (9, 'ά', 'α'), (10, 'έ', 'ε'), (11, 'ή', 'η'), (12, 'ί', 'ι'), (13, 'ό', 'ο'), (14, 'ύ', 'υ'), (15, 'ώ', 'ω'),
    (16, 'ϊ', 'ι'), (17, 'ϋ', 'υ'), (18, 'ΐ', 'ι'), (19, 'ΰ', 'υ'), (20, 'ς', 'σ'), (21, 'Ά', 'Α'), (22, 'Έ', 'Ε'),
    (23, 'Ή', 'Η'), (24, 'Ί', 'Ι'), (25, 'Ό', 'Ο'), (26, 'Ύ', 'Υ'), (27, 'Ώ', 'Ω'), (28, 'Ϊ', 'Ι'), (29, 'Ϋ', 'Υ'),
    (30, 'ß', 'ss'), (31, 'ẞ', 'SS'), (32, 'æ', 'ae'), (33, 'Æ', 'AE'), (34, 'œ', 'oe'), (35, 'Œ', 'OE'),
    (36, 'ø', 'o'), (37, 'Ø', 'O'), (38, 'ł', 'l'), (39, 'Ł', 'L'), (40, 'đ', 'd'), (41, 'Đ', 'D'), (42, 'ı', 'i'),
    (43, char(1456), ''), (44, char(1457), ''), (45, char(1458), ''), (46, char(1459), ''), (47, char(1460), ''),
    (48, char(1461), ''), (49, char(1462), ''), (50, char(1463), ''), (51, char(1464), ''), (52, char(1465), ''),
    (53, char(1466), ''), (54, char(1467), ''), (55, char(1468), ''), (56, char(1469), ''), (57, char(1471), ''),
    (58, char(1473), ''), (59, char(1474), ''), (60, char(1479), ''),
    (61, 'آ', 'ا'), (62, 'أ', 'ا'), (63, 'إ', 'ا'), (64, 'ٱ', 'ا'), (65, 'ى', 'ي'), (66, 'ی', 'ي'), (67, 'ة', 'ه'),
    (68, 'ک', 'ك'), (69, 'ـ', ''), (70, char(1611), ''), (71, char(1612), ''), (72, char(1613), ''),
    (73, char(1614), ''), (74, char(1615), ''), (75, char(1616), ''), (76, char(1617), ''), (77, char(1618), ''),
    (78, char(1648), '');

-- Most texts have none of them, which two quick looks tell. Of the others, those replacements are made that occur.
-- context = speaker and date, so that "what did Ada say in May" finds both.
CREATE VIEW memories_text(rid, context, content) AS
SELECT rid,
       CASE WHEN length(CAST(source_role AS BLOB)) > length(source_role) AND source_role GLOB '*[ÆßæØøĐđıŁłŒœẞͰ-ۿ]*'
           THEN (WITH RECURSIVE step(place, text) AS (
               SELECT 0, source_role UNION ALL
               SELECT f.place, replace(step.text, f.written, f.indexed) FROM step JOIN folding f
               ON f.place = (SELECT min(n.place) FROM folding n WHERE n.place > step.place AND instr(source_role, n.written)))
               SELECT text FROM step ORDER BY place DESC LIMIT 1)
           ELSE coalesce(source_role, '') END
       || strftime(' %d ', event_time, 'unixepoch')
       || CASE strftime('%m', event_time, 'unixepoch')
              WHEN '01' THEN 'January' WHEN '02' THEN 'February' WHEN '03' THEN 'March'
              WHEN '04' THEN 'April' WHEN '05' THEN 'May' WHEN '06' THEN 'June'
              WHEN '07' THEN 'July' WHEN '08' THEN 'August' WHEN '09' THEN 'September'
              WHEN '10' THEN 'October' WHEN '11' THEN 'November' ELSE 'December' END
       || strftime(' %Y', event_time, 'unixepoch'),
       CASE WHEN length(CAST(content AS BLOB)) > length(content) AND content GLOB '*[ÆßæØøĐđıŁłŒœẞͰ-ۿ]*'
           THEN (WITH RECURSIVE step(place, text) AS (
               SELECT 0, content UNION ALL
               SELECT f.place, replace(step.text, f.written, f.indexed) FROM step JOIN folding f
               ON f.place = (SELECT min(n.place) FROM folding n WHERE n.place > step.place AND instr(content, n.written)))
               SELECT text FROM step ORDER BY place DESC LIMIT 1)
           ELSE content END
FROM memories;

CREATE VIEW facts_text(rid, context, content) AS
SELECT t.rid, t.context, t.content FROM memories_text t JOIN memories m ON m.rid = t.rid WHERE m.kind = 'fact';

CREATE VIEW observations_text(rid, content) AS
SELECT t.rid, t.content FROM memories_text t JOIN memories m ON m.rid = t.rid WHERE m.kind = 'observation';

-- Marks belong to the word they stand in (Hindi, Thai, Hebrew and Arabic would fall apart), but for the two that only
-- choose between a sign and its emoji.
CREATE VIRTUAL TABLE memories_fts USING fts5(context, content, content='memories_text', content_rowid='rid',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* Mn Mc N* Co' separators '︎️'");
-- Facts alone, and observations alone: a few against millions of turns, with their own document frequencies.
CREATE VIRTUAL TABLE facts_fts USING fts5(context, content, content='facts_text', content_rowid='rid',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* Mn Mc N* Co' separators '︎️'");
CREATE VIRTUAL TABLE observations_fts USING fts5(content, content='observations_text', content_rowid='rid',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* Mn Mc N* Co' separators '︎️'");
CREATE VIRTUAL TABLE memories_vocab USING fts5vocab(memories_fts, 'row');
CREATE VIRTUAL TABLE facts_vocab USING fts5vocab(facts_fts, 'row');
CREATE VIRTUAL TABLE observations_vocab USING fts5vocab(observations_fts, 'row');
-- Bigrams of texts in Chinese, Japanese, Korean: made by the application, for those rows only. An entry
-- may outlive its text (older SQLite cannot delete here), so a match is always checked against the text.
CREATE VIRTUAL TABLE memories_cjk USING fts5(bigrams, content='', tokenize='unicode61');
CREATE VIRTUAL TABLE cjk_vocab USING fts5vocab(memories_cjk, 'row');

-- No merging inside a writer's commit, where every fiftieth would wait for it: it is done in the background
-- and during imports (full_text.py). SQLite itself still merges 16 segments of a level.
INSERT INTO memories_fts(memories_fts, rank) VALUES ('automerge', 0);
INSERT INTO facts_fts(facts_fts, rank) VALUES ('automerge', 0);
INSERT INTO observations_fts(observations_fts, rank) VALUES ('automerge', 0);

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

-- For models that make vectors of words too (the key 'embedding_word_dimensions' of memory_metadata says of how many
-- numbers): int8 rows, one for each word that says something, one after another; none where no word does. They come and
-- go with the vector of the text.
CREATE TABLE word_vectors (
    model_id  TEXT NOT NULL,
    rid       INTEGER NOT NULL,
    dims      INTEGER NOT NULL CHECK (dims > 0),
    vectors   BLOB NOT NULL,
    PRIMARY KEY (model_id, rid),
    FOREIGN KEY (model_id, rid) REFERENCES embeddings(model_id, rid) ON DELETE CASCADE
) STRICT;

-- Vectors that the vec0 index does not yet mirror. No trigger can name vec0 (a program without the
-- extension must be able to write), so triggers on embeddings note the rows here.
CREATE TABLE vector_changes (
    rid  INTEGER PRIMARY KEY
) STRICT;

-- Every change of a vector, so that a copy of them in memory can be kept up to date (triggers). The nonce
-- tells a row from another of the same number in a file that was restored meanwhile.
CREATE TABLE vector_log (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    rid    INTEGER NOT NULL,
    nonce  INTEGER NOT NULL DEFAULT (random() & 65535)
) STRICT;

-- Each name has a row of its own in ``entities`` (one alias per row), and a link points at the row of the name that
-- stands in the text. What a person calls one entity are rows merged into one of them, so that merging, splitting and
-- undoing either moves no links.
CREATE TABLE entities (
    eid             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    canonical_name  TEXT NOT NULL,
    type            TEXT NOT NULL,
    summary         TEXT,
    mention_count   INTEGER NOT NULL DEFAULT 0 CHECK (mention_count >= 0),
    protected       INTEGER NOT NULL DEFAULT 0,
    hidden          INTEGER NOT NULL DEFAULT 0,
    merged_into     INTEGER REFERENCES entities(eid),
    created_at      INTEGER NOT NULL,
    pinned          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX entities_merged ON entities(merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE entity_aliases (
    alias_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL,
    entity_id  INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    alias      TEXT NOT NULL,
    UNIQUE (key, entity_id)
) STRICT;
CREATE INDEX entity_aliases_by_entity ON entity_aliases(entity_id);

-- A name as the index spells it, for the triggers that look for it in the texts.
CREATE VIEW names_text(alias_id, alias) AS
SELECT alias_id, (WITH RECURSIVE step(place, text) AS (
    SELECT 0, alias UNION ALL
    SELECT f.place, replace(step.text, f.written, f.indexed) FROM step JOIN folding f
    ON f.place = (SELECT min(n.place) FROM folding n WHERE n.place > step.place AND instr(alias, n.written)))
    SELECT text FROM step ORDER BY place DESC LIMIT 1)
FROM entity_aliases;

-- What the person said about links; it wins over what a program finds.
CREATE TABLE entity_decisions (
    decision_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    decision     TEXT NOT NULL CHECK (decision IN ('link', 'unlink', 'not_entity', 'distinct')),
    entity_id    INTEGER REFERENCES entities(eid) ON DELETE CASCADE,
    other_id     INTEGER REFERENCES entities(eid) ON DELETE CASCADE,
    rid          INTEGER REFERENCES memories(rid) ON DELETE CASCADE,
    key          TEXT,
    at           INTEGER NOT NULL,
    actor        TEXT NOT NULL DEFAULT 'person'
) STRICT;
CREATE INDEX entity_decisions_by_memory ON entity_decisions(rid);
CREATE INDEX entity_decisions_by_entity ON entity_decisions(entity_id);
CREATE INDEX entity_decisions_by_other ON entity_decisions(other_id);

CREATE TABLE memory_entities (
    rid  INTEGER NOT NULL REFERENCES memories(rid) ON DELETE CASCADE,
    eid  INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    -- When the memory happened; NULL while it is in the Trash. Kept by triggers, as are the counts.
    at   INTEGER,
    -- The type that a provider saw in this text; NULL when the name was only known.
    vote TEXT,
    PRIMARY KEY (rid, eid)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entities_back ON memory_entities(eid, at, rid);

-- The votes of all links, by type.
CREATE TABLE entity_votes (
    eid    INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    type   TEXT NOT NULL,
    votes  INTEGER NOT NULL,
    PRIMARY KEY (eid, type)
) STRICT, WITHOUT ROWID;

-- Which memories have been read again by a model for the names in them, and when. Not in ``attributes``:
-- those are history, and a nightly stamp on fifty memories is nobody's decision. A new text clears it (triggers).
CREATE TABLE enrichments (
    rid    INTEGER PRIMARY KEY REFERENCES memories(rid) ON DELETE CASCADE,
    at     INTEGER NOT NULL,
    links  INTEGER NOT NULL
) STRICT;

-- Which links a memory has from being read again by a model (enrichments says when), so that it can be told later.
CREATE TABLE enriched_links (
    rid  INTEGER NOT NULL REFERENCES enrichments(rid) ON DELETE CASCADE,
    eid  INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    PRIMARY KEY (rid, eid)
) STRICT, WITHOUT ROWID;

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
    project               TEXT,
    -- Who began it. Turns of another writer or source under the same id are another session. NULL: from before.
    begun_by              TEXT,
    -- Who drew facts from it: "keyword" (rules), "llm", or an agent's name. "keyword" stays until all of it is read
    -- again. NULL: nobody yet, or from before.
    read_by               TEXT
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
    created_at  INTEGER NOT NULL,
    -- What a pinned question should find: memory ids (JSON), each among the first `top` hits.
    expected    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(expected)),
    top         INTEGER NOT NULL DEFAULT 10 CHECK (top BETWEEN 1 AND 100)
) STRICT;

-- How each question fared when it was last asked. Not history: it is worked out again at any time.
CREATE TABLE question_results (
    query_id  INTEGER PRIMARY KEY REFERENCES saved_queries(query_id) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    passed    INTEGER NOT NULL CHECK (passed IN (0, 1)),
    places    TEXT NOT NULL CHECK (json_valid(places))
) STRICT;

CREATE TABLE profiles (
    profile_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    settings    TEXT NOT NULL CHECK (json_valid(settings))
) STRICT;

-- Which agent was served which memories, and when. Kept 90 days, not part of history.
CREATE TABLE recalls (
    recall_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    agent       TEXT NOT NULL,
    session_id  TEXT,
    query       TEXT NOT NULL,
    memory_ids  TEXT NOT NULL CHECK (json_valid(memory_ids)),
    -- About how many tokens were not served again, because they stand in the conversation.
    saved       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX recalls_by_time ON recalls(at);

-- What hooks served in conversations that go on: of each memory a checksum of its line. session: a number made from
-- the name of the session. A row is begun when the program says that its context begins (again); no row: serve all.
-- No history, not exported; rows that were not used for a month go.
CREATE TABLE served_contexts (
    session INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    lines   TEXT NOT NULL -- JSON: {"rid": checksum}, those served last at the end
) STRICT;

-- What agents wrote and asked through their tools, by clock hour (UTC hours since 1970): the limits are per hour.
-- No history, not exported; rows older than a day go. scope: a number made from what the agent is narrowed to; 0: nothing.
CREATE TABLE agent_usage (
    usage_id  INTEGER PRIMARY KEY,
    agent     TEXT NOT NULL,
    scope     INTEGER NOT NULL,
    hour      INTEGER NOT NULL,
    writes    INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    calls     INTEGER NOT NULL,
    UNIQUE (agent, scope, hour)
) STRICT;

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
    op_id  INTEGER NOT NULL,
    -- 0: decisions of another device are being taken over, with their own stamps, which history covers then.
    -- 2: changed memories are stamped together, by what ends the operation.
    stamping  INTEGER NOT NULL DEFAULT 1
) STRICT;

-- What was decided last about one aspect of a memory, an entity or a key of the scratchpad ("pad:KEY"), made by triggers.
-- seen: how many decisions of each device it knew of. Exports carry it, so that two devices' decisions can be merged.
CREATE TABLE decided (
    decided_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    thing       TEXT NOT NULL,
    aspect      TEXT NOT NULL,
    seen        TEXT NOT NULL CHECK (json_valid(seen)),
    device      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    UNIQUE (thing, aspect)
) STRICT;

-- Sync (engine/sync). The last batch of each device that was applied here (of this one: written), its hash, when it was
-- made, and which batch of this device it had read.
CREATE TABLE sync_devices (
    device  TEXT PRIMARY KEY,
    number  INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    at      INTEGER,
    seen    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Stamps as in ``decided``, of what has none there: whether a row is there, and rows that are one decision (cards, saved
-- questions, profiles, decisions about names, parts of a session). Made by sync from history, before something is merged.
CREATE TABLE sync_versions (
    version_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    thing       TEXT NOT NULL,
    aspect      TEXT NOT NULL,
    seen        TEXT NOT NULL CHECK (json_valid(seen)),
    device      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    UNIQUE (thing, aspect)
) STRICT;

-- What is neither as it was here nor as it came since a merge: it is sent with the next batch.
CREATE TABLE sync_merged (
    merged_id  INTEGER PRIMARY KEY,
    thing      TEXT NOT NULL UNIQUE
) STRICT;

-- What was erased for good, by its id, also of a name that nothing else has ("session:ID" of a session). sent: 1 once other devices were told, 2 while
-- the batch that tells them is written; todo: another device erased it, this one has yet to. A row goes once others were
-- told and it is in no batch of this device any more.
CREATE TABLE sync_erased (
    name     TEXT PRIMARY KEY,
    sent     INTEGER NOT NULL,
    todo     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Up to which memory a session was consolidated on another device, until that memory comes.
CREATE TABLE sync_read (
    session_id  TEXT PRIMARY KEY,
    through     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows that are here under another id, as both devices had them before they met.
CREATE TABLE sync_other_ids (
    id    TEXT PRIMARY KEY,
    here  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO memory_metadata(key, value) VALUES ('device', 'device-' || lower(hex(randomblob(4)))) ON CONFLICT DO NOTHING;
