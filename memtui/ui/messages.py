"""The messages between parts of the app. They are named in the past tense and carry ids, not widgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, dataclass_transform

from textual.message import Message

if TYPE_CHECKING:
    from memtui.engine.records import Changes

T = TypeVar("T")
Severity = Literal["information", "warning", "error"]


@dataclass_transform(eq_default=False)
def message_type(message: type[T]) -> type[T]:
    """Class decorator for a message: its fields become the parameters of the constructor.

    It makes nothing else, to keep the start fast.
    """
    return dataclass(eq=False, repr=False, match_args=False)(message)


@message_type
class Refused(Message):
    """An action cannot run now, and why."""

    action_id: str
    reason: str


@message_type
class Notified(Message):
    """A message for the status line: what happened, or why nothing did.

    Messages of one ``kind`` are counted while they are shown, so that a thousand of them are one line.
    ``then``: the action to offer beside it (``undo``).
    """

    text: str
    severity: Severity = "information"
    kind: str = ""
    then: str = ""


@message_type
class Changed(Message):
    """The memory changed, by this app or (``changes.operation`` None) by another process."""

    changes: Changes


@message_type
class Progressed(Message):
    """Links or vectors of some memories were made in the background."""

    changes: Changes


@message_type
class PaneStatus(Message):
    """The text of a pane for the left of the status line, for example ``214 of 12,408 · kind:fact``."""

    pane_id: str
    text: str
