"""The themes can be read, and every sign is one cell wide."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from memtui.guide import guide_page
from memtui.present.glyphs import ASCII, UNICODE, Glyphs
from memtui.present.text import Role, max_cells
from memtui.ui.panes.memory_actions import memory_legend
from memtui.ui.theme import (
    RETRIEVER_HUES,
    SURFACE_VARIABLES,
    TEXT_VARIABLES,
    Appearance,
    own_themes,
    variable_defaults,
)
from memtui.ui.widgets.line_view import State, line_style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme
from ui_story import Story, memories, running, screen_text, settle


def contrast(one: Color, other: Color) -> float:
    """WCAG 2 contrast ratio, written out: Textual's is not the standard's."""

    def luminance(color: Color) -> float:
        def linear(value: int) -> float:
            part = value / 255
            return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

        return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def colors(theme: Theme) -> dict[str, Color]:
    generated = theme.to_color_system().generate() | theme.variables
    return {name: Color.parse(generated[name]) for name in (*TEXT_VARIABLES, *SURFACE_VARIABLES)}


@pytest.mark.parametrize("theme", own_themes(), ids=lambda theme: theme.name)
def test_every_text_colour_can_be_read_on_every_surface(theme: Theme) -> None:
    parsed = colors(theme)
    poor = {
        (text, surface): round(ratio, 2)
        for text, surface in product(TEXT_VARIABLES, SURFACE_VARIABLES)
        if (ratio := contrast(parsed[text], parsed[surface])) < 4.5
    }
    assert poor == {}


@pytest.mark.parametrize("theme", own_themes(), ids=lambda theme: theme.name)
def test_diff_colours_can_be_read_on_their_own_background(theme: Theme) -> None:
    for kind in ("added", "removed"):
        text, surface = theme.variables[kind], theme.variables[f"{kind}-background"]
        assert contrast(Color.parse(text), Color.parse(surface)) >= 4.5


@pytest.mark.parametrize("theme", own_themes(), ids=lambda theme: theme.name)
def test_the_four_arm_hues_and_the_accent_differ_from_one_another(theme: Theme) -> None:
    parsed = colors(theme)
    hues = [parsed[name].hsl.h * 360 for name in (*RETRIEVER_HUES, "accent")]
    for one, other in product(range(len(hues)), repeat=2):
        if one < other:
            apart = abs(hues[one] - hues[other])
            assert min(apart, 360 - apart) >= 25


@pytest.mark.parametrize("name", BUILTIN_THEMES)
def test_themes_of_textual_get_every_variable_of_ours(name: str) -> None:
    ours = set(own_themes()[0].variables) - set(BUILTIN_THEMES[name].to_color_system().generate())
    assert ours <= set(variable_defaults(BUILTIN_THEMES[name]))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_sign_is_one_cell_wide(glyphs: Glyphs) -> None:
    for name, value in glyphs._asdict().items():
        signs = value.values() if not isinstance(value, str) else value
        assert all(max_cells(sign) == 1 for sign in signs), name


def test_the_ascii_set_is_ascii_and_tells_the_kinds_and_arms_apart() -> None:
    for value in ASCII:
        signs = list(value.values()) if isinstance(value, dict) else [value]
        assert all(sign.isascii() for sign in signs)
    assert len(set(ASCII.kinds.values())) == 4
    assert len(set(ASCII.retrievers.values())) == 5


def test_a_sign_of_the_ascii_set_has_one_meaning() -> None:
    names = ("protected", "ended", "replaced", "conflict", "fading", "marked", "pending", "busy", "on", "off")
    signs = [*(getattr(ASCII, name) for name in names), *ASCII.kinds.values(), ASCII.pinned, ASCII.cursor]
    assert len(set(signs)) == len(signs)


async def test_no_colour_means_no_colour_and_no_background(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash")
        await settle(app)
        segments = [one for strip in app.screen._compositor.render_strips() for one in strip]
        styles = [one.style for one in segments if one.style is not None]
        assert not any(style.color or style.bgcolor for style in styles)
        # The cursor of the input is seen all the same.
        assert any(style.reverse for style in styles)
        await pilot.press("escape")
        await settle(app)

        def reversed_on(line: int) -> str:
            strip = app.screen._compositor.render_strips()[line]
            return "".join(one.text for one in strip if one.style is not None and one.style.reverse).strip()

        # So are the tab of the pane and the row of the cursor.
        lines = screen_text(app).splitlines()
        assert reversed_on(next(n for n, line in enumerate(lines) if "2 Memories" in line)) == "2 Memories 6"
        current = memories(app).current
        assert current is not None
        row = next(n for n, line in enumerate(lines) if "▌" in line)
        assert current.content[:20] in reversed_on(row)


@pytest.mark.parametrize("theme", [*own_themes(), *BUILTIN_THEMES.values()], ids=lambda theme: theme.name)
def test_every_theme_paints_rows_in_every_state(theme: Theme) -> None:
    variables = {**variable_defaults(theme), **theme.to_color_system().generate(), **theme.variables}
    for state, role in product(get_args(State), get_args(Role)):
        style = line_style(variables, state, role)
        assert style.color is not None
        assert theme.ansi or style.bgcolor is not None


@pytest.mark.parametrize(
    ("asked", "theme", "said"),
    [
        ("light", "memtui-light", ""),
        ("dark", "memtui-dark", ""),
        ("lihgt", "memtui-dark", "There is no theme 'lihgt'"),
    ],
)
async def test_a_theme_has_a_short_name_and_one_that_there_is_not_is_said(
    story: Story, asked: str, theme: str, said: str
) -> None:
    app = story.app(look=Appearance(asked, motion=False))
    async with running(app):
        assert app.theme == theme and ("There is no theme" in screen_text(app)) == bool(said)
        assert said in screen_text(app)


def test_the_guide_explains_the_signs_of_a_list_of_memories() -> None:
    text = guide_page("keys").text
    for (sign, meaning), (plain, _) in zip(memory_legend(UNICODE), memory_legend(ASCII), strict=True):
        assert f"| `{sign}` | `{plain}` | {meaning} |" in text
    assert UNICODE.bars in text and ASCII.bars in text
    one_meaning = [
        *ASCII.kinds.values(),
        ASCII.protected,
        ASCII.fading,
        ASCII.pinned,
        ASCII.replaced,
        ASCII.ended,
    ]
    assert len({*one_meaning, *ASCII.types.values()}) == len(one_meaning) + len(ASCII.types)
