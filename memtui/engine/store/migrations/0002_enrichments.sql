-- Which memories have been read again by a model for the names in them, and when. Not in ``attributes``:
-- those are history, and a nightly stamp on fifty memories is nobody's decision. A new text clears it (triggers).
CREATE TABLE enrichments (
    rid    INTEGER PRIMARY KEY REFERENCES memories(rid) ON DELETE CASCADE,
    at     INTEGER NOT NULL,
    links  INTEGER NOT NULL
) STRICT;
