-- What a fact is about, and the day that its words name (local noon): NULL where it names none, or from before.
ALTER TABLE memories ADD COLUMN topic TEXT CHECK (topic IN ('health', 'people', 'home', 'work', 'project', 'rule',
    'preference', 'routine', 'plan', 'possession', 'decision', 'identity'));
ALTER TABLE memories ADD COLUMN happens_at INTEGER;
-- What rules drew had its topic as a tag. Nobody decided this: it is no history. The triggers are installed anew afterwards.
DROP TRIGGER IF EXISTS history_memories_update;
UPDATE memories SET topic = (
    SELECT CASE value WHEN 'self' THEN 'identity' WHEN 'family' THEN 'people' WHEN 'pet' THEN 'people' ELSE value END
    FROM json_each(tags) WHERE value IN ('health', 'people', 'home', 'work', 'project', 'rule', 'preference', 'routine',
        'plan', 'possession', 'decision', 'identity', 'self', 'family', 'pet') ORDER BY key LIMIT 1)
WHERE kind <> 'episode' AND kind = 'fact' AND tags <> '[]' AND attributes <> '{}'
    AND json_extract(attributes, '$.extractor') = 'keyword';
-- What is allergic stays so. A confidence of 0.3 or less is that of a fact that another one replaced.
UPDATE memories SET decay_rate = 0.0 WHERE topic IN ('health', 'rule') AND decay_rate > 0.0 AND confidence > 0.3;
