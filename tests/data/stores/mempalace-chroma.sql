CREATE TABLE migrations ( dir TEXT NOT NULL, version INTEGER NOT NULL, filename TEXT NOT NULL, sql TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (dir, version) );
INSERT INTO migrations VALUES ('sysdb', 1, '00001-collections.sqlite.sql', '', '38352d725ad1c16074fac420b22b4633');
INSERT INTO migrations VALUES ('sysdb', 2, '00002-segments.sqlite.sql', '', '2913cb6a503055a95f625448037e8912');
INSERT INTO migrations VALUES ('sysdb', 3, '00003-collection-dimension.sqlite.sql', '', '42d22d0574d31d419c2a0e7f625c93aa');
INSERT INTO migrations VALUES ('sysdb', 4, '00004-tenants-databases.sqlite.sql', '', '048867ce8fcdefe4023c7110e4433591');
INSERT INTO migrations VALUES ('sysdb', 5, '00005-remove-topic.sqlite.sql', '', 'b1367c826b8fba5f96f27befdc1d42d2');
INSERT INTO migrations VALUES ('sysdb', 6, '00006-collection-segment-metadata.sqlite.sql', '', '4eea7468935bf25d4604a0fed2366116');
INSERT INTO migrations VALUES ('sysdb', 7, '00007-collection-config.sqlite.sql', '', '1c7e63bba346a42a18b6ab7f1c989bed');
INSERT INTO migrations VALUES ('sysdb', 8, '00008-maintenance-log.sqlite.sql', '', '0a0e7e93111a01789addf64961c6127c');
INSERT INTO migrations VALUES ('sysdb', 9, '00009-segment-collection-not-null.sqlite.sql', '', '054355aef9e63702bf54ea29e61563f1');
INSERT INTO migrations VALUES ('sysdb', 10, '00010-collection-schema.sqlite.sql', '', '5c3a5ac4b79df76799b4721827ed5e1d');
INSERT INTO migrations VALUES ('metadb', 1, '00001-embedding-metadata.sqlite.sql', '', '2b4cf52c4bb2676e21d6860a4409f856');
INSERT INTO migrations VALUES ('metadb', 2, '00002-embedding-metadata.sqlite.sql', '', '12a570f7121b3a8ce750a2a7c36da20f');
INSERT INTO migrations VALUES ('metadb', 3, '00003-full-text-tokenize.sqlite.sql', '', 'f97ad6334aeaa8f419f01110b648b97a');
INSERT INTO migrations VALUES ('metadb', 4, '00004-metadata-indices.sqlite.sql', '', 'fb36603a45ee2cd0254cef3ef86585e8');
INSERT INTO migrations VALUES ('metadb', 5, '00005-max-seq-id-int.sqlite.sql', '', '0e9de46758761b373ce682925edcc326');
INSERT INTO migrations VALUES ('metadb', 6, '00006-metadata-array-support.sqlite.sql', '', 'e026f01ea92c1baa1493f4ad5ca7cfe7');
INSERT INTO migrations VALUES ('embeddings_queue', 1, '00001-embeddings.sqlite.sql', '', 'd3755dfd232be8e8301f4d7fcfb3a486');
INSERT INTO migrations VALUES ('embeddings_queue', 2, '00002-embeddings-queue-config.sqlite.sql', '', '8fbfe4ffb3e57f1d8bfdc58510a82e85');
CREATE TABLE "collections" ( id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER, database_id TEXT NOT NULL REFERENCES databases(id) ON DELETE CASCADE, config_json_str TEXT, schema_str TEXT, UNIQUE (name, database_id) );
INSERT INTO collections VALUES ('ad2d34d0-6335-4066-bdd6-e4e77df97412', 'mempalace_drawers', 32, '00000000-0000-0000-0000-000000000000', NULL, NULL);
INSERT INTO collections VALUES ('de782a87-a773-4f01-8354-db5c2f6201d2', 'mempalace_closets', 32, '00000000-0000-0000-0000-000000000000', NULL, NULL);
CREATE TABLE "segments" ( id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, collection TEXT REFERENCES collection(id) NOT NULL );
INSERT INTO segments VALUES ('84ed8db1-8e96-49d7-9ff7-d1ec0ae1a17f', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', 'ad2d34d0-6335-4066-bdd6-e4e77df97412');
INSERT INTO segments VALUES ('d13af1dd-48cb-4770-803f-56c168b38256', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'ad2d34d0-6335-4066-bdd6-e4e77df97412');
INSERT INTO segments VALUES ('804e5661-7437-4034-b5eb-60c06001c143', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', 'de782a87-a773-4f01-8354-db5c2f6201d2');
INSERT INTO segments VALUES ('c0166174-da1c-4b49-8522-a48fccce8f19', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'de782a87-a773-4f01-8354-db5c2f6201d2');
CREATE TABLE embeddings ( id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL, seq_id BLOB NOT NULL, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id) );
INSERT INTO embeddings VALUES (1, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_proj_general_e515a8a008190c0102e32def', 1, '2026-11-27 09:58:52');
INSERT INTO embeddings VALUES (2, 'c0166174-da1c-4b49-8522-a48fccce8f19', 'closet_proj_general_35af7253768ee34563432f35_01', 2, '2026-11-27 09:58:52');
INSERT INTO embeddings VALUES (3, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_convos_technical_4c1299c5aa6853636e2067f3', 3, '2026-11-27 09:58:54');
INSERT INTO embeddings VALUES (4, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_convos_technical_914c9eb7edbec98cf82b15e6', 4, '2026-11-27 09:58:54');
INSERT INTO embeddings VALUES (5, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_greenhouse_decisions_4f09039911fdebc891956794', 5, '2026-11-27 09:59:08');
INSERT INTO embeddings VALUES (6, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_people_tea_a3c32d9eff109f9654c36d55', 7, '2026-11-27 09:59:08');
INSERT INTO embeddings VALUES (7, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_greenhouse_log_56194e01494609054fc0502f_chunk_000000', 10, '2026-11-27 09:59:08');
INSERT INTO embeddings VALUES (8, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_greenhouse_log_56194e01494609054fc0502f_chunk_000001', 11, '2026-11-27 09:59:08');
INSERT INTO embeddings VALUES (9, 'd13af1dd-48cb-4770-803f-56c168b38256', 'drawer_greenhouse_log_56194e01494609054fc0502f_chunk_000002', 12, '2026-11-27 09:59:08');
INSERT INTO embeddings VALUES (10, 'd13af1dd-48cb-4770-803f-56c168b38256', 'diary_wing_claude_20261127_095908634584_d4c8001f320f', 13, '2026-11-27 09:59:08');
CREATE TABLE embedding_metadata ( id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL, string_value TEXT, int_value INTEGER, float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key) );
INSERT INTO embedding_metadata VALUES (1, 'source_file', '/home/ada/proj/README.md', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'source_dir_ino', '5310814', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'added_by', 'mempalace', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'content_date', '2026-11-27', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'filed_at', '2026-11-27T09:58:52.668573', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'line_end', NULL, 4, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'last_modified', '2026-11-27T09:58:52.668573', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'content_date_source', 'mtime', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'line_start', NULL, 1, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'chunk_index', NULL, 0, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'chunk_total', NULL, 1, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'room', 'general', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'hall', 'creative', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'source_mtime', NULL, NULL, 1.79577352764081287382e+09, NULL);
INSERT INTO embedding_metadata VALUES (1, 'wing', 'proj', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'normalize_version', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'chroma:document', '# Greenhouse

The heater of the greenhouse is read in Celsius. Ada decided on 4 March to log every reading to SQLite,
because the CSV files were truncated twice when the power failed. Watering happens on Fridays.', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'source_file', '/home/ada/proj/README.md', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'room', 'general', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'filed_at', '2026-11-27T09:58:52.700491', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'normalize_version', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'drawer_count', NULL, 1, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'wing', 'proj', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'last_modified', '2026-11-27T09:58:52.700491', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'chroma:document', 'decided on 4 march to log every reading to sqlit||2026-11-27:L1-L4|→drawer_proj_general_e515a8a008190c0102e32def
greenhouse||2026-11-27:L1-L4|→drawer_proj_general_e515a8a008190c0102e32def', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'hall', 'technical', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'wing', 'convos', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'extract_mode', 'exchange', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'content_hash', '97ea34206246f94758aa19c2a6f21bb26cb12b103de99770371ea29304fe5d2b', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'source_dir_ino', '5310827', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'added_by', 'mempalace', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'filed_at', '2026-11-27T09:58:54.011867', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'room', 'technical', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'convo_chunker_version', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'authored_at', '2026-03-04T10:01:05Z', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'chunk_total', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'source_mtime', NULL, NULL, 1795773527.64513, NULL);
INSERT INTO embedding_metadata VALUES (3, 'chroma:document', '> Why is the heater off? It should be on at night, I think the sensor reports nonsense.
The sensor reports Fahrenheit while the code expects Celsius, so it believes that the greenhouse is hot.', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'entities', '', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'last_modified', '2026-11-27T09:58:54.011867', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'chunk_index', NULL, 0, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'ingest_mode', 'convos', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'normalize_version', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (3, 'source_file', '/home/ada/convos/talk.jsonl', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'source_file', '/home/ada/convos/talk.jsonl', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'authored_at', '2026-03-04T10:01:05Z', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'added_by', 'mempalace', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'source_mtime', NULL, NULL, 1795773527.64513, NULL);
INSERT INTO embedding_metadata VALUES (4, 'last_modified', '2026-11-27T09:58:54.011867', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'ingest_mode', 'convos', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'convo_chunker_version', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'filed_at', '2026-11-27T09:58:54.011867', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'room', 'technical', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'chroma:document', '> Then convert it, and remember that I prefer Celsius everywhere in this project.
Done. The reading is converted when it arrives, and the thresholds are now in Celsius.', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'extract_mode', 'exchange', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'normalize_version', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'wing', 'convos', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'chunk_index', NULL, 1, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'source_dir_ino', '5310827', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'hall', 'memory', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'chunk_total', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'entities', '', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'room', 'decisions', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'source_file', 'notes/choice.md', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'last_modified', '2026-11-27T09:59:08.460767', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'filed_at', '2026-11-27T09:59:08.460767', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'wing', 'greenhouse', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'chroma:document', 'Ada chose SQLite for the readings, because CSV files were truncated.', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'chunk_index', NULL, 0, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'added_by', 'claude', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'room', 'tea', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'filed_at', '2026-11-27T09:59:08.498755', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'added_by', 'mcp', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'wing', 'people', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'chroma:document', 'Ada drinks black tea in the morning.', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'source_file', '', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'last_modified', '2026-11-27T09:59:08.551625', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'chunk_index', NULL, 0, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'room', 'log', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'added_by', 'mcp', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'parent_drawer_id', 'drawer_greenhouse_log_56194e01494609054fc0502f', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'chunk_index', NULL, 0, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'source_file', '', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'wing', 'greenhouse', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'filed_at', '2026-11-27T09:59:08.608705', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'chroma:document', 'Reading 0: the greenhouse was at 10 degrees, and the heater was off.
Reading 1: the greenhouse was at 11 degrees, and the heater was on.
Reading 2: the greenhouse was at 12 degrees, and the heater was off.
Reading 3: the greenhouse was at 13 degrees, and the heater was on.
Reading 4: the greenhouse was at 14 degrees, and the heater was off.
Reading 5: the greenhouse was at 15 degrees, and the heater was on.
Reading 6: the greenhouse was at 16 degrees, and the heater was off.
Reading 7: the greenhouse was at 10 degrees, and the heater was on.
Reading 8: the greenhouse was at 11 degrees, and the heater was off.
Reading 9: the greenhouse was at 12 degrees, and the heater was on.
Reading 10: the greenhouse was at 13 degrees, and the heater was off.
Reading 11: the greenhouse was at 14 degrees,', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (7, 'last_modified', '2026-11-27T09:59:08.608705', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'source_file', '', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'wing', 'greenhouse', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'filed_at', '2026-11-27T09:59:08.608705', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'chunk_index', NULL, 1, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'added_by', 'mcp', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'room', 'log', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'chroma:document', ' and the heater was on.
Reading 12: the greenhouse was at 15 degrees, and the heater was off.
Reading 13: the greenhouse was at 16 degrees, and the heater was on.
Reading 14: the greenhouse was at 10 degrees, and the heater was off.
Reading 15: the greenhouse was at 11 degrees, and the heater was on.
Reading 16: the greenhouse was at 12 degrees, and the heater was off.
Reading 17: the greenhouse was at 13 degrees, and the heater was on.
Reading 18: the greenhouse was at 14 degrees, and the heater was off.
Reading 19: the greenhouse was at 15 degrees, and the heater was on.
Reading 20: the greenhouse was at 16 degrees, and the heater was off.
Reading 21: the greenhouse was at 10 degrees, and the heater was on.
Reading 22: the greenhouse was at 11 degrees, and the heater was off.
Reading 23:', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'parent_drawer_id', 'drawer_greenhouse_log_56194e01494609054fc0502f', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (8, 'last_modified', '2026-11-27T09:59:08.608705', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'wing', 'greenhouse', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'room', 'log', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'added_by', 'mcp', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'chroma:document', ' the greenhouse was at 12 degrees, and the heater was on.', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'source_file', '', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'parent_drawer_id', 'drawer_greenhouse_log_56194e01494609054fc0502f', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'filed_at', '2026-11-27T09:59:08.608705', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'last_modified', '2026-11-27T09:59:08.608705', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'chunk_index', NULL, 2, NULL, NULL);
INSERT INTO embedding_metadata VALUES (9, 'id_recipe', 'v3', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'type', 'diary_entry', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'topic', 'units', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'room', 'diary', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'date', '2026-11-27', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'last_modified', '2026-11-27T09:59:08.634584', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'chroma:document', 'SESSION:2026-03-04|fixed.units|★★★', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'agent', 'claude', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'hall', 'hall_diary', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'filed_at', '2026-11-27T09:59:08.634584', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'wing', 'wing_claude', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (10, 'chunk_index', NULL, 0, NULL, NULL);
