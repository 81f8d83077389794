-- Which agents a memory is kept from is a decision like others: triggers stamp it from now on.
INSERT INTO decided(thing, aspect, seen, device, at, actor)
    SELECT m.id, 'not-for:' || lower(a.value), json_object(d.value, 1), d.value, m.created_at, 'person'
    FROM memories m, memory_metadata d, json_each(m.attributes, '$.withheld_from') a
    WHERE m.attributes <> '{}' AND json_type(m.attributes, '$.withheld_from') = 'array' AND a.type = 'text'
        AND d.key = 'device'
    ON CONFLICT DO NOTHING;
-- What was corrected or forgotten, which texts may say again.
CREATE INDEX facts_decided ON memories(rid) WHERE kind = 'fact' AND ended_by IN ('superseded', 'forgotten');
