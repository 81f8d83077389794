"""The import lock: one import at a time, since two of the same files would each bring in half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from filelock import Timeout

from memtui.engine.errors import StoreError
from memtui.engine.store import history, locks
from memtui.engine.store.connections import Connections
from memtui.engine.wording import plural

KIND = "import"


class AnotherImportError(StoreError):
    """Another import into this memory is running."""


@contextmanager
def only_import(connections: Connections) -> Iterator[None]:
    """Be the one import into this file, after ending what a killed one left open.

    Raises AnotherImportError while another import runs.
    """
    if connections.path is None:
        yield
        return
    lock = locks.work_lock(connections.path, "import")
    try:
        lock.acquire()
    except Timeout:
        raise AnotherImportError(
            "Another import into this memory is running.", "Wait for it, or cancel it, and try again."
        ) from None
    try:
        history.close_dead(connections)
        yield
    finally:
        lock.release()


QUESTION = "question"
"""What both devices decided differently, among the counts of decisions."""


def imported_label(kinds: Mapping[str, int], labels: str, decisions: Mapping[str, int] = {}) -> str:
    merged = f"; merged {text}" if (text := decisions_text(decisions)) else ""
    asked = f"; {plural(decisions[QUESTION], 'question')} for Review" if QUESTION in decisions else ""
    return f"Imported {count_text(kinds)} from {labels}{merged}{asked}"


def decisions_text(decisions: Mapping[str, int]) -> str:
    """``3 corrections, 1 forgotten and 2 tags``: what was decided elsewhere and is merged, in words; "" for nothing."""
    return join_names([
        f"{number:,} {word}" if word in _AS_IT_IS else plural(number, word)
        for word, number in decisions.items()
        if word != QUESTION
    ])  # fmt: skip


_AS_IT_IS = frozenset(("forgotten", "faded", "restored", "kept from an agent", "given to an agent again"))


def running_label(labels: str) -> str:
    return f"Importing from {labels}"


def count_text(kinds: Mapping[str, int], sessions: int | None = None) -> str:
    """``3 turns of 1 session, 2 facts and 1 entity``: what came in, in words; ``nothing new``."""
    parts = []
    for kind, number in kinds.items():
        part = plural(number, kind)
        if kind == "turn" and sessions is not None:
            part += f" of {plural(sessions, 'session')}"
        parts.append(part)
    return join_names(parts) or "nothing new"


def join_names(names: list[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
