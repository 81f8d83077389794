-- What a pinned question should find: memory ids (JSON), each among the first `top` hits.
ALTER TABLE saved_queries ADD COLUMN expected TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(expected));
ALTER TABLE saved_queries ADD COLUMN top INTEGER NOT NULL DEFAULT 10 CHECK (top BETWEEN 1 AND 100);

-- How each question fared when it was last asked. Not history: it is worked out again at any time.
CREATE TABLE question_results (
    query_id  INTEGER PRIMARY KEY REFERENCES saved_queries(query_id) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    passed    INTEGER NOT NULL CHECK (passed IN (0, 1)),
    places    TEXT NOT NULL CHECK (json_valid(places))
) STRICT;
