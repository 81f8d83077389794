-- Which links a memory has from being read again by a model (enrichments says when), so that it can be told later.
CREATE TABLE enriched_links (
    rid  INTEGER NOT NULL REFERENCES enrichments(rid) ON DELETE CASCADE,
    eid  INTEGER NOT NULL REFERENCES entities(eid) ON DELETE CASCADE,
    PRIMARY KEY (rid, eid)
) STRICT, WITHOUT ROWID;
