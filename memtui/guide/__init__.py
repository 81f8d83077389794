"""The guide: Markdown pages that ship with the program, one subject each.

``memtui guide TOPIC`` prints one, the app's help shows them. A page begins with ``# Title: what it is about``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from memtui.engine.errors import InputError
from memtui.engine.records import Record

ORDER = (
    "install", "import", "facts", "search", "context", "filters", "correct", "names", "observations", "agents", "remote",
    "sync", "backups", "export", "checks", "commands", "keys", "settings", "python", "compat", "promises", "figures",
)  # fmt: skip
"""The topics, in the order in which a newcomer needs them."""

_FOLDER = Path(__file__).parent
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


class Page(Record):
    """A page: ``topic`` names it, ``title`` is its first line, ``text`` is Markdown and begins with that line."""

    topic: str
    title: str
    text: str


@cache
def guide_pages() -> tuple[Page, ...]:
    """All pages, in ``ORDER``."""
    return tuple(_read_page(topic) for topic in ORDER)


def guide_page(topic: str) -> Page:
    """The page of a topic. Raises InputError for one that there is not."""
    if topic not in ORDER:
        raise InputError(f"The guide has no page {topic!r}.", f"It has: {', '.join(ORDER)}.")
    return _read_page(topic)


def _read_page(topic: str) -> Page:
    text = _COMMENT.sub("", (_FOLDER / f"{topic}.md").read_text(encoding="utf-8"))
    return Page(topic=topic, title=text.partition("\n")[0].removeprefix("# "), text=text)
