"""Operations and recalls as text: who, when, whether it was undone, what an agent asked and got."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .format import local_time, plural
from .past import time_ago
from .text import LabelledLine, Line, one_line

if TYPE_CHECKING:
    from memtui.engine.records import Operation, Recall

_ACTORS = {"person": "you", "external": "a program"}
_QUERY = 60


def actor_name(actor: str) -> str:
    """The name of an actor: ``you``, ``assistant``, ``scheduler``."""
    return _ACTORS.get(actor, actor.removeprefix("agent:").removeprefix("device:"))


def is_restore(operation: Operation) -> bool:
    """Whether the operation restored a backup."""
    from memtui.engine.records.history import RESTORE_BACKUP

    return operation.kind == RESTORE_BACKUP


def undo_reach(operation: Operation) -> str:
    """Where its undo holds, if that is not only in this file: what came by sync goes on every device. Else empty."""
    from memtui.engine.records.history import SYNC

    return (
        "This goes on every device of this memory; a redo brings it back." if operation.kind == SYNC else ""
    )


def change_count(operation: Operation) -> str:
    """How much it changed: ``3 rows``, or ``the file``."""
    return "the file" if is_restore(operation) else plural(operation.rows, "row")


def author_suffix(operation: Operation) -> str:
    """Shown after the label of an operation: `` by assistant (undone)``. Empty if the person did it."""
    by = "" if operation.actor == "person" else f" by {actor_name(operation.actor)}"
    return f"{by} (undone)" if operation.state == "undone" else by


def operation_facts(operation: Operation, now: float, *, between: str = ", ") -> Iterator[LabelledLine]:
    """When it was, who did it, and how many rows it changed. A restore changes the file."""
    yield LabelledLine("when", _time_and_age(operation.at, now, between))
    name = actor_name(operation.actor)
    stored = "" if operation.actor in (name, "person") else f"  {operation.actor}"
    yield LabelledLine("who", ((name, "text"), (stored, "dim")))
    if not is_restore(operation):
        yield LabelledLine("changed", ((plural(operation.rows, "row"), "text"), (" of the file", "dim")))


def undo_notes(
    operation: Operation, undone_by: Operation | None, undoes: Operation | None, now: float
) -> Iterator[LabelledLine]:
    """Whether it was undone or interrupted, and which operation it undoes."""
    if undone_by is not None and operation.state == "undone":
        text = f"{local_time(undone_by.at, now)} by {actor_name(undone_by.actor)}"
        yield LabelledLine("undone", ((text, "warning"),))
    if undoes is not None:
        yield LabelledLine("undoes", ((undoes.label, "text"),))
    if operation.interrupted:
        finishes, reverts = ("undo", "redo") if operation.kind == "undo" else ("redo", "undo")
        text = f"interrupted: {finishes} finishes it, {reverts} takes it back"
        yield LabelledLine("state", ((text, "warning"),))
    elif operation.state == "running":
        yield LabelledLine("state", (("still running", "warning"),))


def recall_facts(
    recall: Recall, session: str | None, now: float, *, between: str = ", "
) -> Iterator[LabelledLine]:
    """When it was, which agent asked, in which session, and how many memories it got."""
    yield LabelledLine("when", _time_and_age(recall.at, now, between))
    yield LabelledLine("agent", ((actor_name(recall.agent), "text"),))
    if session:
        yield LabelledLine("session", ((session, "text"),))
    yield LabelledLine("told", ((plural(len(recall.memory_ids), "memory"), "text"),))
    if recall.saved:
        yield LabelledLine("saved", ((tokens_saved(recall), "text"),))


def tokens_saved(recall: Recall) -> str:
    """How many tokens were not sent again. Empty for none."""
    if not recall.saved:
        return ""
    return f"about {plural(recall.saved, 'token')}: told before in this conversation"


def _time_and_age(at: int, now: float, between: str) -> Line:
    return (local_time(at, now), "text"), (f"{between}{time_ago(at, now)}", "dim")


def quoted_query(recall: Recall) -> str:
    """The question in quotation marks. It was not stored if recording was paused."""
    return f"“{recall.query}”" if recall.query else "(the question was not kept)"


def recall_line(recall: Recall, now: float) -> Line:
    """When an agent asked, its name, and its question."""
    if not recall.query:
        return (
            (f"{time_ago(recall.at, now)}  ", "dim"),
            (actor_name(recall.agent), "text"),
            (f" {quoted_query(recall)}", "dim"),
        )
    return (
        (f"{time_ago(recall.at, now)}  ", "dim"), (actor_name(recall.agent), "text"), (" asked “", "dim"),
        (one_line(recall.query, _QUERY), "text"), ("”", "dim"),
    )  # fmt: skip
