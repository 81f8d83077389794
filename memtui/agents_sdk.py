"""A memory for agents of the OpenAI Agents SDK: instructions with memories, a session that records, tools.

    from agents import Agent, Runner
    from memtui import Memory
    from memtui.agents_sdk import AgentMemory

    with Memory.open("memory.db", actor="agent:coach") as memory:
        known = AgentMemory(memory)
        coach = Agent(name="Coach", instructions=known.instructions("You coach."), tools=known.tools())
        result = await Runner.run(coach, "Where was I?", session=known.session("monday"))

Needs the extra ``agents``. The memory must be open for an agent. ``filter`` and ``project`` limit what it sees.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from memtui.engine.errors import DegradedError, MemtuiError, StoreError
from memtui.engine.installation import command_for_extra
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.base import Group, Tool, arguments_schema
from memtui.engine.tools.registry import Toolbox

try:
    from agents import FunctionTool, SQLiteSession
except ImportError as error:
    raise DegradedError("The package openai-agents is not installed.", command_for_extra("agents")) from error

if TYPE_CHECKING:
    from agents import RunContextWrapper, TResponseInputItem
    from agents.memory import Session, SessionSettings
    from agents.tool_context import ToolContext

    from memtui.engine.memory import Memory

Instructions: TypeAlias = "str | Callable[[RunContextWrapper[Any], Any], str | Awaitable[str]]"
DEFAULT_GROUPS: tuple[Group, ...] = ("memory", "observations", "scratchpad")
SOURCE = "agents-sdk"
_conversations: WeakKeyDictionary[object, dict[tuple[str, str], Session]] = WeakKeyDictionary()
"""The conversations of sessions without an inner one, by memory, then by scope and name."""
_log = logging.getLogger("memtui.agents")


class AgentMemory:
    """Instructions, tools and sessions for an agent of the SDK. Raises FilterError, InputError as ``Toolbox.of``
    does.
    """

    def __init__(
        self, memory: Memory, *, filter: str | None = None, project: str | None = None, readonly: bool = False
    ) -> None:
        self._agent = Agent(memory, filter=filter, project=project, readonly=readonly, source=SOURCE)
        self._served: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()

    def instructions(
        self,
        base: Instructions = "",
        *,
        limit: int = 12,
        session_id: str | Callable[[RunContextWrapper[Any]], str | None] | None = None,
    ) -> Callable[[RunContextWrapper[Any], Any], Awaitable[str]]:
        """Instructions for an ``Agent``: ``base``, then the context block for what the person just said.

        ``session_id``: the conversation (or how to find its name in the run's context), whose own turns are left out. If
        the memory fails, the agent runs without memories, and the log has the reason.
        """

        async def instructions_with_memory(context: RunContextWrapper[Any], agent: Any) -> str:
            own = base(context, agent) if callable(base) else base
            words = await own if inspect.isawaitable(own) else own
            session = session_id(context) if callable(session_id) else session_id
            block = await self._context_text(context, session, limit)
            return "\n\n".join(part for part in (words, block) if part)

        return instructions_with_memory

    def tools(
        self, groups: Sequence[Group] = DEFAULT_GROUPS, *, without: Collection[str] = ("record_turn",)
    ) -> list[FunctionTool]:
        """The memory's tools for an ``Agent``. A read-only memory has none that writes.

        ``without``: the names of tools to leave out. ``record_turn`` is left out, because ``session`` records.
        Without a session, pass ``without=()``.
        """
        box = Toolbox(self._agent, groups)
        return [_function_tool(box, tool) for tool in box if tool.name not in without]

    def session(self, session_id: str, inner: Session | None = None) -> RecordingSession:
        """A session that records every turn of the person and the agent.

        ``inner`` keeps the conversation itself. Without it the conversation is kept as long as the memory object
        exists. The next session of that name, for an agent of the same scope, continues it.
        """
        if inner is None:
            kept = _conversations.setdefault(self._agent.memory, {})
            inner = kept.setdefault((self._agent.filter, session_id), SQLiteSession(session_id))
        return RecordingSession(self._agent, session_id, inner)

    async def _context_text(self, context: RunContextWrapper[Any], session_id: str | None, limit: int) -> str:
        """The context block. It is made once for all steps of a run, because it is logged as a recall."""
        prompt = _last_words(context.turn_input)
        if not prompt:
            return ""
        known = self._served.get(context)
        if known is not None and known[0] == prompt:
            return known[1]
        try:
            current = self._agent.memory.on_current_file
            block = await asyncio.to_thread(current, lambda: self._build_context(prompt, session_id, limit))
        except MemtuiError as error:
            _log.warning("an agent got no memories: %s", error.message)
            return ""
        self._served[context] = (prompt, block)
        return block

    def _build_context(self, prompt: str, session_id: str | None, limit: int) -> str:
        """Counts like a call of a tool. Raises QuotaError."""
        with self._agent.count_call(None):
            return self._agent.context(prompt, session_id=session_id, limit=limit).text


class RecordingSession:
    """A ``Session`` of the SDK that passes everything to another one and records the messages as turns.

    Tool calls and their results are not turns. Items that the SDK removes to try again are not recorded twice.
    """

    def __init__(self, agent: Agent, session_id: str, inner: Session) -> None:
        self.session_id = session_id
        self._agent = agent
        self._inner = inner
        self._taken_back: Counter[tuple[str, str]] = Counter()
        # Turns that could not be written yet, with their times. They are recorded with the next ones.
        self._unrecorded: list[tuple[str, str, datetime]] = []
        self._recording = Lock()

    @property
    def session_settings(self) -> SessionSettings | None:
        return self._inner.session_settings

    @session_settings.setter
    def session_settings(self, settings: SessionSettings | None) -> None:
        self._inner.session_settings = settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        items: list[TResponseInputItem] = await self._inner.get_items(limit)
        return items

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self._inner.add_items(items)
        new = []
        for role, words in _turns_of_items(items):
            if self._taken_back[role, words] > 0:
                self._taken_back[role, words] -= 1
            else:
                new.append((role, words))
        if new and not self._agent.readonly:
            await asyncio.to_thread(self._record_turns, new)

    async def pop_item(self) -> TResponseInputItem | None:
        item = await self._inner.pop_item()
        if item is not None:
            self._taken_back.update(_turns_of_items([item]))
        return item

    async def clear_session(self) -> None:
        """Clear the conversation. Its recorded turns stay."""
        await self._inner.clear_session()

    def _record_turn(self, role: str, words: str, at: datetime) -> object:
        """Record one turn. The agent's filter (``within``) is read again each time, because the file may have been replaced."""
        return self._agent.memory.record_turn(
            self.session_id,
            role,
            words,
            at,
            source=SOURCE,
            project=self._agent.project,
            within=self._agent.compiled_scope,
        )

    def _record_turns(self, turns: Iterable[tuple[str, str]]) -> None:
        now = datetime.now(UTC)
        memory = self._agent.memory
        with self._recording:
            self._unrecorded += [(role, words, now) for role, words in turns]
            while self._unrecorded:
                role, words, at = self._unrecorded[0]
                try:
                    memory.on_current_file(partial(self._record_turn, role, words, at))
                except StoreError as error:  # the conversation goes on
                    _log.warning("%d turns wait to be recorded: %s", len(self._unrecorded), error.message)
                    return
                except MemtuiError as error:
                    _log.warning("a turn was not recorded: %s", error.message)
                del self._unrecorded[0]  # whatever else is raised, what was not recorded waits


def _function_tool(box: Toolbox, tool: Tool) -> FunctionTool:
    async def invoke_tool(context: ToolContext[Any], arguments: str) -> str:
        return (await asyncio.to_thread(box.call, tool.name, arguments)).text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=arguments_schema(tool),
        on_invoke_tool=invoke_tool,
        strict_json_schema=False,
    )


def _last_words(items: Sequence[TResponseInputItem]) -> str:
    """What the person said last."""
    user_words = [words for role, words in _turns_of_items(items) if role == "user"]
    return user_words[-1] if user_words else ""


def _turns_of_items(items: Iterable[TResponseInputItem]) -> list[tuple[str, str]]:
    """(role, text) of the messages among the items of a conversation."""
    found = []
    for item in items:
        role, content = item.get("role"), item.get("content")
        if role not in ("user", "assistant"):
            continue
        parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
        texts = [part if isinstance(part, str) else part.get("text") for part in parts]
        words = "\n".join(text for text in texts if isinstance(text, str)).strip()
        if words:
            found.append((role, words))
    return found
