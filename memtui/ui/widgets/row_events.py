"""What a list tells its pane. ``table`` is the id of the list, for panes that have several."""

from __future__ import annotations

from textual.message import Message

from memtui.ui.messages import message_type


@message_type
class RowHighlighted(Message):
    """The cursor is on another row, or its row was read anew; ``key`` None: on no row."""

    table: str
    key: int | None


@message_type
class RowOpened(Message):
    """Enter, or a double click."""

    table: str
    key: int


@message_type
class RowsMarked(Message):
    """Now that many rows are marked."""

    table: str
    count: int


@message_type
class RowsCounted(Message):
    """The number of rows is known; not ``exact``: there are at least that many."""

    table: str
    count: int
    exact: bool


@message_type
class RowsOrdered(Message):
    """Another order is wanted: ``sort`` as the column calls it."""

    table: str
    sort: str
    falling: bool


@message_type
class RowsFailed(Message):
    """The rows could not be read."""

    table: str
    error: Exception
