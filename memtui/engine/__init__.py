"""The memory engine: complete and usable without the app and the command line."""
