"""The terminal app. It uses the engine; the engine never imports it."""
