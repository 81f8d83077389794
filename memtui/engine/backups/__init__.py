"""Backups: made and thinned out, read, compared with what is there now, restored as a whole or in part."""
