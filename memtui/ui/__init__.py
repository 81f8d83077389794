"""The terminal app, on top of the engine; nothing in the engine knows it."""
