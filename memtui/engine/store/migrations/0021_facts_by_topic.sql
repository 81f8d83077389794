-- The portrait counts the facts of each topic and reads the strongest, whatever else is in memory.
CREATE INDEX facts_by_topic ON memories(
    topic, (confirmed_at IS NOT NULL), confidence, event_time, created_at, happens_at, kind, valid_until)
    WHERE kind = 'fact' AND valid_until IS NULL;
