"""All access of the app to the memory. Every call runs in a thread.

A change: pane -> ``change`` -> a thread -> the memory commits and notifies its subscribers ->
the app gets ``Changed`` -> each pane reloads if it is concerned. Reads go through ``ask``.
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

# Lists on screen use the newly opened memory long before this time is over.
STILL_READ_SECONDS = 1.0


class Operations:
    """Runs calls on the memory. Belongs to the event loop. Only ``open`` may take long."""

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
        # There is one writer: changes wait for each other here, not in threads.
        self._writer = ThreadPoolExecutor(1, "memtui-writer")
        # Memories that were opened with other settings and may still be read; and one that is being opened.
        self._earlier: list[Memory] = []
        self._opening: Memory | None = None
        self.works: list[Work] = []
        self._workers = ThreadPoolExecutor(2, "memtui-work")

    async def open(self) -> tuple[Memory, int]:
        """Import the engine and open the file, in the writer's thread. Returns the memory and the file's version."""

        def open_memory() -> tuple[Memory, int]:
            memory = self._open_memory()
            return memory, memory.data_version()

        with self._show_task("opening the memory"):
            loop = asyncio.get_running_loop()
            memory, version = await loop.run_in_executor(self._writer, open_memory)
        self.memory = memory
        return memory, version

    async def reopen(self, open_memory: Callable[[], Memory]) -> tuple[Memory, int]:
        """Open the memory again with ``open_memory``. ``close_previous`` closes the old one."""
        before = self.require_memory()

        def change_over() -> tuple[Memory, int]:
            memory = open_memory()
            self._opening = memory  # if the app is closed in the meantime, this one is closed too
            if not before.readonly:
                before.jobs.stop()
            return memory, memory.data_version()

        with self._show_task("applying the settings"):
            loop = asyncio.get_running_loop()
            memory, version = await asyncio.shield(loop.run_in_executor(self._writer, change_over))
        self._opening = None
        self._earlier.append(before)
        self.memory = memory
        return memory, version

    async def close_previous(self) -> None:
        """Close the memories that were open before, after their last reads have ended."""
        await asyncio.sleep(STILL_READ_SECONDS)
        loop = asyncio.get_running_loop()
        while self._earlier:
            await loop.run_in_executor(self._writer, self._earlier.pop().close)

    async def ask(self, call: Callable[[Memory], T], *, slow: bool = False) -> T:
        """Read something. If the calling task is cancelled, the result is dropped.

        ``slow``: it may take a second with a million memories, so it does not delay previews.
        """
        memory = self.require_memory()
        thread = self.readers.keys if slow else self.readers.asks
        return await asyncio.get_running_loop().run_in_executor(thread, call, memory)

    async def change(self, call: Callable[[Memory], T], name: str) -> T:
        """Change something. ``name`` is shown while it runs. Cancelling does not stop it.

        If the file was replaced, the person is asked whether to open the new one and make the change there.
        """
        try:
            return await self._run_in_writer(call, name)
        except ReplacedFileError as error:
            if not await self._replaced(error):
                raise
        return await self._run_in_writer(call, name)

    async def go_on_with_current_file(self) -> None:
        """Open the file that is now at the memory's path. Raises StoreError if it cannot be used."""
        await self._run_in_writer(lambda memory: memory.reopen(), "opening the file")

    async def _run_in_writer(self, call: Callable[[Memory], T], name: str) -> T:
        memory = self.require_memory()
        with self._show_task(name):
            loop = asyncio.get_running_loop()
            return await asyncio.shield(loop.run_in_executor(self._writer, call, memory))

    async def work(self, call: Callable[[Memory, Work], T], name: str) -> T:
        """Run long work in its own thread. Changes and reads continue.

        While it runs it is in ``works``, to be watched and cancelled.
        """
        memory, work = self.require_memory(), Work(name)
        self.works.append(work)
        with self._show_task(name):
            doing = asyncio.get_running_loop().run_in_executor(self._workers, call, memory, work)
            doing.add_done_callback(lambda _: self.works.remove(work))
            try:
                return await asyncio.shield(doing)
            except asyncio.CancelledError:
                work.cancel()
                raise

    def close(self) -> None:
        """Stop long work, wait for a running change, then close the file."""
        for work in self.works:
            work.cancel()
        self._workers.shutdown(wait=True)
        self.readers.close()
        self._writer.shutdown(wait=True)
        for memory in (*self._earlier, self._opening, self.memory):
            if memory is not None:
                memory.close()

    def require_memory(self) -> Memory:
        """The memory. Raises StoreError if it is not open."""
        if self.memory is None:
            raise StoreError("The memory is not open.", "Wait until it is open, or read the error.")
        return self.memory

    @contextmanager
    def _show_task(self, name: str) -> Iterator[None]:
        self.running.append(name)
        self._busy()
        try:
            yield
        finally:
            self.running.remove(name)
            self._busy()
