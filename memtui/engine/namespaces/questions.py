"""``memory.questions``: pinned questions, the memories they should find, and ranking profiles.

Reached as ``Memory.questions``.
"""

from __future__ import annotations

from typing import Protocol

import apsw

from memtui.engine.core import Core
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.memories import validation
from memtui.engine.records import Explanation, Operation, Profile
from memtui.engine.records.saved import ExpectedMemory, QuestionResult, SavedQuery
from memtui.engine.search import profiles
from memtui.engine.store import memories, saved_queries

_NAME = 200
MOST = 100
"""The first hits that an expectation can speak of."""


class ExplainCall(Protocol):
    def __call__(
        self, query: str, id: str, *, filter: str, limit: int, profile: str | None
    ) -> Explanation: ...


class Questions:
    """Safe to call from any thread; what changes something is one undoable operation."""

    def __init__(self, core: Core, explain: ExplainCall) -> None:
        self._core = core
        self._explain = explain

    def pinned(self) -> list[SavedQuery]:
        """The pinned questions, the latest first."""
        with self._core.connections.read() as connection:
            return saved_queries.all_questions(connection)

    def pin(self, query: str, *, filter: str = "", profile: str | None = None) -> Operation | None:
        """Keep a question; None when it was kept so already. Raises InputError for an empty one."""
        words, name = _normalise_question(query, filter, profile)
        label = f"Pinned the question “{words[:_NAME]}”"
        with self._core.change("pin", label) as op:
            if any(
                (name, profile) == (one.name, one.profile)
                for one in saved_queries.all_questions(op.connection)
            ):
                return None
            saved_queries.save(op.connection, name, words, filter, profile, int(self._core.clock()))
        return self._core.finished_operation(op)

    def unpin(self, query_id: int) -> Operation | None:
        """Keep it no longer. Raises NotFoundError."""
        with self._core.change("pin", "Unpinned") as op:
            gone = saved_queries.remove(op.connection, query_id)
            op.label = f"Unpinned the question “{gone.query[:_NAME]}”"
        return self._core.finished_operation(op)

    def expect(
        self, query: str, memory_id: str, *, filter: str = "", profile: str | None = None, top: int = 10
    ) -> Operation | None:
        """Pin a question and say that it should find this memory among its first ``top`` hits.

        None when it says so already. Raises NotFoundError for an unknown memory, InputError for an empty
        question or a ``top`` that is not 1 to 100.
        """
        if not 1 <= top <= MOST:
            raise InputError(
                f"The first {top!r} hits cannot be looked at.", f"Give a number from 1 to {MOST}."
            )
        words, name = _normalise_question(query, filter, profile)
        label = f"Expect an answer to “{words[:_NAME]}”"
        with self._core.change("expect", label) as op:
            now = self._core.clock()
            memory = memories.get(op.connection, memory_id, now)
            before = _find_question(op.connection, name)
            if before is None or before.profile != profile:
                saved_queries.save(op.connection, name, words, filter, profile, int(now))
            saved = _find_question(op.connection, name)
            assert saved is not None
            expected = tuple(dict.fromkeys((*saved.expected, memory.id)))
            if before == saved and (before.expected, before.top) == (expected, top):
                return None
            saved_queries.set_expected(op.connection, saved.query_id, expected, top)
        return self._core.finished_operation(op)

    def expect_no_more(self, query_id: int, memory_id: str) -> Operation | None:
        """Take an expectation back; the question stays pinned. Raises NotFoundError."""
        with self._core.change("expect", "") as op:
            saved = saved_queries.get(op.connection, query_id)
            if memory_id not in saved.expected:
                raise NotFoundError(f"“{saved.query[:_NAME]}” does not expect {memory_id}.")
            expected = tuple(one for one in saved.expected if one != memory_id)
            saved_queries.set_expected(op.connection, query_id, expected, saved.top)
            op.label = f"Expect it no more of “{saved.query[:_NAME]}”"
        return self._core.finished_operation(op)

    def run(self) -> list[QuestionResult]:
        """Ask every question that expects something, and keep how it went; the failed ones first.

        What was superseded is expected as its successor.
        """
        results = [self._search_question(saved) for saved in self.pinned() if saved.expected]
        if results and not self._core.connections.readonly:
            with self._core.connections.write() as connection:
                for result in results:
                    saved_queries.keep_result(connection, result)
        return sorted(results, key=lambda result: result.passed)

    def results(self) -> list[QuestionResult]:
        """How the questions fared when they were last asked, the failed ones first."""
        with self._core.connections.read() as connection:
            return saved_queries.results_of_questions(connection)

    def _search_question(self, saved: SavedQuery) -> QuestionResult:
        places = tuple(self._rank_of_expected(saved, id) for id in saved.expected)
        return QuestionResult(
            question=saved,
            at=int(self._core.clock()),
            passed=all(expected.passed for expected in places),
            places=places,
        )

    def _rank_of_expected(self, saved: SavedQuery, id: str) -> ExpectedMemory:
        try:
            with self._core.connections.read() as connection:
                memory = memories.latest_version(connection, id, self._core.clock())
            explanation = self._explain(
                saved.query, memory.id, filter=saved.filter, limit=saved.top, profile=saved.profile
            )
        except NotFoundError as error:  # the memory is gone for good, or the profile
            return ExpectedMemory(memory_id=id, content="", rank=None, passed=False, why=error.message)
        return ExpectedMemory(
            memory_id=id, content=validation.open_text(memory), rank=explanation.rank,
            passed=explanation.rank is not None and explanation.rank <= saved.top and not explanation.excluded,
            why=" ".join(explanation.excluded[:1]),
        )  # fmt: skip

    def profiles(self) -> list[Profile]:
        """All ways to rank, the built-in ones first."""
        with self._core.connections.read() as connection:
            return [profiles.find_profile(connection, name) for name in profiles.profile_names(connection)]

    def save_profile(self, profile: Profile) -> Operation | None:
        """Keep a way to rank under its name; None when it was kept so already. Raises InputError for a built-in name."""
        _refuse_secret("profile", profile.name)
        label = f"Saved the profile “{profile.name[:_NAME]}”"
        with self._core.change("profile", label) as op:
            if profile in [
                profiles.find_profile(op.connection, name) for name in profiles.profile_names(op.connection)
            ]:
                return None
            profiles.save(op.connection, profile)
        return self._core.finished_operation(op)


def _normalise_question(query: str, filter: str, profile: str | None) -> tuple[str, str]:
    """The question in plain blanks, and the name it is kept under."""
    words = validation.without_secrets(" ".join(query.split()))
    _refuse_secret("filter", filter)
    _refuse_secret("profile", profile or "")
    if not words:
        raise InputError("There is no question to pin.", "Type one first.")
    return words, f"{words} [{filter}]" if filter else words


def _refuse_secret(what: str, text: str) -> None:
    """Raises InputError for a text with a secret, which would say something else without it."""
    if validation.without_secrets(text) != text:
        raise InputError(f"The {what} holds a secret.", "Use other words.")


def _find_question(connection: apsw.Connection, name: str) -> SavedQuery | None:
    return next((one for one in saved_queries.all_questions(connection) if one.name == name), None)
