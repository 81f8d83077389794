"""Backups: create, thin out, read, compare with the file, restore as a whole or in part."""
