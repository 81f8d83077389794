"""Maintenance jobs: what each does, when it is due, and running it once, whichever process is there."""
