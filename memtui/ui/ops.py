"""The one way from the app to the memory: every call runs in a thread, every change is told.

A change goes: pane -> ``change`` -> a thread -> the memory commits and tells its subscribers ->
``Changed`` reaches the app -> each pane reloads what concerns it. Reading goes through ``ask``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memtui.engine.errors import StoreError

from .widgets.row_source import Readers

if TYPE_CHECKING:
    from memtui.engine.memory import Memory

T = TypeVar("T")


class Operations:
    """Runs calls on the memory. Belongs to the event loop; ``open`` is the only call that may take long."""

    def __init__(self, open_memory: Callable[[], Memory], busy: Callable[[], None]) -> None:
        self.memory: Memory | None = None
        self.readers = Readers()
        self.running: list[str] = []
        self._open_memory = open_memory
        self._busy = busy
        # One writer: changes wait for each other here and not in threads.
        self._writer = ThreadPoolExecutor(1, "memtui-writer")

    async def open(self) -> Memory:
        """Import the engine and open the file, in the writer's thread."""
        with self._shown("opening the memory"):
            loop = asyncio.get_running_loop()
            self.memory = await loop.run_in_executor(self._writer, self._open_memory)
        return self.memory

    async def ask(self, call: Callable[[Memory], T]) -> T:
        """Read something. When the asking task is cancelled, the answer is dropped."""
        memory = self.require()
        return await asyncio.get_running_loop().run_in_executor(self.readers.asks, call, memory)

    async def change(self, call: Callable[[Memory], T], name: str) -> T:
        """Change something; ``name`` is shown while it runs. Cancelling does not stop it half-way."""
        memory = self.require()
        with self._shown(name):
            loop = asyncio.get_running_loop()
            return await asyncio.shield(loop.run_in_executor(self._writer, call, memory))

    def close(self) -> None:
        """Wait for a change that is being written, then close the file."""
        self.readers.close()
        self._writer.shutdown(wait=True)
        if self.memory is not None:
            self.memory.close()

    def require(self) -> Memory:
        """The memory; raises StoreError while it is not open."""
        if self.memory is None:
            raise StoreError("The memory is not open.", "Wait until it is, or see what is said about it.")
        return self.memory

    @contextmanager
    def _shown(self, name: str) -> Iterator[None]:
        self.running.append(name)
        self._busy()
        try:
            yield
        finally:
            self.running.remove(name)
            self._busy()
