"""The one way from the app to the memory: every call runs in a thread, every change is told.

A change goes: pane -> ``change`` -> a thread -> the memory commits and tells its subscribers ->
``Changed`` reaches the app -> each pane reloads what concerns it. Reading goes through ``ask``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memtui.engine.errors import ReplacedFileError, StoreError

from .progress import Work
from .row_source import Readers

if TYPE_CHECKING:
    from memtui.engine.memory import Memory

T = TypeVar("T")

# Lists on screen turn to the memory that was opened anew well within that time.
STILL_READ_SECONDS = 1.0


class Operations:
    """Runs calls on the memory. Belongs to the event loop; ``open`` is the only call that may take long."""

    def __init__(
        self, open_memory: Callable[[], Memory], busy: Callable[[], None],
        replaced: Callable[[ReplacedFileError], Awaitable[bool]],
    ) -> None:  # fmt: skip
        self.memory: Memory | None = None
        self.readers = Readers()
        self.running: list[str] = []
        self._open_memory = open_memory
        self._busy = busy
        self._replaced = replaced
        # One writer: changes wait for each other here and not in threads.
        self._writer = ThreadPoolExecutor(1, "memtui-writer")
        # Memories that were open with other settings, and may still be read; and one that is being opened so.
        self._earlier: list[Memory] = []
        self._opening: Memory | None = None
        self.works: list[Work] = []
        self._workers = ThreadPoolExecutor(2, "memtui-work")

    async def open(self) -> tuple[Memory, int]:
        """Import the engine and open the file, in the writer's thread; with the file's version at that moment."""

        def open_memory() -> tuple[Memory, int]:
            memory = self._open_memory()
            return memory, memory.data_version()

        with self._shown("opening the memory"):
            loop = asyncio.get_running_loop()
            memory, version = await loop.run_in_executor(self._writer, open_memory)
        self.memory = memory
        return memory, version

    async def reopen(self, open_memory: Callable[[], Memory]) -> tuple[Memory, int]:
        """Go on with the memory as ``open_memory`` opens it; ``let_go`` closes the one before."""
        before = self.require()

        def change_over() -> tuple[Memory, int]:
            memory = open_memory()
            self._opening = memory  # whoever leaves the app meanwhile closes it with the others
            if not before.readonly:
                before.jobs.stop()
            return memory, memory.data_version()

        with self._shown("applying the settings"):
            loop = asyncio.get_running_loop()
            memory, version = await asyncio.shield(loop.run_in_executor(self._writer, change_over))
        self._opening = None
        self._earlier.append(before)
        self.memory = memory
        return memory, version

    async def let_go(self) -> None:
        """Close what was open before, once nothing new is asked of it; what is being read is read to its end."""
        await asyncio.sleep(STILL_READ_SECONDS)
        loop = asyncio.get_running_loop()
        while self._earlier:
            await loop.run_in_executor(self._writer, self._earlier.pop().close)

    async def ask(self, call: Callable[[Memory], T], *, slow: bool = False) -> T:
        """Read something. When the asking task is cancelled, the answer is dropped.

        ``slow``: it may take a second with a million memories, so it stays out of a preview's way.
        """
        memory = self.require()
        thread = self.readers.keys if slow else self.readers.asks
        return await asyncio.get_running_loop().run_in_executor(thread, call, memory)

    async def change(self, call: Callable[[Memory], T], name: str) -> T:
        """Change something; ``name`` is shown while it runs. Cancelling does not stop it half-way.

        Where the file was replaced, the person is asked whether to go on with the new one; then it is done there.
        """
        try:
            return await self._write(call, name)
        except ReplacedFileError as error:
            if not await self._replaced(error):
                raise
        return await self._write(call, name)

    async def go_on_with_current_file(self) -> None:
        """Open the file that is at the memory's path now. Raises StoreError when it cannot be used."""
        await self._write(lambda memory: memory.reopen(), "opening the file")

    async def _write(self, call: Callable[[Memory], T], name: str) -> T:
        memory = self.require()
        with self._shown(name):
            loop = asyncio.get_running_loop()
            return await asyncio.shield(loop.run_in_executor(self._writer, call, memory))

    async def work(self, call: Callable[[Memory, Work], T], name: str) -> T:
        """Do something that takes long, in a thread of its own: changes and reads go on beside it.

        While it runs it is among ``works``, where it can be watched and cancelled.
        """
        memory, work = self.require(), Work(name)
        self.works.append(work)
        with self._shown(name):
            doing = asyncio.get_running_loop().run_in_executor(self._workers, call, memory, work)
            doing.add_done_callback(lambda _: self.works.remove(work))
            try:
                return await asyncio.shield(doing)
            except asyncio.CancelledError:
                work.cancel()
                raise

    def close(self) -> None:
        """Stop long work, wait for a change that is being written, then close the file."""
        for work in self.works:
            work.cancel()
        self._workers.shutdown(wait=True)
        self.readers.close()
        self._writer.shutdown(wait=True)
        for memory in (*self._earlier, self._opening, self.memory):
            if memory is not None:
                memory.close()

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
