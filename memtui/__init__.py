"""memtui: see, understand and correct what your AI assistants remember about you.

from memtui import Memory

with Memory.open("memory.db") as memory:
    memory.remember("Prefers trains over flights")

Public are Memory, Toolbox, the records that they take and give, and the errors that they raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AgentChanges",
    "AgentUndone",
    "Caution",
    "Changes",
    "CheckReport",
    "Companion",
    "Conflict",
    "ContextOptions",
    "CorruptFileError",
    "DegradedError",
    "Dependents",
    "DiskFullError",
    "EmbeddingFunction",
    "EmbeddingOptions",
    "Enrichment",
    "Entity",
    "EntityMerge",
    "EntityProfile",
    "Explanation",
    "ExportProgress",
    "ExportReport",
    "FadingFact",
    "FilterError",
    "Finding",
    "ForeignFileError",
    "Hit",
    "ImportProgress",
    "ImportReport",
    "InputError",
    "LastServed",
    "LeftOut",
    "LlmOptions",
    "Memory",
    "MemoryDetail",
    "MemoryRecord",
    "MemtuiError",
    "Neighbourhood",
    "Never",
    "NewerFileError",
    "NotFoundError",
    "NotRecordedError",
    "OlderFileError",
    "Operation",
    "Options",
    "Pause",
    "PinnedQuestion",
    "Portrait",
    "Profile",
    "ProtectedError",
    "ProviderReport",
    "Quota",
    "QuotaError",
    "ReadOnlyError",
    "Recall",
    "Recording",
    "Refused",
    "Repair",
    "ReplacedFileError",
    "Replacement",
    "RetrieverHit",
    "RetrieverReport",
    "RowChange",
    "SearchResult",
    "SecretPolicy",
    "ServedAgent",
    "ServedToday",
    "Session",
    "SharedName",
    "Skip",
    "Stamp",
    "Stats",
    "Status",
    "StoreError",
    "StrategyReport",
    "Timeline",
    "TimelineRow",
    "Toolbox",
    "TopicFacts",
    "Turn",
    "Undone",
    "UnsafePlaceError",
    "Usage",
    "UsageError",
    "__version__",
]

if TYPE_CHECKING:
    from memtui.engine.errors import (
        CorruptFileError,
        DegradedError,
        DiskFullError,
        FilterError,
        ForeignFileError,
        InputError,
        MemtuiError,
        NewerFileError,
        NotFoundError,
        NotRecordedError,
        OlderFileError,
        ProtectedError,
        QuotaError,
        ReadOnlyError,
        ReplacedFileError,
        StoreError,
        UnsafePlaceError,
        UsageError,
    )
    from memtui.engine.memory import Memory
    from memtui.engine.records import (
        AgentChanges,
        AgentUndone,
        Caution,
        Changes,
        CheckReport,
        Companion,
        Conflict,
        ContextOptions,
        Dependents,
        EmbeddingFunction,
        EmbeddingOptions,
        Enrichment,
        Entity,
        EntityMerge,
        EntityProfile,
        Explanation,
        ExportProgress,
        ExportReport,
        FadingFact,
        Finding,
        Hit,
        ImportProgress,
        ImportReport,
        LastServed,
        LeftOut,
        LlmOptions,
        MemoryDetail,
        MemoryRecord,
        Neighbourhood,
        Never,
        Operation,
        Options,
        Pause,
        PinnedQuestion,
        Portrait,
        Profile,
        ProviderReport,
        Quota,
        Recall,
        Recording,
        Refused,
        Repair,
        Replacement,
        RetrieverHit,
        RetrieverReport,
        RowChange,
        SearchResult,
        SecretPolicy,
        ServedAgent,
        ServedToday,
        Session,
        SharedName,
        Skip,
        Stamp,
        Stats,
        Status,
        StrategyReport,
        Timeline,
        TimelineRow,
        TopicFacts,
        Turn,
        Undone,
        Usage,
    )
    from memtui.engine.tools.registry import Toolbox

_HOMES = {"Memory": "memtui.engine.memory", "Toolbox": "memtui.engine.tools.registry"}


def __getattr__(name: str) -> Any:
    # Loaded when asked for: `memtui --version` and the app's first paint need no engine.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    of_kind = "memtui.engine.errors" if name.endswith("Error") else "memtui.engine.records"
    return getattr(import_module(_HOMES.get(name, of_kind)), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
