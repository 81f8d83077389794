-- Observations alone, by what they say and nothing else: recall ranks them among themselves, with their own
-- document frequencies. A store of conversations is thousands of times larger.
CREATE VIEW observations_text(rid, content) AS SELECT rid, content FROM memories WHERE kind = 'observation';
CREATE VIRTUAL TABLE observations_fts USING fts5(
    content, content='observations_text', content_rowid='rid', tokenize='porter unicode61');
CREATE VIRTUAL TABLE observations_vocab USING fts5vocab(observations_fts, 'row');
INSERT INTO observations_fts(observations_fts, rank) VALUES ('automerge', 0);
INSERT INTO observations_fts(rowid, content) SELECT rid, content FROM observations_text;
