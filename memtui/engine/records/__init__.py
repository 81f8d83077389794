"""The typed values that cross the rooms. Frozen; times are Unix seconds; ids are strings."""

from __future__ import annotations

from .base import Record
from .checks import CheckReport, Finding, Repair, RowsOf
from .entities import (
    Companion,
    Enrichment,
    Entity,
    EntityMerge,
    EntityProfile,
    EntityType,
    ProviderReport,
    StrategyReport,
)
from .exchange import ExportProgress, ExportReport, ImportProgress, ImportReport, LeftOut, Refused, Skip
from .history import Changes, Conflict, Operation, RowChange, Undone
from .memories import (
    ID_PREFIX,
    KINDS,
    TRUST_ORDER,
    Category,
    EndedBy,
    Kind,
    MemoryRecord,
    NewMemory,
    Session,
    Stats,
    Trust,
    Turn,
)
from .options import EmbedderKind, EmbeddingOptions, LlmOptions, Options, SecretMode, SecretPolicy
from .quotas import QUOTAS, Quota, QuotaName, Usage
from .search import ArmHit, ArmName, ArmReport, Explanation, Hit, Profile, Recall, SearchResult

__all__ = [
    "ID_PREFIX",
    "KINDS",
    "QUOTAS",
    "TRUST_ORDER",
    "ArmHit",
    "ArmName",
    "ArmReport",
    "Category",
    "Changes",
    "CheckReport",
    "Companion",
    "Conflict",
    "EmbedderKind",
    "EmbeddingOptions",
    "EndedBy",
    "Enrichment",
    "Entity",
    "EntityMerge",
    "EntityProfile",
    "EntityType",
    "Explanation",
    "ExportProgress",
    "ExportReport",
    "Finding",
    "Hit",
    "ImportProgress",
    "ImportReport",
    "Kind",
    "LeftOut",
    "LlmOptions",
    "MemoryRecord",
    "NewMemory",
    "Operation",
    "Options",
    "Profile",
    "ProviderReport",
    "Quota",
    "QuotaName",
    "Recall",
    "Record",
    "Refused",
    "Repair",
    "RowChange",
    "RowsOf",
    "SearchResult",
    "SecretMode",
    "SecretPolicy",
    "Session",
    "Skip",
    "Stats",
    "StrategyReport",
    "Trust",
    "Turn",
    "Undone",
    "Usage",
]
