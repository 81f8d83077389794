"""The verbs of Memory, a file per subject; ``engine.memory`` puts them together."""
