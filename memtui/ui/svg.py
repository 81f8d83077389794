"""Makes the SVG of a screen complete in itself: no font from the network, and Braille dots as shapes.

Many fonts for terminals have no Braille; a terminal takes it from another font, a program that draws SVG often does not.
"""

from __future__ import annotations

import html
import re

from memtui.present.text import max_cells

_FONT_FACE = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)
_FAMILY = re.compile(r"font-family:\s*Fira Code[^;]*;")
_FONTS = "font-family: 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace;"
_TEXT = re.compile(
    r'<text class="([^"]+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"([^>]*)>([^<]*)</text>'
)
_BRAILLE = re.compile("[\u2801-\u28ff]")
# As Rich and Textual lay out text: how high a letter and a line are, and where a line begins above its text.
_LETTER, _LINE, _SHIFT = 20.0, 24.4, 1.5
_RADIUS = 1.45
# The bits of a Braille character, by column and row of its dots.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def self_contained_svg(svg: str) -> str:
    """The same picture without fonts from the network and without Braille characters."""
    svg = _FAMILY.sub(_FONTS, _FONT_FACE.sub("", svg))
    return _TEXT.sub(_draw_text, svg)


def _draw_text(match: re.Match[str]) -> str:
    kind, x, y, length, rest, escaped = match.groups()
    text = html.unescape(escaped)
    if not _BRAILLE.search(text):
        return match[0]
    cell = float(length) / max(max_cells(text), 1)
    top, left = float(y) - _LETTER + _SHIFT, float(x)
    shapes = []
    for letter in text:
        if _BRAILLE.match(letter):
            shapes += _block_shapes(ord(letter) - 0x2800, left, top, cell)
        left += cell * max_cells(letter)
    others = _BRAILLE.sub("\xa0", text)
    kept = html.escape(others).replace("\xa0", "&#160;")
    words = (
        f'<text class="{kind}" x="{x}" y="{y}" textLength="{length}"{rest}>{kept}</text>'
        if others.strip()
        else ""
    )
    return f'{words}<path class="{kind}" d="{"".join(shapes)}"/>'


def _block_shapes(bits: int, left: float, top: float, cell: float) -> list[str]:
    return [
        f"M{left + cell * (column + 0.5) / 2 - _RADIUS:.1f} {top + _LINE * (row + 0.5) / 4:.1f}"
        f"a{_RADIUS} {_RADIUS} 0 1 0 {2 * _RADIUS} 0a{_RADIUS} {_RADIUS} 0 1 0 {-2 * _RADIUS} 0z"
        for column, rows in enumerate(_DOTS)
        for row, bit in enumerate(rows)
        if bits & bit
    ]
