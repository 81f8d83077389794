"""A big export is imported in bounded memory (tests/benchmarks/big_export.py has the whole gigabyte)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="os.wait4 is not there")
def test_memory_does_not_grow_with_an_export(full: bool) -> None:
    megabytes = "1000" if full else "16"
    command = [sys.executable, str(ROOT / "tests" / "benchmarks" / "big_export.py"), "--size", megabytes]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    resident = re.search(r"dry run +([\d,]+) MB resident", result)
    assert resident is not None, result
    assert int(resident[1].replace(",", "")) <= (300 if full else 120)
