"""``memtui guide``: the pages of the guide."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from memtui.engine.errors import UsageError
from memtui.engine.installation import runnable_text
from memtui.engine.records import Record
from memtui.guide import ORDER, Page, guide_page, guide_pages

from .errors import OK
from .output import out, print_json, table
from .root import Command, json_option


class PageEntry(Record):
    """A page in the list."""

    topic: str
    title: str


class GuideContents(Record):
    """What ``--json`` prints without a topic."""

    pages: list[PageEntry]


def _complete_topic(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [topic for topic in ORDER if topic.startswith(incomplete.lower())]


# What else a page is looked for by.
_OTHER_WORDS = {"format": "import", "formats": "import"}


@click.command("guide", cls=Command)
@click.argument("topic", required=False, shell_complete=_complete_topic)
@json_option
def guide_command(topic: str | None, json: bool) -> int:
    """Read a page of the guide, or list the pages.

    In a pipe it prints Markdown.
    """
    if topic is None:
        if json:
            print_json(
                GuideContents(pages=[PageEntry(topic=one.topic, title=one.title) for one in guide_pages()])
            )
        else:
            for line in table([(one.topic, one.title) for one in guide_pages()]):
                out(line)
            out(
                runnable_text("\nmemtui guide TOPIC shows one. The same pages are in the app: press ? twice.")
            )
        return OK
    topic = _OTHER_WORDS.get(topic.lower(), topic)
    if topic.lower() not in ORDER:
        close = get_close_matches(topic.lower(), ORDER, 1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"There is no page {topic!r}.{meant}", f"There are {', '.join(ORDER)}.")
    page = guide_page(topic.lower())
    if json:
        print_json(page)
    elif sys.stdout.isatty():
        _format_page(page)
    else:
        out(page.text.rstrip("\n"))
    return OK


def _format_page(page: Page) -> None:
    from rich.console import Console
    from rich.markdown import Markdown  # safe-text: pages of the program, no stored text

    Console().print(Markdown(page.text))  # safe-text: a page of the program
