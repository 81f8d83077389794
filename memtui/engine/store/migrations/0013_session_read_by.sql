-- Who drew facts from a session: "keyword" (rules), "llm", or an agent's name. "keyword" stays until all of it is read
-- again. NULL: from before, or nobody yet.
ALTER TABLE sessions_consolidations ADD COLUMN read_by TEXT;
