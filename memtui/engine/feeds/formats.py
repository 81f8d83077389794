"""The formats that can be imported, and how one is called."""

from __future__ import annotations

from ..errors import InputError
from .agents_sdk import AgentsSDK
from .base import Feed
from .chatgpt import ChatGPT
from .claude_ai import ClaudeAI, ClaudeAIMemories
from .claude_code import ClaudeCode
from .claude_history import ClaudeHistory
from .codex import Codex
from .complete import Complete
from .generic import Generic, GenericArray
from .langchain import LangChain
from .markdown import Markdown
from .mcp_memory import McpMemory
from .mem0 import Mem0, Mem0History
from .memory_db import MemoryDb
from .observed import KeyValues, Observations
from .vault import Vault

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
