"""Carrying out actions of the table, the same way in every widget.

Every action answers: it runs, or the person is told why it cannot.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from textual.dom import DOMNode

from .actions import BY_ID, Action
from .messages import Refused

if TYPE_CHECKING:
    from textual.worker import Worker

    _Base = DOMNode
else:
    _Base = object

CHORD_SECONDS = 1.0


def start(
    node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = True
) -> Worker[None]:
    """Run ``work`` on the loop; an error is told by the app. Exclusive: an older one of ``group`` is given up.

    ``work`` is called by the worker, so one that is given up before its turn leaves no coroutine behind.
    """

    async def guarded() -> None:
        try:
            await work()
        except Exception as error:
            if not isinstance(node.app, Judge):
                raise
            node.app.show_error(error, group)

    worker: Worker[None] = node.run_worker(
        guarded,
        name=group,
        group=group,
        exclusive=exclusive,
        exit_on_error=False,
    )
    return worker


@runtime_checkable
class Judge(Protocol):
    """An app that knows what cannot run at all at the moment, and tells what went wrong."""

    def refusal(self, action: Action) -> str: ...
    def action_perform(self, action_id: str) -> None: ...
    def show_error(self, error: Exception, place: str) -> None: ...


class Performs(_Base):
    """Mixin for a widget that has a place in the action table.

    For each action of the place it has a method ``do_<id>``: plain, or ``async`` when it waits for a
    dialog or for the memory; that then runs as a worker. ``why_not`` says what is in the way.
    """

    _chord: tuple[str, float] = ("", 0.0)

    def offers(self, action: Action) -> bool:
        """Whether ``action`` has any sense here; else the footer, the help and the palette leave it out."""
        return True

    def why_not(self, action: Action) -> str:
        """Why ``action`` cannot run now, as a sentence; empty when it can."""
        return ""

    def refusal(self, action: Action) -> str:
        """``why_not``, and what the whole app has against it (read-only, not open yet)."""
        app = self.app
        return (app.refusal(action) if isinstance(app, Judge) else "") or self.why_not(action)

    def action_perform(self, action_id: str) -> None:
        """Run an action, or tell why not; what this widget does not do, whoever does it now is asked for."""
        action = BY_ID[action_id]
        if (
            not hasattr(self, f"do_{action_id}")
            and isinstance(self.app, Judge)
            and self.app is not cast("object", self)
        ):
            self.app.action_perform(action_id)
            return
        if reason := self.refusal(action):
            self.post_message(Refused(action_id, reason))
            return
        do = getattr(self, f"do_{action_id}")
        if inspect.iscoroutinefunction(do):
            start(self, do, action_id, exclusive=False)
            return
        try:
            do()
        except Exception as error:
            if not isinstance(self.app, Judge):
                raise
            self.app.show_error(error, action_id)

    def action_chord(self, action_id: str) -> None:
        """Run an action when its key was pressed twice (``gg``)."""
        before, at = self._chord
        now = monotonic()
        self._chord = (action_id, now)
        if before == action_id and now - at < CHORD_SECONDS:
            self._chord = ("", 0.0)
            self.action_perform(action_id)
