-- Who began a session. Turns of another writer or source under the same id are another session. NULL: from before.
ALTER TABLE sessions_consolidations ADD COLUMN begun_by TEXT;
