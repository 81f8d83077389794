-- For models that make vectors of words too (the key 'embedding_word_dimensions' of memory_metadata says of how many
-- numbers): int8 rows, one for each word that says something, one after another; none where no word does. They come and
-- go with the vector of the text.
CREATE TABLE word_vectors (
    model_id  TEXT NOT NULL,
    rid       INTEGER NOT NULL,
    dims      INTEGER NOT NULL CHECK (dims > 0),
    vectors   BLOB NOT NULL,
    PRIMARY KEY (model_id, rid),
    FOREIGN KEY (model_id, rid) REFERENCES embeddings(model_id, rid) ON DELETE CASCADE
) STRICT;
