"""Runs the actions of the action table, in the same way for every widget.

An action runs, or the person sees why it cannot.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable
from weakref import WeakKeyDictionary

from textual.dom import DOMNode

from .actions import BY_ID, Action
from .messages import Refused

if TYPE_CHECKING:
    from textual.worker import Worker

CHORD_SECONDS = 1.0


def start_worker(
    node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = True
) -> Worker[None]:
    """Run ``work`` on the loop. The app shows errors. ``exclusive``: it cancels an older one of ``group``.

    The worker calls ``work``, so a cancelled one leaves no coroutine behind.
    """

    async def guard_action() -> None:
        try:
            await work()
        except Exception as error:
            if not isinstance(node.app, ActionHost):
                raise
            node.app.show_error(error, group)

    worker: Worker[None] = node.run_worker(
        guard_action,
        name=group,
        group=group,
        exclusive=exclusive,
        exit_on_error=False,
    )
    return worker


@runtime_checkable
class ActionHost(Protocol):
    """An app that knows which actions cannot run now, and shows errors."""

    def app_unavailable_reason(self, action: Action) -> str: ...
    def action_perform(self, action_id: str) -> None: ...
    def show_error(self, error: Exception, task: str) -> None: ...


# A node runs an action with its method ``do_<id>``. The method is ``async`` if it waits for a dialog or for the
# memory, and then runs as a worker. Objects in its ``delegates`` run further actions.
# ``unavailable_reason(action)`` gives the reason why it cannot run, ``offers(action)`` whether the node has it at all.
# A widget with a place in the table has ``action_perform = perform_action`` and ``action_chord = perform_chord``.


def action_method(node: object, action_id: str) -> Callable[[], Any] | None:
    """The method that runs an action at a node: its own, or that of a delegate."""
    for one in (node, *getattr(node, "delegates", ())):
        if (do := getattr(one, f"do_{action_id}", None)) is not None:
            return cast("Callable[[], Any]", do)
    return None


def delegate_unavailable_reason(node: object, action: Action) -> str:
    """Why a delegate of ``node`` cannot run an action now. Empty if it can, or if no delegate has it."""
    for one in getattr(node, "delegates", ()):
        if hasattr(one, f"do_{action.id}"):
            return unavailable_reason(one, action)
    return ""


def offers_action(node: object, action: Action) -> bool:
    """Whether a node has an action at all. If not, footer, help and palette leave it out."""
    offer = getattr(node, "offers", None)
    return True if offer is None else bool(offer(action))


def unavailable_reason(node: object, action: Action) -> str:
    """Why a node cannot run an action now, as a sentence. Empty if it can."""
    tell = getattr(node, "unavailable_reason", None)
    return "" if tell is None else str(tell(action))


def node_or_app_unavailable_reason(node: DOMNode, action: Action) -> str:
    """``unavailable_reason``, or the reason of the app (read-only, not open yet)."""
    app = node.app
    return (app.app_unavailable_reason(action) if isinstance(app, ActionHost) else "") or unavailable_reason(
        node, action
    )


def perform_action(node: DOMNode, action_id: str) -> None:
    """Run an action, or show why not. If this node does not have it, find the one that does."""
    action, app = BY_ID[action_id], node.app
    do = action_method(node, action_id)
    if do is None and isinstance(app, ActionHost) and app is not cast("object", node):
        app.action_perform(action_id)
        return
    if reason := node_or_app_unavailable_reason(node, action):
        node.post_message(Refused(action_id, reason))
        return
    assert do is not None, action_id
    if inspect.iscoroutinefunction(do):
        start_worker(node, do, action_id, exclusive=False)
        return
    try:
        do()
    except Exception as error:
        if not isinstance(app, ActionHost):
            raise
        app.show_error(error, action_id)


# The first key of a chord, by the node that it was pressed at, and when.
_pressed: WeakKeyDictionary[DOMNode, tuple[str, float]] = WeakKeyDictionary()


def perform_chord(node: DOMNode, action_id: str) -> None:
    """Run an action when its key was pressed twice (``gg``)."""
    before, at = _pressed.pop(node, ("", 0.0))
    now = monotonic()
    if before == action_id and now - at < CHORD_SECONDS:
        perform_action(node, action_id)
    else:
        _pressed[node] = (action_id, now)
