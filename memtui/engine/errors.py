"""Every error that memtui raises on purpose.

    MemtuiError                 message, hint, exit_code
    ├── UsageError          2   the call itself is wrong
    ├── InputError          3   what was given cannot be used
    │   ├── FilterError         a filter expression, with the place of the mistake
    │   ├── NotFoundError       no such memory, session, operation
    │   ├── ProtectedError      the person confirmed this; an agent may not change it
    │   ├── QuotaError          an agent wrote or asked too much in this hour
    │   └── NotRecordedError    the person paused recording
    ├── StoreError          4   the memory file
    │   ├── ForeignFileError    not a memory file
    │   ├── NewerFileError      written by a newer memtui
    │   ├── OlderFileError      written by an older memtui, and opened for reading only
    │   ├── CorruptFileError    damaged
    │   ├── UnsafePlaceError    a network, FUSE or cloud-sync folder
    │   ├── ReadOnlyError       opened for reading only
    │   ├── ReplacedFileError   deleted or replaced while it was open; Memory.reopen goes on
    │   └── DiskFullError       no space left
    └── DegradedError       5   a model or an endpoint is missing

``message`` names the cause, ``hint`` the next step. Both may carry text from the
memory or the file system: whoever prints them passes them through ``visible_text()``.
"""

from __future__ import annotations


class MemtuiError(Exception):
    """Base of all expected errors: what happened, what to do next, how a command exits.

    A command in ``hint`` is written "memtui NAME"; it becomes what can be typed where the program was started.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if "memtui " in hint:
            from .installation import runnable_text

            hint = runnable_text(hint)
        self.hint = hint


class UsageError(MemtuiError):
    """A command or call was used in a way that it does not have."""

    exit_code = 2


class InputError(MemtuiError):
    """A value that cannot be accepted. Nothing was changed."""

    exit_code = 3


class FilterError(InputError):
    """A filter expression that cannot be read; ``position`` and ``length`` are in code points."""

    def __init__(
        self, message: str, hint: str = "", *, expression: str, position: int, length: int = 1
    ) -> None:
        super().__init__(message, hint)
        self.expression = expression
        self.position = position
        self.length = max(1, length)

    def pointer(self) -> str:
        """The expression with a line of carets under the mistake."""
        return f"{self.expression}\n{' ' * self.position}{'^' * self.length}"


class NotFoundError(InputError):
    """There is no such memory, session, entity, operation or name."""


class ProtectedError(InputError):
    """Only the person may change it: they confirmed it."""


class QuotaError(InputError):
    """An agent reached its limit for this hour."""


class NotRecordedError(InputError):
    """Recording is paused, or this client, project or folder is never recorded."""


class StoreError(MemtuiError):
    """The memory file cannot be read or written."""

    exit_code = 4


class ForeignFileError(StoreError):
    """The file is not a memory of memtui."""


class NewerFileError(StoreError):
    """A newer memtui wrote the file; this one only reads it."""


class OlderFileError(StoreError):
    """An older memtui wrote the file; it has to be upgraded first."""


class CorruptFileError(StoreError):
    """The file is damaged. It was left as it is."""


class UnsafePlaceError(StoreError):
    """The file lies where SQLite is not safe: a network or cloud-sync folder."""


class ReadOnlyError(StoreError):
    """The memory is open for reading only."""


class ReplacedFileError(StoreError):
    """Another file took the place of this memory while it was open."""


class DiskFullError(StoreError):
    """There is no room on the disk. The change was refused as a whole."""


class DegradedError(MemtuiError):
    """Something optional is missing or failed: vectors, a model, an endpoint.

    ``wait``: seconds before another try makes sense, where the other side says so; else 0."""

    exit_code = 5
    wait = 0
