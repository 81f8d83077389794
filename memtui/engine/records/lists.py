"""Rows of the lists of sessions and recalls, each with the key of its table."""

from __future__ import annotations

from typing import Literal

from .base import Record
from .memories import Session
from .search import Recall

SessionState = Literal["pending", "new turns", "failed", "done", "skipped"]


class SessionRow(Record):
    """A session and its key ``sid``. ``pending``: it has turns that are not consolidated."""

    sid: int
    pending: bool
    session: Session

    @property
    def state(self) -> SessionState:
        if self.session.last_error and self.pending:
            return "failed"
        if not self.pending:
            return "done" if self.session.consolidated_at is not None else "skipped"
        return "new turns" if self.session.consolidated_through is not None else "pending"


class RecallRow(Record):
    """A recall and its key."""

    recall_id: int
    recall: Recall
