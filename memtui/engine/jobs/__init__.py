"""Maintenance jobs: their work, their schedule, and the scheduler that runs each once, in any process."""
