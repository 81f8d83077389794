"""What parts of the app tell one another: past tense, with ids and not widgets."""

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
    """Class decorator for a message: its fields become the constructor's parameters.

    Nothing else is made for it, which is what a start pays for.
    """
    return dataclass(eq=False, repr=False, match_args=False)(message)


@message_type
class Refused(Message):
    """An action cannot run now, and why."""

    action_id: str
    reason: str


@message_type
class Notified(Message):
    """A line for the status: what happened, or why nothing did.

    Sayings of one ``kind`` are counted while they last, so that a thousand of them are one line.
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
    """What a pane wants on the left of the status line, e.g. ``214 of 12,408 · kind:fact``."""

    place: str
    text: str
