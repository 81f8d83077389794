-- Every change of a vector, so that a copy of them in memory can be kept up to date (triggers). The nonce
-- tells a row from another of the same number in a file that was restored meanwhile.
CREATE TABLE vector_log (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    rid    INTEGER NOT NULL,
    nonce  INTEGER NOT NULL DEFAULT (random() & 65535)
) STRICT;
