"""What happens to each thing that has an erased text, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.records.erase import Fate

FATES: Mapping[Fate, str] = {"erased": "goes", "cleared": "words go", "kept": "stays"}
