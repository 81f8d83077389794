"""Exports: the memory in formats that others can read."""
