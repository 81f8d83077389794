"""The formats that can be imported, and how one is called."""

from __future__ import annotations

from memtui.engine.errors import InputError

from .base import Feed
from .formats.agents_sdk import AgentsSDK
from .formats.chatgpt import ChatGPT
from .formats.claude_ai import ClaudeAI, ClaudeAIMemories
from .formats.claude_code import ClaudeCode
from .formats.claude_history import ClaudeHistory
from .formats.codex import Codex
from .formats.generic import Generic, GenericArray
from .formats.langchain import LangChain
from .formats.markdown import Markdown
from .formats.mcp_memory import McpMemory
from .formats.mem0 import Mem0, Mem0History
from .formats.memory_db import MemoryDb
from .formats.memtui_export import Complete
from .formats.observations import KeyValues, Observations
from .formats.vault import Vault

# The more particular first: the first one that recognises a stream reads it.
FEEDS: tuple[Feed, ...] = (
    Complete(),
    ClaudeCode(),
    ClaudeHistory(),
    Codex(),
    ChatGPT(),
    ClaudeAI(),
    ClaudeAIMemories(),
    AgentsSDK(),
    LangChain(),
    MemoryDb(),
    Mem0History(),
    McpMemory(),
    Observations(),
    Generic(),
    GenericArray(),
    Mem0(),
    Vault(),
    Markdown(),
    KeyValues(),
)


def feed_named(name: str) -> Feed:
    """Raises InputError, listing the known formats."""
    for feed in FEEDS:
        if feed.name == name:
            return feed
    known = ", ".join(feed.name for feed in FEEDS)
    raise InputError(f"There is no import format {name!r}.", f"Known formats: {known}.")
