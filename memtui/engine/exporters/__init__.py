"""The way out of the file, in formats that others can read."""
