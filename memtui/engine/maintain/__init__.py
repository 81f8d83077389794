"""What keeps a memory in order."""
