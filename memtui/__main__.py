"""``python -m memtui``."""

from __future__ import annotations

from memtui.cli import main

main()
