"""Erase for good: find every row that contains a text, delete it in the file and all backups, and prove it."""
