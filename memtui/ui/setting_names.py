"""What the settings and their sections are called on screen; the file calls them by their keys."""

from __future__ import annotations

from collections.abc import Mapping

SECTIONS: Mapping[str, str] = {
    "general": "This app", "embedder": "Vectors", "search": "Search", "decay": "Fading", "secrets": "Secrets",
    "llm": "Language model", "mcp": "Agent server", "names": "Names", "feeds": "Sessions", "strategies": "Names",
    "keymap": "Keys",
}  # fmt: skip
NAMES: Mapping[str, str] = {
    "general.db": "memory file", "general.theme": "colours", "general.ascii": "plain letters only",
    "general.motion": "animations",
    "embedder.kind": "made by", "embedder.base_url": "address", "embedder.model": "model there",
    "embedder.key_env": "key is in variable", "embedder.dimensions": "dimensions",
    "embedder.price": "price of a million",
    "search.profile": "way of ranking", "search.limit": "hits at most",
    "decay.rate": "how fast, a day", "decay.threshold": "gone below", "decay.cap": "facts a day at most",
    "decay.share": "share a day at most",
    "secrets.facts": "in facts", "secrets.episodes": "in conversations",
    "llm.base_url": "address", "llm.model": "model there", "llm.key_env": "key is in variable",
    "llm.timeout": "seconds for a call", "llm.budget": "tokens for a run",
    "llm.price": "price of a million",
    "mcp.jobs": "may run jobs", "mcp.model": "may use the model",
    "names.enrichment": "read again at night by", "feeds.watch": "follow live ones",
    "strategies": "ways of finding them", "keymap": "own keys",
}  # fmt: skip
