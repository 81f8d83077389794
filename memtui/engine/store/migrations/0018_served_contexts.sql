-- What hooks served in conversations that go on: of each memory a checksum of its line. session: a number made from
-- the name of the session. A row is begun when the program says that its context begins (again); no row: serve all.
-- No history, not exported; rows that were not used for a month go.
CREATE TABLE served_contexts (
    session INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    lines   TEXT NOT NULL -- JSON: {"rid": checksum}, those served last at the end
) STRICT;
INSERT INTO served_contexts(session, at, lines) SELECT session, at, lines FROM told_contexts;
DROP TABLE told_contexts;
