"""The turns of an import: what of a batch is new, and storing it."""

from __future__ import annotations

import apsw

from memtui.engine.curate import intake
from memtui.engine.curate.turns import NewTurn
from memtui.engine.errors import InputError
from memtui.engine.records import Turn
from memtui.engine.store import erased

from . import account, writing
from .account import Account

TOO_LONG = f"longer than {intake.MAX_EPISODE:,} characters"


class TurnIngest:
    """``cross_source``: two of its formats tell the same words, so what one of them brought is there for the other."""

    def __init__(self, shared: Account, *, cross_source: bool) -> None:
        self._shared = shared
        self._cross_source = cross_source
        self._titles = writing.Titles()

    def take(self, batch: list[Turn]) -> None:
        """Sort out what is new in a batch, and store it."""
        shared = self._shared
        keys = [turn.source_key for turn in batch]
        with shared.connections.read() as connection:
            there = writing.known_keys(connection, keys)
            gone = erased.erased(connection, keys)
        new: dict[str, NewTurn] = {}
        for key, turn in zip(keys, batch, strict=True):
            if key in gone:
                shared.skip(account.ERASED)
            elif key in there or key in new or (self._cross_source and self._is_cross_source_duplicate(turn)):
                shared.already_there += 1
            elif len(turn.content) > intake.MAX_EPISODE:
                shared.skip(TOO_LONG, f"{shared.tally.place}: {key}")
            elif checked := self._checked(turn):
                new[key] = checked
        with shared.connections.read() as connection:
            since = writing.latest(connection)
            for key in writing.told_otherwise(connection, new):
                del new[key]
                shared.already_there += 1
            for key in writing.erased_turns(connection, new):
                del new[key]
                shared.skip(account.ERASED)
        self._count(self._dry(new) if shared.dry_run else self._store(list(new.values()), since))

    def _is_cross_source_duplicate(self, turn: Turn) -> bool:
        """Whether another format of this import brought the same words; notes that this one did."""
        others = writing.SAME_WORDS.get(turn.source, ())
        if not others or turn.role != "user":
            return False
        said = f"{turn.session_id} {turn.content}"
        if any(self._shared.met.has(f"said {other} {said}") for other in others):
            return True
        self._shared.met.add(f"said {turn.source} {said}")
        return False

    def _checked(self, turn: Turn) -> NewTurn | None:
        """The turn as it will be stored, None where intake refuses it."""
        try:
            return NewTurn(
                session_id=intake.name(turn.session_id, "session id"),
                role=intake.name(turn.role, "role"),
                intake=intake.accept(turn.content, "episode", self._shared.options.secrets),
                event_time=int((turn.event_time or 0.0) // 1),
                trust=turn.trust or intake.trust(turn.role, self._shared.actor),
                source=turn.source,
                source_key=turn.source_key,
                project=turn.project and intake.without_secrets(turn.project),
                title=turn.session_title and intake.without_secrets(turn.session_title),
            )
        except InputError as error:
            self._shared.skip(account.REFUSED, error.message)
            return None

    def _dry(self, new: dict[str, NewTurn]) -> list[NewTurn]:
        """What would be stored: what the memory does not know it must remember itself."""
        fresh = [turn for key, turn in new.items() if self._shared.met.add(f"key {key}")]
        self._shared.already_there += len(new) - len(fresh)
        return fresh

    def _store(self, turns: list[NewTurn], since: int) -> list[NewTurn]:
        """Store turns that were not there when ``since`` was the latest row; those that are new."""

        def some(connection: apsw.Connection, left: list[NewTurn]) -> tuple[int, list[NewTurn]]:
            nonlocal since
            taken, stored = writing.store_some(
                connection, left, self._titles, now=int(self._shared.clock()),
                seconds=account.SECONDS_PER_TRANSACTION, since=since,
            )  # fmt: skip
            since = writing.latest(connection)
            return taken, stored

        return self._shared.store(turns, some)

    def _count(self, turns: list[NewTurn]) -> None:
        shared = self._shared
        if turns:
            shared.kinds["turn"] += len(turns)
        shared.secrets += sum("secrets" in turn.intake.attributes for turn in turns)
        for name in {turn.session_id for turn in turns}:
            shared.met_session(name)
