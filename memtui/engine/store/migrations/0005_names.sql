-- Who is who. Each name has a row of its own in ``entities`` (one alias per row), and a link points at the row
-- of the name that stands in the text. What a person calls one entity are rows merged into one of them, so that
-- merging, splitting and taking back any of it moves no links.

ALTER TABLE entities ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entity_decisions ADD COLUMN actor TEXT NOT NULL DEFAULT 'person';

-- When the memory happened; NULL while it is in the Trash. Kept by triggers, as are the counts.
ALTER TABLE memory_entities ADD COLUMN at INTEGER;
-- The type that a provider saw in this text; NULL when the name was only known.
ALTER TABLE memory_entities ADD COLUMN vote TEXT;

DROP INDEX memory_entities_back;
CREATE INDEX memory_entities_back ON memory_entities(eid, at, rid);
CREATE INDEX entities_merged ON entities(merged_into) WHERE merged_into IS NOT NULL;

-- The votes of all links, by type.
CREATE TABLE entity_votes (
    eid    INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    type   TEXT NOT NULL,
    votes  INTEGER NOT NULL,
    PRIMARY KEY (eid, type)
) STRICT, WITHOUT ROWID;

-- Further aliases of one row become rows of their own, merged into it. None of this is anybody's decision.
INSERT INTO current_op(one, op_id) VALUES (1, 0);
INSERT INTO entities(id, canonical_name, type, hidden, merged_into, created_at)
    SELECT printf('ent_%012x', a.alias_id), a.alias, e.type, e.hidden, coalesce(e.merged_into, e.eid), e.created_at
    FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
    WHERE a.alias_id > (SELECT min(b.alias_id) FROM entity_aliases b WHERE b.entity_id = a.entity_id);
UPDATE entity_aliases SET entity_id = (SELECT eid FROM entities WHERE id = printf('ent_%012x', alias_id))
    WHERE EXISTS (SELECT 1 FROM entities WHERE id = printf('ent_%012x', alias_id));
DELETE FROM current_op;

UPDATE memory_entities SET at = (SELECT event_time FROM memories m WHERE m.rid = memory_entities.rid AND m.valid_until IS NULL);
UPDATE entities SET mention_count = (
    SELECT count(DISTINCT l.rid) FROM memory_entities l
    WHERE l.at IS NOT NULL AND l.eid IN (
        SELECT entities.eid UNION ALL SELECT g.eid FROM entities g WHERE g.merged_into = entities.eid));
