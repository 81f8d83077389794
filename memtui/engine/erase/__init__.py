"""Erase for good: what carries a text, letting go of all of it in the file and in every backup, and the proof."""
