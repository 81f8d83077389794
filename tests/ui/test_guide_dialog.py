"""The guide in the app: a page for each subject, behind the help."""

from __future__ import annotations

from memtui.guide import ORDER, guide_pages
from memtui.ui.dialogs.help import GuideDialog, HelpDialog
from ui_story import Story, running, screen_text, there, until


async def test_the_guide_is_behind_the_help_and_turns_its_pages(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("question_mark")
        await until(lambda: there(app, HelpDialog))
        await pilot.press("question_mark")
        await until(lambda: there(app, GuideDialog) and guide_pages()[0].title in screen_text(app))
        await pilot.press("n")
        await until(lambda: guide_pages()[1].title in screen_text(app))
        await pilot.press("p")
        await until(lambda: guide_pages()[0].title in screen_text(app))
        await pilot.press("p")
        await until(lambda: guide_pages()[-1].title in screen_text(app))
        page = app.screen.query_one("#guide-page")
        await pilot.press("G")
        await until(lambda: page.scroll_y > 0)
        await pilot.press("g")
        await until(lambda: page.scroll_y == 0)
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)
    assert len(ORDER) == len(guide_pages())
