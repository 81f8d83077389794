"""Consolidation: conversations become facts and observations; a preview is the same code without the write."""
