"""The messages of a list to its pane. ``table``: the id of the list, for panes with several."""

from __future__ import annotations

from textual.message import Message

from memtui.ui.messages import message_type


@message_type
class RowHighlighted(Message):
    """The cursor is on another row, or its row was read again. ``key`` None: there is no row."""

    table: str
    key: int | None


@message_type
class RowOpened(Message):
    """Enter or a double click on a row."""

    table: str
    key: int


@message_type
class RowsMarked(Message):
    """The number of marked rows has changed."""

    table: str
    count: int


@message_type
class RowsCounted(Message):
    """The number of rows is known. Not ``exact``: there are at least that many."""

    table: str
    count: int
    exact: bool


@message_type
class RowsOrdered(Message):
    """The person asked for another order. ``sort``: its name in the column."""

    table: str
    sort: str
    falling: bool


@message_type
class RowsFailed(Message):
    """The rows could not be read."""

    table: str
    error: Exception
