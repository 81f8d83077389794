"""Loads style sheets when they are first needed, so that they do not slow every start."""

from __future__ import annotations

from pathlib import Path

from textual.app import App

_FOLDER = Path(__file__).parent / "styles"


def use_styles(app: App[object], name: str) -> None:
    """Add a style sheet to those of the app, once."""
    path = _FOLDER / name
    if not app.stylesheet.has_source(str(path), ""):
        app.stylesheet.read(path)
        app.refresh_css(animate=False)
