-- The timeline counts the notes of each topic in each period.
CREATE INDEX notes_by_topic ON memories(topic, event_time, kind, project, valid_until)
    WHERE valid_until IS NULL AND kind <> 'episode';
