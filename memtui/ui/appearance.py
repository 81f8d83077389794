"""The look of the app, from configuration and environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from memtui.present.glyphs import ASCII, UNICODE, Glyphs

from .theme import DARK


class Look(NamedTuple):
    """``NO_MOTION`` in the environment stops all animation, whatever was configured."""

    theme: str = DARK
    ascii: bool = False
    motion: bool = True

    def moves(self, environment: Mapping[str, str] = os.environ) -> bool:
        return self.motion and not environment.get("NO_MOTION")

    @property
    def glyphs(self) -> Glyphs:
        return ASCII if self.ascii else UNICODE
