"""Writes memtui into an agent's configuration: the smallest edits of its files, shown before they are made."""
