-- What was decided last about one aspect of a memory, an entity or a key of the scratchpad ("pad:KEY"), made by triggers.
-- seen: how many decisions of each device it knew of. Exports carry it, so that two devices' decisions can be merged.
CREATE TABLE decided (
    decided_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    thing       TEXT NOT NULL,
    aspect      TEXT NOT NULL,
    seen        TEXT NOT NULL CHECK (json_valid(seen)),
    device      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    UNIQUE (thing, aspect)
) STRICT;
-- 0: decisions of another device are being taken over, with their own stamps, which history covers then.
ALTER TABLE current_op ADD COLUMN stamping INTEGER NOT NULL DEFAULT 1;
INSERT INTO memory_metadata(key, value) VALUES ('device', 'device-' || lower(hex(randomblob(4)))) ON CONFLICT DO NOTHING;
-- What was decided before.
INSERT INTO decided(thing, aspect, seen, device, at, actor)
    SELECT m.id, 'state', json_object(d.value, 1), d.value, m.valid_until, 'unknown'
    FROM memories m, memory_metadata d
    WHERE m.valid_until IS NOT NULL AND m.ended_by <> 'faded' AND d.key = 'device';
INSERT INTO decided(thing, aspect, seen, device, at, actor)
    SELECT m.id, 'pin', json_object(d.value, 1), d.value, m.created_at, 'person'
    FROM memories m, memory_metadata d
    WHERE m.attributes <> '{}' AND json_extract(m.attributes, '$.pinned_at') IS NOT NULL AND d.key = 'device';
