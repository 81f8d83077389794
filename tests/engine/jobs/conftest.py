"""Lets these tests use the endpoint of the harnesses."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "harness"))
