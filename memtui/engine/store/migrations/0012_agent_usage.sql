-- What agents wrote and asked through their tools, by clock hour (UTC hours since 1970): the limits are per hour.
-- No history, not exported; rows older than a day go. scope: a number made from what the agent is narrowed to; 0: nothing.
CREATE TABLE agent_usage (
    usage_id  INTEGER PRIMARY KEY,
    agent     TEXT NOT NULL,
    scope     INTEGER NOT NULL,
    hour      INTEGER NOT NULL,
    writes    INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    calls     INTEGER NOT NULL,
    UNIQUE (agent, scope, hour)
) STRICT;
