-- Texts with letters beyond ASCII: what no full-text index knows (a word of Thai, 🍕) is looked for in these alone.
-- Keys only: nothing of a text stands in it.
CREATE INDEX memories_not_ascii ON memories(rid) WHERE length(CAST(content AS BLOB)) > length(content);
