-- The context block reads rules, and the facts of a day, whatever else is in memory.
CREATE INDEX memories_rules ON memories(event_time, rid) WHERE kind = 'fact' AND topic = 'rule' AND valid_until IS NULL;
CREATE INDEX memories_by_day ON memories(happens_at) WHERE happens_at IS NOT NULL;
