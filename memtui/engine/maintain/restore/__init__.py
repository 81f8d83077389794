"""The way back to a backup: reading one, telling what a restore would do, doing it, taking single memories."""
