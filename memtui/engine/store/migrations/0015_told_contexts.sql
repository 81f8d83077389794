-- What hooks have told in conversations that go on: of each memory a checksum of its line. session: a number made from
-- the name of the session. A row is begun when the program says that its context begins (again); no row: tell all.
-- No history, not exported; rows that were not used for a month go.
CREATE TABLE told_contexts (
    session INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    lines   TEXT NOT NULL -- JSON: {"rid": checksum}, those told last at the end
) STRICT;
-- About how many tokens were not told again, because they stand in the conversation.
ALTER TABLE recalls ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
