"""What parts of the app tell one another: past tense, with ids and not widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.message import Message

from .past import past

if TYPE_CHECKING:
    from memtui.engine.records import Changes

Severity = Literal["information", "warning", "error"]


@past
class Refused(Message):
    """An action cannot run now, and why."""

    action_id: str
    reason: str


@past
class Said(Message):
    """A line for the status: what happened, or why nothing did.

    Sayings of one ``kind`` are counted while they last, so that a thousand of them are one line.
    ``then``: the action to offer beside it (``undo``).
    """

    text: str
    severity: Severity = "information"
    kind: str = ""
    then: str = ""


@past
class Changed(Message):
    """The memory changed, by this app or (``changes.operation`` None) by another process."""

    changes: Changes


@past
class Progressed(Message):
    """Links or vectors of some memories were made in the background."""

    changes: Changes


@past
class PaneTold(Message):
    """What a pane wants on the left of the status line, e.g. ``214 of 12,408 · kind:fact``."""

    place: str
    text: str
