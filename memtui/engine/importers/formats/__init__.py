"""A file for each format: what it looks like, and how it is read."""
