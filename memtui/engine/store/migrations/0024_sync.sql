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

-- What was erased for good, by its id, also of a name that nothing else has ("session:ID" of a session). sent: other devices were told; todo: another device erased
-- it, this one has yet to; A row goes once others
-- were told and it is in no batch of this device any more.
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
