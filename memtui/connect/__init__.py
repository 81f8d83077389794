"""Telling an agent's own configuration about memtui: the smallest edits of its files, shown before they are made."""
