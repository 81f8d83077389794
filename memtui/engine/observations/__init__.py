"""Observations of agents: findings, insights and lessons; their store, and extraction from a step's output.

ObservationStore        the protocol; MemoryObservations keeps them in a memory (a file or ``:memory:``)
ObservationExtractor    asks a language model what the output of a step is worth
StepObservations        for programs that run steps; ObservationTools for those that offer tools
"""

from memtui.engine.consolidation.extract.transcripts import TranscriptMessage
from memtui.engine.search.observations import ObservationHit

from .extractor import ObservationExtractor, PhraseExtractor
from .store import (
    FilResult,
    MemoryObservations,
    Observation,
    ObservationStore,
    ObservationTools,
    StepObservations,
)

__all__ = [
    "FilResult",
    "MemoryObservations",
    "Observation",
    "ObservationExtractor",
    "ObservationHit",
    "ObservationStore",
    "ObservationTools",
    "PhraseExtractor",
    "StepObservations",
    "TranscriptMessage",
]
