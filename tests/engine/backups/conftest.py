"""Lets these tests use the endpoint of the harnesses and the scheduler of the jobs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "harness"))
sys.path.append(str(Path(__file__).parents[1] / "jobs"))
