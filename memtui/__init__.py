"""memtui: see, understand and correct what your AI assistants remember about you.

from memtui import Memory

with Memory.open("memory.db") as memory:
    memory.remember("Prefers trains over flights")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Memory", "MemtuiError", "Toolbox", "__version__"]

if TYPE_CHECKING:
    from memtui.engine.errors import MemtuiError
    from memtui.engine.memory import Memory
    from memtui.engine.tools.registry import Toolbox


def __getattr__(name: str) -> Any:
    # Loaded when asked for: `memtui --version` and the app's first paint need no engine.
    if name == "Memory":
        from memtui.engine.memory import Memory

        return Memory
    if name == "MemtuiError":
        from memtui.engine.errors import MemtuiError

        return MemtuiError
    if name == "Toolbox":
        from memtui.engine.tools.registry import Toolbox

        return Toolbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
