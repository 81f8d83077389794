"""The memory file: connections, schema, history, rows. Knows nothing of search."""
