CREATE TABLE meta ( key TEXT PRIMARY KEY, value TEXT NOT NULL );
INSERT INTO meta VALUES ('fts5_available', '1');
INSERT INTO meta VALUES ('embedder_model:mempalace_drawers', 'openai-compat');
INSERT INTO meta VALUES ('embedder_model:mempalace_closets', 'openai-compat');
CREATE TABLE collections ( id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, dimension INTEGER, created_at TEXT NOT NULL );
INSERT INTO collections VALUES (1, 'mempalace_drawers', 32, '2026-11-27T10:00:31.128215+00:00');
INSERT INTO collections VALUES (2, 'mempalace_closets', 32, '2026-11-27T10:00:31.140367+00:00');
CREATE TABLE documents ( collection_id INTEGER NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL, metadata_json TEXT NOT NULL, embedding BLOB, dim INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, wing TEXT GENERATED ALWAYS AS (json_extract(metadata_json, '$.wing')) VIRTUAL, room TEXT GENERATED ALWAYS AS (json_extract(metadata_json, '$.room')) VIRTUAL, hall TEXT GENERATED ALWAYS AS (json_extract(metadata_json, '$.hall')) VIRTUAL, PRIMARY KEY (collection_id, id), FOREIGN KEY(collection_id) REFERENCES collections(id) ON DELETE CASCADE );
INSERT INTO documents VALUES (1, 'drawer_proj_general_e515a8a008190c0102e32def', '# Greenhouse

The heater of the greenhouse is read in Celsius. Ada decided on 4 March to log every reading to SQLite,
because the CSV files were truncated twice when the power failed. Watering happens on Fridays.', '{"added_by":"mempalace","chunk_index":0,"chunk_total":1,"content_date":"2026-11-27","content_date_source":"mtime","filed_at":"2026-11-27T10:00:31.156774","hall":"creative","id_recipe":"v3","last_modified":"2026-11-27T10:00:31.156774","line_end":4,"line_start":1,"normalize_version":2,"room":"general","source_dir_ino":"5310814","source_file":"/home/ada/proj/README.md","source_mtime":1795773527.6408129,"wing":"proj"}', NULL, 32, '2026-11-27T10:00:31.168811+00:00', '2026-11-27T10:00:31.168811+00:00');
INSERT INTO documents VALUES (2, 'closet_proj_general_35af7253768ee34563432f35_01', 'decided on 4 march to log every reading to sqlit||2026-11-27:L1-L4|→drawer_proj_general_e515a8a008190c0102e32def
greenhouse||2026-11-27:L1-L4|→drawer_proj_general_e515a8a008190c0102e32def', '{"drawer_count":1,"filed_at":"2026-11-27T10:00:31.176904","last_modified":"2026-11-27T10:00:31.176904","normalize_version":2,"room":"general","source_file":"/home/ada/proj/README.md","wing":"proj"}', NULL, 32, '2026-11-27T10:00:31.180378+00:00', '2026-11-27T10:00:31.180378+00:00');
