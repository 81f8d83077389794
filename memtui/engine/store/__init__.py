"""The memory file: connections, schema, history, rows. It does not use the search."""
