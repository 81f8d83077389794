"""The colours: quiet surfaces, one accent, and one colour for each retriever (keyword, vector, word_vector, entity, context).

These five mean the same in all bars, labels and highlights, and are used for nothing else. Entities have a colour
for their type: a person that of ``entity``, the others one of their own.
Every text colour has a contrast of at least 4.5 on every surface (a test checks it).
Themes of Textual work too: ``variable_defaults`` adds what they lack.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from textual.theme import Theme

from memtui.present.glyphs import ASCII, UNICODE, Glyphs

DARK, LIGHT = "memtui-dark", "memtui-light"

RETRIEVER_HUES = ("keyword", "vector", "word_vector", "entity", "context")
TYPE_HUES = ("project", "organization", "location")
# Our own variables, besides Textual's: text colours and surfaces.
TEXT_VARIABLES = ("text", "text-muted", "accent", "warning", "error", "success", *RETRIEVER_HUES, *TYPE_HUES)
SURFACE_VARIABLES = ("background", "surface", "panel", "row-cursor", "row-cursor-blurred", "row-marked")

_DARK_VARIABLES = {
    "keyword": "#e8bd6b",
    "vector": "#c8a3ff",
    "word_vector": "#f59ac6",
    "entity": "#8bd694",
    "context": "#62cfdd",
    "project": "#f0cf6e",
    "organization": "#c8a3ff",
    "location": "#62cfdd",
    "added": "#8bd694",
    "added-background": "#1c3325",
    "removed": "#ff9aa2",
    "removed-background": "#3b2027",
    "frame": "#303948",
    "frame-focus": "#86aeff",
    "row-cursor": "#26344f",
    "row-cursor-blurred": "#1e2635",
    "row-marked": "#2a2640",
}
_LIGHT_VARIABLES = {
    "keyword": "#7d5200",
    "vector": "#6d35c0",
    "word_vector": "#a0186b",
    "entity": "#17692d",
    "context": "#00626f",
    "project": "#755900",
    "organization": "#6d35c0",
    "location": "#00626f",
    "added": "#17692d",
    "added-background": "#dff3e3",
    "removed": "#a81e35",
    "removed-background": "#fbe3e6",
    "frame": "#c9d0da",
    "frame-focus": "#1b57c4",
    "row-cursor": "#d5e3fb",
    "row-cursor-blurred": "#e6ebf3",
    "row-marked": "#ece4f9",
}


def _complete_variables(
    own: dict[str, str], *, text: str, muted: str, disabled: str, bar: str, track: str
) -> dict[str, str]:
    """``own`` with the variables of Textual's widgets, so that they use the same few colours."""
    return own | {
        "text": text,
        "text-muted": muted,
        "text-disabled": disabled,
        "foreground-muted": muted,
        "block-cursor-background": own["row-cursor"],
        "block-cursor-foreground": text,
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": own["row-cursor-blurred"],
        "block-cursor-blurred-foreground": text,
        "block-hover-background": own["row-cursor-blurred"],
        "border": own["frame-focus"],
        "border-blurred": own["frame"],
        "scrollbar": bar,
        "scrollbar-hover": own["frame-focus"],
        "scrollbar-active": own["frame-focus"],
        "scrollbar-background": track,
        "scrollbar-background-hover": track,
        "scrollbar-background-active": track,
        "scrollbar-corner-color": track,
        "input-selection-background": own["row-cursor"],
        "screen-selection-background": own["row-cursor"],
        "button-foreground": text,
    }


def own_themes() -> tuple[Theme, Theme]:
    """memtui-dark and memtui-light."""
    dark = Theme(
        name=DARK,
        primary="#86aeff",
        secondary="#5f7fbf",
        accent="#86aeff",
        warning="#ffa870",
        error="#ff8791",
        success="#8bd694",
        foreground="#dbe1ea",
        background="#0f1319",
        surface="#141922",
        panel="#1c232e",
        dark=True,
        variables=_complete_variables(
            _DARK_VARIABLES,
            text="#dbe1ea",
            muted="#98a3b5",
            disabled="#6f7a8c",
            bar="#3a4557",
            track="#141922",
        ),
    )
    light = Theme(
        name=LIGHT,
        primary="#1b57c4",
        secondary="#4a6fa8",
        accent="#1b57c4",
        warning="#8f4300",
        error="#b01f37",
        success="#17692d",
        foreground="#1c2330",
        background="#f1f3f6",
        surface="#fafbfc",
        panel="#e5e9ef",
        dark=False,
        variables=_complete_variables(
            _LIGHT_VARIABLES,
            text="#1c2330",
            muted="#515c6d",
            disabled="#7d8796",
            bar="#b4bdca",
            track="#fafbfc",
        ),
    )
    return dark, light


def variable_defaults(theme: Theme) -> dict[str, str]:
    """Our own variables, for a theme that does not have them."""
    if theme.ansi:
        return {
            "keyword": "ansi_yellow",
            "vector": "ansi_magenta",
            "word_vector": "ansi_bright_blue",
            "entity": "ansi_green",
            "context": "ansi_cyan",
            "project": "ansi_yellow",
            "organization": "ansi_magenta",
            "location": "ansi_cyan",
            "added": "ansi_green",
            "added-background": "ansi_default",
            "removed": "ansi_red",
            "removed-background": "ansi_default",
            "frame": "ansi_bright_black",
            "frame-focus": "ansi_blue",
            "row-cursor": "ansi_blue",
            "row-cursor-blurred": "ansi_bright_black",
            "row-marked": "ansi_magenta",
        }
    own = _DARK_VARIABLES if theme.dark else _LIGHT_VARIABLES
    accent = theme.accent or theme.primary
    return own | {
        "frame-focus": accent,
        "row-cursor": f"{theme.primary} 35%",
        "row-cursor-blurred": f"{theme.primary} 18%",
        "row-marked": f"{accent} 18%",
    }


class Appearance(NamedTuple):
    """``NO_MOTION`` in the environment stops all animation, whatever was configured."""

    theme: str = DARK
    ascii: bool = False
    motion: bool = True

    def is_animated(self, environment: Mapping[str, str] = os.environ) -> bool:
        return self.motion and not environment.get("NO_MOTION")

    @property
    def glyphs(self) -> Glyphs:
        return ASCII if self.ascii else UNICODE
