"""``memory.filters``: saved filters, and the values that a filter can have."""

from __future__ import annotations

from memtui.engine.core import Core
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.memories import validation
from memtui.engine.records import Operation
from memtui.engine.records.saved import SavedFilter
from memtui.engine.search.filters import compiler, terms
from memtui.engine.search.filters.completion import Known, KnownValue
from memtui.engine.store import saved_queries

_LONGEST_NAME, _LONGEST_VALUE = 60, 80


class Filters:
    """Safe to call from any thread; what changes something is one undoable operation.

    They are kept in the memory's file: they name its tags, people and projects, travel with it in exports and
    backups, and each change can be undone.
    """

    def __init__(self, core: Core) -> None:
        self._core = core

    def saved(self) -> list[SavedFilter]:
        """The saved filters, in the order of their names."""
        with self._core.connections.read() as connection:
            return saved_queries.saved_filters(connection)

    def named(self, name: str) -> SavedFilter:
        """The saved filter of a name. Raises NotFoundError, which lists those there are."""
        saved = self.saved()
        for one in saved:
            if one.name == name.strip():
                return one
        hint = f"There are {', '.join(one.name for one in saved[:10])}." if saved else "None is saved yet."
        raise NotFoundError(f"There is no saved filter {name.strip()!r}.", hint)

    def save(self, name: str, filter: str) -> Operation | None:
        """Keep a filter under a name; one of that name is replaced. None when it was kept so already.

        Raises FilterError for a filter with a mistake, InputError for an empty one, a name that is empty, longer
        than 60 characters or taken by a pinned question, or where one of both holds a secret.
        """
        name, filter = " ".join(name.split()), filter.strip()
        if not name or len(name) > _LONGEST_NAME:
            raise InputError(
                "A saved filter needs a name.", f"Give one of at most {_LONGEST_NAME} characters."
            )
        if not filter:
            raise InputError("There is no filter to save.", "Type one first.")
        for what, text in (("name", name), ("filter", filter)):
            if validation.without_secrets(text) != text:
                raise InputError(f"The {what} holds a secret.", "Use other words.")
        compiler.compile_filter(filter, self._core.clock())
        with self._core.change("filter", f"Saved the filter “{name}”") as op:
            if any(
                (name, filter) == (one.name, one.filter) for one in saved_queries.saved_filters(op.connection)
            ):
                return None
            saved_queries.save_filter(op.connection, name, filter, int(self._core.clock()))
        return self._core.finished_operation(op)

    def remove(self, name: str) -> Operation | None:
        """Keep a saved filter no longer. Raises NotFoundError."""
        gone = self.named(name)
        with self._core.change("filter", f"Removed the saved filter “{gone.name}”") as op:
            saved_queries.remove_filter(op.connection, gone.query_id)
        return self._core.finished_operation(op)

    def known(self) -> Known:
        """What a filter can name here: values with their counts, and the saved filters. Takes a moment: call it in a
        thread."""
        with self._core.connections.read() as connection:
            read = saved_queries.filter_values(connection)
            saved = saved_queries.saved_filters(connection)
        return Known(
            values={
                key: tuple(
                    KnownValue(text=text, count=count)
                    for text, count in values
                    if len(text) <= _LONGEST_VALUE and text.isprintable()
                )
                for key, values in read.items()
                if key in terms.KEYS
            },
            saved=tuple(saved),
        )
