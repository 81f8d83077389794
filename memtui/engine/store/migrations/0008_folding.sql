-- Words are found however they are written: with ё or е, with an accent or without, vocalised or not. The index
-- keeps them folded; every text is read through this table, and questions are folded alike (words.py).
-- й, ї and ў are letters of their own: only their two-part spelling is made one.
CREATE TABLE folding (
    place     INTEGER PRIMARY KEY,
    written   TEXT NOT NULL,
    indexed   TEXT NOT NULL
) STRICT;
INSERT INTO folding(place, written, indexed) VALUES
    (1, char(1080, 774), 'й'), (2, char(1048, 774), 'Й'), (3, char(1110, 776), 'ї'), (4, char(1030, 776), 'Ї'),
    (5, char(1091, 774), 'ў'), (6, char(1059, 774), 'Ў'),
    (7, 'ё', 'е'), (8, 'Ё', 'Е'),
    (9, 'ά', 'α'), (10, 'έ', 'ε'), (11, 'ή', 'η'), (12, 'ί', 'ι'), (13, 'ό', 'ο'), (14, 'ύ', 'υ'), (15, 'ώ', 'ω'),
    (16, 'ϊ', 'ι'), (17, 'ϋ', 'υ'), (18, 'ΐ', 'ι'), (19, 'ΰ', 'υ'), (20, 'ς', 'σ'), (21, 'Ά', 'Α'), (22, 'Έ', 'Ε'),
    (23, 'Ή', 'Η'), (24, 'Ί', 'Ι'), (25, 'Ό', 'Ο'), (26, 'Ύ', 'Υ'), (27, 'Ώ', 'Ω'), (28, 'Ϊ', 'Ι'), (29, 'Ϋ', 'Υ'),
    (30, 'ß', 'ss'), (31, 'ẞ', 'SS'), (32, 'æ', 'ae'), (33, 'Æ', 'AE'), (34, 'œ', 'oe'), (35, 'Œ', 'OE'),
    (36, 'ø', 'o'), (37, 'Ø', 'O'), (38, 'ł', 'l'), (39, 'Ł', 'L'), (40, 'đ', 'd'), (41, 'Đ', 'D'), (42, 'ı', 'i'),
    (43, char(1456), ''), (44, char(1457), ''), (45, char(1458), ''), (46, char(1459), ''), (47, char(1460), ''),
    (48, char(1461), ''), (49, char(1462), ''), (50, char(1463), ''), (51, char(1464), ''), (52, char(1465), ''),
    (53, char(1466), ''), (54, char(1467), ''), (55, char(1468), ''), (56, char(1469), ''), (57, char(1471), ''),
    (58, char(1473), ''), (59, char(1474), ''), (60, char(1479), ''),
    (61, 'آ', 'ا'), (62, 'أ', 'ا'), (63, 'إ', 'ا'), (64, 'ٱ', 'ا'), (65, 'ى', 'ي'), (66, 'ی', 'ي'), (67, 'ة', 'ه'),
    (68, 'ک', 'ك'), (69, 'ـ', ''), (70, char(1611), ''), (71, char(1612), ''), (72, char(1613), ''),
    (73, char(1614), ''), (74, char(1615), ''), (75, char(1616), ''), (76, char(1617), ''), (77, char(1618), ''),
    (78, char(1648), '');

-- Most texts have none of them, which two quick looks tell. Of the others, those replacements are made that occur.
DROP VIEW facts_text;
DROP VIEW memories_text;
DROP VIEW observations_text;
CREATE VIEW memories_text(rid, context, content) AS
SELECT rid,
       CASE WHEN length(CAST(source_role AS BLOB)) > length(source_role) AND source_role GLOB '*[ÆßæØøĐđıŁłŒœẞͰ-ۿ]*'
           THEN (WITH RECURSIVE step(place, text) AS (
               SELECT 0, source_role UNION ALL
               SELECT f.place, replace(step.text, f.written, f.indexed) FROM step JOIN folding f
               ON f.place = (SELECT min(n.place) FROM folding n WHERE n.place > step.place AND instr(source_role, n.written)))
               SELECT text FROM step ORDER BY place DESC LIMIT 1)
           ELSE coalesce(source_role, '') END
       || strftime(' %d ', event_time, 'unixepoch')
       || CASE strftime('%m', event_time, 'unixepoch')
              WHEN '01' THEN 'January' WHEN '02' THEN 'February' WHEN '03' THEN 'March'
              WHEN '04' THEN 'April' WHEN '05' THEN 'May' WHEN '06' THEN 'June'
              WHEN '07' THEN 'July' WHEN '08' THEN 'August' WHEN '09' THEN 'September'
              WHEN '10' THEN 'October' WHEN '11' THEN 'November' ELSE 'December' END
       || strftime(' %Y', event_time, 'unixepoch'),
       CASE WHEN length(CAST(content AS BLOB)) > length(content) AND content GLOB '*[ÆßæØøĐđıŁłŒœẞͰ-ۿ]*'
           THEN (WITH RECURSIVE step(place, text) AS (
               SELECT 0, content UNION ALL
               SELECT f.place, replace(step.text, f.written, f.indexed) FROM step JOIN folding f
               ON f.place = (SELECT min(n.place) FROM folding n WHERE n.place > step.place AND instr(content, n.written)))
               SELECT text FROM step ORDER BY place DESC LIMIT 1)
           ELSE content END
FROM memories;

CREATE VIEW facts_text(rid, context, content) AS
SELECT t.rid, t.context, t.content FROM memories_text t JOIN memories m ON m.rid = t.rid WHERE m.kind = 'fact';

CREATE VIEW observations_text(rid, content) AS
SELECT t.rid, t.content FROM memories_text t JOIN memories m ON m.rid = t.rid WHERE m.kind = 'observation';

-- A name as the index spells it, for the triggers that look for it in the texts.
CREATE VIEW names_text(alias_id, alias) AS
SELECT alias_id, (WITH RECURSIVE step(place, text) AS (
    SELECT 0, alias UNION ALL
    SELECT f.place, replace(step.text, f.written, f.indexed) FROM step JOIN folding f
    ON f.place = (SELECT min(n.place) FROM folding n WHERE n.place > step.place AND instr(alias, n.written)))
    SELECT text FROM step ORDER BY place DESC LIMIT 1)
FROM entity_aliases;

-- Marks belong to the word they stand in (Hindi, Thai, Hebrew and Arabic would fall apart), but for the two that only
-- choose between a sign and its emoji.
DROP TABLE memories_fts;
DROP TABLE facts_fts;
DROP TABLE observations_fts;
CREATE VIRTUAL TABLE memories_fts USING fts5(context, content, content='memories_text', content_rowid='rid',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* Mn Mc N* Co' separators '︎️'");
CREATE VIRTUAL TABLE facts_fts USING fts5(context, content, content='facts_text', content_rowid='rid',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* Mn Mc N* Co' separators '︎️'");
CREATE VIRTUAL TABLE observations_fts USING fts5(content, content='observations_text', content_rowid='rid',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* Mn Mc N* Co' separators '︎️'");
INSERT INTO memories_fts(memories_fts, rank) VALUES ('automerge', 0);
INSERT INTO facts_fts(facts_fts, rank) VALUES ('automerge', 0);
INSERT INTO observations_fts(observations_fts, rank) VALUES ('automerge', 0);
INSERT INTO memories_fts(memories_fts) VALUES ('rebuild');
INSERT INTO facts_fts(facts_fts) VALUES ('rebuild');
INSERT INTO observations_fts(observations_fts) VALUES ('rebuild');
