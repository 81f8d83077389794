-- The weight of a saved profile is called as its retriever.
UPDATE profiles SET settings = json_set(json_remove(settings, '$.sense'), '$.word_vector', settings ->> '$.sense')
    WHERE settings ->> '$.sense' IS NOT NULL;
